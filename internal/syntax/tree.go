package syntax

import (
	"bytes"

	"heddle/internal/place"
	"heddle/internal/source"
)

// builder builds the label tree of one function. Labels are numbered in preorder.
type builder struct {
	file *source.File
	path string // of the file in clang's tree
	text text
	f    *Func

	openCL bool
	jump   map[*node]jumps
}

// piece is text that a placement may need. Pieces are in the order of the text, also those with the
// same offset.
type piece struct {
	offset int
	what   pieceKind
	label  place.Label
}

// pieceKind orders and distinguishes pieces at the same offset.
type pieceKind uint8

const (
	openBrace  pieceKind = iota // the block of the label has no braces
	pointHere                   // a barrier after the label
	standing                    // the existing barrier of the label
	closeBrace                  // of the block of the label
	lineBefore                  // a barrier after the label, on the line before this one
)

// newBuilder returns a builder for functions of a file with known text.
func newBuilder(file *source.File, path string, openCL bool) *builder {
	return &builder{file: file, path: path, text: text(file.Content), openCL: openCL,
		jump: make(map[*node]jumps)}
}

// block is a statement list that is being built. open and dead decide whether a barrier can be
// placed after the next statement: none where the text has no room for one, and none where it would
// not be executed.
type block struct {
	label   place.Label
	open    bool // barriers can be placed between its statements
	wrapped bool // it has no braces: its only statement cannot be removed
	dead    bool // control does not reach the next statement from the previous one
}

// function builds the tree of a function with a plain body. The body itself has no place after it.
func (b *builder) function(f *Func, body *node) {
	b.f = f
	start, end := body.begin.offset, body.end.offset+1
	f.Span = b.span(start, end)
	root := b.add(place.Block, place.None, start, end)
	b.close(root)
	b.list(b.startOf(root, start+1), body.kids)
}

// offset converts a position to a byte offset.
func (b *builder) offset(p source.Pos) int {
	off, _ := b.file.Offset(p)
	return off
}

// span converts byte offsets to a span.
func (b *builder) span(start, end int) source.Span {
	return source.Span{Start: b.file.PosAt(start), End: b.file.PosAt(end)}
}

// add adds a label as the last child of parent. It is Closed, so that no barrier can be placed
// after it, until point gives it a place. Labels are numbered in the order of the text.
func (b *builder) add(kind place.Kind, parent place.Label, start, end int) place.Label {
	l := place.Label(len(b.f.Nodes))
	b.f.Tree.Labels = append(b.f.Tree.Labels, place.Node{Kind: kind, Parent: parent, Closed: true})
	b.f.Nodes = append(b.f.Nodes, Node{Span: b.span(start, max(start, end)), At: -1})
	if parent != place.None {
		b.f.Tree.Labels[parent].Kids = append(b.f.Tree.Labels[parent].Kids, l)
	}
	return l
}

// close removes the place after a label.
func (b *builder) close(l place.Label) { b.f.Tree.Labels[l].Closed = true }

// point makes the offset the place of a barrier after l.
func (b *builder) point(l place.Label, offset int) {
	b.f.Tree.Labels[l].Closed = false
	b.f.Nodes[l].At = offset
	b.piece(offset, pointHere, l)
}

// piece records text that a placement may need.
func (b *builder) piece(offset int, what pieceKind, l place.Label) {
	b.f.pieces = append(b.f.pieces, piece{offset, what, l})
}

// startOf adds the start node of a block, which is the place before its first statement, at an
// offset; -1 means that the text has no such place, as in the head of a loop.
func (b *builder) startOf(l place.Label, at int) *block {
	from := at
	if at < 0 {
		from = b.offset(b.f.Nodes[l].Span.Start)
	}
	s := b.add(place.Start, l, from, from)
	if at >= 0 {
		b.point(s, at)
	}
	return &block{label: l, open: at >= 0}
}

// braces reports whether n is { } in the text of the file: a brace that a macro produces cannot be
// edited.
func (b *builder) braces(n *node) bool {
	return n.kind == "CompoundStmt" && b.plain(n.begin) && b.plain(n.end) &&
		n.begin.offset < n.end.offset &&
		b.text[n.begin.offset] == '{' && b.text[n.end.offset] == '}'
}

// plain reports whether a location is in the text of the file and not in the expansion of a macro.
func (b *builder) plain(l loc) bool { return b.here(l) && !l.macro }

// here reports whether a location is in the file of the function.
func (b *builder) here(l loc) bool {
	return l.file == b.path && l.offset >= 0 && l.offset < len(b.text)
}

// extent is the byte range of a statement.
type extent struct {
	from, to int
	begins   bool // from is plain text
	ends     bool // to is plain text
}

