package launch

import "slices"

// assignments are the operators that change their left operand, with the operator that they apply.
var assignments = map[string]string{"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%",
	"&=": "&", "|=": "|", "^=": "^", "<<=": "<<", ">>=": ">>"}

// block executes the statements of toks from i up to end. It returns true if they end the function
// or the iteration of a loop.
func (x *exec) block(i, end int) bool {
	ends := false
	for i < end && x.spend(1) {
		var stop bool
		i, stop = x.statement(i, end)
		ends = ends || stop
		if ends && i < end && x.hasLabel(i, end) {
			x.frame.returned(len(x.journal))
			ends = false
		}
		if ends {
			return true
		}
	}
	return ends
}

// isLabel reports whether a label is at i, which a goto or a switch jumps to.
func (x *exec) isLabel(i int) bool {
	t := x.toks[i]
	return t.is("case") || t.is("default") ||
		t.kind == tokIdent && i+1 < len(x.toks) && x.toks[i+1].is(":")
}

// hasLabel reports whether there is a label among the statements from i to end, so that they may be
// executed from there on.
func (x *exec) hasLabel(i, end int) bool {
	for ; i < end && x.spend(1); i++ {
		before := token{}
		if i > 0 {
			before = x.toks[i-1]
		}
		if x.isLabel(i) && (before.kind != tokPunct || before.is(";") || before.is("{") || before.is("}") ||
			before.is(")") || before.is(":")) {
			return true
		}
	}
	return false
}

// statement executes the statement at i and returns the index after it.
func (x *exec) statement(i, end int) (next int, ends bool) {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > 4*maxExprDepth {
		return end, false
	}
	switch t := x.toks[i]; {
	case t.is(";"), t.is("else"), t.is("}"), t.is(")"), t.is("]"):
		return i + 1, false
	case t.is("{"):
		x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
		ends = x.block(i+1, x.closer[i])
		x.endScope()
		return x.closer[i] + 1, ends
	case t.is("if"):
		return x.ifStatement(i, end)
	case t.is("for"), t.is("while"):
		return x.loop(i, end)
	case t.is("do"):
		return x.doLoop(i, end)
	case t.is("switch"):
		return x.switchStatement(i, end)
	case t.is("return"), t.is("throw"), t.is("goto"), t.is("break"), t.is("continue"):
		stop := x.exprEnd(i+1, end)
		x.effects(i+1, stop)
		return stop + 1, true
	case t.is("case"), t.is("default"):
		i = x.labelEnd(i, end)
		x.forgetAll(x.switched)
		return i + 1, false
	case t.is("try") && i+1 < end && x.toks[i+1].is("{"):
		return x.tryStatement(i, end)
	case x.isLabel(i):
		x.forgetScopes()
		return i + 2, false
	case isInsertion(t):
		x.forgetScopes()
		return i + 1, false
	case (t.is("struct") || t.is("class") || t.is("enum")) && !x.defines(i, end):
	case t.is("struct"), t.is("class"), t.is("enum"), t.is("union"), t.is("typedef"), t.is("using"):
		if next := x.item(i, end); next > i {
			x.localNames(i, next)
			return next, false
		}
	}
	if next, ok := x.declaration(i, end); ok {
		return next, false
	}
	stop := x.exprEnd(i, end)
	ends = x.expression(i, stop)
	return max(stop, i) + 1, ends
}

// defines reports whether the struct, class or enum at i is one with members or only its name, and
// not part of the type of a variable: struct dim3 b(64, 2).
func (x *exec) defines(i, end int) bool {
	for i++; i < end && (x.toks[i].kind == tokIdent || x.toks[i].is("::")); i++ {
		if i+1 < end && x.toks[i+1].is("<") {
			i = skipAngles(x.toks[:end], i+1)
		}
		if i+1 < end && isName(x.toks[i]) && isName(x.toks[i+1]) && !x.toks[i+1].is("final") {
			return false
		}
	}
	return i >= end || !x.toks[i].is("*") && !x.toks[i].is("&") && !x.toks[i].is("(")
}

// endScope ends the innermost scope.
func (x *exec) endScope() {
	n := len(x.frame.scopes) - 1
	x.destroy(x.frame.scopes[n])
	x.frame.scopes = x.frame.scopes[:n]
}

