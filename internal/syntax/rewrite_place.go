package syntax

import "strings"

// inPlace writes a statement that keeps its form, with the changes inside it: text between its
// bodies is copied, each body with a change is rewritten as a list, and a body without braces gets
// them if something is inserted. An else if stays one line. It reports whether it also wrote the
// rest of the last line.
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
		if e, ok := w.b.extent(sub); ok && sub.kind == "IfStmt" && it.node.hasElse &&
			sub == lastKid(it.node) && !w.marked(sub) && !l.divides(sub) {
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
		at = l.addBraces(it, sub, at)
	}
	if at < it.to {
		l.out.Write(t[at:it.to])
	}
	return at > it.to
}

// addBraces writes the text of it from at up to the end of its body sub, which has no braces, and
// adds them. It returns the offset after the written text.
func (l *list) addBraces(it item, sub *node, at int) int {
	w := l.w
	t := w.b.text
	from, to := w.span(sub)
	if !w.b.opens(sub, it.from, extent{from: from, to: to, begins: !sub.begin.macro}) {
		w.fail(from, "braces cannot be added around a statement")
	}
	head := t.lastToken(it.from, from)
	l.out.Write(t[at:head])
	br := t.lineBreak()
	if w.own(head) {
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
	end := c.end(len(c.items) - 1)
	if end <= to {
		return to
	}
	if end < it.to { // the list wrote the rest of the line too
		l.out.WriteString(br)
	}
	return end
}

// marked reports whether the rewrite changes the statement itself or inserts something next to it.
func (w *rewriter) marked(n *node) bool {
	m := w.marks[n]
	return m != nil && (len(m.before)+len(m.after) > 0 || m.drop || m.split != nil || m.replace != "")
}

// touchedIn reports whether the rewrite changes a body.
func (w *rewriter) touchedIn(n *node) bool {
	return w.touched(n) || w.marked(n) ||
		w.jumpsIn(n) || w.isHot(n) && (n.kind == "IfStmt" && w.uneven(n) || w.isLoop(n) && w.lockStep(n))
}

// onlyJump writes an if whose body is a single jump: its negated condition becomes part of the
// guard of the following statements. It reports whether it could.
func (l *list) onlyJump(i int, it item) bool {
	w := l.w
	j := w.onlyJump(it.node)
	if j == nil || len(it.kids) != 2 {
		return false
	}
	if bytes := string(w.b.text[it.from:it.to]); strings.Contains(bytes, "//") ||
		strings.Contains(bytes, "/*") {
		return false
	}
	cond, _ := l.parens(l.word(it.from, "if"))
	cond = l.plain(it.from, cond)
	lead, _, tail := l.parts(i)
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	stays := w.not(it.kids[0], cond)
	if w.again {
		l.flush(i - 1)
		l.lines(lead, l.ind)
		l.guard = and(l.guard, stays)
		return true
	}
	if l.guard == "" && j.kind == "ReturnStmt" && w.active == "" {
		w.active = w.fresh("active")
		l.blank(lead)
		l.lines(lead, l.ind)
		constant := ""
		if len(w.converted) == 1 {
			constant = "const "
		}
		l.line(constant + "bool " + w.active + " = " + stays + ";")
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
	l.line(vars[0] + " = " + vars[0] + " && " + factor(stays) + ";")
	l.behind(tail)
	return true
}
