package kernel

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Calls of copies that the threads of a group make together.
const (
	CollectiveCall = ir.AnnotationPrefix + "collective"
	ShareCall      = ir.AnnotationPrefix + "share"
	SnapshotCall   = ir.AnnotationPrefix + "snapshot"
)

// IsCallOf reports whether in calls the function of that name directly.
func IsCallOf(in *ir.Instr, name string) bool {
	return in.IsCall() && in.Callee != nil && in.Callee.Name == name
}

// IsBlockBarrier reports whether in is a barrier of the whole block: it may be guarded, and may
// reduce a predicate.
func IsBlockBarrier(in *ir.Instr) bool {
	_, ok := in.BlockBarrier()
	return ok
}

// IsStore reports whether an instruction may change shared or global memory.
func IsStore(in *ir.Instr) bool {
	return IsCallOf(in, ir.AnnotationPrefix+"writes_to") || in.Action() == isa.ActCopy ||
		in.Row.Category == isa.Memory && (in.Row.Effect == isa.Writes ||
			in.Row.Effect == isa.ReadsWrites) &&
			in.Space != event.Local && in.Space != event.Param
}

// IsLocalStore reports whether a memory instruction may change memory that is the thread's own.
func IsLocalStore(in *ir.Instr) bool {
	return in.Row.Effect != isa.Reads && in.Row.Effect != isa.NoEffect
}
