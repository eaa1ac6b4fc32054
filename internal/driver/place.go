package driver

import (
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Place is the position that reports give for an instruction reached through calls, innermost
// first. If the instruction has line information, it is the line in the source. Otherwise it is the
// innermost call that has some, since code without it is a function of heddle's own headers. If
// none has, it is the position in the PTX. The span is invalid if in is nil.
func Place(in *ir.Instr, calls ...*ir.Instr) source.Span {
	if in == nil {
		return source.Span{}
	}
	if in.Loc != nil {
		return source.Span{Start: in.Loc.Pos}
	}
	for _, call := range calls {
		if call.Loc != nil {
			return source.Span{Start: call.Loc.Pos}
		}
	}
	return in.Span
}

// KernelPlace is the position that reports give for a kernel: in the source if known, else in PTX.
func KernelPlace(k *ir.Func) source.Span {
	if k.Src != nil {
		return source.Span{Start: k.Src.Pos}
	}
	return k.Span
}

// Stack flattens the inline stacks of an instruction and of the calls that led to it.
func Stack(in *ir.Instr, calls ...*ir.Instr) []source.Frame {
	var out []source.Frame
	if in == nil {
		return nil
	}
	out = appendFrames(out, in)
	for _, call := range calls {
		out = appendFrames(out, call)
	}
	if len(out) == 0 {
		return []source.Frame{{Pos: in.Span.Start}}
	}
	return out
}

// appendFrames adds the frames of one instruction; code without line info has none.
func appendFrames(out []source.Frame, in *ir.Instr) []source.Frame {
	for f := in.Loc; f != nil; f = f.Parent {
		out = append(out, *f) // with its parent: a frame that has one was inlined
	}
	return out
}

// OpText is the opcode of an instruction with its modifiers, as PTX writes it, without operands.
func OpText(in *ir.Instr) string {
	if in == nil {
		return "?"
	}
	return in.Text()
}
