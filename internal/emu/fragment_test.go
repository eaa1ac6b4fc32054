package emu

import (
	"testing"

	"heddle/internal/event"
)

// Nested branches, PTX ISA 3.1: each lane executes its own path, and the lanes reconverge after it.
func TestNestedBranches(t *testing.T) {
	k := kernel(t, `
	mov.u32 %v, 0;
	and.b32 %w, %i, 1;
	setp.eq.u32 %c, %w, 0;
	@%c bra Leven;
Lodd:
	setp.lt.u32 %d, %i, 16;
	@%d bra Loddlow;
Loddhigh:
	add.u32 %v, %v, 3;
	bra Loddend;
Loddlow:
	add.u32 %v, %v, 5;
Loddend:
	add.u32 %v, %v, 100;
	bra Lend;
Leven:
	add.u32 %v, %i, 1000;
Lend:
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 {
			switch {
			case i%2 == 0:
				return uint32(i + 1000)
			case i < 16:
				return 105
			}
			return 103
		})
		as := of[access](r)
		if len(as) != 1 || as[0].Mask != full {
			t.Errorf("lanes did not come together: %d stores", len(as))
		}
		cs := of[event.Converge](r)
		if opt.Model == event.Independent {
			if len(cs) != 0 {
				t.Errorf("Converge in the independent model")
			}
			return
		}
		// if, [if, else, fi of the inner branch], else, fi: six active sets, Barracuda §3.1. The inner
		// ones appear where the odd path runs, first or last.
		odd, even := uint32(0xaaaaaaaa), uint32(0x55555555)
		seen := map[uint32]int{}
		for _, c := range cs {
			seen[c.Mask]++
		}
		if len(cs) != 6 || seen[even] != 1 || seen[odd] != 2 || seen[odd&0xffff] != 1 ||
			seen[odd&^0xffff] != 1 || cs[5].Mask != full {
			t.Errorf("active sets %x", cs)
		}
	})
}

// A loop whose trip count is the lane number plus one: lanes wait at the exit for the last one.
func TestLoopTripCounts(t *testing.T) {
	k := kernel(t, `
	mov.u32 %z, 0;
	mov.u32 %v, 0;
Lloop:
	add.u32 %v, %v, %z;
	add.u32 %z, %z, 1;
	setp.le.u32 %c, %z, %i;
	@%c bra Lloop;
Lend:
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 64, buffer("out", 256)), opt)
		wantWords(t, res, "out", 64, func(i int) uint32 { return uint32(i * (i + 1) / 2) })
		if as := of[access](r); len(as) != 2 {
			t.Errorf("%d stores, want 2: lanes did not come together", len(as))
		}
	})
}

