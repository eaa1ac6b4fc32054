package syntax

import "strings"

// divide writes an if, a loop or a block that contains a barrier which all threads must reach.
func (l *list) divide(i int, it item) {
	lead, _, tail := l.parts(i)
	if strings.Contains(lead, "#") {
		l.w.fail(it.from, "a preprocessor directive precedes a statement that a barrier divides")
	}
	lead = lead[:strings.LastIndexByte(lead, '\n')+1]
	l.blank(lead)
	l.lines(withoutBlank(lead), l.ind)
	switch {
	case it.merged || l.w.b.single(it.node):
		l.w.fail(it.from, "a barrier that all threads must reach is inside a macro")
	case it.kind == "CompoundStmt":
		l.line("{")
		c := l.child(it.node, l.scope, l.guard)
		c.render()
		l.line("}")
	case it.kind == "IfStmt":
		l.divideIf(it)
	case it.kind == "ForStmt":
		l.divideFor(it)
	case it.kind == "WhileStmt":
		l.divideWhile(it)
	case it.kind == "DoStmt":
		l.divideDo(it)
	case it.kind == "SwitchStmt":
		l.w.fail(it.from, "a barrier that all threads must reach is inside a switch")
	default:
		l.w.fail(it.from, "a barrier that all threads must reach is inside a statement that cannot be "+
			"divided")
	}
	// otherwise it is part of the body
	if list := bodies(it.node); it.kind == "DoStmt" || l.w.b.braces(list[len(list)-1]) {
		l.behind(tail)
	}
}

// child returns the list of a body, executed under a guard.
func (l *list) child(body *node, s *scope, guard string) *list {
	c := l.w.newList(body, s, l.out)
	c.guard, c.ind, c.stays = guard, l.ind+l.w.unit, false
	return c
}

// parens returns the text in the parentheses after at, and the offset after them.
func (l *list) parens(at int) (string, int) {
	t := l.w.b.text
	open := t.skipBlank(at)
	end := t.behindArguments(at)
	if open >= len(t) || t[open] != '(' || end <= open+1 {
		l.w.fail(at, "the head of a statement that a barrier divides is not plain text (a macro "+
			"produces it)")
	}
	return string(t[open+1 : end-1]), end
}

// word checks that a statement begins with a word, and returns the offset after it.
func (l *list) word(at int, word string) int {
	if t := l.w.b.text; t.skipToken(at) != at+len(word) || string(t[at:at+len(word)]) != word {
		l.w.fail(at, "a statement that a barrier divides is not plain text (a macro produces it)")
	}
	return at + len(word)
}

// and returns the conjunction of two conditions; an empty guard is true.
func and(guard, cond string) string {
	if guard == "" {
		return cond
	}
	return guard + " && " + factor(cond)
}

// factor adds parentheses to a condition whose operators bind less tightly than &&. It works on
// text, so it may add parentheses that are not needed, but never omits required ones.
func factor(cond string) string {
	depth := 0
	for i := 0; i < len(cond); i++ {
		switch c := cond[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'', '?', ',':
			if depth == 0 || c == '"' || c == '\'' {
				return "(" + cond + ")"
			}
		case '|', '=':
			before := byte(' ')
			if i > 0 {
				before = cond[i-1]
			}
			doubled := i+1 < len(cond) && cond[i+1] == c
			switch {
			case depth > 0:
			case c == '|' && !doubled && before != '|',
				c == '=' && strings.IndexByte("=<>!", before) >= 0 && !strings.HasSuffix(cond[:i], "<<") &&
					!strings.HasSuffix(cond[:i], ">>"):
			case c == '=' && doubled:
			default:
				return "(" + cond + ")"
			}
		case '/':
			if i+1 < len(cond) && (cond[i+1] == '/' || cond[i+1] == '*') {
				return "(" + cond + ")"
			}
		}
	}
	return cond
}

