package syntax

import (
	"bytes"

	"heddle/internal/place"
	"heddle/internal/source"
)

// builder makes the label tree of one function. Labels are numbered in preorder.
type builder struct {
	file *source.File
	path string // of the file, as clang names it
	text text
	f    *Func

	openCL bool
	jump   map[*node]jumps
}

// piece is text that a placement may need, in the order of the text: of two at one offset the earlier comes first.
type piece struct {
	offset int
	what   pieceKind
	label  place.Label
}

type pieceKind uint8

const (
	openBrace  pieceKind = iota // the block of the label has no braces
	pointHere                   // a barrier after the label
	standing                    // the barrier that the label is
	closeBrace                  // of the block of the label
	lineBefore                  // a barrier after the label, in the line before the one that begins here
)

func newBuilder(file *source.File, path string, openCL bool) *builder {
	return &builder{file: file, path: path, text: text(file.Content), openCL: openCL, jump: make(map[*node]jumps)}
}

// block is a statement list in the making.
type block struct {
	label   place.Label
	open    bool // barriers may stand between its statements
	wrapped bool // by braces that are not there
	dead    bool // what comes next is not reached from before
}

func (b *builder) function(f *Func, body *node) {
	b.f = f
	start, end := body.begin.offset, body.end.offset+1
	f.Span = b.span(start, end)
	root := b.add(place.Block, place.None, start, end)
	b.close(root)
	b.list(b.startOf(root, start+1), body.kids)
}

func (b *builder) offset(p source.Pos) int {
	off, _ := b.file.Offset(p)
	return off
}

func (b *builder) span(start, end int) source.Span {
	return source.Span{Start: b.file.PosAt(start), End: b.file.PosAt(end)}
}

// add makes a label. It is open until something closes it.
func (b *builder) add(kind place.Kind, parent place.Label, start, end int) place.Label {
	l := place.Label(len(b.f.Nodes))
	b.f.Tree.Labels = append(b.f.Tree.Labels, place.Node{Kind: kind, Parent: parent, Closed: true})
	b.f.Nodes = append(b.f.Nodes, Node{Span: b.span(start, max(start, end)), At: -1})
	if parent != place.None {
		b.f.Tree.Labels[parent].Kids = append(b.f.Tree.Labels[parent].Kids, l)
	}
	return l
}

func (b *builder) close(l place.Label) { b.f.Tree.Labels[l].Closed = true }

// point makes the offset the place of a barrier after l.
func (b *builder) point(l place.Label, offset int) {
	b.f.Tree.Labels[l].Closed = false
	b.f.Nodes[l].At = offset
	b.piece(offset, pointHere, l)
}

func (b *builder) piece(offset int, what pieceKind, l place.Label) {
	b.f.pieces = append(b.f.pieces, piece{offset, what, l})
}

// startOf makes the start node of a block, which begins at the offset at (-1: no place).
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

// braces reports whether n is { } in the text of the file.
func (b *builder) braces(n *node) bool {
	return n.kind == "CompoundStmt" && b.plain(n.begin) && b.plain(n.end) && n.begin.offset < n.end.offset &&
		b.text[n.begin.offset] == '{' && b.text[n.end.offset] == '}'
}

// plain reports whether a location is a place in the text, not one that a macro makes.
func (b *builder) plain(l loc) bool { return b.here(l) && !l.macro }

func (b *builder) here(l loc) bool {
	return l.file == b.path && l.offset >= 0 && l.offset < len(b.text)
}

// extent is where a statement is in the text.
type extent struct {
	from, to int
	begins   bool // from is a place in the text
	ends     bool // to is
}

// extent finds where a statement ends: its semicolon is not in clang's range.
func (b *builder) extent(n *node) (extent, bool) {
	if !b.here(n.begin) || !b.here(n.end) {
		return extent{}, false
	}
	e := extent{from: n.begin.offset, begins: !n.begin.macro && !b.text.inDirective(n.begin.offset)}
	switch n.kind {
	case "IfStmt", "ForStmt", "WhileStmt", "CXXForRangeStmt", "SwitchStmt", "LabelStmt", "AttributedStmt", "CaseStmt", "DefaultStmt":
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
	case n.kind == "CompoundStmt":
		e.ends = !n.end.macro
		return e, true
	case (n.kind == "DeclStmt" || n.kind == "NullStmt") && !n.end.macro && b.text[e.to-1] == ';':
		e.ends = true
		return e, true
	}
	if at := b.text.skipBlank(e.to); at < len(b.text) && b.text[at] == ';' {
		e.to, e.ends = at+1, true
	}
	return e, true
}