// localNames declares what a type definition or a using within a function declares besides the
// type: enumerators, variables after the members, and the names of another scope, of which nothing
// is known.
func (x *exec) localNames(i, next int) {
	if x.frame == nil {
		return
	}
	for j := i; j < min(next, len(x.toks)); j++ {
		switch t := x.toks[j]; {
		case t.is("{"):
			if x.toks[i].is("enum") {
				x.enumerators([2]int{j + 1, x.closer[j]})
			}
			j = x.closer[j]
			if x.constructors {
				x.outside() // that of a variable after the members
			}
			for k := j + 1; k < min(next, len(x.toks)) && x.toks[i].kind == tokIdent; k++ {
				if c := x.variable(x.toks[k].text); c != nil && x.toks[k].kind == tokIdent {
					x.escape(c) // in the initializer of a variable after the members
				}
			}
		case t.is("="):
			return
		case t.kind == tokIdent && j+1 < len(x.toks) && j > i+1 && !x.toks[i].is("typedef") &&
			(x.toks[j+1].is(";") || x.toks[j+1].is(",") || x.toks[j+1].is("=") || x.toks[j+1].is("{")) &&
			!(x.toks[i].is("using") && x.toks[i+1].is("namespace")) &&
			!(j == i+1 || x.toks[j+1].is("{") && x.toks[j-1].is(":")):
			if x.toks[j-1].is("::") || x.toks[j-1].is("}") || x.toks[j-1].is(",") || x.toks[j-1].is("*") {
				x.declare(t.text, ctype{}, value{}, false)
			}
		}
	}
}

// tryStatement executes a try with its handlers. A handler may run after any part of the block, and
// so may what follows a handler that ends.
func (x *exec) tryStatement(i, end int) (next int, ends bool) {
	body := func() { _, ends = x.statement(i+1, end) }
	cells := x.rehearse(body)
	body()
	next = x.closer[i+1] + 1
	for next+1 < end && x.toks[next].is("catch") && x.toks[next+1].is("(") {
		open := next + 1
		handlerEnds := false
		x.alternatives(nil, func() bool {
			x.forgetAll(cells)
			x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
			if p := unwrapped(x.toks[open+1 : max(open+1, x.closer[open])]); len(p) > 0 &&
				p[len(p)-1].kind == tokIdent {
				x.declare(p[len(p)-1].text, ctype{}, value{}, false)
			}
			next, handlerEnds = x.statement(x.closer[open]+1, end)
			x.endScope()
			return handlerEnds
		}, func() bool { return false })
		if !handlerEnds {
			x.forgetAll(cells)
			ends = false
		}
		next = max(next, open+1)
	}
	return next, ends
}

// condition executes the header of an if, a while or a switch, with the
// declarations in it, and returns its value; nil if it is unknown.
func (x *exec) condition(i, end int) *Expr {
	if stop := x.exprEnd(i, end); stop < end {
		x.statement(i, stop+1)
		i = stop + 1
	}
	if i >= end {
		return nil
	}
	if t, at, ok := x.parseType(x.toks[:end], i); ok && at+1 < end && at > i {
		switch {
		case isName(x.toks[at]) && (x.toks[at+1].is("=") || x.toks[at+1].is("{")):
			x.declaration(i, end)
			return x.variable(x.toks[at].text).value().integer()
		case x.isParenthesized(t, at, end) && (x.toks[x.closer[at]+1].is("=") || x.toks[x.closer[at]+1].is("{")):
			x.declaration(i, end)
			return nil
		}
	}
	x.effects(i, end)
	return x.known(x.toks[i:end]).integer()
}

// value is the value of a variable that may not exist.
func (c *cell) value() value {
	if c == nil {
		return value{}
	}
	return c.val
}

// labelEnd returns the index of the ':' that ends the label of a switch at i, or of a ';' before
// it, or end.
func (x *exec) labelEnd(i, end int) int {
	for i < end && !x.toks[i].is(":") && !x.toks[i].is(";") {
		i++
	}
	return i
}

// exprEnd returns the index of the ';' that ends the statement at i, or end.
func (x *exec) exprEnd(i, end int) int {
	for ; i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = x.closer[i]
		case t.is(";"), t.is("}"):
			return i
		}
	}
	return end
}

