package run

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
)

// The text of findings about tensor memory (PTX ISA 9.7.16).

// isTensor reports whether an instruction is an operation on tensor memory that is asynchronous.
func isTensor(in *ir.Instr) bool {
	return in.Action() == isa.ActTensorAsync || in.Action() == isa.ActTensorAccess
}

// onTensor reports whether a race is on tensor memory.
func onTensor(rc *race.Race) bool { return rc.Space == event.Tensor }

// tensorPlace names a cell of tensor memory.
func tensorPlace(addr uint64) string {
	return fmt.Sprintf("tensor memory, lane %d, column %d", addr>>16, addr&0xffff)
}

// tensorDone says how a thread learns that an operation is complete.
func tensorDone(in *ir.Instr) string {
	switch {
	case in.Action() == isa.ActTensorAsync:
		return "a thread knows that it is complete behind a wait for an mbarrier to which its own " +
			"thread has committed it (tcgen05.commit)"
	case in.TensorStores():
		return "it is complete behind a tcgen05.wait::st by its warp"
	}
	return "it is complete behind a tcgen05.wait::ld by its warp"
}

// tensorUnordered says why the operations of a race are not ordered.
func (r *Run) tensorUnordered(rc *race.Race) string {
	one, two := r.Machine.Site(rc.First.Site).Instr, r.Machine.Site(rc.Second.Site).Instr
	if rc.Cause == race.Unordered { // with an allocation
		return "nothing orders the operation behind the allocation of what it accesses (PTX ISA " +
			"9.7.16.7.1)"
	}
	text := fmt.Sprintf("%s happens at some time behind its issue: %s, and an operation on the same "+
		"cells that is issued before may come first (PTX ISA 9.7.16.6)", one.Op(), tensorDone(one))
	if rc.First.Thread == rc.Second.Thread && one.Action() == isa.ActTensorAsync &&
		two.Action() == isa.ActTensorAsync {
		text += fmt.Sprintf("; operations of one thread are executed in their order only as mma "+
			"behind mma with the same accumulator and shape, mma behind cp or shift, shift behind mma, "+
			"and cp.4x256b behind shift, which %s behind %s is not here (9.7.16.6.2)", two.Op(), one.Op())
	}
	return text
}

// withoutFence is the diagnostic of an operation on tensor memory that comes behind another one,
// and not behind a tcgen05.fence::after_thread_sync.
func (r *Run) withoutFence(rc *race.Race, seed uint64) diag.Diagnostic {
	d := r.raceFinding(diag.CodeTensorFence, rc, seed)
	d.Severity = diag.Warning
	in := r.Machine.Site(rc.Second.Site).Instr
	d.Message = fmt.Sprintf("no tcgen05.fence::after_thread_sync lies between the wait for an "+
		"operation on %v and %s", r.Example(rc).memory, in.Op())
	d.Notes = []string{in.Op() + " is asynchronous: in all patterns of the PTX ISA (9.7.16.6.4) " +
		"the fence orders it behind the wait. This wait acquires, and the standard synchronization " +
		"applies as well (9.7.16.6.3), so that this is a warning"}
	return d
}
