package weaken

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/thread"
)

// What is proved of an entire kernel. Package verify proves that no two threads race, by barriers
// alone: it takes neither fences nor memory orders into account. But a kernel whose threads do not
// race may still depend on them, and on barriers, by what strong accesses read (PTX ISA 8.7:
// morally strong accesses conflict without a race). The levels exclude that, or bound it. Each is
// proved of the kernel with its accesses changed for the proof, in soften.
//
// quiet: each strong access is a reduction, an atomic update whose result no thread uses and which
// commutes with the other updates of its memory; or it does not race although the proof takes it to
// be weak. So of each pair of conflicting accesses of which one reads, or both store, barriers
// order one before the other. Every read returns what the last stores before it and the updates
// since then make, in whatever order these happened. By induction over happens-before, every value
// that a thread computes, and the contents of memory in the end, follow from the arguments and
// barriers: no fence, no memory order and no scope that keeps updates atomic changes them. (Sums of
// floating-point numbers are rounded in the order in which they happen, with and without fences.)
//
// alone: as quiet, except that one location takes updates whose results are used, such as a counter
// of tickets. All threads agree on the order of these updates (8.9.6, 8.10.1: coherence), and
// program order and barriers do not contradict it (8.10.5: SC per location). Fences and orders
// could only make an update ordered before another one that coherence has placed before it: an edge
// from a thread that wrote the location to one that read it, or between fences, can always be
// chosen along that order. So they exclude no execution, and what they order besides does not
// conflict. Barriers do decide which update is first, so that they may not be removed.
//
// local: no strong access conflicts with an access of another block, though the proof narrows all
// scopes to the block. Then no two blocks synchronize by a fence (8.8: a release pattern
// synchronizes with an acquire pattern that reads what it wrote), and none depends on the order of
// fences of different blocks, since blocks do not conflict at all. A fence is needed within its
// block at most.
//
// plain: the kernel is proved as it is.
//
// What the levels miss: kernels of which the order of strong accesses matters to some values, but
// not to the ones that a fence or a barrier affects; and flag protocols within a block.

// level is a set of the properties above.
type level uint8

const (
	plain level = 1 << iota
	local
	alone
	quiet
	// exact is quiet, but sums of floating-point numbers count as weak: barriers decide in which
	// order they are rounded.
	exact
)

// undo restores the instructions that soften changed.
type undo []func()

func (u undo) restore() {
	for _, f := range u {
		f()
	}
}

// soften changes the accesses of a kernel for the proof of a level.
func soften(k *ir.Func, l level) undo {
	var out undo
	reductions := reductionsOf(k)
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if !isStrong(in) {
				continue
			}
			order, scope := in.Order, in.Scope
			out = append(out, func() { in.Order, in.Scope = order, scope })
			switch {
			case l == local:
				in.Scope = event.CTA
			case l == alone && isUpdate(in), l == quiet && reductions[in],
				l == exact && reductions[in] && in.Type.Class() != isa.Float, l == plain:
			default:
				in.Order, in.Scope = event.Weak, event.NoScope
			}
		}
	}
	return out
}

// isStrong reports whether an instruction is a strong access.
func isStrong(in *ir.Instr) bool {
	return in.Row != nil && in.Row.Category == isa.Memory && in.Order.Strong()
}

// isUpdate reports whether an instruction is an atomic read-modify-write.
func isUpdate(in *ir.Instr) bool {
	return in.Action() == isa.ActAtomic || in.Action() == isa.ActReduce
}

// reductionsOf returns the updates of a kernel whose results no thread uses, if all of those that
// may access the same memory are the same commutative operation on the same type.
func reductionsOf(k *ir.Func) map[*ir.Instr]bool {
	out := map[*ir.Instr]bool{}
	used := registersRead(k)
	var list []*ir.Instr
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if isUpdate(in) && in.Order.Strong() && !isUsed(in, used) {
				list = append(list, in)
			}
		}
	}
	for _, in := range list {
		out[in] = commutes(in) && !slices.ContainsFunc(list, func(o *ir.Instr) bool {
			return mayMeet(in, o) && !sameOperation(in, o)
		})
	}
	return out
}

