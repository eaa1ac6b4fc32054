package emu

import (
	"context"
	"reflect"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/testing/long"
)

// contended is a kernel whose blocks and warps contend for locks, barriers and shared memory.
func contended(t testing.TB) *ir.Func {
	return kernel(t, `
	.shared .align 4 .b8 buf[256];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 4, %w;
	atom.shared.add.u32 %v, [%w], %i;
	bar.sync 0;
	setp.ne.u32 %c, %t, 17;
	@%c bra END;
SPIN:
	atom.global.exch.b32 %v, [%x], 1;
	setp.ne.u32 %d, %v, 0;
	@%d bra SPIN;
	ld.global.u32 %v, [%o];
	add.u32 %v, %v, %b;
	st.global.u32 [%o], %v;
	membar.gl;
	st.volatile.global.u32 [%x], 0;
END:
	bar.sync 0;
	ret;`)
}

// The same seed gives the same events in the same order; another seed gives another order.
func TestDeterminism(t *testing.T) {
	for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
		run := func(seed uint64) ([]any, uint32) {
			_, res, r := start(t, contended(t), config(30, 64, buffer("out", 4), buffer("x", 4)),
				Options{Model: model, Seed: seed})
			if res.Status != Completed {
				t.Fatalf("%+v", res)
			}
			return r.events, words(t, res, "out", 1)[0]
		}
		first, sum := run(3)
		second, _ := run(3)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("two runs of a seed differ")
		}
		other, otherSum := run(4)
		if reflect.DeepEqual(first, other) {
			t.Errorf("seeds 3 and 4 give the same events")
		}
		if sum != 29*30/2 || otherSum != sum {
			t.Errorf("sums %d, %d", sum, otherSum)
		}
	}
}

// A machine runs many times; runs share no memory.
func TestRunsAreSeparate(t *testing.T) {
	k := kernel(t, "atom.global.add.u32 %v, [%o], 1;\nret;")
	m, err := New(k, config(2, 64, buffer("out", 4)))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		res, err := m.Run(context.Background(), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantWords(t, res, "out", 1, func(int) uint32 { return 128 })
	}
}

