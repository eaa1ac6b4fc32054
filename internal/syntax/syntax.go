// Package syntax describes the statements of CUDA C++ and OpenCL C: the range of each, its
// enclosing blocks, and the places where a barrier can be written. It reads clang's syntax tree, so
// it agrees with the compiled code.
//
// A search for barriers uses it as follows:
//
//	lower.AST(...)  runs clang; Read turns the tree into a Unit with a place.Tree per function
//	Unit.Marks      marks every label; lower.Options.Marked compiles the marked files once
//	ir.Placed       turns the marks into barriers, or removes them: a candidate without compiling
//	Unit.Find       maps a point to its function and label; Func.Locate maps a position to its label
//	Unit.Edits      turns the selected placements into edits of the user's files
//
// PTX has no statements; OfPTX builds the trees from the control flow and inserts the points.
//
// Point numbers are unique in a Unit. A function that is inlined or instantiated several times has
// its points in every copy: a barrier in the source is a barrier in all copies.
//
// A barrier cannot be placed (Closed in the tree) inside the expansion of a macro, after a
// statement that control never leaves, between the branches of an if, in code that the preprocessor
// removed, and wherever the text does not match the tree.
package syntax

import (
	"heddle/internal/ir"
	"heddle/internal/place"
	"heddle/internal/source"
)

// Unit holds the functions of the user's files in one compilation.
type Unit struct {
	OpenCL bool           // OpenCL C instead of CUDA C++
	PTX    bool           // hand-written PTX: labels are instructions
	Files  []*source.File // with functions, in the order of clang's tree
	Funcs  []*Func        // in the order of clang's tree
	Hosts  []*Host        // functions of host code, in the order of clang's tree
	points int            // number of points so far
}

// Func is a kernel or a device function, including member functions and lambda expressions. A
// template is a single Func for all its instances.
type Func struct {
	Name    string       // as declared: "reduce", "operator()" of a lambda expression
	Scope   string       // the namespaces and classes around it: "cuda::ptx"
	Member  bool         // it is a member of a class that is called for an object
	Mangled []string     // mangled names; a template has one for each instance
	Kernel  bool         // a kernel or a kernel template
	Host    bool         // also compiled for the host, which has no barriers
	File    *source.File // with its body
	Span    source.Span  // of the body, braces included
	Tree    place.Tree   // label 0 is the body
	Nodes   []Node       // by label
	First   int          // point of label 0; label l has the point First+l
	pieces  []piece
	body    *node // in clang's tree; nil for PTX
	params  []string
	decls   []*node // of the parameters
	path    string  // of the file in clang's tree
	asm     bool    // PTX
}

// Node is the place of a label in the text.
type Node struct {
	// Span covers the statement with its semicolon. For a Start it is empty, at the start of the
	// block.
	Span source.Span
	// At is the byte offset for a mark or a barrier after the label, and -1 if Closed. For a Barrier
	// it is the offset of the statement.
	At    int
	head  int  // of a block without braces: offset after the token before it; otherwise 0
	alone bool // of a Barrier: its block remains valid without a statement in its place
}

// Find returns the function and the label of a point, and whether it exists.
func (u *Unit) Find(point int) (*Func, place.Label, bool) {
	for _, f := range u.Funcs {
		if l := point - f.First; l >= 0 && l < len(f.Nodes) {
			return f, place.Label(l), true
		}
	}
	return nil, place.None, false
}

// Point returns the number of the point of a label.
func (f *Func) Point(l place.Label) int { return f.First + int(l) }

// FuncOf returns the innermost function that contains a position, or nil. A lambda expression is
// inside another function.
func (u *Unit) FuncOf(p source.Pos) *Func {
	var found *Func
	for _, f := range u.Funcs {
		if within(p, f.Span) && (found == nil || f.Span.Start > found.Span.Start) {
			found = f
		}
	}
	return found
}

// Locate returns the label of the statement that an instruction was compiled from: the smallest
// statement of f that contains the position of the innermost frame in f. The head of an if or a
// loop belongs to that statement.
func (f *Func) Locate(fr *source.Frame) (place.Label, bool) {
	for ; fr != nil; fr = fr.Parent {
		if l, ok := f.At(fr.Pos); ok {
			return l, true
		}
	}
	return place.None, false
}

// At returns the label of the smallest statement that contains a position, and whether f contains
// it.
func (f *Func) At(p source.Pos) (place.Label, bool) {
	if !within(p, f.Span) {
		return place.None, false
	}
	best := place.Label(0)
	for l := range f.Nodes {
		if n := &f.Nodes[l]; within(p, n.Span) && narrower(n.Span, f.Nodes[best].Span) {
			best = place.Label(l)
		}
	}
	return best, true
}

// Where returns the function and the label of an instruction: for a source, by the innermost frame
// in a function of the unit; for PTX, by the position of the instruction.
func (u *Unit) Where(in *ir.Instr) (*Func, place.Label, bool) {
	if u.PTX {
		f := u.FuncOf(in.Span.Start)
		if f == nil {
			return nil, place.None, false
		}
		l, ok := f.At(in.Span.Start)
		return f, l, ok
	}
	for fr := in.Loc; fr != nil; fr = fr.Parent {
		if f := u.FuncOf(fr.Pos); f != nil {
			l, ok := f.At(fr.Pos)
			return f, l, ok
		}
	}
	return nil, place.None, false
}

// within reports whether a span contains a position.
func within(p source.Pos, s source.Span) bool {
	return p.File() == s.Start.File() && p >= s.Start && p < s.End
}

// narrower reports whether a lies within b.
func narrower(a, b source.Span) bool { return a.Start >= b.Start && a.End <= b.End }
