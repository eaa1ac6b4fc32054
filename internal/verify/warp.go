package verify

import (
	"context"
	"slices"

	"heddle/internal/invariant"
	"heddle/internal/ir"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// convergence reports whether the lanes of each warp reach the same barriers of their warp in the
// same order, and none exits before: then each of these barriers orders what its warp does before
// and after it (PTX ISA 9.7.13.2). If that is not proved, there is no finding, but these barriers
// order nothing in the proof.
func (p *prover) convergence() bool {
	ends := p.th.WarpEnds
	if len(ends) == 0 {
		return false
	}
	sub := newProver(p.ctx, p.th, p.opt.aside())
	for i := range ends {
		for j := i; j < len(ends) && !sub.done(); j++ {
			if a, b := &ends[i], &ends[j]; a.Instr != nil || b.Instr != nil {
				sub.apart(a, b, false, p.sameWarp(p.pair))
			}
		}
	}
	ok := sub.failures() == 0
	p.res.Counters = p.res.Counters || ok && sub.res.Counters
	return ok
}

// inStep is the formula that lock step orders two accesses by lanes of one warp, and the terms that
// it is made of: one lane executes the instruction of the other one together with it, or they are in
// different iterations of a loop whose iterations lanes begin together. The proof is in
// docs/theory/lock-step.md, "Lanes in lock step".
func (p *prover) inStep(a, b *thread.Access, s [2]*smt.Substitution) (ordered smt.Term,
	about []smt.Term) {
	var any []smt.Term
	if a.Instr != b.Instr {
		any = append(any, p.joins(a, b, s, 1), p.joins(b, a, s, 0))
		about = append(about, a.Together, b.Together)
	}
	same := smt.True // the iterations of the loops around are the same
	for i, k := range a.Iters {
		if i >= len(b.Iters) || b.Iters[i] != k {
			break
		}
		equal := p.c.Eq(s[0].Apply(k), s[1].Apply(k))
		joint := func(l thread.Loop) bool { return l.Counter == k && l.Joint }
		if slices.ContainsFunc(p.th.Loops, joint) {
			any = append(any, p.c.And(same, p.c.Not(equal)))
		}
		same = p.c.And(same, equal)
	}
	return p.c.Or(any...), about
}

// joins is the formula that in lock step the thread of access b, number t of the pair, executes the
// instruction of a together with the thread of a: in the same iterations of the loops around it.
// Only if these are around b too do the terms of b's thread say what it does in its iteration.
func (p *prover) joins(a, b *thread.Access, s [2]*smt.Substitution, t int) smt.Term {
	n := len(a.Iters)
	if n > len(b.Iters) || !slices.Equal(a.Iters, b.Iters[:n]) {
		return smt.False
	}
	both := []smt.Term{s[t].Apply(a.Together)}
	for _, k := range a.Iters {
		both = append(both, p.c.Eq(s[0].Apply(k), s[1].Apply(k)))
	}
	return p.c.And(both...)
}

// Merged says which merge points of a thread in lock step all lanes of a warp pass together.
type Merged struct {
	Blocks   []ir.BlockID // lockstep.Options.Merges
	Counters bool         // as Result.Counters
	Stats    Stats
}

// Merges finds the merge points that all lanes of a warp pass in the same iterations of the loops
// around if one lane does. It asks of each what lanes asks of an operation that waits for all lanes
// of the warp. Where the lanes do not all begin an iteration of a loop, none is sought in it.
func Merges(ctx context.Context, th *thread.Thread, opt Options) Merged {
	out := Merged{Stats: Stats{Queries: map[string]*QueryStats{}}}
	even := map[evenLoop]bool{}
	var known *invariant.Set
	var uneven []smt.Term // the counters of loops whose iterations not all lanes begin
	for i := range th.Merges {
		m := &th.Merges[i]
		apart := func(k smt.Term) bool { return slices.Contains(uneven, k) }
		if slices.ContainsFunc(m.Wait.Iters, apart) {
			continue
		}
		sub := newProver(ctx, th, opt.aside())
		sub.res.Invariants = known
		newLanes(sub, even).absent(&m.Wait)
		failed := sub.failures() > 0
		known = sub.res.Invariants
		if !failed {
			out.Blocks = append(out.Blocks, m.Block)
			out.Counters = out.Counters || sub.res.Counters
		} else if n := len(m.Wait.Iters); n > 0 && beginsIteration(th, m) {
			uneven = append(uneven, m.Wait.Iters[n-1])
		}
		out.Stats.Add(&sub.res.Stats)
	}
	return out
}

// beginsIteration reports whether a merge point is the header of a loop.
func beginsIteration(th *thread.Thread, m *thread.Merge) bool {
	return slices.ContainsFunc(th.Loops, func(l thread.Loop) bool { return l.Header.ID == m.Block })
}
