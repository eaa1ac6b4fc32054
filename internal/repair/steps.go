package repair

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// More order never creates a race, so the strategies try everything that they offer together. That
// does not hold for mbarriers: a wait too many blocks for ever, and an arrival too many completes a
// phase too early. So what synchronizes with them is changed step by step: each step is for one
// finding, and is kept if that finding is no longer reported. A text that the judge accepts ends
// the search.

const (
	mostSteps = 3   // of a repair
	mostTried = 480 // texts, of all steps
	mostOpen  = 4   // texts with as many steps from which one more is tried
)

// tracks reports whether an instruction is about mbarriers, asynchronous operations that they or
// bulk groups track, or clusters.
func tracks(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActMBarrier, isa.ActBulkCopy, isa.ActBulkGroup, isa.ActAsyncStore, isa.ActMatrixAsync,
		isa.ActClusterBarrier, isa.ActTensorAsync, isa.ActTensorAccess, isa.ActTensorAllocate:
		return true
	}
	return false
}

// Tracks reports whether a kernel uses mbarriers, bulk copies, matrix operations of a warpgroup,
// tensor memory or the barrier of a cluster.
func Tracks(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Instrs, tracks) {
			return true
		}
	}
	return false
}

// steps is the state of a search by single steps.
type steps struct {
	r    *repairer
	left int // texts
}

// stepwise looks for a repair by single steps; nil if there is none, or if the kernel has nothing
// that they are for.
func (r *repairer) stepwise(ctx context.Context) (*attempt, error) {
	if !Tracks(r.x.k.Func) {
		return nil, nil
	}
	s := &steps{r: r, left: mostTried}
	best, err := s.search(ctx)
	if best == nil || err != nil {
		return nil, err
	}
	all := best.actions
	if best, err = s.fewest(ctx, best); err != nil {
		return nil, err
	}
	best.all = all
	if best.grade >= Traced {
		return best, nil
	}
	j, err := r.look(ctx, best.patch.Text, true)
	if err != nil || j.Grade < Clean {
		return nil, err
	}
	best.judgement, best.grade = j, j.Grade
	return best, nil
}

// fewest tries all parts of a repair, the smallest first, and returns the first that is as good.
func (s *steps) fewest(ctx context.Context, best *attempt) (*attempt, error) {
	n := len(best.actions)
	for size := 1; size < n; size++ {
		for part := range 1 << n {
			if bits.OnesCount(uint(part)) != size {
				continue
			}
			var list []action
			for i, a := range best.actions {
				if part>>i&1 != 0 {
					list = append(list, a)
				}
			}
			a, err := s.r.try(ctx, list, false)
			var no *Malformed
			if err != nil && !errors.As(err, &no) {
				return nil, err
			}
			if err == nil && a != nil && a.grade >= best.grade {
				return a, nil
			}
		}
	}
	return best, nil
}

// reached is a text with bugs that some steps have led to.
type reached struct {
	steps []action
	found []located
}

// search takes one step more at a time from the most promising texts of the step before, so that a
// repair with fewer steps is found before one with more.
func (s *steps) search(ctx context.Context) (*attempt, error) {
	open := []reached{{found: slices.Clone(s.r.found)}}
	for range mostSteps {
		var next []reached
		for _, n := range open {
			a, err := s.from(ctx, n, &next)
			if a != nil || err != nil {
				return a, err
			}
		}
		// Fewer findings first: those may need one step more.
		slices.SortStableFunc(next, func(a, b reached) int { return len(a.found) - len(b.found) })
		open = next[:min(len(next), mostOpen)]
	}
	return nil, nil
}

// from tries one step more for what is found in a text. It returns the best one without a bug, and
// adds to next those that are worth another step.
func (s *steps) from(ctx context.Context, n reached, next *[]reached) (*attempt, error) {
	var best *attempt
	for _, o := range s.r.offers(n.found) {
		if slices.ContainsFunc(n.steps, func(d action) bool { return d.key == o.key }) {
			continue
		}
		if s.left--; s.left < 0 {
			break
		}
		a, err := s.r.try(ctx, append(slices.Clone(n.steps), o.action), false)
		var no *Malformed
		if errors.As(err, &no) {
			continue // such as the name of a register in another { } block
		}
		if err != nil {
			return nil, err
		}
		switch {
		case a == nil:
		case a.grade >= Traced:
			return a, nil
		case a.grade >= Clean:
			if best == nil || a.grade > best.grade {
				best = a
			}
		case a.grade == Buggy:
			if left := s.r.locate(a.judgement, a.patch); s.progress(o.of, n.found, left) {
				*next = append(*next, reached{a.actions, left})
			}
		}
	}
	return best, nil
}

