package check

import (
	"fmt"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// place is where a user looks for an instruction: in the source if there is line info, at the innermost call
// that has some if it is in code without (a function of heddle's own headers), else in the PTX.
func place(info emu.SiteInfo) source.Span {
	if info.Instr == nil {
		return source.Span{}
	}
	if info.Instr.Loc != nil {
		return source.Span{Start: info.Instr.Loc.Pos}
	}
	for _, call := range info.Calls {
		if call.Loc != nil {
			return source.Span{Start: call.Loc.Pos}
		}
	}
	return info.Instr.Span
}

// kernelPlace is where a user looks for a kernel.
func kernelPlace(k *ir.Func) source.Span {
	if k.Src != nil {
		return source.Span{Start: k.Src.Pos}
	}
	return k.Span
}

// stack flattens the inline stacks of an instruction and of the calls that led to it.
func stack(info emu.SiteInfo) []source.Frame {
	var out []source.Frame
	if info.Instr == nil {
		return nil
	}
	out = appendFrames(out, info.Instr)
	for _, call := range info.Calls {
		out = appendFrames(out, call)
	}
	if len(out) == 0 {
		return []source.Frame{{Pos: info.Instr.Span.Start}}
	}
	return out
}

// appendFrames adds the frames of one instruction; code without line info has none.
func appendFrames(out []source.Frame, i *ir.Instr) []source.Frame {
	for f := i.Loc; f != nil; f = f.Parent {
		out = append(out, *f) // with its parent: a frame that has one was inlined
	}
	return out
}

// opText is an instruction as PTX writes it, without its operands.
func opText(i *ir.Instr) string {
	if i == nil {
		return "?"
	}
	return i.Text()
}

// threadText names a thread as CUDA does.
func threadText(g event.Geometry, t event.Thread) string {
	b, i := g.Index(t)
	return fmt.Sprintf("thread %v of block %v", i, b)
}

// lanesText names the lanes of a warp that mask selects: "threads (0,0,0) to (15,0,0)".
func lanesText(g event.Geometry, w event.Warp, mask uint32) string {
	first, last, n := -1, -1, 0
	for l := range event.WarpSize {
		if mask>>l&1 != 0 {
			if first < 0 {
				first = l
			}
			last = l
			n++
		}
	}
	if n == 0 {
		return "no thread"
	}
	_, a := g.Index(event.ThreadOf(w, first))
	_, z := g.Index(event.ThreadOf(w, last))
	switch {
	case n == 1:
		return fmt.Sprintf("thread %v", a)
	case last-first+1 == n:
		return fmt.Sprintf("%d threads %v to %v", n, a, z)
	}
	return fmt.Sprintf("%d threads between %v and %v", n, a, z)
}

// memory is a byte range of a named object.
type memory struct {
	name   string // "shared s"
	offset uint64
	size   uint64
}

func (m memory) String() string {
	if m.size == 1 {
		return fmt.Sprintf("%s (byte %d)", m.name, m.offset)
	}
	return fmt.Sprintf("%s (bytes %d-%d)", m.name, m.offset, m.offset+m.size-1)
}

// memoryAt names the bytes at an address.
func (r *kernelRun) memoryAt(space event.Space, block uint32, addr, size uint64) memory {
	obj, off, ok := r.machine.Object(space, block, addr)
	if !ok {
		return memory{name: fmt.Sprintf("%s memory at 0x%x", space, addr), size: size}
	}
	return memory{name: fmt.Sprintf("%s %s", space, obj.Name), offset: off, size: size}
}
