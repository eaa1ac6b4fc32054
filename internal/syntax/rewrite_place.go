package syntax

import "strings"

// inPlace writes a statement that keeps its form, with what changes within it, and reports whether what follows in its last
// line is written as well.
func (l *list) inPlace(it item) bool {
	w := l.w
	t := w.b.text
	at := it.from
	for _, sub := range bodies(it.node) {
		from, to := w.span(sub)
		if !w.touchedIn(sub) {
			continue
		}
		if w.b.braces(sub) {
			l.out.Write(t[at : from+1])
			c := w.newList(sub, l.scope, l.out)
			c.render()
			l.out.WriteString("}")
			at = to
			continue
		}
		if e, ok := w.b.extent(sub); ok && sub.kind == "IfStmt" && it.node.hasElse && sub == lastKid(it.node) && !w.marked(sub) && !l.divides(sub) {
			l.out.Write(t[at:from]) // else if
			if at = to; l.inPlace(item{node: sub, extent: e}) {
				at = it.to + 1
			}
			continue
		}
		if m := w.marks[sub]; m != nil && m.drop && len(m.before)+len(m.after) == 0 {
			l.out.Write(t[at:from])
			l.out.WriteString(";")
			at = to
			continue
		}
		if !w.b.opens(sub, it.from, extent{from: from, to: to, begins: !sub.begin.macro}) {
			w.fail(from, "no braces can be put around a statement")
		}
		head := t.lastToken(it.from, from)
		l.out.Write(t[at:head])
		br := t.lineBreak()
		if w.own {
			l.out.WriteString(br + t.indent(it.from) + "{")
		} else {
			l.out.WriteString(" {")
		}
		c := w.newList(sub, l.scope, l.out)
		c.open = from
		if t.first(from) {
			l.out.Write(t[head:t.lineStart(from)])
			c.open = t.lineStart(from)
		} else {
			l.out.WriteString(br)
			c.base = t.indent(it.from) + w.unit
		}
		c.ind = c.base
		c.close = to
		for i := range c.items {
			c.item(i)
		}
		c.flush(len(c.items) - 1)
		if !c.atStart() {
			l.out.WriteString(br)
		}
		l.out.WriteString(t.indent(it.from) + "}")
		at = to
		if end := c.end(len(c.items) - 1); end > to { // what follows in the line is written
			at = end
			if end < it.to {
				l.out.WriteString(br)
			}
		}
	}
	if at < it.to {
		l.out.Write(t[at:it.to])
	}
	return at > it.to
}

// marked reports whether the rewrite changes something at a statement itself.
func (w *rewriter) marked(n *node) bool {
	m := w.marks[n]
	return m != nil && (len(m.before)+len(m.after) > 0 || m.drop || m.split != nil || m.replace != "")
}

// touchedIn reports whether a body does not stay as it is.
func (w *rewriter) touchedIn(n *node) bool {
	return w.touched(n) || w.marked(n) ||
		w.jumpsIn(n) || w.isHot(n) && (n.kind == "IfStmt" && w.uneven(n) || w.isLoop(n) && w.lockStep(n))
}

// onlyJump writes an if that does nothing but to leave, as the condition under which a thread goes on.
func (l *list) onlyJump(i int, it item) bool {
	w := l.w
	j := w.onlyJump(it.node)
	if j == nil || len(it.kids) != 2 {
		return false
	}
	if bytes := string(w.b.text[it.from:it.to]); strings.Contains(bytes, "//") || strings.Contains(bytes, "/*") {
		return false
	}
	cond, _ := l.parens(l.word(it.from, "if"))
	cond = l.plain(it.from, cond)
	lead, _, tail := l.parts(i)
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	if l.guard == "" && j.kind == "ReturnStmt" && w.active == "" {
		w.active = w.fresh("active")
		l.lines(lead, l.ind)
		l.line("bool " + w.active + " = !(" + cond + ");")
		l.behind(tail)
		l.guard = w.active
		return true
	}
	if w.active == "" && j.kind == "ReturnStmt" {
		return false
	}
	vars := w.cleared(l.scope, j.kind)
	if len(vars) != 1 || l.guard != vars[0] {
		return false
	}
	l.flush(i - 1)
	l.lines(lead, l.ind)
	l.line(vars[0] + " = " + vars[0] + " && !(" + cond + ");")
	l.behind(tail)
	return true
}

// split writes an assignment as a read, what is to stand between, and a write.
func (l *list) split(i int, it item, between *Insert) {
	w := l.w
	n := it.node
	for n.kind == "ExprWithCleanups" && len(n.kids) == 1 {
		n = n.kids[0]
	}
	t := w.b.text
	if n.kind != "BinaryOperator" && n.kind != "CompoundAssignOperator" || len(n.kids) != 2 || it.merged || !it.ends {
		w.fail(it.from, "a statement that reads and writes is no plain assignment, so that no barrier can come between")
	}
	left, right := n.kids[0], n.kids[1]
	if !w.b.plain(left.begin) || !w.b.plain(right.begin) || left.end.macro || right.end.macro || t[it.to-1] != ';' {
		w.fail(it.from, "an assignment that must be split is not plain text")
	}
	lhs := string(t[left.begin.offset : left.end.offset+left.end.size])
	rhs := strings.TrimSpace(string(t[right.begin.offset : it.to-1]))
	typ, ok := w.plainType(n.typ)
	if !ok || !isArithmetic(typ) {
		w.fail(it.from, "an assignment that must be split is of type %s, for which no variable can be declared", n.typ)
	}
	if n.kind == "CompoundAssignOperator" {
		rhs = lhs + " " + strings.TrimSuffix(n.op, "=") + " (" + rhs + ")"
	}
	if w.any(left, func(k *node) bool {
		return strings.HasSuffix(k.kind, "CallExpr") || k.kind == "CompoundAssignOperator" || k.op == "=" || k.op == "++" || k.op == "--"
	}) {
		w.fail(it.from, "the left side of an assignment that must be split has side effects")
	}
	lead, _, tail := l.parts(i)
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	v := w.fresh("v")
	br := t.lineBreak()
	if l.guard == "" {
		l.lines(lead, l.ind)
		l.line(typ + spaced(typ) + v + " = " + rhs + ";")
		l.line(between.Text)
		l.line(lhs + " = " + v + ";")
		l.behind(tail)
		return
	}
	if !between.Block {
		text := l.base + typ + spaced(typ) + v + " = " + rhs + ";" + br + l.base + between.Text + br + l.base + lhs + " = " + v + ";"
		l.run = append(l.run, piecer{i, lead + text + strings.TrimRight(" "+strings.TrimSpace(tail), " ") + br})
		return
	}
	// The read belongs to what comes before; the variable must be there already.
	run := l.run
	l.run = nil
	l.line(typ + spaced(typ) + v + " = 0;")
	l.run = append(run, piecer{i, lead + l.base + v + " = " + rhs + ";" + br})
	l.cut(i, between.Text)
	l.run = append(l.run, piecer{code, l.base + lhs + " = " + v + ";" + strings.TrimRight(" "+strings.TrimSpace(tail), " ") + br})
}
