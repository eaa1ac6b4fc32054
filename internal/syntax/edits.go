package syntax

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/place"
	"heddle/internal/source"
)

// Barrier returns the statement that is a barrier of the block for the given memory: __syncthreads() orders all, that of
// OpenCL C what its flags name (OpenCL C 3.0, 6.15.8).
func (u *Unit) Barrier(shared, global bool) string {
	switch {
	case u.PTX:
		return "bar.sync \t0;"
	case !u.OpenCL:
		return "__syncthreads();"
	case shared && global:
		return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
	case global:
		return "barrier(CLK_GLOBAL_MEM_FENCE);"
	}
	return "barrier(CLK_LOCAL_MEM_FENCE);"
}

// FileEdits are the edits of one file.
type FileEdits struct {
	File  *source.File
	Edits []edit.Edit
}

// Edits returns what turns the sources into those of placements: a barrier after each label that is in one, written as
// text says (see Barrier), and no barrier where a label of a Barrier is in none. Functions without a placement stay as
// they are. It fails for a Closed label.
//
// A barrier gets a line of its own where its surroundings have, with their indentation and line break. A block without
// braces gets them if a barrier comes into it.
func (u *Unit) Edits(placements map[*Func]place.Placement, text func(*Func, place.Label) string) ([]FileEdits, error) {
	var out []FileEdits
	for _, file := range u.Files {
		fe := FileEdits{File: file}
		for _, f := range u.Funcs {
			p, ok := placements[f]
			if f.File != file || !ok {
				continue
			}
			e := &editor{f: f, text: f.File.Content, place: p, barrier: text}
			edits, err := e.run()
			if err != nil {
				return nil, err
			}
			fe.Edits = append(fe.Edits, edits...)
		}
		if len(fe.Edits) > 0 {
			out = append(out, fe)
		}
	}
	return out, nil
}

// editor makes the edits of one function.
type editor struct {
	f       *Func
	text    text
	place   place.Placement
	barrier func(*Func, place.Label) string
	braced  map[place.Label]bool // blocks that get braces
	edits   []edit.Edit
}

func (e *editor) run() ([]edit.Edit, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	for i := 0; i < len(e.f.pieces); {
		j := i
		for j < len(e.f.pieces) && e.f.pieces[j].offset == e.f.pieces[i].offset {
			j++
		}
		e.at(e.f.pieces[i:j])
		i = j
	}
	return e.edits, nil
}

// check finds the blocks that need braces.
func (e *editor) check() error {
	e.braced = make(map[place.Label]bool)
	labels := e.f.Tree.Labels
	for l, chosen := range e.place {
		switch {
		case !chosen:
			continue
		case l < 0 || int(l) >= len(labels):
			return fmt.Errorf("%v has no label %d", e.f, l)
		case labels[l].Barrier:
			continue
		case labels[l].Closed:
			return fmt.Errorf("%v: no barrier can stand after %v", e.f, e.f.Nodes[l].Span.Start)
		}
		if b := labels[l].Parent; b != place.None && e.f.Nodes[b].head > 0 {
			e.braced[b] = true
		}
	}
	return nil
}

// at makes the edits at one offset. What is to stand in lines of its own comes after the line, and everything after it
// too.
func (e *editor) at(pieces []piece) {
	lines := false
	for _, p := range pieces {
		switch p.what {
		case openBrace:
			if e.braced[p.label] {
				e.insert(e.f.Nodes[p.label].head, " {")
			}
		case closeBrace:
			if e.braced[p.label] {
				lines = lines || e.ownLines(p.label)
				e.put(p.offset, lines, e.text.indent(e.headOf(p.label)), "}")
			}
		case standing:
			if !e.place[p.label] {
				e.remove(p.label)
			}
		case lineBefore:
			if e.place[p.label] {
				e.before(p.offset, e.barrier(e.f, p.label))
			}
		case pointHere:
			switch n := &e.f.Tree.Labels[p.label]; {
			case !e.place[p.label]:
			case n.Kind == place.Start && e.f.Nodes[n.Parent].head > 0: // before the one statement of its block
				e.before(p.offset, e.barrier(e.f, p.label))
			default:
				lines = lines || e.text.last(p.offset) && e.ownLines(e.f.Tree.Labels[p.label].Parent)
				e.put(p.offset, lines, e.indent(p.label, p.offset), e.barrier(e.f, p.label))
			}
		}
	}
}

// ownLines reports whether the statements of a block stand in lines of their own: those of one without braces do if its
// statement begins a line and nothing follows it in its last.
func (e *editor) ownLines(block place.Label) bool {
	n := &e.f.Nodes[block]
	if n.head == 0 {
		return true
	}
	return e.text.first(e.bodyOf(block)) && e.text.last(e.endOf(block))
}

