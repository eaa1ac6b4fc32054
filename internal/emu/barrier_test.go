package emu

import (
	"context"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/testing/long"
)

// Neighbours exchange through shared memory; PTX ISA 9.7.13.1: after bar.sync the writes before it
// are visible to all threads of the block.
func TestBarrierSync(t *testing.T) {
	k := kernel(t, `
	.shared .align 4 .b8 buf[512];
	mov.u32 %u, %tid.x;
	mov.u32 %v, buf;
	mad.lo.u32 %w, %u, 4, %v;
	st.shared.u32 [%w], %i;
	bar.sync 0;
	sub.u32 %u, 127, %u;
	mad.lo.u32 %w, %u, 4, %v;
	ld.shared.u32 %v, [%w];
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(3, 128, buffer("out", 1536)), opt)
		wantWords(t, res, "out", 384, func(i int) uint32 { return uint32(i/128*128 + 127 - i%128) })
		as, cs := of[event.Arrive](r), of[event.Complete](r)
		if len(as) != 12 || len(cs) != 3 {
			t.Fatalf("%d arrivals, %d completions", len(as), len(cs))
		}
		for _, a := range as {
			if a.Mask != full || a.Barrier != 0 || a.Count != 0 || a.Op != event.BarSync || a.Red ||
				!a.Aligned {
				t.Errorf("arrival %+v", a)
			}
		}
		for _, c := range cs {
			if c.Exited {
				t.Errorf("no thread had exited: %+v", c)
			}
		}
	})
}

// A barrier waits only for threads that have not exited, and reports it.
func TestBarrierAfterExit(t *testing.T) {
	k := kernel(t, `
	setp.ge.u32 %c, %i, 40;
	@%c exit;
	barrier.sync 3;
	st.global.u32 [%p], 1;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		_, r := completed(t, k, config(1, 128, buffer("out", 512)), opt)
		cs := of[event.Complete](r)
		if len(cs) != 1 || !cs[0].Exited || cs[0].Barrier != 3 {
			t.Errorf("completions %+v", cs)
		}
		as := of[event.Arrive](r)
		if len(as) != 2 || as[0].Aligned {
			t.Errorf("arrivals %+v", as)
		}
	})
}

// Lanes of one warp may wait at a barrier when the others exit: the barrier then completes without
// them, as without threads that had exited before (PTX ISA 9.7.13.1: the barrier counts threads that
// are executing).
func TestBarrierExitInWarp(t *testing.T) {
	k := kernel(t, `
	setp.ge.u32 %c, %i, 40;
	@%c bra LAST;
	barrier.sync 3;
	st.global.u32 [%p], 1;
	ret;
LAST:
	mov.u32 %w, 0;
L:	add.u32 %w, %w, 1;
	setp.lt.u32 %c, %w, 20;
	@%c bra L;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 64, buffer("out", 256)), opt)
		wantWords(t, res, "out", 64, func(i int) uint32 { return uint32(min(1, 40/(i+1))) })
		if cs := of[event.Complete](r); len(cs) != 1 || !cs[0].Exited {
			t.Errorf("completions %+v, want one without exited threads", cs)
		}
	})
}

// A barrier with a count completes without exited threads if they belong to its warps, and not if
// they belong to others.
func TestCountedBarrierAfterExit(t *testing.T) {
	for _, test := range []struct {
		name, exits string
		want        bool
	}{
		{"nobody", "setp.ge.u32 %c, %i, 128;", false},
		{"a warp that does not take part", "setp.ge.u32 %c, %i, 96;", false},
		{"a lane of a warp that does", "setp.eq.u32 %c, %i, 40;", true},
	} {
		k := kernel(t, test.exits+`
	@%c exit;
	setp.ge.u32 %c, %i, 64;
	@%c bra END;
	barrier.sync 1, 64;
END:	ret;`)
		twoModels(t, func(t *testing.T, opt Options) {
			_, r := completed(t, k, config(1, 128, buffer("out", 4)), opt)
			if cs := of[event.Complete](r); len(cs) != 1 || cs[0].Exited != test.want {
				t.Errorf("%s exits: completions %+v", test.name, cs)
			}
		})
	}
}

// A barrier with a count waits for that many threads, even if the count is that of the block and
// some of its warps have exited (PTX ISA 9.7.13.1: "the number of threads participating").
func TestCountOfBlockAfterExit(t *testing.T) {
	for op, want := range map[string]Status{"barrier.sync 0;": Completed, "barrier.sync 0, 128;": Stalled} {
		k := kernel(t, "setp.ge.u32 %c, %i, 96;\n@%c exit;\n"+op+"\nret;")
		twoModels(t, func(t *testing.T, opt Options) {
			_, res, _ := start(t, k, config(1, 128, buffer("out", 4)), opt)
			if res.Status != want {
				t.Errorf("%s: status %d, want %d", op, res.Status, want)
			}
		})
	}
	// One arrival names the count and another does not.
	k := kernel(t, `
	setp.ge.u32 %c, %i, 96;
	@%c exit;
	setp.ge.u32 %c, %i, 64;
	@%c bra B;
	barrier.sync 0;
	bra END;
B:	barrier.sync 0, 128;
END:	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		if _, res, _ := start(t, k, config(1, 128, buffer("out", 4)), opt); res.Status != Stalled {
			t.Errorf("with and without a count: status %d, want %d", res.Status, Stalled)
		}
	})
}

