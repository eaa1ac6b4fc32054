package emu

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// One worker and several must send the same events in the same order, end the same way, and leave
// the same memory: the order of the blocks is part of what a seed fixes.
func TestWorkersAgree(t *testing.T) {
	for _, test := range []struct {
		name, text string
		ordered    bool // blocks run one after the other, so that workers may run ahead
		maxSteps   uint64
		wrong      bool
	}{
		{"map",
			"mad.wide.u32 %q, %i, 4, %x;\nld.global.u32 %v, [%q];\nadd.u32 %v, %v, %i;\nst.global.u32 [%p], %v;\nret;", true, 0, false},
		{"in place",
			"ld.global.u32 %v, [%p];\nadd.u32 %v, %v, 1;\nst.global.u32 [%p], %v;\nld.global.u32 %v, [%p+4];\nst.global.u32 [%p], %v;\nret;", true, 0, false},
		{"handed on", "ld.global.u32 %v, [%p];\nst.global.u32 [%p+256], %i;\nret;", true, 0, false},
		{"same words",
			"mad.wide.u32 %p, %t, 4, %o;\nst.global.v2.u16 [%p], {%h, %h};\nst.global.u32 [%p], %i;\nret;",
			true, 0, false},
		{"reduce",
			"cvt.rn.f32.u32 %f, %i;\nmul.f32 %f, %f, 0f3DCCCCCD;\nred.global.add.f32 [%x], %f;\nred.add.u32 [%x+4], %i;\nld.global.u32 %v, [%p];\nret;", true, 0, false},
		{"scattered",
			"mul.lo.u32 %v, %i, 7919;\nand.b32 %v, %v, 1023;\nmad.wide.u32 %p, %v, 4, %o;\nst.global.u32 [%p], %i;\nst.global.u8 [%p+8192], %i;\nret;", true, 0, false},
		{"shared", `.shared .align 4 .b8 buf[256];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 4, %w;
	atom.shared.add.u32 %v, [buf], %t;
	bar.sync 0;
	st.shared.u32 [%w], %v;
	bar.sync 0;
	ld.shared.u32 %v, [buf+128];
	setp.lt.u32 %c, %t, %v;
	@%c st.global.u32 [%p], %v;
	membar.gl;
	bar.warp.sync 0xffffffff;
	ret;`, true, 0, false},
		{"copies", `.shared .align 16 .b8 buf[1024];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 8, %w;
	add.u32 %v, %t, %b;
	and.b32 %v, %v, 7;
	mad.wide.u32 %q, %t, 8, %x;
	cp.async.ca.shared.global [%w], [%q], 8, %v;
	cp.async.commit_group;
	setp.lt.u32 %c, %t, 40;
	@%c cp.async.ca.shared.global [%w+512], [%p], 4, %c;
	@!%c cp.async.wait_group 0;
	ld.shared.u32 %v, [%w];
	cp.async.wait_all;
	ld.shared.u32 %u, [%w];
	add.u32 %v, %v, %u;
	st.global.u32 [%p], %v;
	ret;`, true, 0, false},
		{"copies of what is written", `.shared .align 16 .b8 buf[1024];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 4, %w;
	st.global.u32 [%p], %i;
	cp.async.ca.shared.global [%w], [%p], 4;
	cp.async.wait_all;
	ld.shared.u32 %u, [%w];
	st.global.u32 [%p+4], %u;
	ret;`, true, 0, false},
		{"locks",
			"setp.ne.u32 %c, %t, 0;\n@%c ret;\nL:\natom.global.exch.b32 %v, [%x], 1;\nsetp.ne.u32 %c, %v, 0;\n@%c bra L;\natom.global.exch.b32 %v, [%x], 0;\nret;", false, 0, false},
		{"stall",
			"setp.eq.u32 %c, %b, 7;\nsetp.lt.and.u32 %c, %t, 9, %c;\n@%c bra L;\nbar.sync 0;\nret;\nL: bar.sync 1;\nret;", true, 0, true},
		{"error", "setp.eq.u32 %c, %i, 700;\n@%c add.u64 %p, %p, 1;\nst.global.u32 [%p], %i;\nret;", true,
			0, true},
		{"limit", "st.global.u32 [%p], %i;\nst.global.u32 [%p+4], %i;\nret;", true, 333, true},
	} {
		k := kernel(t, test.text)
		if test.maxSteps == 0 {
			test.maxSteps = 1_000_000
		}
		for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
			run := func(workers int) (*Result, []any, []uint32, []uint32) {
				cfg := config(20, 64, buffer("out", 1<<14),
					launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "x", Size: 1 << 13}})
				m, err := New(k, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if m.prog.ordered != test.ordered {
					t.Errorf("%s: ordered %t, want %t", test.name, m.prog.ordered, test.ordered)
				}
				r := &recorder{}
				res,
					err := m.Run(context.Background(), Options{Model: model, Seed: 5, Workers: workers,
					MaxSteps: test.maxSteps}, r)
				if err != nil {
					t.Fatal(err)
				}
				silent,
					err := m.Run(context.Background(), Options{Model: model, Seed: 5, Workers: workers,
					MaxSteps: test.maxSteps}, nil)
				if err != nil || silent.Steps != res.Steps || silent.Status != res.Status {
					t.Errorf("%s: without a sink: %+v", test.name, silent)
				}
				return res, r.events, append(words(t, res, "out", 1<<12), words(t, res, "x", 1<<11)...),
					words(t, silent, "out", 1<<12)
			}
			res1, ev1, mem1, out1 := run(1)
			res4, ev4, mem4, out4 := run(4)
			if (res1.Status != Completed) != test.wrong {
				t.Errorf("%s: status %d, %+v", test.name, res1.Status, res1.Stop)
			}
			if !reflect.DeepEqual(mem1, mem4) || !reflect.DeepEqual(out1, out4) ||
				!reflect.DeepEqual(out1, mem1[:1<<12]) {
				t.Errorf("%s: memory differs", test.name)
			}
			if !reflect.DeepEqual(ev1, ev4) {
				t.Errorf("%s: %d events and %d events differ", test.name, len(ev1), len(ev4))
			}
			res1.mem, res4.mem = nil, nil
			if !reflect.DeepEqual(res1, res4) {
				t.Errorf("%s: results\n%+v\n%+v", test.name, res1, res4)
			}
		}
	}
}

