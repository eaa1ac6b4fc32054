package syntax

import (
	"bytes"
	"strings"
)

// list rewrites the statements of a block. Without a guard, all threads execute them and they keep
// their place. With a guard, they are collected into runs: each run is under its own if, and
// barriers are between the runs.
type list struct {
	w      *rewriter
	scope  *scope
	body   *node
	items  []item
	open   int // offset after the opening brace, or after the head of a statement without braces
	close  int
	braced bool
	ind    string // indentation of the output
	base   string // indentation of the statements in the text
	guard  string // true if a thread executes the statements; empty: all threads do
	stays  bool   // the block keeps its place and braces
	flat   bool   // the statements move into the enclosing list
	out    *strings.Builder
	run    []piecer
	temps  map[string]string // temporary variables by their type
	again  bool              // the guard is the condition in the text
	note   string            // if again: a comment at its head
}

// piecer is a statement of a run with its output text.
type piecer struct {
	index int // of the item, or one of the constants below
	text  string
}

const (
	comment = -1
	code    = -2
)

// newList returns the list of a body with the indentation and the limits that it has in the text.
func (w *rewriter) newList(body *node, s *scope, out *strings.Builder) *list {
	l := &list{w: w, scope: s, body: body, items: w.listOf(body), braced: w.b.braces(body), out: out,
		stays: true}
	if l.braced {
		l.open, l.close = body.begin.offset+1, body.end.offset
	} else {
		from, to := w.span(body)
		l.open, l.close = w.b.text.lastToken(w.b.text.lineStart(max(0, from-1)), from), to
		if l.open > from || !w.b.text.first(from) {
			l.open = from
		}
	}
	if len(l.items) > 0 && w.b.text.first(l.items[0].from) {
		l.base = w.b.text.indent(l.items[0].from)
	} else {
		l.base = w.b.text.indent(body.begin.offset) + w.unit
	}
	l.ind = l.base
	return l
}

// start and end return the range of the text that belongs to an item: the statement, the comments
// before it, and a comment after it on its last line.
func (l *list) start(i int) int {
	if i > 0 {
		return l.end(i - 1)
	}
	if t := l.w.b.text; l.braced && t.last(l.open) {
		return min(t.nextLine(l.open), l.close)
	}
	return l.open
}

// end returns the end of the text of item i, which includes a comment on its last line.
func (l *list) end(i int) int {
	if i < 0 {
		return l.start(0)
	}
	t, to := l.w.b.text, l.items[i].to
	if t.last(to) {
		if next := t.nextLine(to); next <= l.close {
			return next
		}
		if !l.braced && i == len(l.items)-1 {
			return t.nextLine(to)
		}
	}
	return to
}

// parts returns the text of an item: comments before it, the statement, and the rest of its line.
func (l *list) parts(i int) (lead, body, tail string) {
	t, it := l.w.b.text, &l.items[i]
	from := l.start(i)
	lead, body, tail = string(t[from:it.from]), l.replaced(it.from, it.to, it.node),
		string(t[it.to:l.end(i)])
	if from != t.lineStart(from) && (l.atStart() || l.guard != "") { // the statement gets its own line
		lead = l.base + strings.TrimLeft(lead, " \t")
		body = strings.ReplaceAll(body, "\n"+t.indent(it.from), "\n"+l.base)
	}
	return lead, body, tail
}

// replaced returns the text of a statement with its jumps replaced by assignments.
func (l *list) replaced(from, to int, n *node) string {
	w := l.w
	if m := w.marks[n]; m != nil && m.replace != "" {
		return m.replace
	}
	var out bytes.Buffer
	at := from
	var walk func(*node)
	walk = func(k *node) {
		if w.converted[k] {
			f, t := w.span(k)
			out.Write(w.b.text[at:f])
			out.WriteString(strings.Join(w.cleared(l.scope, k.kind), " = ") + " = false;")
			at = t
			return
		}
		for _, kid := range k.kids {
			walk(kid)
		}
	}
	walk(n)
	out.Write(w.b.text[at:to])
	return out.String()
}

// atStart reports whether the output ends with a line break.
func (l *list) atStart() bool {
	s := l.out.String()
	return s != "" && s[len(s)-1] == '\n'
}

// line writes a line.
func (l *list) line(s string) {
	br := l.w.b.text.lineBreak()
	if !l.atStart() {
		l.out.WriteString(br)
	}
	l.out.WriteString(l.ind + s + br)
}

// head writes a line that opens a block, in the brace style of the text at an offset.
func (l *list) head(at int, s string) {
	if l.w.own(at) {
		l.line(s)
		l.line("{")
		return
	}
	l.line(s + " {")
}

