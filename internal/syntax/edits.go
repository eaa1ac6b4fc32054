package syntax

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/place"
	"heddle/internal/source"
)

// Barrier returns the statement for a block barrier that orders the given memory. __syncthreads()
// orders all memory; the barrier of OpenCL C orders what its flags name (OpenCL C 3.0, 6.15.8).
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
	Edits []edit.Edit // non-overlapping, by offset
}

// Edits returns the edits that make the sources agree with placements: they insert a barrier after
// each label in a placement, with the text that text returns (see Barrier), and remove each barrier
// whose label is not in it. Functions without a placement do not change. Edits fails for a Closed
// label.
//
// A barrier gets its own line if the surrounding statements have their own lines, with their
// indentation and line break. A block without braces gets them if a barrier is inserted.
func (u *Unit) Edits(placements map[*Func]place.Placement,
	text func(*Func, place.Label) string) ([]FileEdits, error) {
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
	braced  map[place.Label]bool // blocks that need braces
	edits   []edit.Edit
}

// run makes the edits of all pieces, which are in the order of the text.
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
			return fmt.Errorf("%v: no barrier can be placed after %v", e.f, e.f.Nodes[l].Span.Start)
		}
		if b := labels[l].Parent; b != place.None && e.f.Nodes[b].head > 0 {
			e.braced[b] = true
		}
	}
	return nil
}

// at makes the edits at one offset. Text with its own line goes after the current line, and so does
// everything that follows it.
func (e *editor) at(pieces []piece) {
	lines := false
	for _, p := range pieces {
		switch p.what {
		case openBrace:
			if e.braced[p.label] {
				e.insert(e.f.Nodes[p.label].head, e.openBrace(p.label))
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
			// before the only statement of its block
			case n.Kind == place.Start && e.f.Nodes[n.Parent].head > 0:
				e.before(p.offset, e.barrier(e.f, p.label))
			default:
				lines = lines || e.text.last(p.offset) && e.ownLines(e.f.Tree.Labels[p.label].Parent)
				e.put(p.offset, lines, e.indent(p.label, p.offset), e.barrier(e.f, p.label))
			}
		}
	}
}

// ownLines reports whether the statements of a block have their own lines. The statement of a block
// without braces does if it starts a line and nothing follows it on its last line.
func (e *editor) ownLines(block place.Label) bool {
	n := &e.f.Nodes[block]
	if n.head == 0 {
		return true
	}
	return e.text.first(e.bodyOf(block)) && e.text.last(e.endOf(block))
}

// bodyOf returns the offset where the opening brace of a block without braces would be.
func (e *editor) bodyOf(block place.Label) int { return e.brace(block, openBrace) }

// endOf returns the offset where the closing brace of a block without braces would be.
func (e *editor) endOf(block place.Label) int { return e.brace(block, closeBrace) }

// brace returns the offset of a missing brace of a block.
func (e *editor) brace(block place.Label, what pieceKind) int {
	for _, p := range e.f.pieces {
		if p.label == block && p.what == what {
			return p.offset
		}
	}
	return 0
}

// headOf returns an offset in the first line of the statement that a block belongs to. The closing
// brace gets the indentation of that line.
func (e *editor) headOf(block place.Label) int {
	n := &e.f.Nodes[block]
	start := e.offset(n.Span.Start)
	// the span starts after the first branch
	if at := e.text.skipBlank(start); string(e.text[at:n.head]) == "else" {
		return at
	}
	return start
}

// offset converts a position to a byte offset.
func (e *editor) offset(p source.Pos) int {
	off, _ := e.f.File.Offset(p)
	return off
}

// indent returns the indentation of a barrier after a label: that of the previous statement, or at
// the start of a block, that of the next one.
func (e *editor) indent(l place.Label, at int) string {
	labels := e.f.Tree.Labels
	if e.f.asm {
		return e.text.indent(at)
	}
	if labels[l].Kind != place.Start {
		at := e.firstOf(l)
		// the statement follows the label on its line
		if !e.text.first(at) && e.isCase(labels[l].Parent) {
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

// isCase reports whether a block is a case of a switch: it starts after a colon.
func (e *editor) isCase(block place.Label) bool {
	n := e.f.Nodes[block+1]
	return e.f.Tree.Labels[block].Kind == place.Cond && n.At > 0 && e.text[n.At-1] == ':'
}

// deeper returns the indentation inside a block that starts on the line of at: one level more, in
// tabs if the file uses them.
func (e *editor) deeper(at int) string {
	outer := e.text.indent(at)
	if strings.HasSuffix(outer, "\t") || outer == "" && strings.Contains(string(e.text), "\n\t") {
		return outer + "\t"
	}
	return outer + "    "
}

// firstOf returns the offset of the statement that ends with a label. For the second branch of an
// if it is the offset of the if.
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

// openBrace returns the opening brace of a block that gets braces, with the space before it, in the
// style of the nearest block.
func (e *editor) openBrace(block place.Label) string {
	if !e.ownLines(block) || !e.text.ownBraces(e.f.body, e.f.Nodes[block].head, false) {
		return " {"
	}
	return e.text.lineBreak() + e.text.indent(e.headOf(block)) + "{"
}

// put inserts a word after a statement: on its own line after the current one, or after a space.
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

// before inserts a word before the statement at an offset: on its own line if the statement starts
// one, otherwise on the same line.
func (e *editor) before(at int, word string) {
	if e.text.first(at) {
		e.insert(e.text.lineStart(at), e.text.indent(at)+word+e.text.lineBreak())
		return
	}
	e.insert(at, word+" ")
}

// insert adds an edit that inserts text at an offset.
func (e *editor) insert(at int, s string) {
	pos := e.f.File.PosAt(at)
	e.edits = append(e.edits, edit.Edit{Span: source.Span{Start: pos, End: pos}, New: s})
}

// Barriers returns the number of block barriers that are statements of a function.
func (f *Func) Barriers() int { return len(f.Tree.Standing()) }

// WithoutBarrier returns the edits that remove a barrier of a function, by its number in the order
// of the text, and its place.
func (u *Unit) WithoutBarrier(f *Func, n int) (edits []edit.Edit, at int) {
	all := f.Tree.Standing()
	l := all.Labels()[n]
	e := &editor{f: f, text: f.File.Content, place: all}
	e.remove(l)
	return e.edits, e.offset(f.Nodes[l].Span.Start)
}

// remove deletes a barrier, and its line if nothing else is on it.
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
	e.edits = append(e.edits, edit.Edit{Span: source.Span{Start: e.f.File.PosAt(start),
		End: e.f.File.PosAt(end)}, New: with})
}