// bodyOf and endOf are the offsets of the braces that a block without them would have.
func (e *editor) bodyOf(block place.Label) int { return e.brace(block, openBrace) }
func (e *editor) endOf(block place.Label) int  { return e.brace(block, closeBrace) }

func (e *editor) brace(block place.Label, what pieceKind) int {
	for _, p := range e.f.pieces {
		if p.label == block && p.what == what {
			return p.offset
		}
	}
	return 0
}

// headOf is an offset in the first line of the statement that a block belongs to, whose indentation its closing brace
// takes.
func (e *editor) headOf(block place.Label) int {
	n := &e.f.Nodes[block]
	start := e.offset(n.Span.Start)
	if at := e.text.skipBlank(start); string(e.text[at:n.head]) == "else" { // the span begins behind the first branch
		return at
	}
	return start
}

func (e *editor) offset(p source.Pos) int {
	off, _ := e.f.File.Offset(p)
	return off
}

// indent is the indentation of a barrier after a label: that of the statement before it, or at the beginning of a block,
// of the one behind it.
func (e *editor) indent(l place.Label, at int) string {
	labels := e.f.Tree.Labels
	if e.f.asm {
		return e.text.indent(at)
	}
	if labels[l].Kind != place.Start {
		at := e.firstOf(l)
		if !e.text.first(at) && e.isCase(labels[l].Parent) { // it stands behind the label
			return e.deeper(at)
		}
		return e.text.indent(at)
	}
	block := labels[l].Parent
	if kids := labels[block].Kids; len(kids) > 1 {
		if next := e.offset(e.f.Nodes[kids[1]].Span.Start); next > at && e.text.first(next) {
			return e.text.indent(next)
		}
	}
	return e.deeper(max(at-1, 0))
}

// isCase reports whether a block is a case of a switch: its beginning is behind a colon.
func (e *editor) isCase(block place.Label) bool {
	n := e.f.Nodes[block+1]
	return e.f.Tree.Labels[block].Kind == place.Cond && n.At > 0 && e.text[n.At-1] == ':'
}

// deeper is the indentation of a line in a block that begins in the line of at.
func (e *editor) deeper(at int) string {
	outer := e.text.indent(at)
	if strings.HasSuffix(outer, "\t") || outer == "" && strings.Contains(string(e.text), "\n\t") {
		return outer + "\t"
	}
	return outer + "    "
}

// firstOf is the offset of the first byte of the statement that ends with a label: a branch after the first belongs to
// the statement of the first.
func (e *editor) firstOf(l place.Label) int {
	labels := e.f.Tree.Labels
	if labels[l].Kind == place.Cond {
		kids := labels[labels[l].Parent].Kids
		i := slices.Index(kids, l)
		for i > 0 && labels[kids[i]].Kind == place.Cond && labels[kids[i-1]].Closed {
			i--
		}
		l = kids[i]
	}
	return e.offset(e.f.Nodes[l].Span.Start)
}

// put inserts a word at the end of a statement: in a line of its own after the line, or behind a space.
func (e *editor) put(at int, line bool, indent, word string) {
	if !line {
		e.insert(at, " "+word)
		return
	}
	br := e.text.lineBreak()
	next := e.text.nextLine(at)
	if next == len(e.text) && (next == 0 || e.text[next-1] != '\n') {
		e.insert(next, br+indent+word)
		return
	}
	e.insert(next, indent+word+br)
}

// before inserts a word in a line of its own before the line of at, or before what stands there if that is not all.
func (e *editor) before(at int, word string) {
	if e.text.first(at) {
		e.insert(e.text.lineStart(at), e.text.indent(at)+word+e.text.lineBreak())
		return
	}
	e.insert(at, word+" ")
}

func (e *editor) insert(at int, s string) {
	pos := e.f.File.PosAt(at)
	e.edits = append(e.edits, edit.Edit{Span: source.Span{Start: pos, End: pos}, New: s})
}

// remove takes a barrier away, its line with it if there is nothing else.
func (e *editor) remove(l place.Label) {
	n := &e.f.Nodes[l]
	start, end := e.offset(n.Span.Start), e.offset(n.Span.End)
	with := ""
	bare := len(strings.TrimLeft(string(e.text[end:e.text.lineEnd(end)]), " \t")) == 0
	switch {
	case !n.alone:
		with = ";"
	case e.text.first(start) && bare && e.text.nextLine(end) > end:
		start, end = e.text.lineStart(start), e.text.nextLine(end)
	case bare || !e.text.first(start):
		for start > 0 && (e.text[start-1] == ' ' || e.text[start-1] == '\t') {
			start--
		}
	default:
		for end < len(e.text) && (e.text[end] == ' ' || e.text[end] == '\t') {
			end++
		}
	}
	e.edits = append(e.edits, edit.Edit{Span: source.Span{Start: e.f.File.PosAt(start), End: e.f.File.PosAt(end)}, New: with})
}
