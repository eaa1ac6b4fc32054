package run

import (
	"fmt"
	"strings"

	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// place is the position of a site.
func place(info emu.SiteInfo) source.Span { return driver.Place(info.Instr, info.Calls...) }

// userPlace returns the position that a report gives for a site, and the inline and call stack from
// there, innermost frame first. Inline assembly in an inlined function is at the call of the
// function: a wrapper of one instruction says nothing to its users.
func (r *Run) userPlace(info emu.SiteInfo) (source.Span, []source.Frame) {
	at, frames := place(info), driver.Stack(info.Instr, info.Calls...)
	if len(frames) > 1 && frames[0].Parent != nil && assembly.MatchString(r.Job.SourceAt(at.Start)) {
		return source.Span{Start: frames[1].Pos}, frames[1:]
	}
	return at, frames
}

// PlaceOf is the place of the user's code at which a finding about a site is.
func (r *Run) PlaceOf(site event.Site) source.Span {
	at, _ := r.userPlace(r.Machine.Site(site))
	return at
}

// libraryNotes says which of the two accesses of a race are in a library that the user's code calls.
func (r *Run) libraryNotes(one, two emu.SiteInfo) []string {
	in1 := r.Job.Module.InLibrary(one.Instr, one.Calls...)
	in2 := r.Job.Module.InLibrary(two.Instr, two.Calls...)
	switch {
	case in1 != "" && in1 == in2:
		return []string{"both are in " + in1}
	case in1 != "" && in2 != "":
		return []string{"(1) is in " + in1 + ", (2) is in " + in2}
	case in1 != "":
		return []string{"(1) is in " + in1}
	case in2 != "":
		return []string{"(2) is in " + in2}
	}
	return nil
}

// libraryNote is libraryNotes for the place of a finding that is not a race.
func (r *Run) libraryNote(info emu.SiteInfo) []string {
	if in := r.Job.Module.InLibrary(info.Instr, info.Calls...); in != "" {
		return []string{"this is in " + in}
	}
	return nil
}

// threadText names a thread by threadIdx and blockIdx, as CUDA does.
func threadText(g event.Geometry, t event.Thread) string {
	b, i := g.Index(t)
	return fmt.Sprintf("thread %v of block %v", i, b)
}

// lanesText names the lanes of a warp that mask selects: "threads 0 to 15".
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
		return "no threads"
	}
	_, i := g.Index(event.ThreadOf(w, first))
	_, j := g.Index(event.ThreadOf(w, last))
	a, z := i.In(g.Block), j.In(g.Block)
	switch {
	case n == 1:
		return "thread " + a
	case last-first+1 == n:
		return fmt.Sprintf("threads %s to %s", a, z)
	}
	return fmt.Sprintf("%d threads between %s and %s", n, a, z)
}

// memory is a byte range of a named object. For an address outside of all objects, name has the
// address, and offset is 0.
type memory struct {
	name   string // "shared s"
	elem   string // "shared s[2][3]"; empty: unknown
	index  string // the same without the space
	shape  ir.Shape
	offset uint64
	size   uint64
}

func (m memory) String() string {
	if m.elem != "" {
		return m.elem
	}
	if m.size == 1 {
		return fmt.Sprintf("%s (byte %d)", m.name, m.offset)
	}
	return fmt.Sprintf("%s (bytes %d-%d)", m.name, m.offset, m.offset+m.size-1)
}

// memoryAt names the size bytes at an address. The block matters for shared memory only.
func (r *Run) memoryAt(space event.Space, block uint32, addr, size uint64) memory {
	if space == event.Tensor {
		return memory{name: tensorPlace(addr), elem: tensorPlace(addr), size: size}
	}
	obj, off, ok := r.Machine.Object(space, block, addr)
	if !ok {
		return memory{name: fmt.Sprintf("%s memory at 0x%x", space, addr), size: size}
	}
	if obj.Shape.Elem == 0 {
		obj.Shape = r.shapeOf(obj.Name)
	}
	short, where, more := strings.Cut(obj.Name, ", ") // "d, allocated at main.cu:12"
	m := memory{name: fmt.Sprintf("%s %s", space, obj.Name), offset: off, size: size}
	index, ok := obj.Shape.Element(short, off, size)
	if !ok {
		return m
	}
	m.index, m.shape = index, obj.Shape
	if m.elem = fmt.Sprintf("%s %s", space, index); more {
		m.elem += ", " + where
	}
	return m
}

// shapeOf returns the shape of a buffer of the program from the types of the parameters that point
// into it, if they agree.
func (r *Run) shapeOf(name string) ir.Shape {
	var out ir.Shape
	for i, v := range r.Job.Kernel.Params {
		if i >= len(r.Config.Args) {
			break
		}
		a := &r.Config.Args[i]
		if a.Buffer == nil || a.Buffer.Name != name {
			continue
		}
		elem := v.Shape.Elem
		if elem <= 0 || a.Offset%uint64(elem) != 0 || out.Elem != 0 && out.Elem != elem {
			return ir.Shape{}
		}
		out = ir.Shape{Elem: elem, Dims: []int{0}}
	}
	return out
}