// Producer and consumer of the ISA's example: two warps arrive at barrier 1, two others sync at it.
func TestBarrierArrive(t *testing.T) {
	k := kernel(t, `
	.shared .align 4 .b8 buf[256];
	mov.u32 %v, buf;
	setp.ge.u32 %c, %i, 64;
	@%c bra Lconsumer;
Lproducer:
	mad.lo.u32 %w, %i, 4, %v;
	st.shared.u32 [%w], %i;
	bar.arrive 1, 128;
	ret;
Lconsumer:
	bar.sync 1, 128;
	sub.u32 %u, %i, 64;
	mad.lo.u32 %w, %u, 4, %v;
	ld.shared.u32 %v, [%w];
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 128, buffer("out", 512)), opt)
		wantWords(t, res, "out", 128, func(i int) uint32 {
			if i < 64 {
				return 0
			}
			return uint32(i - 64)
		})
		arrive := 0
		for _, a := range of[event.Arrive](r) {
			if a.Op == event.BarArrive {
				arrive++
			}
			if a.Count != 128 || a.Barrier != 1 {
				t.Errorf("arrival %+v", a)
			}
		}
		if arrive != 2 || len(of[event.Complete](r)) != 1 {
			t.Errorf("%d warps arrived without waiting", arrive)
		}
	})
}

// The reductions of a barrier are over the predicates of all threads (PTX ISA 9.7.13.1): how many
// are true, whether any is, and whether all are.
func TestBarrierReduce(t *testing.T) {
	const any, all = 1000, 2000
	for what, c := range map[string]struct {
		set       string
		many, and uint32 // of 70 threads; what or and and add
	}{
		"none":        {"setp.gt.u32 %c, %t, 70;", 0, 0},
		"one":         {"setp.eq.u32 %c, %t, 40;", 1, any},
		"one warp":    {"setp.lt.u32 %c, %t, 32;", 32, any},
		"all but one": {"setp.ne.u32 %c, %t, 3;", 69, any},
		"all":         {"setp.le.u32 %c, %t, 70;", 70, any + all},
	} {
		k := kernel(t, c.set+`
	bar.red.popc.u32 %v, 0, %c;
	bar.red.or.pred %d, 0, %c;
	bar.red.and.pred %e, 0, %c;
	bar.red.popc.u32 %w, 0, !%c;
	@%d add.u32 %v, %v, 1000;
	@%e add.u32 %v, %v, 2000;
	mad.lo.u32 %v, %w, 10000, %v;
	st.global.u32 [%p], %v;
	ret;`)
		t.Run(what, func(t *testing.T) {
			twoModels(t, func(t *testing.T, opt Options) {
				res, r := completed(t, k, config(1, 70, buffer("out", 280)), opt)
				wantWords(t, res, "out", 70, func(int) uint32 { return c.many + c.and + 10000*(70-c.many) })
				for _, a := range of[event.Arrive](r) {
					if !a.Red {
						t.Errorf("arrival %+v", a)
					}
				}
			})
		})
	}
}

// Registers name the barrier and the count: two halves of the block use barriers of their own.
func TestBarrierByRegister(t *testing.T) {
	k := kernel(t, `
	shr.u32 %u, %i, 6;
	mov.u32 %w, 64;
	bar.sync %u, %w;
	st.global.u32 [%p], %u;
	ret;`)
	_, r := completed(t, k, config(1, 128, buffer("out", 512)), Options{})
	seen := map[uint8]int{}
	for _, c := range of[event.Complete](r) {
		seen[c.Barrier]++
	}
	if len(seen) != 2 || seen[0] != 1 || seen[1] != 1 {
		t.Errorf("completions %v", seen)
	}
}

// Lanes of one warp reach the barrier on two paths. They arrive as two groups at two sites, and the
// barrier completes once the full warp has arrived.
func TestBarrierOnTwoPaths(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 8;
	@%c bra Llow;
Lhigh:
	barrier.sync 0;
	bra Lend;
Llow:
	barrier.sync 0;
Lend:
	st.global.u32 [%p], 1;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		_, r := completed(t, k, config(1, 64, buffer("out", 256)), opt)
		as := of[event.Arrive](r)
		if len(as) != 3 || len(of[event.Complete](r)) != 1 {
			t.Fatalf("%d arrivals, %d completions", len(as), len(of[event.Complete](r)))
		}
		sites := map[event.Site]uint32{}
		for _, a := range as {
			if a.Warp == 0 {
				sites[a.Site] |= a.Mask
			}
		}
		if len(sites) != 2 {
			t.Errorf("warp 0 arrives at %d sites, want 2", len(sites))
		}
	})
}

// Half of a warp never arrives: nothing in the block can continue.
func TestBarrierStall(t *testing.T) {
	k := kernel(t, `
	mov.u32 %u, %tid.x;
	mov.u32 %w, %ctaid.x;
	setp.lt.u32 %c, %u, 8;
	setp.eq.and.u32 %c, %w, 1, %c;
	@%c bra Lother;
Lone:
	bar.sync 0;
	bra Lend;
Lother:
	bar.sync 1;
Lend:
	st.global.u32 [%p], 1;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		_, res, r := start(t, k, config(3, 32, buffer("out", 384)), opt)
		if res.Status != Stalled || res.Blocks != 2 {
			t.Fatalf("status %d, %d blocks", res.Status, res.Blocks)
		}
		wantWords(t, res, "out", 96, func(i int) uint32 { return uint32(1 - min(i/32%2, 1)) })
		ss := of[event.Stall](r)
		if len(ss) != 1 || ss[0].Block != 1 || len(ss[0].Waiting) != 2 {
			t.Fatalf("stalls %+v", ss)
		}
		for _, w := range ss[0].Waiting {
			want := uint32(0xff)
			if w.Barrier == 0 {
				want = ^want
			}
			if w.Mask != want || w.WarpBar {
				t.Errorf("waiting %+v", w)
			}
		}
	})
}

