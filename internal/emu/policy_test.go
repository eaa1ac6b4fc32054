package emu

import (
	"reflect"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// seen returns the first accesses of blocks or warps in the order of a run.
func seen[K comparable](r *recorder, key func(*access) K) (order []K) {
	have := map[K]bool{}
	for _, a := range of[access](r) {
		if k := key(&a); !have[k] {
			have[k] = true
			order = append(order, k)
		}
	}
	return order
}

// oneAtomic is a kernel in which each warp makes one access by which it could synchronize.
const oneAtomic = "atom.global.add.u32 %v, [%o], 1;\nst.global.u32 [%p+4], %v;\nret;"

// Seed 1 is the reverse: the last block and warp go first.
func TestReverse(t *testing.T) {
	k := kernel(t, oneAtomic)
	_, r := completed(t, k, config(12, 96, buffer("out", 0)), Options{Seed: 1})
	blocks := seen(r, func(a *access) int { return int(a.Warp / 3) })
	if want := []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}; !reflect.DeepEqual(blocks, want) {
		t.Errorf("blocks %v, want %v", blocks, want)
	}
	warps := seen(r, func(a *access) int { return int(a.Warp % 3) })
	if want := []int{2, 1, 0}; !reflect.DeepEqual(warps, want) {
		t.Errorf("warps %v, want %v", warps, want)
	}
}

// By priorities each warp goes first about equally often, a warp runs to its end unless a change
// point interrupts it, and a seed gives one schedule, whichever seeds ran before.
func TestPriorities(t *testing.T) {
	k := kernel(t, oneAtomic)
	cfg := config(3, 64, buffer("out", 0))
	first := map[event.Warp]int{}
	const seeds = 300
	for seed := uint64(2); seed < 2+seeds; seed++ {
		_, r := completed(t, k, cfg, Options{Seed: seed})
		first[of[access](r)[0].Warp]++
	}
	for w := range event.Warp(6) {
		if n := first[w]; n < seeds/6/2 || n > 2*seeds/6 {
			t.Errorf("warp %d is first in %d of %d schedules", w, n, seeds)
		}
	}
	m, err := New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{7, 0, 7, 3, 7} {
		r, alone := &recorder{}, &recorder{}
		if _, err := m.Run(t.Context(), Options{Seed: seed}, r); err != nil {
			t.Fatal(err)
		}
		_, _, alone = start(t, k, cfg, Options{Seed: seed})
		if !reflect.DeepEqual(r.events, alone.events) {
			t.Errorf("seed %d depends on the runs before", seed)
		}
	}
}

// A block in which nothing can run ends, by every schedule, and the blocks after it run.
func TestStallEndsTheBlock(t *testing.T) {
	k := kernel(t, `
	atom.global.add.u32 %v, [%o], 1;
	st.global.u32 [%p+4], %v;
	setp.ge.u32 %c, %t, 32;
	@%c bra END;
	bar.sync 1, 96;
END:
	ret;`)
	for seed := range uint64(12) {
		_, res, r := start(t, k, config(3, 64, buffer("out", 0)), Options{Seed: seed})
		blocks := seen(r, func(a *access) int { return int(a.Warp / 2) })
		if res.Status != Stalled || len(blocks) != 3 {
			t.Errorf("seed %d: status %v after blocks %v, want all three and a stall", seed, res.Status,
				blocks)
		}
	}
}