// divideIf writes an if as the statements of its branches, each run of them under the condition. A
// condition that a branch may change is kept in a variable; the else branch then gets a variable of
// its own if the first may change before it or if it depends on an outer guard.
func (l *list) divideIf(it item) {
	w := l.w
	kids := bodies(it.node)
	if len(it.kids) != len(kids)+1 {
		w.fail(it.from, "the condition of an if that a barrier divides declares a variable")
	}
	cond, end := l.parens(l.word(it.from, "if"))
	cond = l.plain(it.from, cond)
	note := l.beforeBrace(end, kids[0])
	then, otherwise := and(l.guard, cond), and(l.guard, w.not(it.kids[0], cond))
	jumps := w.jumpsIn(it.node)
	again := len(then) <= longestGuard && !jumps && w.repeats(it.kids[0], kids...)
	if !again {
		constant := "const "
		if jumps {
			constant = ""
		}
		p := w.fresh("active")
		l.line(constant + "bool " + p + " = " + then + ";")
		l.behind(note)
		then, otherwise = p, "!"+p
		if len(kids) == 2 && (l.guard != "" || jumps) {
			r := w.fresh("other")
			l.line(constant + "bool " + r + " = " + and(l.guard, "!"+p) + ";")
			otherwise = r
		}
	}
	if l.branch(kids[0], then, again, note); len(kids) == 2 {
		if _, to := w.span(kids[0]); to < kids[1].begin.offset {
			between := w.b.text[to:kids[1].begin.offset]
			if c := strings.TrimSpace(strings.Replace(string(between), "else", "", 1)); c != "" {
				l.line(c)
			}
		}
		l.branch(kids[1], otherwise, again, "")
	}
}

// longestGuard is the length of the longest condition that is written again for each run.
const longestGuard = 60

// beforeBrace returns the text, such as a comment, between the head of a statement and the opening
// brace of its body.
func (l *list) beforeBrace(at int, body *node) string {
	if !l.w.b.braces(body) || body.begin.offset < at {
		return ""
	}
	return string(l.w.b.text[at:body.begin.offset])
}

// plain returns a condition on one line.
func (l *list) plain(at int, cond string) string {
	if strings.Contains(cond, "#") || strings.Contains(cond, "//") {
		l.w.fail(at, "the condition of a statement that a barrier divides is not plain text (it has a "+
			"comment or a directive)")
	}
	return strings.Join(strings.Fields(cond), " ")
}

// branch writes the statements of a branch into the enclosing list, executed under a guard. If the
// guard is the condition itself, the notes at the head of the branch stay there.
func (l *list) branch(body *node, guard string, again bool, note string) {
	if body.kind == "NullStmt" {
		return
	}
	c := l.child(body, &scope{kind: branch, vars: []string{strings.TrimPrefix(guard, "!")},
		parent: l.scope}, guard)
	c.ind, c.flat, c.again = l.ind, true, again
	if again {
		c.note = note
	}
	c.render()
}

// vote returns the condition of a loop that all threads iterate together until none remains in it.
func (l *list) vote(at int, p, cond string) string {
	if l.w.b.openCL {
		l.w.fail(at, "the number of iterations differs between threads, and OpenCL C has no barrier "+
			"that tells whether any thread remains in the loop")
	}
	if strings.TrimSpace(cond) == "" {
		return "__syncthreads_or(" + p + ")"
	}
	return "__syncthreads_or(" + p + " = " + p + " && " + factor(l.plain(at, cond)) + ")"
}

// round declares the variable that is true while a thread is in the loop, and returns its name.
func (l *list) round() string {
	p := l.w.fresh("p")
	from := l.guard
	if from == "" {
		from = "true"
	}
	l.line("bool " + p + " = " + from + ";")
	return p
}

// dividedLoop holds the parts of a loop that all threads iterate together.
type dividedLoop struct {
	at   int    // offset in the text where the head ends
	head string // first line of the output: "while (...)"
	body *node
	p    string // variable that is true while a thread is in the loop
	step string // expression at the end of an iteration; empty: none
	end  string // last line of the output: "}"
}

// loopBody writes a divided loop. Threads that are not in the loop skip its statements but reach
// its barriers. With a continue, a second variable is true while a thread is in the current
// iteration.
func (l *list) loopBody(d dividedLoop) {
	w, p := l.w, d.p
	l.head(d.at, d.head)
	l.behind(l.beforeBrace(d.at, d.body))
	s := &scope{kind: loopBody, vars: []string{p}, parent: l.scope}
	c := l.child(d.body, s, p)
	if w.any(d.body, func(k *node) bool { return k.kind == "ContinueStmt" && w.converted[k] }) {
		q := w.fresh("q")
		c.line("bool " + q + " = " + p + ";")
		s.vars, c.guard = []string{p, q}, q
	}
	c.render()
	if d.step != "" {
		c.line("if (" + p + ")")
		c.line(w.unit + d.step + ";")
	}
	l.line(d.end)
}