func TestBadBarriers(t *testing.T) {
	for _, op := range []string{
		"bar.sync 16;",
		"bar.sync 0, 48;",
		"bar.arrive 0, 0;",
		"bar.sync %n;", // 64
		"bar.warp.sync 0xffff;",
	} {
		k := kernel(t, op+"\n\tret;")
		_, res, _ := start(t, k, config(1, 64, buffer("out", 4)), Options{})
		if res.Status != Stopped || res.Stop.Kind != BadBarrier {
			t.Errorf("%s: %+v", op, res.Stop)
		}
	}
}

// bar.warp.sync, PTX ISA 9.7.13.2: waits for all members, on whatever paths they arrive.
func TestWarpSync(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 8;
	@%c bra Llow;
Lhigh:
	bar.warp.sync 0xffffffff;
	bra Lend;
Llow:
	bar.warp.sync 0xffffffff;
Lend:
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		_, r := completed(t, k, config(1, 24, buffer("out", 4)), opt) // lanes 24 to 31 are no threads
		ws := of[event.WarpSync](r)
		if len(ws) != 1 || ws[0].Mask != 0xffffff {
			t.Errorf("warp barriers %+v", ws)
		}
	})
	// there are no registers
	bare := module(t, ".visible .entry k() {\n\tbar.warp.sync 0xffffffff;\n\tret;\n}")
	if _, res, _ := start(t, bare, config(1, 32), Options{}); res.Status != Completed {
		t.Errorf("without registers: status %d", res.Status)
	}
	hang := kernel(t, `
	setp.lt.u32 %c, %i, 8;
	@%c bra Llow;
Lhigh:
	bar.warp.sync 0xffffffff;
	bra Lend;
Llow:
	bar.sync 0;
Lend:
	ret;`)
	_, res, r := start(t, hang, config(1, 32, buffer("out", 4)), Options{})
	ss := of[event.Stall](r)
	if res.Status != Stalled || len(ss) != 1 || len(ss[0].Waiting) != 2 {
		t.Fatalf("status %d, stalls %+v", res.Status, ss)
	}
	for _, w := range ss[0].Waiting {
		if w.WarpBar != (w.Mask == 0xffffff00) || w.WarpBar && w.Members != full {
			t.Errorf("waiting %+v", w)
		}
	}
}

