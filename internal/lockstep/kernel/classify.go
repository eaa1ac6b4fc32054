package kernel

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// AnnotationPrefix begins the names of the functions that heddle's headers declare.
const AnnotationPrefix = "__heddle_"

// Calls of copies that the threads of a group make together.
const (
	CollectiveCall = AnnotationPrefix + "collective"
	ShareCall      = AnnotationPrefix + "share"
	SnapshotCall   = AnnotationPrefix + "snapshot"
)

// IsCallOf reports whether in calls the function of that name directly.
func IsCallOf(in *ir.Instr, name string) bool {
	return in.Op() == "call" && in.Callee != nil && in.Callee.Name == name
}

// IsBlockBarrier reports whether in is a barrier of the whole block: bar or barrier 0 without a count. It may be
// guarded, and may reduce a predicate.
func IsBlockBarrier(in *ir.Instr) bool {
	if in.Row.Category != isa.Barrier || in.Op() != "bar" && in.Op() != "barrier" {
		return false
	}
	return in.Fn != isa.FnArrive && len(in.Src) > 0 && in.Src[0].Kind == ir.Imm && in.Src[0].Val == 0 && !counted(in)
}

// counted reports whether a barrier names how many threads take part.
func counted(in *ir.Instr) bool {
	n := len(in.Src)
	if in.Fn == isa.FnPopc || in.Fn == isa.FnAnd || in.Fn == isa.FnOr || in.Fn == isa.FnRed {
		n-- // the predicate
	}
	return n > 1 && in.Src[1].Kind != ir.None
}

// IsStore reports whether an instruction may change shared or global memory.
func IsStore(in *ir.Instr) bool {
	return IsCallOf(in, AnnotationPrefix+"writes_to") || in.Op() == "cp.async" ||
		in.Row.Category == isa.Memory && (in.Row.Effect == isa.Writes || in.Row.Effect == isa.ReadsWrites) &&
			in.Space != event.Local && in.Space != event.Param
}

// IsLocalStore reports whether a memory instruction may change memory that is the thread's own.
func IsLocalStore(in *ir.Instr) bool {
	return in.Row.Effect != isa.Reads && in.Row.Effect != isa.NoEffect
}
