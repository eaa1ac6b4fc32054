package irgen

import (
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// The lowering step knows the source, which PTX does not describe, and writes facts about it as
// comments at module level:
//
//	// heddle.kernel MANGLED LINE COL PATH
//	// heddle.param MANGLED INDEX NAME ptr|val TYPE
//	// heddle.fields MANGLED INDEX OFFSET...
//	// heddle.array NAME BYTES DIM...
//	// heddle.language cl
//	// heddle.library DIR
//
// An array has elements of BYTES bytes and the given dimensions; the first is 0 if it is open.
// PATH and TYPE (the LLVM type, for messages) go to the end of the line. NAME is "-" for a
// parameter without one. Fields gives the offsets of all pointers in a struct. Facts about kernels
// that the module does not define are ignored: the compiler may have removed them. Files below DIR
// are those of a library. Other comments that begin with "heddle" are not facts.

// libraries reads the directories of libraries, which the lines need, from these comments and from
// the names of files.
func (g *gen) libraries(file *ptx.File) {
	for _, d := range file.Decls {
		dir := ""
		switch d := d.(type) {
		case *ptx.Comment:
			if name, ok := strings.CutPrefix(d.Text, "heddle.library "); ok && name != "" {
				dir = strings.TrimSuffix(name, "/") + "/"
			}
		case *ptx.FileDir:
			dir = pythonLibrary(d.Name)
		}
		if dir != "" && !slices.Contains(g.mod.Libraries, dir) {
			g.mod.Libraries = append(g.mod.Libraries, dir)
		}
	}
}

// inLibrary reports whether a file is in one of some directories.
func inLibrary(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// facts reads these comments other than those of libraries. Pointers are inferred first; the facts come from the source's types
// and override the inference.
func (g *gen) facts(file *ptx.File) {
	for _, f := range g.mod.Funcs {
		if f.Kernel {
			ir.InferPointers(f)
		}
		for i, s := range ir.ParamShapes(f.Demangled, len(f.Params)) {
			f.Params[i].Shape = s
		}
	}
	for _, d := range file.Decls {
		c, ok := d.(*ptx.Comment)
		if !ok {
			continue
		}
		word, rest, _ := strings.Cut(c.Text, " ")
		switch word {
		case "heddle.kernel":
			g.kernelFact(c, rest)
		case "heddle.param":
			g.paramFact(c, rest)
		case "heddle.fields":
			g.fieldsFact(c, rest)
		case "heddle.array":
			g.arrayFact(c, rest)
		case "heddle.language":
			g.mod.OpenCL = strings.TrimSpace(rest) == "cl"
		}
	}
}

// kernelFact reads where a kernel is defined in the source. Line 0 would mean "unknown" and is
// malformed. The file need not have been loaded: the position is then shown without its text.
func (g *gen) kernelFact(c *ptx.Comment, rest string) {
	w := strings.SplitN(rest, " ", 4)
	line, col := 0, 0
	ok := len(w) == 4 && w[3] != ""
	if ok {
		line, ok = number(w[1])
	}
	if ok {
		col, ok = number(w[2])
	}
	if !ok || line == 0 {
		g.errorf(c.Span(), "malformed fact: expected \"heddle.kernel NAME LINE COL PATH\"")
		return
	}
	k := g.mod.Kernel(w[0])
	file := g.set.Named(w[3])
	if k == nil || file == nil {
		return
	}
	k.Src = &source.Frame{Func: k.Demangled, Pos: source.MakePos(file.ID, line, col),
		Library: inLibrary(g.mod.Libraries, file.Name)}
}

// paramFact reads a parameter's name in the source, and whether it is a pointer. A fact that
// contradicts the PTX (an index out of range, a pointer of the wrong size) is an error: the text
// and its comments come from different compilations.
func (g *gen) paramFact(c *ptx.Comment, rest string) {
	w := strings.SplitN(rest, " ", 5)
	index, ok := 0, len(w) == 5 && w[4] != "" && w[2] != "" && (w[3] == "ptr" || w[3] == "val")
	if ok {
		index, ok = number(w[1])
	}
	if !ok {
		g.errorf(c.Span(), "malformed fact: expected \"heddle.param NAME INDEX PARAM ptr|val TYPE\"")
		return
	}
	k := g.mod.Kernel(w[0])
	if k == nil {
		return
	}
	if index >= len(k.Params) {
		g.errorf(c.Span(), "fact about parameter %d of %s, which has %d", index, k.Name, len(k.Params))
		return
	}
	p := k.Params[index]
	if w[2] != "-" {
		p.Source = w[2]
	}
	if byValue := w[3] == "val" && strings.HasPrefix(w[4], "["); !byValue {
		// Of a struct by value, of 8 bytes too, the use of its fields decides.
		p.Pointer, p.Guessed = w[3] == "ptr", nil
	}
	if p.Pointer {
		p.PtrSpace = pointerSpace(w[4])
	}
	if p.Pointer && p.Size != g.mod.AddressSize/8 {
		g.errorf(c.Span(), "fact about parameter %d of %s: a pointer of %d bytes", index, k.Name, p.Size)
	}
}

// fieldsFact reads which fields of a struct are pointers. Another one that is used as an address
// may be one as well, by a cast of an integer: that is a guess.
func (g *gen) fieldsFact(c *ptx.Comment, rest string) {
	w := strings.Fields(rest)
	var n []int
	for _, text := range w[min(1, len(w)):] {
		if i, ok := number(text); ok {
			n = append(n, i)
		}
	}
	if len(w) < 2 || len(n) != len(w)-1 {
		g.errorf(c.Span(), "malformed fact: expected \"heddle.fields NAME INDEX OFFSET...\"")
		return
	}
	k := g.mod.Kernel(w[0])
	if k == nil {
		return
	}
	size := g.mod.AddressSize / 8
	if n[0] >= len(k.Params) || len(n) > 1 && slices.Max(n[1:])+size > k.Params[n[0]].Size {
		g.errorf(c.Span(), "fact about fields of parameter %d of %s, which has none there", n[0], k.Name)
		return
	}
	p := k.Params[n[0]]
	if p.Guessed = slices.Clone(p.PtrFields); p.Pointer {
		p.Guessed = []int{0}
	}
	for _, off := range n[1:] {
		p.Guessed = slices.DeleteFunc(p.Guessed, func(g int) bool { return g == off })
		switch {
		case p.Size == size:
			p.Pointer = true
		case !slices.Contains(p.PtrFields, off):
			p.PtrFields = append(p.PtrFields, off)
			slices.Sort(p.PtrFields)
		}
	}
}

// arrayFact reads how the source declares a variable. A fact that contradicts the variable's size is
// an error.
func (g *gen) arrayFact(c *ptx.Comment, rest string) {
	w := strings.Fields(rest)
	var n []int
	for _, text := range w[min(1, len(w)):] {
		i, ok := number(text)
		if !ok || i == 0 && len(n) != 1 {
			break
		}
		n = append(n, i)
	}
	if len(n) < 2 || len(n) != len(w)-1 {
		g.errorf(c.Span(), "malformed fact: expected \"heddle.array NAME BYTES DIM...\"")
		return
	}
	v := g.memoryVar(w[0])
	if v == nil {
		return
	}
	size := 1
	for _, d := range n {
		if size *= d; size > maxVarSize {
			g.errorf(c.Span(), "fact about %s: it is larger than 2^40 bytes", w[0])
			return
		}
	}
	if size != v.Size {
		g.errorf(c.Span(), "fact about %s: an array of %d bytes, which has %d", w[0], size, v.Size)
		return
	}
	v.Shape = ir.Shape{Elem: n[0], Dims: n[1:]}
}

// memoryVar returns the variable of the module, or of a function, with the given name; nil if there
// is none.
func (g *gen) memoryVar(name string) *ir.Var {
	if s := g.top.syms[name]; s != nil && s.kind == symVar {
		return s.v
	}
	for _, f := range g.mod.Funcs {
		for _, v := range f.Vars {
			if v.Name == name {
				return v
			}
		}
	}
	return nil
}

// pointerSpace reads the address space of a pointer from its LLVM type, by the numbers of the NVPTX
// backend; NoSpace for a generic pointer.
func pointerSpace(typ string) event.Space {
	for n, space := range map[string]event.Space{"(1)": event.Global, "(3)": event.Shared,
		"(4)": event.Const} {
		if strings.Contains(typ, "addrspace"+n) {
			return space
		}
	}
	return event.NoSpace
}

// number reads a decimal number that fits an int32, as lines, columns and indices do.
func number(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}