// A guarded barrier: lanes with a false guard continue to a barrier with the opposite guard.
func TestGuardedBarriers(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 8;
	@%c barrier.sync 0;
	@!%c barrier.sync 0;
	st.global.u32 [%p], 1;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(int) uint32 { return 1 })
		if len(of[event.Complete](r)) != 1 {
			t.Errorf("%d completions, want 1", len(of[event.Complete](r)))
		}
	})
}

// Lanes that a barrier or an operation of the warp kept apart, by its guard or by different
// operands, execute what follows together again, and so do they and those of another branch behind
// it: threads that diverge reconverge (PTX ISA 3.1).
func TestReconvergence(t *testing.T) {
	for _, c := range []struct{ low, high string }{
		{"@%d barrier.sync 0;\n@!%d barrier.sync 0;", "barrier.sync 0;"},
		{"@%d bar.warp.sync -1;\n@!%d bar.warp.sync -1;", "bar.warp.sync -1;"},
		{"selp.u32 %u, 0xff, 0xff00, %d;\nbar.warp.sync %u;", "bar.warp.sync 0xffff0000;"},
	} {
		k := kernel(t, `
	setp.lt.u32 %c, %i, 16;
	@%c bra Llow;
Lhigh:
	`+c.high+`
	bra Lend;
Llow:
	setp.lt.u32 %d, %i, 8;
	`+c.low+`
	add.u32 %v, %v, 1;
Lend:
	st.global.u32 [%p], 1;
	ret;`)
		twoModels(t, func(t *testing.T, opt Options) {
			_, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
			if stores := of[access](r); len(stores) != 1 || stores[0].Active != full {
				t.Errorf("%q: %d stores, the first by lanes %#x", c.low, len(stores), stores[0].Active)
			}
		})
	}
}

// gridBarrier counts arrivals of blocks in memory and waits for all of them: every block must be
// resident.
func gridBarrier(t testing.TB) *ir.Func {
	return kernel(t, `
	st.global.u32 [%p], 1;
	bar.sync 0;
	mov.u32 %u, %tid.x;
	setp.ne.u32 %c, %u, 0;
	@%c bra Ldone;
Lleader:
	membar.gl;
	ld.param.u64 %r, [x];
	red.global.add.u32 [%r], 1;
	mov.u32 %w, %nctaid.x;
Lspin:
	ld.volatile.global.u32 %v, [%r];
	setp.lt.u32 %d, %v, %w;
	@%d bra Lspin;
Ldone:
	bar.sync 0;
	ld.param.u64 %s, [out];
	xor.b32 %u, %i, 64;
	mul.wide.u32 %q, %u, 4;
	add.u64 %s, %s, %q;
	ld.volatile.global.u32 %v, [%s];
	add.u32 %v, %v, 1;
	ret;`)
}

func TestGridBarrier(t *testing.T) {
	for seed := range uint64(5) {
		res,
			r := completed(t, gridBarrier(t), config(200, 64, buffer("out", 200*256), buffer("count", 4)),
			Options{Seed: seed, MaxSteps: 5_000_000})
		wantWords(t, res, "count", 1, func(int) uint32 { return 200 })
		if n := len(of[event.Complete](r)); n != 400 {
			t.Errorf("%d completions, want 400", n)
		}
	}
}

// A lock that is never released, in a loop that counts its attempts, and a run that is told to end.
func TestEndlessLoops(t *testing.T) {
	long.Sequential(t)
	k := kernel(t, `
	st.global.u32 [%p], 5;
	ld.param.u64 %r, [out];
Lspin:
	atom.global.cas.b32 %v, [%r], 0, 1;
	add.u32 %w, %w, 1;
	setp.ne.u32 %c, %v, 0;
	@%c bra Lspin;
Lend:
	ret;`)
	cfg := config(4, 64, buffer("out", 1024))
	_, res, r := start(t, k, cfg, Options{MaxSteps: 20_000})
	if res.Status != StepLimit || res.Steps != 20_000 {
		t.Errorf("status %d after %d steps", res.Status, res.Steps)
	}
	if len(of[access](r)) < 8 {
		t.Errorf("the accesses before the limit are not kept")
	}
	m, err := New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	res, err = m.Run(ctx, Options{Progress: func(steps, done, blocks uint64) { cancel() }}, nil)
	if err != nil || res.Status != Interrupted {
		t.Errorf("status %d, %v", res.Status, err)
	}
}
