package syntax

import "strings"

// divide writes an if, a loop or a block whose statements barriers divide.
func (l *list) divide(i int, it item) {
	lead, _, tail := l.parts(i)
	if strings.Contains(lead, "#") {
		l.w.fail(it.from, "a preprocessor directive stands before a statement that a barrier divides")
	}
	l.lines(lead[:strings.LastIndexByte(lead, '\n')+1], l.ind)
	switch {
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
		l.w.fail(it.from, "a barrier that all threads must come to stands in a switch")
	default:
		l.w.fail(it.from, "a barrier that all threads must come to stands in a statement that cannot be divided")
	}
	if list := bodies(it.node); it.kind == "DoStmt" || l.w.b.braces(list[len(list)-1]) { // else it is part of the body
		l.behind(tail)
	}
}

// child is the list of a body, under a guard.
func (l *list) child(body *node, s *scope, guard string) *list {
	c := l.w.newList(body, s, l.out)
	c.guard, c.ind, c.stays = guard, l.ind+l.w.unit, false
	return c
}

// parens returns the text in the parentheses behind at, and the offset behind them.
func (l *list) parens(at int) (string, int) {
	t := l.w.b.text
	open := t.skipBlank(at)
	end := t.behindArguments(at)
	if open >= len(t) || t[open] != '(' || end <= open+1 {
		l.w.fail(at, "the head of a statement that a barrier divides is not plain text")
	}
	return string(t[open+1 : end-1]), end
}

// word checks that a statement begins with a word, and returns the offset behind it.
func (l *list) word(at int, word string) int {
	if t := l.w.b.text; t.skipToken(at) != at+len(word) || string(t[at:at+len(word)]) != word {
		l.w.fail(at, "a statement that a barrier divides is not plain text")
	}
	return at + len(word)
}

// and joins conditions.
func and(guard, cond string) string {
	if guard == "" {
		return cond
	}
	return guard + " && " + factor(cond)
}

// factor puts parentheses around what binds less than &&.
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
			case c == '|' && !doubled && before != '|', c == '=' && strings.IndexByte("=<>!", before) >= 0 && !strings.HasSuffix(cond[:i], "<<") && !strings.HasSuffix(cond[:i], ">>"):
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

func (l *list) divideIf(it item) {
	w := l.w
	kids := bodies(it.node)
	if len(it.kids) != len(kids)+1 {
		w.fail(it.from, "the condition of an if that a barrier divides declares a variable")
	}
	cond, end := l.parens(l.word(it.from, "if"))
	cond = l.plain(it.from, cond)
	p := w.fresh("p")
	l.line("bool " + p + " = " + and(l.guard, cond) + ";")
	l.behind(l.beforeBrace(end, kids[0]))
	otherwise := "!" + p
	if len(kids) == 2 && (l.guard != "" || w.jumpsIn(it.node)) {
		r := w.fresh("r")
		l.line("bool " + r + " = " + and(l.guard, "!"+p) + ";")
		otherwise = r
	}
	l.branch(kids[0], p)
	if len(kids) == 2 {
		if _, to := w.span(kids[0]); to < kids[1].begin.offset {
			between := w.b.text[to:kids[1].begin.offset]
			if c := strings.TrimSpace(strings.Replace(string(between), "else", "", 1)); c != "" {
				l.line(c)
			}
		}
		l.branch(kids[1], otherwise)
	}
}

// beforeBrace is what stands between the head of a statement and the brace that opens its body.
func (l *list) beforeBrace(at int, body *node) string {
	if !l.w.b.braces(body) || body.begin.offset < at {
		return ""
	}
	return string(l.w.b.text[at:body.begin.offset])
}

// plain returns a condition in one line, without what only the place in the text gave it.
func (l *list) plain(at int, cond string) string {
	if strings.Contains(cond, "#") || strings.Contains(cond, "//") {
		l.w.fail(at, "the condition of a statement that a barrier divides is not plain text")
	}
	return strings.Join(strings.Fields(cond), " ")
}

