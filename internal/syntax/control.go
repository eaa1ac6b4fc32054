package syntax

import "heddle/internal/place"

// ifStmt adds the branches of an if. The condition belongs to the first branch, and the place after
// the statement is the place after its last branch.
func (b *builder) ifStmt(bl *block, it item) {
	kids := it.kids
	var els *node
	if it.hasElse && len(kids) > 1 {
		els, kids = kids[len(kids)-1], kids[:len(kids)-1]
	}
	then := kids[len(kids)-1]
	thenEnd := it.to
	if els != nil {
		if e, ok := b.extent(then); ok {
			thenEnd = e.to
		}
	}
	l := b.add(place.Cond, bl.label, it.from, thenEnd)
	dead := b.body(l, then, it.from, true)
	if els == nil {
		b.after(bl, l, it.extent)
		return
	}
	l = b.add(place.Cond, bl.label, thenEnd, it.to)
	elseDead := b.body(l, els, thenEnd, true)
	bl.dead = bl.dead || dead && elseDead
	b.after(bl, l, it.extent)
}

// loop adds a loop. The initialization in its head precedes the loop, the step is its last child,
// and the rest of the head belongs to the loop.
func (b *builder) loop(bl *block, it item) {
	part := func(i int) *node {
		if i < len(it.kids) && it.kids[i].kind != "" {
			return it.kids[i]
		}
		return nil
	}
	// once executes before the loop, last at the end of each iteration.
	var once, last *node
	body := lastKid(it.node)
	switch it.kind {
	case "ForStmt": // init, variable, condition, increment, body
		once, last = part(0), part(3)
	case "CXXForRangeStmt": // init, range, begin, end, condition, increment, variable, body
		once = part(1)
	case "DoStmt": // body, condition
		body, last = part(0), part(1)
	}
	b.closed(bl.label, it, once)
	l := b.add(place.Loop, bl.label, it.from, it.to)
	b.body(l, body, it.from, true)
	b.closed(l, it, last)
	b.after(bl, l, it.extent)
}

// closed adds a part of the head of a statement, after which no barrier can be placed.
func (b *builder) closed(parent place.Label, it item, n *node) {
	if n == nil || !b.here(n.begin) || !b.here(n.end) {
		return
	}
	end := n.end.offset + n.end.size
	if n.end.macro {
		end = b.text.behindArguments(end)
	}
	if n.begin.offset >= it.from && end <= it.to {
		b.add(place.Stmt, parent, n.begin.offset, end)
	}
}

// switchStmt adds a switch: its condition, and a block for each case up to the next. A switch whose
// body is not a plain list of cases is a single statement.
func (b *builder) switchStmt(bl *block, it item) {
	body := lastKid(it.node)
	groups, ok := b.cases(body)
	if !ok {
		b.after(bl, b.add(place.Stmt, bl.label, it.from, it.to), it.extent)
		return
	}
	start := it.from // the condition belongs to the first case
	for i, g := range groups {
		end := it.to
		if i+1 < len(groups) {
			end = groups[i+1].start
		}
		l := b.add(place.Cond, bl.label, start, end)
		start = end
		b.caseBody(l, g)
		if i+1 == len(groups) {
			b.after(bl, l, it.extent)
		}
	}
}

// group is a case of a switch with the statements up to the next case.
type group struct {
	start int
	label *node
	items []item
}

// cases splits the body of a switch at its cases, and reports whether it could.
func (b *builder) cases(body *node) ([]group, bool) {
	if !b.braces(body) {
		return nil, false
	}
	var out []group
	for _, it := range b.items(body.kids) {
		isCase := it.kind == "CaseStmt" || it.kind == "DefaultStmt"
		switch {
		case it.merged, !isCase && len(out) == 0, !it.begins && isCase, hasCase(it.node, isCase):
			return nil, false
		case isCase:
			out = append(out, group{start: it.from, label: it.node})
		}
		g := &out[len(out)-1]
		g.items = append(g.items, it)
	}
	return out, len(out) > 0
}

// hasCase reports whether a statement contains a case of an enclosing switch. With head, the
// statement itself may be a case.
func hasCase(n *node, head bool) bool {
	isCase := n.kind == "CaseStmt" || n.kind == "DefaultStmt"
	switch {
	case isCase && !head:
		return true
	case n.kind == "SwitchStmt":
		return false
	}
	for _, kid := range n.kids {
		if hasCase(kid, isCase && head && kid == lastKid(n)) {
			return true
		}
	}
	return false
}

// caseBody adds the statements of a case. The block starts after the colon.
func (b *builder) caseBody(l place.Label, g group) {
	first := g.items[0]
	sub := first.node
	for sub.kind == "CaseStmt" || sub.kind == "DefaultStmt" {
		sub = lastKid(sub)
	}
	// The place is after the colon, if the text between the case and its statement is plain.
	at := -1
	e, ok := b.extent(sub)
	if ok && (e.begins || sub.begin.macro && !b.text.inDirective(e.from)) {
		if end := b.text.lastToken(first.from, e.from); end > first.from && b.text[end-1] == ':' &&
			!b.text.directive(first.from, e.from) {
			at = end
		}
	}
	bl := b.startOf(l, at)
	bl.open = true
	g.items[0] = item{
		node: sub, labelled: true,
		extent: extent{from: max(e.from, first.from), to: first.to, begins: e.begins, ends: first.ends},
	}
	b.listItems(bl, g.items)
}