// extent returns the range of a statement with its semicolon, which clang's range does not include.
func (b *builder) extent(n *node) (extent, bool) {
	if !b.here(n.begin) || !b.here(n.end) {
		return extent{}, false
	}
	e := extent{from: n.begin.offset, begins: !n.begin.macro && !b.text.inDirective(n.begin.offset)}
	// A statement with a body ends where the body ends.
	switch n.kind {
	case "IfStmt", "ForStmt", "WhileStmt", "CXXForRangeStmt", "SwitchStmt", "LabelStmt",
		"AttributedStmt", "CaseStmt", "DefaultStmt":
		if sub := lastKid(n); sub != nil {
			last, ok := b.extent(sub)
			e.to, e.ends = last.to, last.ends
			return e, ok && e.to > e.from
		}
	}
	e.to = min(n.end.offset+n.end.size, len(b.text))
	if n.end.macro {
		e.to = b.text.behindArguments(e.to)
	}
	if e.to <= e.from {
		return e, false
	}
	switch {
	// If a macro writes the closing brace and more, the next statement or the block around is not
	// plain text either: items merges the one, braces rejects the other.
	case n.kind == "CompoundStmt":
		e.ends = true
		return e, true
	case (n.kind == "DeclStmt" || n.kind == "NullStmt") && !n.end.macro && b.text[e.to-1] == ';':
		e.ends = true
		return e, true
	}
	// The range of an expression statement ends before its semicolon.
	if at := b.text.skipBlank(e.to); at < len(b.text) && b.text[at] == ';' {
		e.to, e.ends = at+1, true
	}
	return e, true
}

// lastKid returns the last child: the body of a loop, the last branch, or the statement after a
// label.
func lastKid(n *node) *node {
	for i := len(n.kids) - 1; i >= 0; i-- {
		if kid := n.kids[i]; kid.kind != "" && !isAttr(kid.kind) {
			return kid
		}
	}
	return nil
}

// isAttr reports whether a node is an attribute, which is not a statement.
func isAttr(kind string) bool { return len(kind) > 4 && kind[len(kind)-4:] == "Attr" }

// item is a statement of a list, or several statements that one use of a macro produces.
type item struct {
	*node
	extent
	merged   bool
	more     jumps // of the statements merged into it
	labelled bool  // it has its own label: case, goto
}

// single reports whether one use of a macro produces all of a statement. Its parts have no text.
func (b *builder) single(n *node) bool {
	return n.begin.macro && n.end.macro && n.begin.offset == n.end.offset
}

// items returns the statements of a list with their ranges. Statements of other files, from an
// #include inside the function, have no place. The semicolon after a macro that ends with a brace
// is an empty statement for clang; it belongs to the use of the macro.
func (b *builder) items(kids []*node) []item {
	var out []item
	for _, kid := range kids {
		e, ok := b.extent(kid)
		if !ok {
			continue
		}
		if n := len(out) - 1; n >= 0 && e.from < out[n].to {
			last := &out[n]
			last.merged = true
			last.more |= b.jumps(kid)
			if e.to >= last.to {
				last.to, last.ends = e.to, e.ends
			}
			continue
		}
		if n := len(out) - 1; n >= 0 && kid.kind == "NullStmt" && !kid.begin.macro &&
			b.single(out[n].node) && b.text.skipBlank(out[n].to) == e.from {
			out[n].to, out[n].ends = e.to, e.ends
			continue
		}
		out = append(out, item{node: kid, extent: e})
	}
	return out
}

// list adds the statements of a block.
func (b *builder) list(bl *block, kids []*node) { b.listItems(bl, b.items(kids)) }

// listItems adds statements and marks the labels of those that control can leave by a jump.
func (b *builder) listItems(bl *block, items []item) {
	for _, it := range items {
		first := len(b.f.Nodes)
		b.stmt(bl, it)
		if b.jumps(it.node)|it.more == 0 {
			continue
		}
		kids := b.f.Tree.Labels[bl.label].Kids
		// Both branches of an if, and the initialization of a loop, are labels of the list.
		for i, l := range kids {
			if n := &b.f.Tree.Labels[l]; int(l) >= first && (n.Kind != place.Stmt || i == len(kids)-1) {
				n.Jump = true
			}
		}
	}
}

// after sets the place after a statement.
func (b *builder) after(bl *block, l place.Label, e extent) {
	if bl.open && e.ends && !bl.dead {
		b.point(l, e.to)
	}
}

// whole reports whether a statement has all its parts; a tree of an invalid source may lack some.
func whole(n *node) bool {
	switch n.kind {
	case "IfStmt":
		least := 1
		if n.hasElse {
			least = 2
		}
		return len(n.kids) >= least && n.kids[len(n.kids)-1].kind != "" &&
			n.kids[len(n.kids)-least].kind != ""
	case "DoStmt":
		return len(n.kids) == 2 && n.kids[0].kind != ""
	case "ForStmt", "WhileStmt", "CXXForRangeStmt", "SwitchStmt", "LabelStmt", "AttributedStmt",
		"CaseStmt", "DefaultStmt":
		return lastKid(n) != nil
	}
	return true
}

