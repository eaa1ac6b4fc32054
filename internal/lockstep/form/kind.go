package form

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Kind is the row of Table 3a that a statement is of.
type Kind uint8

const (
	Assign  Kind = iota // private registers become what the instruction computes
	Havoc               // private registers become anything
	Read                // private registers become what memory that threads share holds
	Write               // memory that threads share is changed
	Update              // both, as one operation
	Barrier             // sync; its result, if it has one, is the same for all threads
	Fail                // assert false: trap, or a call that does not return
	Order               // no effect on registers and memory: a fence, a prefetch
)

// KindOf returns what kind of statement an instruction is.
func KindOf(in *ir.Instr) Kind {
	switch in.Row.Category {
	case isa.Barrier:
		return Barrier
	case isa.WarpOp:
		return withResult(in, Havoc)
	case isa.FenceCat:
		return Order
	case isa.Memory, isa.Async:
		return memoryKind(in)
	case isa.Texture, isa.Matrix: // what textures and other lanes hold
		return withResult(in, Havoc)
	}
	switch in.Action() {
	case isa.ActTrap:
		return Fail
	case isa.ActCall:
		if in.Callee != nil && in.Callee.NoReturn {
			return Fail
		}
		return withResult(in, Havoc)
	}
	return withResult(in, Assign)
}

// withResult is k, or Order for an instruction that writes no register and so has no effect here.
func withResult(in *ir.Instr, k Kind) Kind {
	if len(in.Dst) == 0 {
		return Order
	}
	return k
}

// memoryKind is the kind of an access. Local memory is private, but the form does not model it:
// what is read from there is any value.
func memoryKind(in *ir.Instr) Kind {
	switch space := Space(in); space {
	case event.Param, event.Const:
		return withResult(in, Assign) // no thread writes there
	case event.Local:
		return withResult(in, Havoc)
	}
	switch in.Row.Effect {
	case isa.Reads:
		return Read
	case isa.Writes:
		return Write
	case isa.ReadsWrites:
		return Update
	}
	return Order
}

// Space returns the memory space that an instruction accesses, as far as its text says.
func Space(in *ir.Instr) event.Space {
	if in.Space != event.Generic && in.Space != event.NoSpace {
		return in.Space
	}
	for i := range in.Src {
		if o := &in.Src[i]; o.Kind == ir.Mem && o.Var != nil {
			return o.Var.Space
		}
	}
	return in.Space
}

// noForm says why a statement has no lock-step form; "" if it has one.
func noForm(in *ir.Instr) string {
	switch {
	case in.IsCall() && KindOf(in) != Fail && (in.Callee == nil || in.Callee.Name != "vprintf"):
		return "a call of a function that is not inlined"
	case in.Row.Category == isa.Async, in.Row.Category == isa.Stack, in.Row.Cluster(),
		in.Action() == isa.ActMapAddress:
		return in.Text()
	case in.Action() == isa.ActMatrixGroup, in.Action() == isa.ActTensorAllocate,
		in.Action() == isa.ActQueryCancel:
		return in.Text() // of asynchronous operations, which have no lock-step form
	case in.Row.Category == isa.Matrix && in.Row.Effect != isa.NoEffect,
		in.Row.Category == isa.Texture && in.Row.Effect != isa.NoEffect && in.Row.Effect != isa.Reads:
		return in.Text()
	case in.Row.Category == isa.Barrier && in.Action() != isa.ActNumberedBarrier:
		return in.Text()
	case in.Row.Category == isa.Barrier && in.Fn == isa.FnArrive:
		return fmt.Sprintf("%s: a thread that does not wait at a barrier is in no lock-step with those that do", in.Text())
	}
	return ""
}

// BarrierParts returns the operands of a barrier: its number, and its count, of Kind None if it
// names none.
func BarrierParts(in *ir.Instr) (id, count ir.Operand) {
	b, _ := in.NumberedBarrier()
	if b.ID != nil {
		id = *b.ID
	}
	if b.Count != nil {
		count = *b.Count
	}
	return id, count
}
