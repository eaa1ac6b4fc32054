package driver

import (
	"fmt"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// Reports give a place in the user's code. What happens in a library, such as CUB, is at the user's
// call of it, and a note names the place in the library.

// Place is the position that reports give for an instruction reached through calls, innermost
// first. If the instruction has line information, it is the line in the source. Otherwise it is the
// innermost call that has some, since code without it is a function of heddle's own headers. If
// none has, it is the position in the PTX. The span is invalid if in is nil.
func Place(in *ir.Instr, calls ...*ir.Instr) source.Span {
	if in == nil {
		return source.Span{}
	}
	if f := userFrame(in, calls); f != nil {
		return source.Span{Start: f.Pos}
	}
	return in.Span
}

// userFrame returns the innermost frame that is not in a library; the innermost of all if all are,
// as in a kernel of a library, and nil if there is none.
func userFrame(in *ir.Instr, calls []*ir.Instr) *source.Frame {
	first := in.Loc
	for n := -1; n < len(calls); n++ {
		f := in.Loc
		if n >= 0 {
			f = calls[n].Loc
		}
		if first == nil {
			first = f
		}
		for ; f != nil; f = f.Parent {
			if !f.Library {
				return f
			}
		}
	}
	return first
}

// KernelPlace is the position that reports give for a kernel: in the source if known, else in PTX.
func KernelPlace(k *ir.Func) source.Span {
	if k.Src != nil {
		return source.Span{Start: k.Src.Pos}
	}
	return k.Span
}

// Stack flattens the inline stacks of an instruction and of the calls that led to it, from the
// frame of its Place on.
func Stack(in *ir.Instr, calls ...*ir.Instr) []source.Frame {
	if in == nil {
		return nil
	}
	frames, user := allFrames(in, calls)
	if len(frames) == 0 {
		return []source.Frame{{Pos: in.Span.Start}}
	}
	return frames[user:]
}

// allFrames returns the frames of an instruction and of the calls that led to it, innermost first,
// and the number of those of a library below the user's call.
func allFrames(in *ir.Instr, calls []*ir.Instr) (frames []source.Frame, user int) {
	frames = appendFrames(frames, in)
	for _, call := range calls {
		frames = appendFrames(frames, call)
	}
	for i := range frames {
		if !frames[i].Library {
			return frames, i
		}
	}
	return frames, 0
}

// LibraryAlone reports whether an instruction and all calls that led to it are in a library.
func LibraryAlone(in *ir.Instr, calls ...*ir.Instr) bool {
	f := userFrame(in, calls)
	return f != nil && f.Library
}

// InLibrary says where an instruction is in a library that the user's code calls: the function
// that it calls, and the line of the instruction, such as "cub::BlockReduce::Sum
// (cub/block/block_reduce.cuh:9)". It is empty if Place is the place of the instruction itself.
func (m *Module) InLibrary(in *ir.Instr, calls ...*ir.Instr) string {
	if in == nil {
		return ""
	}
	frames, user := allFrames(in, calls)
	if user == 0 {
		return ""
	}
	file := m.IR.Files.File(frames[0].Pos.File())
	if file == nil {
		return ""
	}
	at := fmt.Sprintf("%s:%d", libraryName(m.IR.Libraries, file.Name), frames[0].Pos.Line())
	if fn := libraryFunc(frames[user-1].Func); fn != "" {
		return fmt.Sprintf("%s (%s)", fn, at)
	}
	return at
}

// libraryName shortens the name of a file in a library to that in an #include, cub/cub.cuh, or to
// the path in a package of Python: triton/language/standard.py.
func libraryName(dirs []string, name string) string {
	for _, dir := range dirs {
		if _, ok := strings.CutPrefix(name, dir); ok {
			from := strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/') + 1
			if i := strings.LastIndex(dir, "/triton/"); i >= 0 && strings.HasSuffix(name, ".py") {
				from = i + 1
			}
			return name[from:]
		}
	}
	return name
}

// libraryFunc shortens the name of a function of a library to what a user writes: without result,
// parameters, arguments of templates, and inline namespaces.
func libraryFunc(name string) string {
	name = source.Unversioned(name)
	var plain strings.Builder
	depth := 0
scan:
	for i := range len(name) {
		switch c := name[i]; {
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth > 0:
		case c == '(' && plain.Len() > 0:
			break scan
		default:
			plain.WriteByte(c)
		}
	}
	words := strings.Fields(plain.String())
	if len(words) == 0 {
		return ""
	}
	parts := strings.Split(words[len(words)-1], "::")
	out := parts[:0]
	for _, p := range parts {
		if !strings.HasPrefix(p, "__") {
			out = append(out, p)
		}
	}
	return strings.Join(out, "::")
}

// FromLibrary reports whether a kernel is defined in a library. What it is launched with is the
// library's own matter, so no launch can be guessed for it.
func FromLibrary(k *ir.Func) bool { return k.Src != nil && k.Src.Library }

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
