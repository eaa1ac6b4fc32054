package kernel

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// sharedReach returns for each block the block whose reach condition it has: its immediate
// dominator, if both are in one loop and every path from there reaches the block before it leaves
// the loop, returns to the loop's header, or ends the thread. For all other blocks it is
// ir.NoBlock. Loops on the path are assumed to terminate.
func sharedReach(f *ir.Func, dom *ir.DomTree, loops *ir.LoopForest,
	order []ir.BlockID) []ir.BlockID {
	out := slices.Repeat([]ir.BlockID{ir.NoBlock}, len(f.Blocks))
	for _, b := range order {
		d := dom.IDom(b)
		if b != 0 && d != ir.NoBlock && loops.Of[d] == outside(loops, b) &&
			alwaysReaches(f, loops.Of[d], d, b) {
			out[b] = d
		}
	}
	return out
}

// outside returns the innermost loop around a block; for the header of a loop, the loop around that
// one.
func outside(loops *ir.LoopForest, b ir.BlockID) *ir.Loop {
	l := loops.Of[b]
	if l != nil && l.Header == b {
		return l.Parent
	}
	return l
}

// alwaysReaches reports whether every path from d reaches b before it leaves loop l, returns to the
// header of l or to d, or may end the thread.
func alwaysReaches(f *ir.Func, l *ir.Loop, d, b ir.BlockID) bool {
	seen := NewBits(len(f.Blocks))
	seen.Add(int(d))
	work := []ir.BlockID{d}
	for len(work) > 0 {
		at := f.Blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		if len(at.Succs) == 0 || mayEnd(at) {
			return false
		}
		for _, s := range at.Succs {
			switch {
			case l != nil && (s == l.Header || !l.Contains(s)), s == d:
				return false
			case s != b && !seen.Has(int(s)):
				seen.Add(int(s))
				work = append(work, s)
			}
		}
	}
	return true
}

// mayEnd reports whether a block ends in an instruction that may end the thread.
func mayEnd(b *ir.Block) bool {
	in := b.Last()
	return in != nil && in.IsTerminator() && in.Action() != isa.ActBranch &&
		in.Action() != isa.ActIndexedBranch
}