// branch writes a branch as part of the list.
func (l *list) branch(body *node, guard string) {
	if body.kind == "NullStmt" {
		return
	}
	c := l.child(body, &scope{kind: branch, vars: []string{strings.TrimPrefix(guard, "!")}, parent: l.scope}, guard)
	c.ind, c.flat = l.ind, true
	c.render()
}

// vote is the condition of a loop that ends when no thread is in it.
func (l *list) vote(at int, p, cond string) string {
	if l.w.b.openCL {
		l.w.fail(at, "threads go round a loop a different number of times, and OpenCL C has no barrier that tells whether one still does")
	}
	if strings.TrimSpace(cond) == "" {
		return "__syncthreads_or(" + p + ")"
	}
	return "__syncthreads_or(" + p + " = " + p + " && " + factor(l.plain(at, cond)) + ")"
}

// round declares the variable of a loop.
func (l *list) round() string {
	p := l.w.fresh("p")
	from := l.guard
	if from == "" {
		from = "true"
	}
	l.line("bool " + p + " = " + from + ";")
	return p
}

// loopBody writes the body of a loop whose head ends at an offset; step is what comes at the end of an iteration.
func (l *list) loopBody(at int, head string, body *node, p, step, end string) {
	w := l.w
	l.head(head)
	l.behind(l.beforeBrace(at, body))
	s := &scope{kind: loopBody, vars: []string{p}, parent: l.scope}
	c := l.child(body, s, p)
	if w.any(body, func(k *node) bool { return k.kind == "ContinueStmt" && w.converted[k] }) {
		q := w.fresh("q")
		c.line("bool " + q + " = " + p + ";")
		s.vars, c.guard = []string{p, q}, q
	}
	c.render()
	if step != "" {
		c.line("if (" + p + ")")
		c.line(w.unit + step + ";")
	}
	l.line(end)
}

func (l *list) divideFor(it item) {
	w := l.w
	header, end := l.parens(l.word(it.from, "for"))
	parts := semicolons(header)
	if len(parts) != 3 || len(it.kids) != 5 || it.kids[1].kind != "" {
		w.fail(it.from, "the head of a loop that a barrier divides is not plain")
	}
	init, step := it.kids[0], it.kids[3]
	own := init.kind == "DeclStmt"
	if l.guard != "" && (init.kind != "" && !own || !harmless(init)) {
		w.fail(it.from, "the head of a loop that a barrier divides does more than to declare a variable")
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
	l.loopBody(end, head, it.kids[4], p, last, "}")
}

func (l *list) divideWhile(it item) {
	if len(it.kids) != 2 {
		l.w.fail(it.from, "the condition of a loop that a barrier divides declares a variable")
	}
	cond, end := l.parens(l.word(it.from, "while"))
	p := l.round()
	l.loopBody(end, "while ("+l.vote(it.from, p, cond)+")", it.kids[1], p, "", "}")
}

func (l *list) divideDo(it item) {
	w := l.w
	head := l.word(it.from, "do")
	_, end := w.span(it.kids[0])
	at := l.word(w.b.text.skipBlank(end), "while")
	cond, _ := l.parens(at)
	p := l.round()
	l.loopBody(head, "do", it.kids[0], p, "", "} while ("+l.vote(at, p, cond)+");")
}

// semicolons cuts the head of a for.
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

// harmless reports whether an expression or a declaration does not touch memory that others see, and calls nothing.
func harmless(n *node) bool {
	switch n.kind {
	case "CallExpr", "CXXOperatorCallExpr", "CXXMemberCallExpr", "ArraySubscriptExpr", "LambdaExpr", "CXXConstructExpr", "CXXUnresolvedConstructExpr":
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

// assignsOnly reports whether the step of a loop changes nothing but variables that the loop declares.
func (w *rewriter) assignsOnly(step, decl *node) bool {
	own := map[string]bool{}
	for _, v := range decl.kids {
		own[v.id] = true
	}
	return !w.any(step, func(k *node) bool {
		assigns := k.kind == "CompoundAssignOperator" || k.kind == "BinaryOperator" && k.op == "=" || k.kind == "UnaryOperator" && (k.op == "++" || k.op == "--")
		return assigns && !(k.kids[0].kind == "DeclRefExpr" && own[k.kids[0].target])
	})
}