// The schedule of a seed does not depend on which runs of the machine came before it: with other
// seeds, of one block, or interrupted. How often threads try to take a lock depends on the schedule.
func TestSchedulesAreSeparate(t *testing.T) {
	k := kernel(t, "LOCK:\natom.global.cas.b32 %v, [%x], 0, 1;\nsetp.ne.u32 %c, %v, 0;\n@%c bra LOCK;\n"+
		"ld.volatile.global.u32 %w, [%o];\nst.global.u32 [%p+4], %w;\nadd.u32 %w, %w, 1;\n"+
		"st.volatile.global.u32 [%o], %w;\natom.global.exch.b32 %v, [%x], 0;\nret;")
	machine := func() *Machine {
		m, err := New(k, config(64, 2, buffer("out", 64), buffer("x", 4)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	run := func(m *Machine, ctx context.Context, opt Options) (out [9]uint32) {
		res, err := m.Run(ctx, opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ctx.Err() == nil {
			copy(out[:], words(t, res, "out", 9))
		} else if res.Status != Interrupted {
			t.Fatalf("the run ended with status %d before it noticed the interrupt", res.Status)
		}
		return out
	}
	one := uint32(1)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for seed := uint64(2); seed < 8; seed++ {
		want := run(machine(), t.Context(), Options{Seed: seed})
		for name, before := range map[string]func(*Machine){
			"another seed":   func(m *Machine) { run(m, t.Context(), Options{Seed: 1}) },
			"one block":      func(m *Machine) { run(m, t.Context(), Options{Blocks: []uint32{one}}) },
			"an interrupted": func(m *Machine) { run(m, cancelled, Options{}) },
		} {
			m := machine()
			before(m)
			if got := run(m, t.Context(), Options{Seed: seed}); got != want {
				t.Errorf("seed %d after %s run: %v, want %v", seed, name, got, want)
			}
		}
	}
}

// The same for a loop that waits: how many times it reads the flag depends on the schedule, on the
// model and on the number of steps.
func TestSchedulesOfWaitsAreSeparate(t *testing.T) {
	long.Sequential(t)
	// which threads set the flag: another warp, or a lane of the warp that waits, which lock step keeps
	// from it
	schedulesOfWaits(t, "setp.ge.u32 %c, %t, 32", 12)
	schedulesOfWaits(t, "setp.eq.u32 %c, %t, 31", 4)
}

func schedulesOfWaits(t *testing.T, setter string, seeds uint64) {
	k := kernel(t, `
	mov.u32 %w, 0;
	`+setter+`;
	@%c bra SET;
WAIT:
	add.u32 %w, %w, 1;
	ld.relaxed.gpu.global.u32 %v, [%x];
	setp.eq.u32 %d, %v, 0;
	@%d bra WAIT;
	st.global.u32 [%p], %w;
	ret;
SET:
	ld.relaxed.gpu.global.u32 %v, [%x+4];
	ld.relaxed.gpu.global.u32 %v, [%x+8];
	st.relaxed.gpu.global.u32 [%x], 1;
	ret;`)
	run := func(m *Machine, opt Options) uint64 {
		res, err := m.Run(t.Context(), opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.Steps
	}
	machine := func() *Machine {
		m, err := New(k, config(1, 64, buffer("out", 256), buffer("x", 12)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for seed := uint64(2); seed < seeds; seed++ {
		want := run(machine(), Options{Seed: seed})
		for _, before := range []Options{{Seed: 1}, {Seed: seed + 1}, {Seed: seed + 2},
			{Model: event.Lockstep}, {MaxSteps: 3}} {
			m := machine()
			run(m, before)
			if got := run(m, Options{Seed: seed}); got != want {
				t.Errorf("%s: seed %d takes %d steps after a run with %+v, and %d alone", setter, seed, got,
					before, want)
			}
		}
	}
}

// Every access of every lane, whatever the schedule: an event-by-event account of shared memory
// must give the values that the kernel reads. It is the contract of event.Sink: the events are one
// legal interleaving.
func TestEventsAreAnInterleaving(t *testing.T) {
	for seed := range uint64(5) {
		_, _, r := start(t, contended(t), config(8, 64, buffer("out", 4), buffer("x", 4)),
			Options{Seed: seed})
		lock, holder := false, event.Warp(0)
		for _, a := range of[access](r) {
			if a.Space != event.Global || a.Addr[17] == 0 && a.Mask&(1<<17) == 0 {
				continue
			}
			switch {
			case a.Kind == event.Write && a.Order.Strong():
				if !lock || holder != a.Warp {
					t.Fatalf("seed %d: warp %d releases a lock that it does not hold", seed, a.Warp)
				}
				lock = false
			case a.Order == event.Weak:
				if !lock || holder != a.Warp {
					t.Fatalf("seed %d: warp %d is in the critical section without the lock", seed, a.Warp)
				}
			case a.Kind == event.Atomic && !lock:
				lock, holder = true, a.Warp
			}
		}
		if lock {
			t.Errorf("seed %d: the lock is held at the end", seed)
		}
	}
}

func TestBadLaunches(t *testing.T) {
	k := kernel(t, "ret;")
	for name, cfg := range map[string]*launch.Config{
		"threads":   config(1, 2048, buffer("out", 4)),
		"no blocks": config(0, 32, buffer("out", 4)),
		"arguments": {Geometry: event.Geometry{Grid: dim(1), Block: dim(32)}},
		"size":      config(1, 32, buffer("out", 1<<40)),
	} {
		if _, err := New(k, cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Blocks of three dimensions: x is fastest in the order of threads.
func TestThreeDimensions(t *testing.T) {
	k := kernel(t, `
	mov.u32 %v, %tid.y;
	mov.u32 %w, %tid.z;
	mov.u32 %u, %ntid.x;
	mad.lo.u32 %i, %v, %u, %t;
	mov.u32 %v, %ntid.y;
	mul.lo.u32 %u, %u, %v;
	mad.lo.u32 %i, %w, %u, %i;
	mad.wide.u32 %p, %i, 4, %o;
	mov.u32 %v, %laneid;
	mov.u32 %w, %warpid;
	mad.lo.u32 %v, %w, 32, %v;
	st.global.u32 [%p], %v;
	ret;`)
	cfg := config(1, 1, buffer("out", 240))
	cfg.Geometry.Block = event.Dim3{X: 5, Y: 4, Z: 3}
	res, _ := completed(t, k, cfg, Options{})
	wantWords(t, res, "out", 60, func(i int) uint32 { return uint32(i) })
}
