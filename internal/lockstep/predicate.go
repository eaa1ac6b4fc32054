package lockstep

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// rejoins returns for each block the one whose predicate it has: its immediate dominator, if both are of one loop and
// all ways from there lead to the block, with no way out of the loop, back to its header, or out of the kernel. (The
// loops on the way are taken to end.) For all other blocks it is ir.NoBlock.
func (x *exec) rejoins() []ir.BlockID {
	out := slices.Repeat([]ir.BlockID{ir.NoBlock}, len(x.f.Blocks))
	for _, b := range x.rpo {
		d := x.dom.IDom(b)
		if b != 0 && d != ir.NoBlock && x.loops.Of[d] == x.outside(b) && x.closes(d, b) {
			out[b] = d
		}
	}
	return out
}

// outside returns the innermost loop around a block; for the header of a loop, what is around that loop.
func (x *exec) outside(b ir.BlockID) *ir.Loop {
	l := x.loops.Of[b]
	if l != nil && l.Header == b {
		return l.Parent
	}
	return l
}

// closes reports whether whatever leaves d comes to b, before it leaves the loop around d or comes back to its header.
func (x *exec) closes(d, b ir.BlockID) bool {
	l := x.loops.Of[d]
	seen := newBitset(len(x.f.Blocks))
	seen.add(int(d))
	work := []ir.BlockID{d}
	for len(work) > 0 {
		at := x.f.Blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		switch in := at.Last(); {
		case len(at.Succs) == 0:
			return false
		case in != nil && in.IsTerminator() && in.Op() != "bra" && in.Op() != "brx.idx": // may end the thread
			return false
		}
		for _, s := range at.Succs {
			switch {
			case l != nil && (s == l.Header || !l.Contains(s)), s == d:
				return false
			case s != b && !seen.has(int(s)):
				seen.add(int(s))
				work = append(work, s)
			}
		}
	}
	return true
}

// either is the disjunction of the predicates of states that meet. What they have in common stays outside of it, and two
// that differ in one condition alone become one: behind a branch both sides of which come together, the predicate is that
// before the branch again. Without this, whatever follows a branch on the thread's index would seem to depend on it.
// Ways are what tells the states apart, where one of them holds.
func (x *exec) either(preds []smt.Term) (pred smt.Term, ways []smt.Term) {
	c := x.c
	sets := make([][]smt.Term, len(preds))
	for i, p := range preds {
		sets[i] = x.conjuncts(p)
	}
	var common []smt.Term
	for _, t := range sets[0] {
		if !slices.ContainsFunc(sets[1:], func(s []smt.Term) bool { return !slices.Contains(s, t) }) {
			common = append(common, t)
		}
	}
	for i, s := range sets {
		sets[i] = slices.DeleteFunc(slices.Clone(s), func(t smt.Term) bool { return slices.Contains(common, t) })
	}
	for _, s := range sets {
		ways = append(ways, c.And(s...))
	}
	for x.resolveOne(&sets) {
	}
	rest := make([]smt.Term, len(sets))
	for i, s := range sets {
		rest[i] = c.And(s...)
	}
	return c.And(append(common, c.Or(rest...))...), ways
}

func (x *exec) conjuncts(p smt.Term) []smt.Term {
	if x.c.Op(p) == smt.OpAnd {
		return x.c.Args(p)
	}
	return []smt.Term{p}
}

// resolveOne replaces two conjunctions that differ only in that a condition is negated in one of them by what they share.
func (x *exec) resolveOne(sets *[][]smt.Term) bool {
	for i, a := range *sets {
		for j, b := range (*sets)[:i] {
			if len(a) != len(b) {
				continue
			}
			at, n := -1, 0
			for k, t := range a {
				if !slices.Contains(b, t) {
					at, n = k, n+1
				}
			}
			if n != 1 || !slices.Contains(b, x.c.Not(a[at])) {
				continue
			}
			(*sets)[j] = slices.Delete(slices.Clone(a), at, at+1)
			*sets = slices.Delete(*sets, i, i+1)
			return true
		}
	}
	return false
}