// Two paths that share a tail which is not the postdominator of the branch (unstructured):
//
//	entry -> a | b;  a -> c | d;  b -> c;  c -> d
func TestUnstructured(t *testing.T) {
	k := kernel(t, `
	mov.u32 %v, 0;
	and.b32 %w, %i, 1;
	setp.eq.u32 %c, %w, 0;
	@%c bra Lb;
La:
	add.u32 %v, %v, 1;
	and.b32 %w, %i, 2;
	setp.eq.u32 %c, %w, 0;
	@%c bra Ld;
Lskip:
	bra Lc;
Lb:
	add.u32 %v, %v, 10;
Lc:
	add.u32 %v, %v, 100;
Ld:
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 {
			switch {
			case i&1 == 0:
				return 110
			case i&2 == 0:
				return 1
			}
			return 101
		})
		if as := of[access](r); len(as) != 1 {
			t.Errorf("%d stores, want 1", len(as))
		}
	})
}

// Lanes that exit in a branch do not keep the others waiting.
func TestExitInBranch(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 10;
	@%c bra Lstay;
Lleave:
	exit;
Lstay:
	st.global.u32 [%p], 1;
	@%c exit;
	st.global.u32 [%p], 2;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 {
			if i < 10 {
				return 1
			}
			return 0
		})
		gone := uint32(0)
		for _, e := range of[event.Exit](r) {
			if gone&e.Mask != 0 {
				t.Errorf("lanes %x exit twice", gone&e.Mask)
			}
			gone |= e.Mask
		}
		if gone != full {
			t.Errorf("lanes %x exited", gone)
		}
	})
}

// Each lane takes a lock that another lane of its warp may hold. PTX ISA 3.2: with independent
// thread scheduling the lane that holds the lock makes progress, although the others spin at the
// very place that the first would wait for.
func TestSpinLockInWarp(t *testing.T) {
	k := kernel(t, `
	ld.param.u64 %r, [x];
	ld.param.u64 %s, [out];
Lspin:
	atom.global.cas.b32 %v, [%r], 0, 1;
	setp.ne.u32 %c, %v, 0;
	@%c bra Lspin;
Lcritical:
	ld.global.u32 %w, [%s];
	add.u32 %w, %w, 1;
	st.global.u32 [%s], %w;
	membar.gl;
	atom.global.exch.b32 %v, [%r], 0;
	ret;`)
	for seed := range uint64(20) {
		res, _ := completed(t, k, config(2, 64, buffer("out", 4), buffer("lock", 4)),
			Options{Seed: seed, MaxSteps: 1_000_000})
		wantWords(t, res, "out", 1, func(int) uint32 { return 128 })
	}
	// Lockstep: the SIMT stack runs the spinning lanes forever.
	_, res, _ := start(t, k, config(1, 32, buffer("out", 4), buffer("lock", 4)),
		Options{Model: event.Lockstep, MaxSteps: 50_000})
	if res.Status != Stopped || res.Stop.Kind != Spinning || len(res.Spins) != 1 ||
		res.Spins[0] != (Spin{Site: preamble + 2, Thread: 1, Threads: 31}) {
		t.Errorf("lockstep: status %d after %d steps, %+v", res.Status, res.Steps, res.Spins)
	}
}

// The same with a plain weak load in the loop, which does not look like spinning: lane 1 waits for
// lane 0, which the branch order may leave behind.
func TestWaitForLaneByPlainLoad(t *testing.T) {
	k := kernel(t, `
	ld.param.u64 %r, [out];
	setp.eq.u32 %c, %i, 0;
	@%c bra Lset;
Lwait:
	ld.global.u32 %v, [%r];
	setp.eq.u32 %d, %v, 0;
	@%d bra Lwait;
Lafter:
	bra Lend;
Lset:
	st.global.u32 [%r], 7;
Lend:
	st.global.u32 [%p+4], %v;
	ret;`)
	for seed := range uint64(10) {
		completed(t, k, config(1, 2, buffer("out", 12)), Options{Seed: seed, MaxSteps: 100_000})
	}
}

// A guarded switch whose case is the next instruction: all lanes, with a true or false guard,
// reconverge there.
func TestSwitchToNext(t *testing.T) {
	k := kernel(t, `
	and.b32 %v, %i, 1;
	setp.lt.u32 %c, %i, 5;
	TS: .branchtargets Lnext, Lnext;
	@%c brx.idx %v, TS;
Lnext:
	st.global.u32 [%p], %i;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 { return uint32(i) })
		if as := of[access](r); len(as) != 1 {
			t.Errorf("%d stores, want 1", len(as))
		}
	})
}

// brx.idx, PTX ISA 9.7.12.4: "branch to a label indexed from a list".
func TestSwitch(t *testing.T) {
	k := kernel(t, `
	rem.u32 %v, %i, 3;
	TS: .branchtargets Lzero, Lone, Lend;
	brx.idx %v, TS;
Lzero:
	mov.u32 %v, 50;
	bra Lend;
Lone:
	mov.u32 %v, 60;
Lend:
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 { return []uint32{50, 60, 2}[i%3] })
		if as := of[access](r); len(as) != 1 {
			t.Errorf("%d stores, want 1", len(as))
		}
	})
	over := kernel(t, `
	TS: .branchtargets Lend, Lend;
	brx.idx %i, TS;
Lend:
	ret;`)
	_, res, _ := start(t, over, config(1, 3, buffer("out", 128)), Options{})
	if res.Stop == nil || res.Stop.Kind != OutOfBounds || res.Stop.Index.X != 2 {
		t.Errorf("index 2 of 2 targets: %+v", res.Stop)
	}
}