// ifStatement executes an if with its else.
func (x *exec) ifStatement(i, end int) (next int, ends bool) {
	i++
	if i < end && x.toks[i].is("constexpr") {
		i++
	}
	if i >= end || !x.toks[i].is("(") {
		return i, false
	}
	open := i
	i = x.closer[i] + 1
	x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
	defer x.endScope()
	cond := x.condition(open+1, i-1)
	if i >= end {
		return end, false
	}
	first := i
	second := x.skip(i, end)
	next = second
	hasElse := second < end && x.toks[second].is("else")
	if hasElse {
		next = x.skip(second+1, end)
	}
	if x.dry > 0 || x.toks[open].maybe || x.hasLabel(first, next) {
		cond = nil
	}
	run := func(i int) func() bool {
		return func() bool {
			_, ends := x.statement(i, end)
			return ends
		}
	}
	nothing := func() bool { return false }
	n, constant := cond.Constant()
	switch {
	case constant && n != 0:
		x.skipped(second, next, [2]int{open + 1, first - 1})
		return next, run(first)()
	case constant && hasElse && second+1 < end:
		x.skipped(first, second, [2]int{open + 1, first - 1})
		return next, run(second + 1)()
	case constant:
		x.skipped(first, second, [2]int{open + 1, first - 1})
		return next, false
	}
	taken := func() bool { return x.under(cond, true, run(first)) }
	if !hasElse || second+1 >= end {
		return next, x.alternatives(cond, taken, nothing)
	}
	return next, x.alternatives(cond, taken, func() bool { return x.under(cond, false, run(second+1)) })
}

// skipped notes the launches from i to end, which are not executed because of a condition, and what
// that may depend on.
func (x *exec) skipped(i, end int, cond [2]int) {
	for ; i < end; i++ {
		if !x.toks[i].is("<<<") {
			continue
		}
		x.dead[i] = true
		if x.sure != nil && x.unsure[i] == nil {
			x.unsure[i] = x.sure.expression(cond[0], cond[1])
		}
	}
}

// skip returns the index after the statement at i, without executing it.
func (x *exec) skip(i, end int) int {
	for i < end && x.spend(1) {
		switch t := x.toks[i]; {
		case t.is("{"):
			return min(x.closer[i]+1, end)
		case x.isLabel(i):
			i = x.labelEnd(i, end) + 1
		case t.is("if"), t.is("for"), t.is("while"), t.is("switch"):
			isIf := t.is("if")
			i++
			if i < end && x.toks[i].is("constexpr") {
				i++
			}
			if i < end && x.toks[i].is("(") {
				i = x.closer[i] + 1
			}
			if !isIf {
				continue
			}
			if i = x.skip(i, end); i < end && x.toks[i].is("else") {
				i++
				continue
			}
			return i
		case t.is("do"):
			i = x.skip(i+1, end)
			return min(x.exprEnd(i, end)+1, end)
		default:
			return min(x.exprEnd(i, end)+1, end)
		}
	}
	return min(i, end)
}

// loop executes a for or a while.
func (x *exec) loop(i, end int) (next int, ends bool) {
	isFor := x.toks[i].is("for")
	open := i + 1
	if open >= end || !x.toks[open].is("(") {
		return i + 1, false
	}
	shut := min(x.closer[open], end)
	body := shut + 1
	next = x.skip(body, end)
	x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
	defer x.endScope()
	condition, step := [2]int{open + 1, shut}, [2]int{shut, shut}
	if isFor {
		first := x.exprEnd(open+1, shut)
		if first >= shut { // for (T x : c)
			x.rangeVariable(open+1, shut)
			condition[1] = condition[0]
		} else {
			if open+1 < first {
				x.statement(open+1, first+1)
			}
			second := x.exprEnd(first+1, shut)
			condition, step = [2]int{first + 1, second}, [2]int{min(second+1, shut), shut}
			if second >= shut && slices.ContainsFunc(x.toks[first+1:shut], func(t token) bool { return t.is(":") }) {
				x.rangeVariable(first+1, shut) // for (init; T x : c)
				condition[1], step[0] = condition[0], shut
			}
		}
	}
	again := func() *Expr {
		if condition[0] >= condition[1] {
			return nil
		}
		return x.condition(condition[0], condition[1])
	}
	if x.hasLabel(body, next) {
		again = func() *Expr { return nil }
	}
	x.repeat(x.jumps(body, next), again, func() bool {
		ends := false
		if body < end {
			_, ends = x.statement(body, end)
		}
		if step[0] < step[1] {
			for _, part := range x.commas(step[0], step[1]) {
				x.expression(part[0], part[1])
			}
		}
		return ends
	})
	return next, false
}

