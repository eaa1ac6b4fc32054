package repair

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A kernel without a repair has a reason, from the most specific to the most general. It explains
// what the findings have in common; it does not prove that no repair exists.

// early reports whether a store of data follows the store of the flag for which the reading thread
// waits. No fence helps: a release orders only what precedes it.
func (r *repairer) early(store, read *ir.Instr) bool {
	if store == nil || read == nil || store.Row.Effect != isa.Writes || store.Order.Strong() {
		return false
	}
	waits := func(in *ir.Instr) bool { return isStrong(in) && r.spins(in) && r.before(in, read) }
	if !r.any(waits) {
		return false
	}
	writes := func(in *ir.Instr) bool {
		stores := in.Row.Effect == isa.Writes || in.Row.Effect == isa.ReadsWrites
		return stores && isStrong(in) && !r.spins(in)
	}
	return r.any(func(in *ir.Instr) bool { return writes(in) && r.before(in, store) }) &&
		!r.any(func(in *ir.Instr) bool { return writes(in) && r.before(store, in) })
}

// before reports whether b can execute after a. It is about paths of the control flow, whether or
// not a run takes them.
func (r *repairer) before(a, b *ir.Instr) bool {
	from, to := r.x.where(a), r.x.where(b)
	if from.Block == to.Block && from.Index < to.Index {
		return true
	}
	seen := newSet(len(r.x.k.Func.Blocks))
	var walk func(ir.BlockID) bool
	walk = func(id ir.BlockID) bool {
		for _, s := range r.x.k.Func.Block(id).Succs {
			if s == to.Block {
				return true
			}
			if !seen.has(s) {
				seen.add(s)
				if walk(s) {
					return true
				}
			}
		}
		return false
	}
	return walk(from.Block)
}

// some reports whether an instruction is a barrier of some threads of the block.
func some(in *ir.Instr) bool { return in != nil && in.Row != nil && otherBarrier(in) }

// warpWide reports whether the lanes of a warp execute an instruction together.
func warpWide(in *ir.Instr) bool {
	return in != nil && in.Row != nil &&
		(in.Row.Category == isa.WarpOp || in.Row.Category == isa.Matrix)
}

// any reports whether an instruction of the kernel satisfies a predicate.
func (r *repairer) any(like func(*ir.Instr) bool) bool {
	in := func(b *ir.Block) bool { return slices.ContainsFunc(b.Instrs, like) }
	return slices.ContainsFunc(r.x.k.Func.Blocks, in)
}

// leaves reports whether threads may exit in a function that the kernel calls.
func (r *repairer) leaves() bool {
	return r.any(func(in *ir.Instr) bool { return in.IsCall() })
}

// partial reports whether the kernel has warp barriers, whose masks may name some lanes only.
func (r *repairer) partial() bool {
	return r.any(func(in *ir.Instr) bool { return in.IsWarpBarrier() })
}

// given reports whether a finding has the reason why nothing repairs it.
func given(f located) bool { return f.Kind == Other || f.Kind == Unfinished }

// reason returns why a kernel cannot be repaired, as the end of a sentence: "... because". Only
// findings that a run showed count, since those of a failed proof may be spurious. The order of the
// cases is their priority: the first that applies is the reason.
func (r *repairer) reason() string {
	shown := func(ok func(located) bool) bool {
		return slices.ContainsFunc(r.found, func(f located) bool { return f.Shown && ok(f) })
	}
	one := shown(func(f located) bool {
		return (f.Kind == Race || f.Kind == Copy) && f.a == f.b && f.a != nil && !f.a.IsCall()
	})
	out := "no barrier or fence near the findings helps"
	switch {
	case one:
		out = "two threads race at the same instruction, " +
			"and no barrier separates an instruction from itself"
	case shown(func(f located) bool {
		return f.Kind == Race && (r.early(f.a, f.b) || r.early(f.b, f.a))
	}):
		out = "the flag is set before the data that it announces: " +
			"store the data first, then a fence, then the flag"
	case shown(func(f located) bool { return f.Kind == Race && f.Reach == AcrossBlocks }):
		out = "threads of different blocks race, and a block barrier does not order them"
	case shown(func(f located) bool { return f.Kind == Race && f.a == f.b && f.a != nil }):
		out = "the race is inside a function that is called and not inlined"
	case shown(given):
		i := slices.IndexFunc(r.found, func(f located) bool { return f.Shown && given(f) })
		out = r.found[i].Text
	case shown(func(f located) bool {
		return f.Kind == Divergence && (warpWide(f.a) || warpWide(f.b))
	}):
		out = "lanes wait at a warp operation for lanes that never reach it, " +
			"and heddle cannot know which lanes were meant to take part"
	case shown(func(f located) bool { return f.Kind == Divergence && (some(f.a) || some(f.b)) }):
		out = "barriers that count only some threads of the block do not match, " +
			"and heddle cannot know which threads were meant to wait for each other"
	case shown(func(f located) bool { return f.Kind == Divergence && f.a != nil && f.a.IsCall() }):
		out = "the barrier is inside a function that is called and not inlined"
	case shown(func(f located) bool { return f.Kind == Divergence }) && r.leaves():
		out = "threads have exited in a function that the kernel calls"
	case shown(func(f located) bool { return f.Kind == Race && f.Reach == InWarp }) && r.partial():
		out = "barriers order only some lanes of the warp, " +
			"and heddle cannot know which lanes were meant to wait for each other"
	case shown(func(f located) bool { return f.Kind.tracked() }):
		out = "no wait, arrival, announcement of bytes or fence that heddle could add helps"
	case r.why != nil:
		out = r.why.Error()
	}
	if u := r.updates(); len(u) > 0 && !r.opt.Atomic {
		out += "; with --allow atomic, the update can become an atomic operation"
		if slices.ContainsFunc(u, func(u update) bool { return u.float }) {
			out += ", and floating-point sums then depend on the order of the threads"
		}
	}
	return out
}