// commutes reports whether two updates by an operation give the same result in both orders. inc and
// dec do not, if their bounds differ; exch and cas do not.
func commutes(in *ir.Instr) bool {
	switch in.Fn {
	case isa.FnAdd, isa.FnAnd, isa.FnOr, isa.FnXor, isa.FnMin, isa.FnMax:
		return in.Vec <= 1
	}
	return false
}

func sameOperation(a, b *ir.Instr) bool {
	class := func(in *ir.Instr) isa.Class {
		c := in.Type.Class()
		if in.Fn == isa.FnAdd && c == isa.Signed { // wraps as the unsigned one
			return isa.Unsigned
		}
		return c
	}
	return a.Fn == b.Fn && a.Type.Size() == b.Type.Size() && class(a) == class(b) &&
		(a.Type == b.Type || class(a) != isa.Float) // f16 and bf16 round differently
}

// mayMeet reports whether two accesses may be to one memory, as far as their spaces tell.
func mayMeet(a, b *ir.Instr) bool {
	return a.Space == b.Space || a.Space == event.Generic || b.Space == event.Generic
}

// registersRead are the registers of which some instruction uses the value.
func registersRead(k *ir.Func) map[ir.RegID]bool {
	out := map[ir.RegID]bool{}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if in.Guard != ir.NoReg {
				out[in.Guard] = true
			}
			for i := range in.Src {
				in.Src[i].EachReg(func(r ir.RegID) { out[r] = true })
			}
			for i := range in.Dst { // the base of an address
				if in.Dst[i].Kind == ir.Mem {
					in.Dst[i].EachReg(func(r ir.RegID) { out[r] = true })
				}
			}
		}
	}
	return out
}

// isUsed reports whether the result of an update may be used.
func isUsed(in *ir.Instr, read map[ir.RegID]bool) bool {
	if in.Action() == isa.ActReduce {
		return false
	}
	used := false
	for i := range in.Dst {
		in.Dst[i].EachReg(func(r ir.RegID) { used = used || read[r] })
	}
	return used
}

// oneCounter reports whether the updates of a kernel whose results are used, and what else updates
// their memory, have one location, the same for all threads of a block.
func oneCounter(k *ir.Func, th *thread.Thread) bool {
	reductions := reductionsOf(k)
	var counter *thread.Access
	same := func(a *thread.Access) bool {
		at, fixed := th.Context.Value(a.Offset)
		of, _ := th.Context.Value(counter.Offset)
		return fixed && a.Object != nil && a.Object == counter.Object && at == of &&
			a.Size == counter.Size
	}
	for i := range th.Accesses {
		a := &th.Accesses[i]
		if !isUpdate(a.Instr) || reductions[a.Instr] {
			continue
		}
		if counter == nil {
			counter = a
		}
		if !same(a) {
			return false
		}
	}
	for i := range th.Accesses {
		a := &th.Accesses[i]
		if counter != nil && reductions[a.Instr] && (a.Object == nil || a.Object == counter.Object) &&
			!same(a) {
			return false
		}
	}
	return true
}

// unknown returns an instruction that the rules do not cover; nil if there is none. Copies,
// barriers in memory and clusters order memory in ways of their own.
func unknown(k *ir.Func) *ir.Instr {
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if !covered(in) {
				return in
			}
		}
	}
	return nil
}

func covered(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActCompute, isa.ActNothing, isa.ActBranch, isa.ActIndexedBranch, isa.ActReturn,
		isa.ActExit, isa.ActTrap, isa.ActConvertAddress, isa.ActTestSpace, isa.ActLoad, isa.ActStore,
		isa.ActAtomic, isa.ActReduce, isa.ActShuffle, isa.ActVote, isa.ActMatch, isa.ActActiveMask,
		isa.ActWarpReduce, isa.ActWarpBarrier, isa.ActFence:
		return !in.NonCoherent() || in.Action() == isa.ActLoad
	case isa.ActNumberedBarrier:
		_, block := in.BlockBarrier()
		return block && !in.Grid
	}
	return false
}
