// Package syntax knows the statements of CUDA C++ and OpenCL C: where each begins and ends, which blocks hold it, and where
// a barrier may be written. It reads clang's own syntax tree, so it agrees with what is compiled.
//
// The way of a search for barriers:
//
//	lower.AST(...)        runs clang, whose tree Read turns into a Unit: a place.Tree for each kernel and device function
//	Unit.Marked           the files with a mark at each label; lower.Options.Marked compiles them once
//	ir.Placed             makes of the marks' points barriers, or nothing: a candidate without compiling
//	Unit.Find             says which function and label a point is; Func.Locate which label a position is
//	Unit.Edits            turns the placements that were chosen into edits of the user's files
//
// PTX has no statements; OfPTX makes the trees from the control flow, and the module with points in it.
//
// Numbers of points are unique in a Unit. A function that is inlined at several places, or instantiated from a template
// several times, has its points at each of them: a barrier of the source is one of all.
//
// What is no place for a barrier (Closed in the tree): within what a macro expands to, after a statement that does not
// go on, between the branches of an if, in code that the preprocessor left out, and wherever the text around a place is
// not what the tree says.
package syntax

import (
	"heddle/internal/ir"
	"heddle/internal/place"
	"heddle/internal/source"
)

// Unit is what one compilation showed of the user's sources.
type Unit struct {
	OpenCL bool
	PTX    bool
	Files  []*source.File // those with functions, in the order in which clang came to them
	Funcs  []*Func
	points int
}

// Func is a kernel or a device function of the user's sources, a member function or lambda expression among them. A
// template is one Func whatever is instantiated.
type Func struct {
	Name    string       // as declared: "reduce", "operator()" of a lambda expression
	Mangled []string     // of the instances that clang named; a function that is no template has one
	Kernel  bool         // a kernel, or a template of one
	Host    bool         // for the host too, where there are no barriers
	File    *source.File // where its body is
	Span    source.Span  // of the body, braces included
	Tree    place.Tree   // label 0 is the body
	Nodes   []Node       // by label
	First   int          // number of the point of label 0; label l has First+l
	pieces  []piece
	body    *node // as clang has it; nil for PTX
	params  []string
	path    string // of the file, as clang names it
	asm     bool   // of PTX
}

// Node is where a label is in the text.
type Node struct {
	// Span is the statement: from its first byte to behind its last, the semicolon included. Of a Start it is empty, the
	// place at the beginning of the block.
	Span source.Span
	// At is the offset where a mark or a barrier goes that stands after the label; -1 if Closed. Of a Barrier it is the
	// offset where the statement begins.
	At    int
	head  int  // of a block without braces: the offset behind the last token before it; else 0
	alone bool // of a Barrier: its block can do without any statement in its place
}

// Find returns the function and the label of a point.
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

// FuncOf returns the function that holds a position; of two that do, as with a lambda expression, the inner one.
func (u *Unit) FuncOf(p source.Pos) *Func {
	var found *Func
	for _, f := range u.Funcs {
		if within(p, f.Span) && (found == nil || f.Span.Start > found.Span.Start) {
			found = f
		}
	}
	return found
}

// Locate returns the label of what an instruction was compiled from: of the innermost frame that is in f, the smallest
// statement that holds its position. The head of an if or a loop is part of that statement.
func (f *Func) Locate(fr *source.Frame) (place.Label, bool) {
	for ; fr != nil; fr = fr.Parent {
		if l, ok := f.At(fr.Pos); ok {
			return l, true
		}
	}
	return place.None, false
}

// At is Locate for one position.
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

// Where returns the function and the label that an instruction belongs to: of a source, by the innermost frame that is in
// a function of the unit; of PTX, by its place in the text.
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

func within(p source.Pos, s source.Span) bool {
	return p.File() == s.Start.File() && p >= s.Start && p < s.End
}

// narrower reports whether a lies within b.
func narrower(a, b source.Span) bool { return a.Start >= b.Start && a.End <= b.End }