// divideFor writes a for loop. Its step stays in the head if it changes only variables of the loop;
// otherwise it moves to the end of the body, where only threads in the loop execute it.
func (l *list) divideFor(it item) {
	w := l.w
	header, end := l.parens(l.word(it.from, "for"))
	parts := semicolons(header)
	if len(parts) != 3 || len(it.kids) != 5 || it.kids[1].kind != "" {
		w.fail(it.from, "the head of a for loop that a barrier divides is not plain text")
	}
	init, step := it.kids[0], it.kids[3]
	own := init.kind == "DeclStmt"
	if l.guard != "" && (init.kind != "" && !own || !harmless(init)) {
		w.fail(it.from, "the head of a for loop that a barrier divides does more than declare a variable")
	}
	if w.evenLoop(it.node) {
		l.evenFor(it, end)
		return
	}
	p := l.round()
	last := ""
	if step.kind != "" && !(own && harmless(step) && w.assignsOnly(step, init)) {
		last, parts[2] = strings.TrimSpace(parts[2]), ""
	}
	space := parts[1][:len(parts[1])-len(strings.TrimLeft(parts[1], " \t\r\n"))]
	if space == "" {
		space = " "
	}
	head := "for (" + parts[0] + ";" + space + l.vote(it.from, p, parts[1]) + ";" + parts[2] + ")"
	l.loopBody(dividedLoop{at: end, head: head, body: it.kids[4], p: p, step: last, end: "}"})
}

// evenFor writes a for loop that all threads execute equally often: its head stays, and the guard
// is for the statements in it.
func (l *list) evenFor(it item, end int) {
	l.head(end, string(l.w.b.text[it.from:end]))
	body := it.kids[4]
	l.behind(l.beforeBrace(end, body))
	c := l.child(body, &scope{kind: loopBody, parent: l.scope}, l.guard)
	c.render()
	l.line("}")
}

// divideWhile writes a while loop whose condition is a vote of all threads.
func (l *list) divideWhile(it item) {
	if len(it.kids) != 2 {
		l.w.fail(it.from, "the condition of a loop that a barrier divides declares a variable")
	}
	cond, end := l.parens(l.word(it.from, "while"))
	p := l.round()
	head := "while (" + l.vote(it.from, p, cond) + ")"
	l.loopBody(dividedLoop{at: end, head: head, body: it.kids[1], p: p, end: "}"})
}

// divideDo writes a do loop whose condition is a vote of all threads.
func (l *list) divideDo(it item) {
	w := l.w
	head := l.word(it.from, "do")
	_, end := w.span(it.kids[0])
	at := l.word(w.b.text.skipBlank(end), "while")
	cond, _ := l.parens(at)
	p := l.round()
	last := "} while (" + l.vote(at, p, cond) + ");"
	l.loopBody(dividedLoop{at: head, head: "do", body: it.kids[0], p: p, end: last})
}

// semicolons splits the head of a for loop at the semicolons outside of parentheses and literals.
func semicolons(s string) []string {
	t := text(s)
	var out []string
	depth, from := 0, 0
	for i := t.skipBlank(0); i < len(t); i = t.skipBlank(t.skipToken(i)) {
		switch t[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ';':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// harmless reports whether an expression or a declaration neither accesses memory of other threads
// nor calls a function, so that threads outside the loop may execute it.
func harmless(n *node) bool {
	switch n.kind {
	case "CallExpr", "CXXOperatorCallExpr", "CXXMemberCallExpr", "ArraySubscriptExpr", "LambdaExpr",
		"CXXConstructExpr", "CXXUnresolvedConstructExpr":
		return false
	case "UnaryOperator":
		if n.op == "*" {
			return false
		}
	case "BinaryOperator", "CompoundAssignOperator":
		if strings.HasPrefix(n.op, "/") || strings.HasPrefix(n.op, "%") {
			return false
		}
	}
	for _, kid := range n.kids {
		if !harmless(kid) {
			return false
		}
	}
	return true
}

// assignsOnly reports whether the step of a loop assigns only to variables that the loop declares.
func (w *rewriter) assignsOnly(step, decl *node) bool {
	own := map[string]bool{}
	for _, v := range decl.kids {
		own[v.id] = true
	}
	return !w.any(step, func(k *node) bool {
		assigns := k.kind == "CompoundAssignOperator" || k.kind == "BinaryOperator" && k.op == "=" ||
			k.kind == "UnaryOperator" && (k.op == "++" || k.op == "--")
		return assigns && !(k.kids[0].kind == "DeclRefExpr" && own[k.kids[0].target])
	})
}