// lines writes text of the list with a new indentation.
func (l *list) lines(text, ind string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	br := l.w.b.text.lineBreak()
	if !l.atStart() {
		l.out.WriteString(br)
	}
	for s := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(s, l.base); ok && strings.TrimSpace(s) != "" {
			s = ind + rest
		}
		l.out.WriteString(s)
	}
	if !l.atStart() {
		l.out.WriteString(br)
	}
}

// behind appends a comment to the last line of the output.
func (l *list) behind(note string) {
	if note = strings.TrimSpace(note); note == "" {
		return
	}
	br := l.w.b.text.lineBreak()
	s := strings.TrimSuffix(l.out.String(), br)
	l.out.Reset()
	l.out.WriteString(s + " " + note + br)
}

// render writes the list.
func (l *list) render() {
	t := l.w.b.text
	if !l.stays {
		if l.w.b.text.directive(l.open-1, l.close) {
			l.w.fail(l.open, "a preprocessor directive is between statements that a barrier divides")
		}
		if note := string(t[l.open:l.start(0)]); l.again {
			l.note = strings.TrimSpace(l.note + note)
		} else {
			l.behind(note)
		}
	} else {
		l.out.Write(t[l.open:l.start(0)])
	}
	for i := range l.items {
		l.item(i)
	}
	rest := string(t[min(l.end(len(l.items)-1), l.close):l.close])
	if l.guard == "" {
		if l.atStart() && !strings.Contains(rest, "\n") && strings.TrimLeft(rest, " \t") == "" {
			rest = t.indent(l.body.begin.offset)
		}
		l.out.WriteString(rest)
		return
	}
	if strings.TrimSpace(rest) != "" {
		l.run = append(l.run, piecer{comment, strings.TrimRight(rest, " \t")})
	}
	l.flush(len(l.items) - 1)
	if l.stays {
		l.out.WriteString(t.indent(l.close))
	}
}

// cut ends the run before item i and writes a statement that all threads execute.
func (l *list) cut(i int, text string) {
	l.flush(i)
	l.line(text)
}

// item writes one statement with the insertions before and after it.
func (l *list) item(i int) {
	it := l.items[i]
	m := l.w.marks[it.node]
	if m == nil {
		m = &marks{}
	}
	l.inserts(i, i-1, m.before)
	l.statement(i, it, m)
	l.inserts(i, i, m.after)
}

// inserts writes insertions before or after item i; done is the last item of the current run.
// Without a guard, or for a block barrier, they are outside of the runs.
func (l *list) inserts(i, done int, list []Insert) {
	for _, in := range list {
		if in.Block || l.guard == "" {
			l.cut(done, in.Text)
		} else {
			l.run = append(l.run, piecer{code, l.base + in.Text + l.w.b.text.lineBreak()})
		}
	}
}

// statement writes one statement. It stays as it is if possible; otherwise it is divided, and the
// current run ends before it. After a jump that became an assignment, the guard applies to the
// following statements.
func (l *list) statement(i int, it item, m *marks) {
	w := l.w
	switch {
	case m.drop:
		l.drop(i)
		return
	case m.barrier:
		l.barrier(i)
		return
	case m.split != nil:
		l.split(i, it, m.split)
		return
	}
	jumps := w.jumpsIn(it.node)
	if jumps && l.onlyJump(i, it) {
		return
	}
	if w.returns(it.node) && w.active == "" {
		l.flush(i - 1)
		w.active = w.fresh("active")
		l.line("bool " + w.active + " = true;")
	}
	hot := w.isHot(it.node)
	switch {
	case hot && (l.guard != "" || l.divides(it.node)), jumps && !w.tail(it.node):
		l.flush(i - 1)
		l.divide(i, it)
	case l.guard == "":
		lead, body, tail := l.parts(i)
		l.out.WriteString(lead)
		if w.touched(it.node) {
			if l.inPlace(it) && tail != "" {
				tail = w.b.text.lineBreak()
			}
		} else {
			l.out.WriteString(body)
		}
		l.out.WriteString(tail)
	default:
		lead, body, tail := l.parts(i)
		l.run = append(l.run, piecer{i, lead + body + tail})
		if jumps {
			l.flush(i)
		}
	}
	if jumps && l.guard == "" {
		l.guard = w.active
	}
}

// touched reports whether the rewrite changes a statement inside n for another reason than its
// jumps.
func (w *rewriter) touched(n *node) bool {
	return w.any(n, func(k *node) bool {
		return k != n && w.marked(k)
	}) || w.any(n, func(k *node) bool {
		return k != n && w.isLoop(k) && w.lockStep(k) ||
			k.kind == "IfStmt" && k != n && w.isHot(k) && w.uneven(k)
	})
}

// isLoop reports whether a statement is a loop.
func (w *rewriter) isLoop(n *node) bool {
	switch n.kind {
	case "ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt":
		return true
	}
	return false
}