// A bug of depth 2: warp 1 observes its own flag between two stores of warp 0. The bound of PCT for
// two warps and k synchronization points is 1/(2k); the kernel has 6.
func TestChangePoints(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %t, 32;
	@%c bra W0;
	ld.relaxed.gpu.global.u32 %v, [%o];
	ld.relaxed.gpu.global.u32 %w, [%o+4];
	shl.b32 %w, %w, 1;
	or.b32 %v, %v, %w;
	st.global.u32 [%x], %v;
	ret;
W0:
	st.relaxed.gpu.global.u32 [%o+8], 1;
	st.relaxed.gpu.global.u32 [%o], 1;
	st.relaxed.gpu.global.u32 [%o+4], 1;
	st.relaxed.gpu.global.u32 [%o+12], 1;
	ret;`)
	cfg := config(1, 64, buffer("out", 16), buffer("x", 4))
	found := map[uint32]int{}
	const seeds = 400
	for seed := uint64(2); seed < 2+seeds; seed++ {
		res, _ := completed(t, k, cfg, Options{Seed: seed})
		found[words(t, res, "x", 1)[0]]++
	}
	// 0: warp 1 first; 3: warp 0 first; 1: warp 1 in between. 2 needs two change points: warp 1 reads
	// the first flag, warp 0 writes both, warp 1 reads the second.
	for value, least := range []int{0: seeds / 12, 1: seeds / 12, 2: seeds / 72, 3: seeds / 12} {
		if n := found[uint32(value)]; n < least {
			t.Errorf("value %d in %d of %d schedules, want at least %d", value, n, seeds, least)
		}
	}
}

// Only what lets a thread observe the order of others counts.
func TestSyncsThroughMemory(t *testing.T) {
	for text, want := range map[string]bool{
		"ld.global.u32 %v, [%p];\nst.global.u32 [%p], %v;":                     false,
		"red.global.add.u32 [%o], 1;\nmembar.gl;":                              false,
		"atom.global.add.u32 %v, [%o], 1;":                                     false, // the result is not used
		"atom.global.add.u32 %v, [%o], 1;\nst.global.u32 [%p], %v;":            true,
		"ld.volatile.global.u32 %v, [%o];":                                     true,
		"atom.global.add.u64 %q, [%o], 8;\nst.global.u32 [%q], 1;":             true, // an address
		"atom.global.add.u64 %q, [%o], 8;\nst.global.u32 [%p], %v;":            false,
		"setp.eq.u32 %c, %t, 0;\n@%c red.global.add.u32 [%o], 1;":              false,
		"ld.param.u64 %q, [x];\nst.global.u64 [%o], %q;":                       false,
		".shared .b32 s;\nld.volatile.shared.u32 %v, [s];":                     true,
		"ld.acquire.gpu.global.u32 %v, [%o];":                                  true,
		"st.release.gpu.global.u32 [%o], 1;\nfence.acq_rel.gpu;":               false,
		"atom.global.add.v2.f32 {%f, %g}, [%o], {%f, %g};":                     true, // an operand of itself
		".reg .f32 %u<2>;\natom.global.add.v2.f32 {%u0, %u1}, [%o], {%f, %g};": false,
		".local .b32 l;\nld.volatile.local.u32 %v, [l];\nbar.sync 0;\n":        false,
	} {
		m, err := New(kernel(t, text+"\nret;"), config(1, 32, buffer("out", 0)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.SyncsThroughMemory(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A run in which all threads spin ends as soon as that is certain. Loops that end by themselves are
// not mistaken for that.
func TestSpinning(t *testing.T) {
	long.Sequential(t)
	const spin = "WAIT:\nld.volatile.global.u32 %v, [%x];\nsetp.eq.u32 %c, %v, 0;\n@%c bra WAIT;\n"
	for _, test := range []struct {
		name, text string
		threads    int // that spin; 0: the run completes
		most       uint64
	}{
		{"all", spin, 192, 1_000_000},
		{"one warp, while others wait at a barrier", "setp.ge.u32 %d, %t, 32;\n@%d bra B;\n" + spin +
			"B:\nbar.sync 0;\n", 96, 1_000_000},
		{"lanes apart", "setp.eq.u32 %d, %t, 5;\n@%d bra B;\n" + spin + "B:\n" +
			"WAIT2:\natom.global.or.b32 %v, [%x+4], 0;\nsetp.eq.u32 %c, %v, 0;\n@%c bra WAIT2;\n", 192,
			1_000_000},
		{"with a counter", ".reg .u32 %n2;\nmov.u32 %n2, 0;\nW:\nadd.u32 %n2, %n2, 1;\n" +
			"ld.volatile.global.u32 %v, [%x];\nsetp.eq.u32 %c, %v, 0;\n@%c bra W;\n", 192, 11_000_000},
		{"a long loop of volatile loads", ".reg .u32 %n2;\nmov.u32 %n2, 0;\nW:\nadd.u32 %n2, %n2, 1;\n" +
			"ld.volatile.global.u32 %v, [%x];\nsetp.lt.u32 %c, %n2, 100000;\n@%c bra W;\n", 0, 5_000_000},
		{"until another warp is ready", "setp.ne.u32 %d, %i, 100;\n@%d bra S;\nmov.u32 %w, 0;\nL:\n" +
			"add.u32 %w, %w, 1;\nsetp.lt.u32 %c, %w, 200000;\n@%c bra L;\n" +
			"st.volatile.global.u32 [%x], 1;\nS:\n" + spin, 0, 10_000_000},
	} {
		for seed := range uint64(3) {
			if seed > 0 && test.most == 11_000_000 {
				continue // slow
			}
			m, err := New(kernel(t, test.text+"ret;"), config(2, 96, buffer("out", 0), buffer("x", 8)))
			if err != nil {
				t.Fatal(err)
			}
			res, err := m.Run(t.Context(), Options{Seed: seed, MaxSteps: 60_000_000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, s := range res.Spins {
				n += s.Threads
			}
			ended := res.Status == Stopped && res.Stop.Kind == Spinning
			if ended != (test.threads > 0) || !ended && res.Status != Completed || n != test.threads &&
				test.threads != 96 || res.Steps > test.most {
				t.Errorf("%s, seed %d: status %d after %d steps, %d threads spin: %+v", test.name, seed,
					res.Status, res.Steps, n, res.Stop)
			}
		}
	}
}

// A warp that completes a barrier, goes on and ends in one turn leaves nothing behind: the next
// block gets all of its turns.
func TestPrioritiesOfBlocks(t *testing.T) {
	k := kernel(t, `
	.shared .b32 flag;
	@%c bra L;
	ld.volatile.shared.u32 %v, [flag];
L:
	bar.sync 0;
	ld.volatile.shared.u32 %w, [flag];
	st.global.u32 [%p], %i;
	ret;`)
	for seed := range uint64(60) {
		for _, workers := range []int{1, 2} {
			res, _ := completed(t, k, config(20, 96, buffer("out", 20*96*4)),
				Options{Seed: seed, Workers: workers})
			wantWords(t, res, "out", 20*96, func(i int) uint32 { return uint32(i) })
		}
	}
}
