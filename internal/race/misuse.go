package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Misuse of barriers, classified by this table (PTX ISA 9.7.13.1, 9.7.13.2; Barracuda §3.3.2):
//
//	a generation completes, and ...
//	  participants named different counts, or mixed .red with others   CountMismatch
//	  lanes of one warp arrived by different aligned instructions      Divergence
//	  lanes arrived twice, and it counts more threads than the block   Divergence
//	    has, so that it would not be complete otherwise
//	  it names no count, and threads of the block had exited           Divergence
//	  all participants only arrived                                    NoWaiter
//	  some may arrive before the last one was over (recycle.go)        Recycled
//	  it is barrier 0, names no count, and has several instructions    SplitBarrier
//	a block stalls or ends, and ...
//	  an incomplete generation has participants that may arrive        TooMany
//	    before the last one was over
//	a block stalls, and ...
//	  a waiting barrier has participants that disagree                 CountMismatch
//	  lanes wait at bar.warp.sync                                      WarpSyncHang
//	  some thread waits at a barrier without a count, that is, for     Divergence
//	    the whole block
//	  all wait at barriers with counts                                 Deadlock
//
// A lane that arrives twice in a generation, by bar.arrive and then by another instruction, counts
// twice: "care must be taken to keep a warp from executing more barrier instructions than intended
// prior to the reset of the barrier" (9.7.13.1). CUTLASS's epilogues intend it: all warps arrive, and
// the one that stores the tile then waits, at a barrier that counts 32 threads more. Who takes part
// in which generation is the same in all executions if nobody can be too early for the next one
// (recycle.go): without all of its arrivals a generation does not end.
//
// Different warps may use one id and count at different instructions: a barrier is a resource with
// a number. It can miss a barrier that only other schedules would leave incomplete.

// checkGeneration checks a generation that has completed.
func (d *Detector) checkGeneration(b *block, g *generation, c *event.Complete) {
	switch {
	case g.bad:
		d.barrierError(CountMismatch, b, c.Barrier, g.waits(), nil)
	case d.splitWarp(g):
		d.barrierError(Divergence, b, c.Barrier, g.waits(), nil)
	case !g.waited():
		d.barrierError(NoWaiter, b, c.Barrier, g.waits(), nil)
	case c.Exited && g.parts[0].wait.Count == 0:
		d.barrierError(Divergence, b, c.Barrier, g.waits(), b.exited())
	case c.Barrier == 0 && g.parts[0].wait.Count == 0:
		d.checkSites(b, g)
	}
}

// checkSites looks for threads of a block that arrived at different instructions. Each pair of an
// instruction with that of the first arrival is a finding of its own, since compilers duplicate
// barriers and not every pair is a mistake.
func (d *Detector) checkSites(b *block, g *generation) {
	first := &g.parts[0].wait
	last := first.Site
	for i := range g.parts {
		w := &g.parts[i].wait
		if w.Site == first.Site || w.Site == last {
			continue
		}
		last = w.Site
		groups := [...]event.Wait{*first, *w}
		d.barrierError(SplitBarrier, b, w.Barrier, groups[:], nil)
	}
}

// splitWarp reports whether lanes of one warp arrived by different instructions of which one is
// aligned, or arrived twice at a barrier that counts more threads than the block has.
func (d *Detector) splitWarp(g *generation) bool {
	if len(g.parts) < 2 {
		return false
	}
	tooMany := g.parts[0].wait.Count > uint32(d.opt.Geometry.ThreadsPerBlock())
	for i := range g.parts {
		for j := range i {
			p, q := &g.parts[i], &g.parts[j]
			if p.warp != q.warp {
				continue
			}
			if p.mask&q.mask != 0 {
				if tooMany {
					return true
				}
			} else if p.wait.Site != q.wait.Site && (p.wait.Aligned || q.wait.Aligned) {
				return true
			}
		}
	}
	return false
}

// waited reports whether some participant waits for the others.
func (g *generation) waited() bool {
	for i := range g.parts {
		if g.parts[i].op == event.BarSync {
			return true
		}
	}
	return false
}