// progress reports whether a finding has disappeared and all that remain are at instructions of the
// original kernel.
func (s *steps) progress(of located, before, left []located) bool {
	for _, f := range left {
		if f.a == nil && f.A != End || f.b == nil && f.B != End {
			return false
		}
		if f.Kind == of.Kind && f.a == of.a && f.b == of.b {
			return false
		}
	}
	return len(left) > 0
}

// offer is a step for a finding.
type offer struct {
	action
	of located
}

// causes are the kinds of findings, those first that others may be a consequence of. Kinds that are
// not among them have no steps.
var causes = []Kind{ClusterUse, NoObject, NotStarted, NoPermit, Copy, Race, NoMatrixFence,
	EarlyRegister, TensorFreed, NoAllocation, Unfinished, Surplus, Proxy, NoState, Stuck, TensorLeft,
	MayHaveEnded}

// offers returns the steps for some findings, those that are most likely right first.
func (r *repairer) offers(found []located) []offer {
	var out []offer
	seen := map[string]bool{}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b located) int {
		return slices.Index(causes, a.Kind) - slices.Index(causes, b.Kind)
	})
	for _, f := range found {
		for _, a := range r.stepsFor(f) {
			if !seen[a.key] {
				seen[a.key] = true
				out = append(out, offer{a, f})
			}
		}
	}
	return out
}

// stepsFor returns the steps for one finding.
func (r *repairer) stepsFor(f located) []action {
	switch f.Kind {
	case Proxy:
		return r.proxyFences(f)
	case NoObject:
		return r.published()
	case NotStarted, ClusterUse:
		return r.lives(f)
	case MayHaveEnded:
		if isAsync(f.a) {
			return slices.Concat(r.waitsAtExits(f.a), r.lives(f))
		}
		return r.lives(f)
	case Race, Copy:
		if isInit(f.a) || isInit(f.b) {
			return r.published()
		}
		return slices.Concat(r.groups(f), r.freedBehind(f), r.tensorSteps(f), r.strengthened(f),
			r.waits(f), r.ordered(f), r.freedApart(f))
	case Surplus, Unfinished:
		return slices.Concat(r.groups(f), r.waits(f))
	case Stuck:
		return slices.Concat(r.bytes(f), r.tensorCommits(f), r.arrivals(f), r.otherParity(f),
			r.missingHalves())
	case NoState:
		return r.stateArrival(f)
	case NoMatrixFence:
		return r.matrixFence(f)
	case EarlyRegister:
		return r.matrixWaits(f)
	case TensorFreed:
		return r.freedLater(f)
	case NoAllocation:
		return r.freedOnce(f)
	case NoPermit:
		return r.permitLater(f)
	case TensorLeft:
		return r.freedAtExits(f)
	}
	return nil
}

// insertion is the action that adds an instruction at a place.
func (r *repairer) insertion(p Point, text, what string, cost float64) action {
	a := r.x.barrierAction(r.opt.Cost, p)
	a.key = text + a.key
	a.cost = cost * r.x.aloneCost(r.opt.Cost, p)
	a.what.What, a.what.Cut = what, false
	a.add = func(pl *Plan) { pl.Inserts = append(pl.Inserts, Insert{At: p, Text: text}) }
	return a
}

// tracked is insertion for an instruction about an mbarrier.
func (r *repairer) tracked(p Point, text, what string, cost float64, use *Tracked) action {
	a := r.insertion(p, text, what, cost)
	a.add = func(pl *Plan) { pl.Inserts = append(pl.Inserts, Insert{At: p, Text: text, Use: use}) }
	return a
}

// changes returns the part of an action that gives an instruction another text, about an mbarrier.
func changes(in *ir.Instr, text string, use *Tracked) func(*Plan) {
	return func(pl *Plan) {
		pl.Texts[in.Index] = text
		if pl.Uses == nil {
			pl.Uses = map[int]*Tracked{}
		}
		pl.Uses[in.Index] = use
	}
}