// uneven reports whether an if has a branch that not all threads enter, with a place that all
// threads must reach.
func (w *rewriter) uneven(n *node) bool {
	for _, sub := range bodies(n) {
		from, to := w.span(sub)
		inside := w.isHot(sub)
		for _, h := range w.hot {
			inside = inside || h.node == sub
		}
		if inside && !w.uniform(from, to) {
			return true
		}
	}
	return false
}

// divides reports whether a statement that all threads execute must be divided.
func (l *list) divides(n *node) bool {
	switch {
	case n.kind == "IfStmt":
		return l.w.uneven(n)
	case l.w.isLoop(n):
		return l.w.lockStep(n)
	}
	for _, h := range l.w.hot {
		if !h.uniform && n.kind != "CompoundStmt" && h.node != n && l.w.contains(n, h.node) {
			return true
		}
	}
	return false
}

// flush writes the current run, whose last item has the index done.
func (l *list) flush(done int) {
	run := l.run
	l.run = nil
	if len(run) == 0 {
		l.noted()
		return
	}
	if l.guard == "" {
		for _, p := range run {
			l.lines(p.text, l.ind)
		}
		return
	}
	var inside strings.Builder
	any := false
	for _, p := range run {
		text := p.text
		if !strings.HasSuffix(text, "\n") {
			text += l.w.b.text.lineBreak()
		}
		if p.index >= 0 {
			text = l.declared(p, text, done)
		}
		any = any || p.index != comment && text != ""
		inside.WriteString(text)
	}
	if !any {
		l.noted()
		l.lines(inside.String(), l.ind)
		return
	}
	text := inside.String()
	l.blank(text)
	text = withoutBlank(text)
	if joined, ok := l.joined(run, text); ok {
		l.noted()
		l.lines(joined, l.ind)
		return
	}
	note, at := l.note, l.open
	l.note = ""
	if run[0].index >= 0 {
		at = l.items[run[0].index].from
	}
	if l.w.own(at) {
		l.line("if (" + l.guard + ")")
		l.behind(note)
		l.line("{")
	} else {
		l.line("if (" + l.guard + ") {")
		l.behind(note)
	}
	l.lines(text, l.ind+l.w.unit)
	l.line("}")
}

// noted writes the comment at the head of a branch as a line.
func (l *list) noted() {
	if l.note != "" {
		l.line(l.note)
	}
	l.note = ""
}

// joined returns the text of a run that is one if without else, with the guard as part of its
// condition.
func (l *list) joined(run []piecer, inside string) (string, bool) {
	if len(run) != 1 || run[0].index < 0 {
		return "", false
	}
	it := l.items[run[0].index]
	if it.kind != "IfStmt" || it.merged || len(it.kids) != 2 || !l.w.b.plain(it.node.begin) {
		return "", false
	}
	t := text(inside)
	at := t.skipBlank(0)
	open := t.skipBlank(min(at+len("if"), len(t)))
	if !strings.HasPrefix(inside[at:], "if") || open == len(t) || t[open] != '(' {
		return "", false
	}
	end := t.behindArguments(open)
	if end == open {
		return "", false
	}
	cond := inside[open+1 : end-1]
	if strings.Contains(cond, "\n") || len(cond)+len(l.guard) > 2*longestGuard {
		return "", false
	}
	return inside[:open+1] + and(factor(l.guard), cond) + inside[end-1:], true
}

// blank writes an empty line if a text begins with one, unless there is one already or a block
// begins here.
func (l *list) blank(text string) {
	if text == withoutBlank(text) {
		return
	}
	s := strings.TrimRight(l.out.String(), " \t\r\n")
	rest := l.out.String()[len(s):]
	if strings.Count(rest, "\n") >= 2 || strings.HasSuffix(s, "{") || s == "" {
		return
	}
	if !l.atStart() {
		l.out.WriteString(l.w.b.text.lineBreak())
	}
	l.out.WriteString(l.w.b.text.lineBreak())
}

// withoutBlank returns a text without the empty lines at its start.
func withoutBlank(text string) string {
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// barrier writes an existing barrier that is kept.
func (l *list) barrier(i int) {
	lead, body, tail := l.parts(i)
	if l.guard == "" {
		l.out.WriteString(lead + body + tail)
		return
	}
	l.flush(i - 1)
	l.lines(lead+body+tail, l.ind)
}

// drop removes a barrier and keeps its comments.
func (l *list) drop(i int) {
	lead, _, tail := l.parts(i)
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	note := strings.TrimSpace(tail)
	switch {
	case l.guard != "":
		if strings.TrimSpace(lead)+note != "" {
			l.run = append(l.run, piecer{comment, lead + l.base + note + l.w.b.text.lineBreak()})
		}
	case !l.braced:
		l.out.WriteString(lead + l.base + ";" + tail)
	case note != "":
		l.out.WriteString(lead)
		l.line(note)
	default:
		l.out.WriteString(lead)
		if lead == "" && !strings.Contains(tail, "\n") {
			l.out.WriteString(tail)
		}
	}
}