func (g *generation) waits() []event.Wait {
	out := make([]event.Wait, 0, len(g.parts))
	for i := range g.parts {
		out = append(out, g.parts[i].wait)
	}
	return out
}

// exited lists the lanes of a block that have ended.
func (b *block) exited() []event.Exit {
	var out []event.Exit
	for i := range b.warps {
		w := &b.warps[i]
		if w.gone != 0 {
			out = append(out, event.Exit{Warp: w.id, Mask: w.gone})
		}
	}
	return out
}

// Stall classifies and records a block that cannot make progress.
func (d *Detector) Stall(s *event.Stall) {
	if len(s.Waiting) == 0 {
		return
	}
	b := d.blockOf(s.Waiting[0].Warp) // it may stall before its first access
	if d.unsafeEnd(b) {
		return
	}
	kind, barrier := Deadlock, s.Waiting[0].Barrier
	for _, w := range s.Waiting {
		switch {
		case !w.WarpBar && b.bars[w.Barrier].bad:
			d.barrierError(CountMismatch, b, w.Barrier, b.bars[w.Barrier].waits(), nil)
			return
		case w.WarpBar:
			kind = WarpSyncHang
		case w.Count == 0 && kind != WarpSyncHang:
			kind, barrier = Divergence, w.Barrier
		}
	}
	d.barrierError(kind, b, barrier, s.Waiting, s.Exited)
	if e := &d.errors[d.errorIndex[keyOf(kind, barrier, s.Waiting, s.Exited)]]; kind == Deadlock && e.Count == 1 {
		e.Arrived = b.arrivals()
	}
}

// arrivals lists the threads that have arrived at barriers without waiting.
func (b *block) arrivals() []Arrivals {
	var out []Arrivals
	for id := range b.bars {
		var groups []event.Wait
		for i := range b.bars[id].parts {
			if p := &b.bars[id].parts[i]; p.op == event.BarArrive {
				groups = append(groups, p.wait)
			}
		}
		if len(groups) > 0 {
			out = append(out, Arrivals{uint8(id), groups})
		}
	}
	return out
}

// errorKey groups findings of one kind at the same instructions.
type errorKey struct {
	kind    BarrierKind
	barrier uint8
	first   event.Site
	last    event.Site
	exited  bool
}

// barrierError records a finding, or counts it if the same instructions have disagreed before.
func (d *Detector) barrierError(kind BarrierKind, b *block, barrier uint8, groups []event.Wait,
	exited []event.Exit) {
	key := keyOf(kind, barrier, groups, exited)
	if i, ok := d.errorIndex[key]; ok {
		d.errors[i].Count++
		return
	}
	d.errorIndex[key] = len(d.errors)
	e := BarrierError{Kind: kind, Block: b.id, Barrier: barrier, Count: 1,
		Groups: append([]event.Wait(nil), groups...), Exited: append([]event.Exit(nil), exited...)}
	for _, g := range groups {
		e.AfterFault = e.AfterFault || d.faulted[g.Warp]&g.Mask != 0
	}
	for _, x := range exited {
		e.AfterFault = e.AfterFault || d.faulted[x.Warp]&x.Mask != 0
	}
	d.errors = append(d.errors, e)
}

// keyOf returns the key of a finding: the lowest and highest site of its groups distinguish it.
func keyOf(kind BarrierKind, barrier uint8, groups []event.Wait, exited []event.Exit) errorKey {
	lo, hi := groups[0].Site, groups[0].Site
	for _, w := range groups {
		lo, hi = min(lo, w.Site), max(hi, w.Site)
	}
	return errorKey{kind, barrier, lo, hi, len(exited) > 0}
}

// lastError returns the finding in which these groups are counted.
func (d *Detector) lastError(kind BarrierKind, groups []event.Wait) *BarrierError {
	return &d.errors[d.errorIndex[keyOf(kind, groups[0].Barrier, groups, nil)]]
}

func lowestLane(mask uint32) int { return bits.TrailingZeros32(mask) }