// stmt adds one statement. A statement that a macro produces, or whose tree is incomplete, is a
// leaf: no barrier can be placed inside it.
func (b *builder) stmt(bl *block, it item) {
	if it.merged {
		b.after(bl, b.add(place.Stmt, bl.label, it.from, it.to), it.extent)
		return
	}
	switch kind := it.kind; {
	case !whole(it.node):
		b.leaf(bl, it)
	case b.single(it.node):
		b.leaf(bl, it)
	case kind == "CompoundStmt" && b.braces(it.node):
		l := b.add(place.Block, bl.label, it.from, it.to)
		dead := b.body(l, it.node, it.from, bl.open)
		bl.dead = bl.dead || dead
		b.after(bl, l, it.extent)
	case kind == "IfStmt":
		b.ifStmt(bl, it)
	case kind == "ForStmt", kind == "WhileStmt", kind == "CXXForRangeStmt", kind == "DoStmt":
		b.loop(bl, it)
	case kind == "SwitchStmt":
		b.switchStmt(bl, it)
	case kind == "LabelStmt", kind == "AttributedStmt":
		sub := lastKid(it.node)
		bl.dead = bl.dead && kind != "LabelStmt"
		own := it.extent
		if e, ok := b.extent(sub); ok && kind == "AttributedStmt" { // #pragma unroll is on another line
			own = e
		}
		b.stmt(bl, item{node: sub, extent: own, labelled: true})
	default:
		b.leaf(bl, it)
	}
}

// leaf adds a statement without blocks.
func (b *builder) leaf(bl *block, it item) {
	l := b.add(place.Stmt, bl.label, it.from, it.to)
	switch it.kind {
	case "ReturnStmt", "BreakStmt", "ContinueStmt", "GotoStmt", "IndirectGotoStmt":
		bl.dead = true
		return
	}
	if at := it.node.begin.offset; bl.open && it.ends && b.barrier(it.node) {
		b.f.Nodes[l] = Node{Span: b.span(at, it.to), At: at, alone: !bl.wrapped && !it.labelled}
		b.f.Tree.Labels[l].Barrier, b.f.Tree.Labels[l].Closed = true, bl.dead
		b.piece(at, standing, l)
		return
	}
	b.after(bl, l, it.extent)
}

// barrier reports whether a statement is a block barrier without a result, written directly or as a
// macro with nothing else in it.
func (b *builder) barrier(n *node) bool {
	if n.kind != "CallExpr" || n.begin.macro != n.end.macro ||
		n.begin.macro && n.begin.offset != n.end.offset || len(n.kids) == 0 {
		return false
	}
	// Skip implicit casts around the name of the function.
	callee := n.kids[0]
	for callee.refers == "" && len(callee.kids) == 1 {
		callee = callee.kids[0]
	}
	switch callee.refers {
	case "__syncthreads":
		return true
	case "barrier", "work_group_barrier": // functions of OpenCL C, not opcodes
		return b.openCL
	}
	return false
}

// opens reports whether a brace can be inserted before a statement without braces whose head starts
// at start. If a macro produces the statement or its start, the head must be plain.
func (b *builder) opens(n *node, start int, e extent) bool {
	if e.begins || !n.begin.macro || b.text.inDirective(e.from) {
		return e.begins
	}
	head := b.text[start:max(start, b.text.lastToken(start, e.from))]
	return bytes.HasSuffix(head, []byte(")")) || bytes.HasSuffix(head, []byte("else")) ||
		bytes.HasSuffix(head, []byte("do"))
}

// body adds the block of a statement whose head starts at start. It reports whether control never
// reaches the end of the block.
func (b *builder) body(l place.Label, n *node, start int, open bool) (dead bool) {
	if b.braces(n) {
		bl := b.startOf(l, n.begin.offset+1)
		b.list(bl, n.kids)
		return bl.dead
	}
	e, ok := b.extent(n)
	if n.kind == "CompoundStmt" || !ok || !open || !b.opens(n, start, e) || !e.ends ||
		b.text.directive(b.text.lastToken(start, e.from), e.to) {
		bl := b.startOf(l, -1)
		if ok {
			b.list(bl, []*node{n})
		}
		return bl.dead
	}
	b.f.Nodes[l].head = b.text.lastToken(start, e.from)
	b.f.Tree.Labels[l].Bare = true
	b.piece(e.from, openBrace, l)
	bl := b.startOf(l, e.from)
	bl.wrapped = true
	b.list(bl, []*node{n})
	b.piece(e.to, closeBrace, l)
	return bl.dead
}