// jumps reports whether a break, a continue or a goto is among the tokens from i to end.
func (x *exec) jumps(i, end int) bool {
	return slices.ContainsFunc(x.toks[min(i, end):end], func(t token) bool {
		return t.is("break") || t.is("continue") || t.is("goto")
	})
}

// commas splits the tokens from i to end at commas outside brackets.
func (x *exec) commas(i, end int) [][2]int {
	var out [][2]int
	start := i
	for ; i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = x.closer[i]
		case t.is(","):
			out = append(out, [2]int{start, i})
			start = i + 1
		}
	}
	if start < end {
		out = append(out, [2]int{start, end})
	}
	return out
}

// rangeVariable declares the variables of a range-based for, and forgets what it ranges over if it
// does so by reference.
func (x *exec) rangeVariable(i, end int) {
	ref := false
	for ; i < end && !x.toks[i].is(":"); i++ {
		t := x.toks[i]
		ref = ref || t.is("&") || t.is("&&")
		wrapped := i > 0 && i+2 < end && x.toks[i-1].is("(") && x.toks[i+1].is(")") && x.toks[i+2].is(":")
		if t.kind == tokIdent && i+1 < end && (wrapped || x.toks[i+1].is(":") ||
			x.toks[i+1].is(",") || x.toks[i+1].is("]")) {
			c := x.declare(t.text, ctype{}, value{}, false)
			c.alias = ref
		}
	}
	x.effects(i, end)
	x.keepAddresses(i, end, true)
	for ; i < end; i++ {
		if c := x.variable(x.toks[i].text); c != nil && x.toks[i].kind == tokIdent {
			if x.drop(c.val); ref {
				x.escape(c)
			}
		}
	}
}

// doLoop executes do statement while (condition);
func (x *exec) doLoop(i, end int) (next int, ends bool) {
	next = x.skip(i, end)
	if body := x.skip(i+1, end); body+3 < end && x.toks[body].is("while") && x.toks[body+2].text == "0" &&
		x.toks[body+3].is(")") && !x.jumps(i+1, body) { // the idiom of macros
		_, ends = x.statement(i+1, end)
		return max(next, i+1), ends
	}
	test := x.skip(i+1, end) // "while"
	x.repeat(true, func() *Expr { return nil }, func() bool {
		_, ends := x.statement(i+1, end)
		if !ends && test+1 < end && x.toks[test].is("while") && x.toks[test+1].is("(") {
			x.condition(test+2, min(x.closer[test+1], end)) // it may assign
		}
		return ends
	})
	return max(next, i+1), false
}

// switchStatement executes all cases, in which what any of them assigns is unknown.
func (x *exec) switchStatement(i, end int) (next int, ends bool) {
	if i+2 >= end || !x.toks[i+1].is("(") {
		return i + 1, false
	}
	body := x.closer[i+1] + 1
	x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
	defer x.endScope()
	subject := x.condition(i+2, body-1)
	next = x.skip(body, end)
	first, last := body, next
	if body < end && x.toks[body].is("{") {
		first, last = body+1, x.closer[body]
	}
	run := func() {
		ended := true // the statement before
		var cond *Expr
		for j := first; j < last && x.spend(1); {
			if x.isLabel(j) {
				cond = nil
				if ended && x.toks[j].is("case") {
					cond = operation(OpEq, subject, x.caseValue(j))
				}
			}
			x.under(cond, true, func() bool {
				j, ended = x.statement(j, last)
				return ended
			})
		}
	}
	if slices.ContainsFunc(x.toks[min(first, last):last], func(t token) bool {
		return t.is("return") || t.is("throw")
	}) {
		x.frame.returned(len(x.journal))
	}
	x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
	outer := x.switched
	cells := x.rehearse(run)
	x.switched = cells
	x.forgetAll(cells)
	run()
	x.forgetAll(cells)
	x.switched = outer
	x.frame.scopes = x.frame.scopes[:len(x.frame.scopes)-1]
	return max(next, i+1), false
}

// caseValue is the value of the case label at i.
func (x *exec) caseValue(i int) *Expr {
	end := x.labelEnd(i+1, min(i+1+maxListTokens, len(x.toks)))
	return x.eval(x.toks[i+1 : end]).integer()
}

// forgetScopes makes all variables of the function unknown: a goto may come from anywhere.
func (x *exec) forgetScopes() {
	for _, s := range x.frame.scopes {
		for _, name := range sortedKeys(s) {
			if c := s[name]; !c.typ.fixed {
				x.drop(c.val)
				x.forget(c)
			}
		}
	}
	x.outside()
}