// Workers really run ahead: a launch that cannot fail is delivered from logs alone.
func TestWorkersRunAhead(t *testing.T) {
	k := kernel(t, "st.global.u32 [%p], %i;\nret;")
	m, err := New(k, config(64, 64, buffer("out", 1<<14)))
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduler{m: m, opt: Options{Workers: 4, MaxSteps: 1000000, Memory: DefaultMemory}, ctx: context.Background(),
		blocks: 64}
	s.x = m.newExec(&s.opt, newMemory(m.prog), nil)
	s.ahead = s.newWorkers()
	s.loop()
	if s.ahead == nil || s.done != 64 || len(s.spare) != 0 {
		t.Errorf("%d blocks done, %d of them directly", s.done, len(s.spare))
	}
}

// Blocks that wait for a later one by a plain load, which the program does not announce: the first
// one spins until the scheduler starts others beside it.
func TestWaitForLaterBlock(t *testing.T) {
	k := kernel(t, `
	setp.eq.u32 %c, %b, 3;
	@%c st.global.u32 [%x], 1;
	setp.ne.u32 %c, %i, 0;
	@%c ret;
L:
	ld.global.u32 %v, [%x];
	setp.eq.u32 %c, %v, 0;
	@%c bra L;
	ret;`)
	for _, workers := range []int{1, 2} {
		m, err := New(k, config(5, 32, buffer("out", 4), buffer("x", 4)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(context.Background(), Options{Workers: workers, MaxSteps: 20_000_000}, nil)
		if err != nil || res.Status != Completed {
			t.Errorf("%d workers: %+v, %v", workers, res, err)
		}
	}
}

// TestWorkerPanic: a bug of the emulator in a worker ends in the goroutine that called Run, as it
// does without workers.
func TestWorkerPanic(t *testing.T) {
	for _, workers := range []int{1, 2} {
		m, err := New(kernel(t, "st.global.u32 [%p], %i;\nret;"), config(8, 32, buffer("out", 1024)))
		if err != nil {
			t.Fatal(err)
		}
		code := m.prog.funcs[0].code
		code[len(code)-1].run = func(*exec, *inst) { panic("planted") }
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "planted") {
					t.Errorf("%d workers: recovered %v", workers, p)
				}
			}()
			_, err = m.Run(context.Background(), Options{Workers: workers}, nil)
			t.Errorf("%d workers: Run returned %v", workers, err)
		}()
	}
}

// TestLayoutAfterDelivery: the address summary of an event delivered from a log must not leak into
// the next event, here of a block that runs again because it reads what the previous block has
// written. The recorder checks the summaries.
func TestLayoutAfterDelivery(t *testing.T) {
	m, err := New(kernel(t, `
	xor.b32 %w, %t, 5;
	mad.wide.u32 %q, %w, 4, %o;
	ld.global.u32 %v, [%q];
	st.global.u32 [%p], %v;
	ret;`), config(2, 32, buffer("out", 256)))
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	if _, err := m.Run(context.Background(), Options{Workers: 2}, rec); err != nil {
		t.Fatal(err)
	}
	if n := len(of[access](rec)); n != 4 {
		t.Errorf("%d accesses, want a load and a store of each block", n)
	}
}

// TestRowsAreDelivered: events of warps of several rows are the same from logs, their summaries
// included, which a consumer needs to be fast.
func TestRowsAreDelivered(t *testing.T) {
	k := kernel(t, `
	mov.u32 %u, %tid.y;
	mad.wide.u32 %q, %u, 256, %x;
	ld.global.u32 %v, [%q];
	mad.wide.u32 %q, %t, 4, %q;
	ld.global.u32 %w, [%q];
	add.u32 %v, %v, %w;
	st.global.u32 [%p], %v;
	ret;`)
	var rows [2][]uint8
	var events [2][]any
	for i, workers := range []int{1, 2} {
		cfg := config(8, 16, buffer("out", 1<<12), buffer("x", 1<<12))
		cfg.Geometry.Block.Y = 4
		m, err := New(k, cfg)
		if err != nil {
			t.Fatal(err)
		}
		rec := &rowRecorder{}
		if _, err := m.Run(context.Background(), Options{Workers: workers}, rec); err != nil {
			t.Fatal(err)
		}
		rows[i], events[i] = rec.rows, rec.events
	}
	if !reflect.DeepEqual(rows[0], rows[1]) || !slices.Contains(rows[0], 16) {
		t.Errorf("rows %v with one worker, %v with two", rows[0], rows[1])
	}
	if !reflect.DeepEqual(events[0], events[1]) {
		t.Error("events differ")
	}
}

type rowRecorder struct {
	recorder
	rows []uint8
}

func (r *rowRecorder) Access(a *event.Access) {
	r.rows = append(r.rows, a.Row)
	r.recorder.Access(a)
}
