package driver

import (
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Place is where a user looks for an instruction that the calls, innermost first, led to. It is in
// the source if the instruction has line info; else at the innermost call that has some, since code
// without is a function of heddle's own headers; else in the PTX.
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

// KernelPlace is where a user looks for a kernel.
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

// OpText is an instruction as PTX writes it, without its operands.
func OpText(in *ir.Instr) string {
	if in == nil {
		return "?"
	}
	return in.Text()
}
