package nodiff

import (
	"maps"
	"path/filepath"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/gpu/queue"
	"heddle/internal/lower"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
)

// What may go wrong between device and host has a defined result each.

// example instruments the kernel of an example.
func example(t *testing.T, name string, opt instrument.Options) *watched {
	t.Helper()
	path := filepath.Join("../../../examples", name)
	low, err := lower.File(t.Context(), path, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := load(t, low.PTX, path)
	for _, k := range before.mod.Funcs {
		if k.Kernel {
			if w, ok := watch(t, before, k, opt, event.Independent, event.BenignWarp); ok {
				return w
			}
		}
	}
	t.Fatalf("%s has no kernel that can be instrumented", name)
	return nil
}

// TestQueueOverflow uses one queue of the smallest size, whose host reads only when every thread
// waits for it: queues are full all the time, and the consumer is slow. Nothing may be lost.
func TestQueueOverflow(t *testing.T) {
	for _, name := range []string{"reduce_racy.cu", "matmul_racy.cu", "hashtable_racy.cu"} {
		w := example(t, name, instrument.Options{Queues: 1, Slots: 128})
		want, _ := w.directly(0)
		det := race.New(w.opt)
		full := 0
		host, res := w.served(0, 200_000_000, det, nil, func(h *queue.Host, stuck bool) bool {
			if !stuck {
				return false
			}
			full++
			return h.Drain() > 0
		})
		host.Drain()
		if sum := host.End(w.device); res.Status != emu.Completed || full < 2 || !sum.Complete() {
			t.Errorf("%s: %v, %d times full, %+v", name, res.Status, full, sum)
		}
		if got := found(det, identity); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestConsumerKilled closes the queues after some turns, and reads no more. The kernel must run to
// its end, and compute what it computes otherwise; the summary must say that events are missing.
func TestConsumerKilled(t *testing.T) {
	w := example(t, "reduce.cu", instrument.Options{Queues: 2, Slots: 128})
	_, plain := w.directly(0)
	for _, turns := range []int{0, 1, 2, 10} {
		n := 0
		host, res := w.served(0, 100_000_000, event.Discard{}, nil, func(h *queue.Host, _ bool) bool {
			switch n++; {
			case n <= turns:
				h.Drain()
			case n == turns+1:
				h.Close()
			default:
				return false
			}
			return true
		})
		sum := host.End(w.device)
		if res.Status != emu.Completed || sum.Complete() || sum.Missing == 0 ||
			turns <= 2 && sum.Dropped == 0 {
			t.Errorf("%d turns: %v, %+v", turns, res.Status, sum)
		}
		want, got := make([]byte, 4), make([]byte, 4)
		name := outputOf(w)
		if _, err := plain.Read(name, 0, want); err != nil {
			t.Fatal(err)
		}
		if _, err := res.Read(name, 0, got); err != nil || string(got) != string(want) {
			t.Errorf("%d turns: %s is %v, want %v (%v)", turns, name, got, want, err)
		}
	}
}

// outputOf returns the name of the object of the last buffer among the arguments.
func outputOf(w *watched) string {
	name := ""
	for _, a := range w.cfg.Args {
		if a.Buffer != nil {
			name = a.Buffer.Name
		}
	}
	return name
}

// trapping is a kernel in which one thread traps between two races. No access behind the trap may
// be reported, and the first race must be.
const trapping = `
.version 8.0
.target sm_80
.address_size 64
// heddle: grid=2 block=64
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b32 %r<4>;
	.reg .b64 %a;
	ld.param.u64 %a, [p];
	cvta.to.global.u64 %a, %a;
	mov.u32 %r1, %tid.x;
	st.global.u32 [%a], %r1;
	bar.sync 0;
	setp.eq.u32 %q, %r1, 7;
	@%q trap;
	bar.sync 0;
	st.global.u32 [%a+4], %r1;
	ret;
}
`

// TestKernelTrap ends a kernel by a trap. What it has logged counts; the summary says that it was
// cut.
func TestKernelTrap(t *testing.T) {
	before := loadText(t, trapping)
	w, ok := watch(t, before, before.mod.Funcs[0], instrument.Options{}, event.Independent,
		event.BenignWarp)
	if !ok {
		t.Fatal("the kernel is not instrumented")
	}
	for seed := range uint64(10) {
		det := race.New(w.opt)
		sum, res := w.logged(seed, 1_000_000, det, nil)
		got := found(det, identity)
		if res.Status != emu.Stopped || res.Stop.Kind != emu.Trap || sum.Complete() || sum.Cut == 0 {
			t.Errorf("seed %d: %v %+v, %+v", seed, res.Status, res.Stop, sum)
		}
		if want := (findings{"race global 0 0": true}); !maps.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}