// lastKid is the statement that ends n; the body of a loop, a branch, what a label stands before.
func lastKid(n *node) *node {
	for i := len(n.kids) - 1; i >= 0; i-- {
		if kid := n.kids[i]; kid.kind != "" && !isAttr(kid.kind) {
			return kid
		}
	}
	return nil
}

func isAttr(kind string) bool { return len(kind) > 4 && kind[len(kind)-4:] == "Attr" }

// item is a statement of a list, or several that one use of a macro makes.
type item struct {
	*node
	extent
	merged   bool
	more     jumps // of what was merged into it
	labelled bool  // it stands behind a label of its own: case, goto
}

// items finds where the statements of a list are. Those of other files, which an #include within the function brought,
// have no place.
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
		out = append(out, item{node: kid, extent: e})
	}
	return out
}

// list adds the statements of a block.
func (b *builder) list(bl *block, kids []*node) { b.listItems(bl, b.items(kids)) }

func (b *builder) listItems(bl *block, items []item) {
	for _, it := range items {
		first := len(b.f.Nodes)
		b.stmt(bl, it)
		if b.jumps(it.node)|it.more == 0 {
			continue
		}
		kids := b.f.Tree.Labels[bl.label].Kids
		for i, l := range kids { // both branches of an if are labels of the list; what a loop does once is one too
			if n := &b.f.Tree.Labels[l]; int(l) >= first && (n.Kind != place.Stmt || i == len(kids)-1) {
				n.Jump = true
			}
		}
	}
}

// after makes the place after a statement that ends at end.
func (b *builder) after(bl *block, l place.Label, e extent) {
	if bl.open && e.ends && !bl.dead {
		b.point(l, e.to)
	}
}

// whole reports whether a statement has the parts that it cannot be without; a tree of a broken source may lack them.
func whole(n *node) bool {
	switch n.kind {
	case "IfStmt":
		least := 1
		if n.hasElse {
			least = 2
		}
		return len(n.kids) >= least && n.kids[len(n.kids)-1].kind != "" && n.kids[len(n.kids)-least].kind != ""
	case "DoStmt":
		return len(n.kids) == 2 && n.kids[0].kind != ""
	case "ForStmt", "WhileStmt", "CXXForRangeStmt", "SwitchStmt", "LabelStmt", "AttributedStmt", "CaseStmt", "DefaultStmt":
		return lastKid(n) != nil
	}
	return true
}

func (b *builder) stmt(bl *block, it item) {
	if it.merged {
		b.after(bl, b.add(place.Stmt, bl.label, it.from, it.to), it.extent)
		return
	}
	switch kind := it.kind; {
	case !whole(it.node):
		b.leaf(bl, it)
	case it.node.begin.macro && it.node.end.macro && it.node.begin.offset == it.node.end.offset: // all of it is one macro's
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
		if e, ok := b.extent(sub); ok && kind == "AttributedStmt" { // #pragma unroll stands in another line
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

// barrier reports whether a statement is a barrier of the block without a value, written plainly or as a macro that is
// nothing else.
func (b *builder) barrier(n *node) bool {
	if n.kind != "CallExpr" || n.begin.macro != n.end.macro || n.begin.macro && n.begin.offset != n.end.offset || len(n.kids) == 0 {
		return false
	}
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

// opens reports whether a brace can go before a statement that is a block without braces, whose head begins at start.
// If it is what a macro expands to, or begins so, the head must be plain.
func (b *builder) opens(n *node, start int, e extent) bool {
	if e.begins || !n.begin.macro || b.text.inDirective(e.from) {
		return e.begins
	}
	head := b.text[start:max(start, b.text.lastToken(start, e.from))]
	return bytes.HasSuffix(head, []byte(")")) || bytes.HasSuffix(head, []byte("else")) || bytes.HasSuffix(head, []byte("do"))
}

// body adds the block of a statement whose head begins at start. It reports whether its end is not reached.
func (b *builder) body(l place.Label, n *node, start int, open bool) (dead bool) {
	if b.braces(n) {
		bl := b.startOf(l, n.begin.offset+1)
		b.list(bl, n.kids)
		return bl.dead
	}
	e, ok := b.extent(n)
	if n.kind == "CompoundStmt" || !ok || !open || !b.opens(n, start, e) || !e.ends || b.text.directive(b.text.lastToken(start, e.from), e.to) {
		bl := b.startOf(l, -1)
		if ok {
			b.list(bl, []*node{n})
		}
		return bl.dead
	}
	b.f.Nodes[l].head = b.text.lastToken(start, e.from)
	b.piece(e.from, openBrace, l)
	bl := b.startOf(l, e.from)
	bl.wrapped = true
	b.list(bl, []*node{n})
	b.piece(e.to, closeBrace, l)
	return bl.dead
}
