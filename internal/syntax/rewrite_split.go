package syntax

import (
	"slices"
	"strings"
)

// An assignment has no room for a barrier between its reads and its write. It gets some by a
// temporary variable: float v = a[i + 1]; barrier; a[i] = v;

// split writes an assignment as a read into a new variable, an inserted statement, and a write.
func (l *list) split(i int, it item, between *Insert) {
	w := l.w
	n := it.node
	for n.kind == "ExprWithCleanups" && len(n.kids) == 1 {
		n = n.kids[0]
	}
	t := w.b.text
	if w.b.single(it.node) {
		w.fail(it.from, "a statement that must be split is not plain text (a macro produces it)")
	}
	if n.kind != "BinaryOperator" && n.kind != "CompoundAssignOperator" || len(n.kids) != 2 ||
		it.merged || !it.ends {
		w.fail(it.from, "no barrier fits between the read and the write of a statement that is not a "+
			"plain assignment")
	}
	left, right := n.kids[0], n.kids[1]
	if !w.b.plain(left.begin) || !w.b.plain(right.begin) || left.end.macro || right.end.macro ||
		t[it.to-1] != ';' {
		w.fail(it.from, "an assignment that must be split is not plain text (a macro produces it)")
	}
	lhs := string(t[left.begin.offset : left.end.offset+left.end.size])
	rhs := strings.TrimSpace(string(t[right.begin.offset : it.to-1]))
	typ, ok := w.plainType(unvolatile(n.typ))
	if !ok || !isArithmetic(typ) {
		w.fail(it.from, "an assignment that must be split has type %s, which has no default value", n.typ)
	}
	if n.kind == "CompoundAssignOperator" {
		rhs = lhs + " " + strings.TrimSuffix(n.op, "=") + " " + operand(rhs)
	}
	if w.any(left, func(k *node) bool {
		return strings.HasSuffix(k.kind, "CallExpr") || k.kind == "CompoundAssignOperator" ||
			k.op == "=" || k.op == "++" || k.op == "--"
	}) {
		w.fail(it.from, "the left side of an assignment that must be split has side effects")
	}
	lead, _, tail := l.parts(i)
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	br := t.lineBreak()
	if l.guard == "" {
		l.lines(lead, l.ind)
		v, known := l.temporary(typ)
		if known {
			l.line(v + " = " + rhs + ";")
		} else {
			l.line(typ + spaced(typ) + v + " = " + rhs + ";")
		}
		l.line(between.Text)
		l.line(lhs + " = " + v + ";")
		l.behind(tail)
		return
	}
	v := w.fresh("v")
	if !between.Block {
		text := l.base + typ + spaced(typ) + v + " = " + rhs + ";" + br + l.base + between.Text + br +
			l.base + lhs + " = " + v + ";"
		l.run = append(l.run, piecer{i,
			lead + text + strings.TrimRight(" "+strings.TrimSpace(tail), " ") + br})
		return
	}
	// The read belongs to the run before the barrier, so the variable is declared before that run.
	run := l.run
	l.run = nil
	l.line(typ + spaced(typ) + v + " = 0;")
	l.run = append(run, piecer{i, lead + l.base + v + " = " + rhs + ";" + br})
	l.cut(i, between.Text)
	l.run = append(l.run, piecer{code,
		l.base + lhs + " = " + v + ";" + strings.TrimRight(" "+strings.TrimSpace(tail), " ") + br})
}

// temporary returns the variable that holds a value of a type between a read and a write, and
// whether an assignment before in this list has declared it. Its value is never needed again.
func (l *list) temporary(typ string) (name string, known bool) {
	if v := l.temps[typ]; v != "" {
		return v, true
	}
	v := l.w.fresh("v")
	if l.temps == nil {
		l.temps = map[string]string{}
	}
	l.temps[typ] = v
	return v, false
}

// unvolatile returns the type of a copy of a value: that of a volatile variable is not volatile.
func unvolatile(typ string) string {
	if strings.Contains(typ, "*") {
		return typ
	}
	words := strings.Fields(typ)
	words = slices.DeleteFunc(words, func(s string) bool { return s == "volatile" })
	return strings.Join(words, " ")
}

// operand returns an expression as an operand: in parentheses, unless it is a name or a literal,
// with whatever arguments, subscripts and members follow it.
func operand(expr string) string {
	t := text(expr)
	if len(t) == 0 || !isWord(t[0]) {
		return "(" + expr + ")"
	}
	for i := t.skipToken(0); i < len(t); {
		switch end := t.behindBrackets(i); {
		case end > i:
			i = end
		case t[i] == '.' && i+1 < len(t) && isWord(t[i+1]):
			i = t.skipToken(i + 1)
		case t[i] == '-' && i+2 < len(t) && t[i+1] == '>' && isWord(t[i+2]):
			i = t.skipToken(i + 2)
		default:
			return "(" + expr + ")"
		}
	}
	return expr
}
