package launch

import (
	"slices"
	"strings"
)

// expression executes the expression statement from i to end. It returns true if it ends the
// program.
func (x *exec) expression(i, end int) bool {
	if i >= end {
		return false
	}
	if x.toks[i].is("exit") || x.toks[i].is("abort") {
		return true
	}
	if x.assignment(i, end) {
		return false
	}
	x.effects(i, end)
	return false
}

// assignment executes lvalue op= expression, ++lvalue and lvalue++; false if it is something else.
func (x *exec) assignment(i, end int) bool {
	toks := x.toks[i:end]
	for j := i; j < end; j++ {
		t := x.toks[j]
		op, ok := assignments[t.text]
		switch {
		case t.is("("), t.is("["), t.is("{"):
			j = x.closer[j]
		case t.is("?"), t.is(","):
			return false
		case t.kind == tokPunct && ok && j > i && x.hasLaunch(j, end):
			return false // n = 5, k<<<1, n>>>()
		case t.kind == tokPunct && ok && j > i:
			last := x.targetEnd(j+1, end)
			if last == end || !x.assignment(j+1, end) {
				x.effects(j+1, end)
			} // else a = b = 5: b has the value
			x.effectsOfTarget(i, j)
			c := x.variable(x.toks[i].text)
			x.keepAddresses(j+1, end, c == nil || j > i+1 || c.typ.keeps())
			v := x.eval(x.toks[j+1 : last])
			if v.kind != aPointer || j > i+1 {
				x.leak(j+1, end)
			}
			if op != "" {
				v = combine(op, x.known(x.toks[i:j]), x.known(x.toks[j+1:last]))
			}
			x.store(i, j, v)
			return true
		}
	}
	if n := len(toks); n >= 2 && (toks[0].is("++") || toks[0].is("--")) {
		return x.step(i+1, end, toks[0].text[:1])
	} else if n >= 2 && (toks[n-1].is("++") || toks[n-1].is("--")) {
		return x.step(i, end-1, toks[n-1].text[:1])
	}
	return false
}

// targetEnd returns the index of the first assignment operator from i to end, outside of brackets;
// end if there is none.
func (x *exec) targetEnd(i, end int) int {
	for ; i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = x.closer[i]
		case t.kind == tokPunct && isAssignment(t.text):
			return i
		}
	}
	return end
}

// hasLaunch reports whether there is a launch among the tokens from i to end.
func (x *exec) hasLaunch(i, end int) bool {
	return slices.ContainsFunc(x.toks[i:end], func(t token) bool { return t.is("<<<") })
}

// step executes an increment or a decrement of the lvalue from i to end.
func (x *exec) step(i, end int, op string) bool {
	x.effectsOfTarget(i, end)
	x.store(i, end, combine(op, x.known(x.toks[i:end]), integer(number(1))))
	return true
}

// effectsOfTarget applies the effects of the indices in an lvalue, and of all of one that is more
// than a place.
func (x *exec) effectsOfTarget(i, end int) {
	if !x.isPlace(i, end) {
		x.effects(i, end)
		return
	}
	for j := i; j < end; j++ {
		if x.toks[j].is("[") {
			x.effects(j+1, min(x.closer[j], end))
		}
	}
}

// store assigns v to the lvalue of the tokens from i to end.
func (x *exec) store(i, end int, v value) {
	toks := x.toks[i:end]
	if toks[0].maybe {
		v = value{}
	}
	for _, a := range x.aliases {
		x.forget(a)
	}
	if !x.isPlace(i, end) {
		x.change(i, end)
		return
	}
	c := x.variable(toks[0].text)
	if c == nil && toks[0].kind == tokIdent {
		c = x.extern(toks[0].text)
	}
	if c != nil && (x.local(toks[0].text) == nil || c == x.globals[c.name] || slices.Contains(x.escaped, c)) {
		x.epoch++ // others' pointers may lead to it
	}
	switch {
	case c == nil || c.alias || toks[0].kind != tokIdent: // *p = ..., (*p).x = ...
		x.storeThrough(toks)
	case len(toks) == 1:
		if v.kind != nothing {
			v = convert(v, c.typ)
		}
		c.set = true
		x.assign(c, v)
	case len(toks) == 3 && (toks[1].is(".") || toks[1].is("->")) && toks[2].kind == tokIdent:
		x.storeMember(c, toks[1].text+toks[2].text, v)
	default:
		x.storeThrough(toks)
	}
}

// storeMember assigns v to a member of a variable.
func (x *exec) storeMember(c *cell, path string, v value) {
	obj := c.val
	if x.overlaid[path[len(path)-len(strings.TrimLeft(path, ".->")):]] {
		v = value{}
	}
	if obj.kind == aDim {
		n := slices.Index([]string{".x", ".y", ".z"}, path)
		if n < 0 {
			x.forget(c)
			return
		}
		if obj.dim[n] = v.truncated().n; obj.dim[n] == nil {
			obj.dim[n] = x.unknownOf(ctype{class: classDim}, c.name).dim[n]
		}
		x.assignPart(c, obj, 1<<n)
		return
	}
	if path[0] == '-' { // others may point to the same object
		x.drop(obj)
		x.storeThrough(nil)
		if a, ok := v.pointer(); ok {
			x.retain(a.root)
		}
		return
	}
	if obj.kind != anObject {
		x.forget(c)
		return
	}
	if a, ok := v.pointer(); ok {
		x.retain(a.root)
	}
	if v.kind != nothing {
		v = convert(v, x.memberTypes[path[1:]])
	}
	if v.kind == nothing {
		v = x.object(c.name + path)
	}
	x.assign(c, obj.with(path, v).changed())
}

// storeThrough is a store that is not to a plain variable or member: the contents of what the
// variables in the lvalue point to become unknown, and so does everything whose address was kept.
// So do the arguments of a call and the operands of a choice in the lvalue, to which it may refer.
func (x *exec) storeThrough(toks []token) {
	chosen := false
	for j, t := range toks {
		chosen = chosen || t.is("?") || t.is("(") && j > 0 && toks[j-1].kind == tokIdent
		if c := x.variable(t.text); t.kind == tokIdent && c != nil {
			x.drop(c.val)
			if chosen {
				x.forget(c)
			}
			if c.val.kind == anObject && c.typ.ptr == 0 && c.typ.array == 0 && toks[0].text == t.text {
				x.forget(c) // a.b.c = ..., v[i] = ...
			}
		}
	}
	x.epoch++
	x.dropKept()
	for _, c := range x.escaped {
		x.forget(c)
	}
	if len(toks) > 0 && len(x.funcs["operator"]) > 0 { // it may be what an operator [] or * returns
		x.outside()
	}
}

// drop makes the contents of what v points to unknown.
func (x *exec) drop(v value) {
	if v.kind == anObject { // perhaps a pointer
		x.dropKept()
	}
	if v.kind == aPointer && (v.root.mem.val.noted() || x.dry > 0) {
		x.forget(v.root.mem)
	}
}

// retain notes that a pointer into r was stored where other code may find it: its contents are not
// known to stay.
func (x *exec) retain(r *root) {
	if !x.isKept[r] {
		x.isKept[r] = true
		if r.mem.noted {
			x.kept = append(x.kept, r)
		}
	}
	if r.mem.val.noted() {
		x.forget(r.mem)
	}
}

// dropKept makes unknown what pointers may lead to of which it is not known where they point.
func (x *exec) dropKept() {
	for _, r := range x.kept {
		if r.mem.val.noted() {
			x.forget(r.mem)
		}
	}
}

// escape notes that the address of a variable is kept. Its value is unknown after each call or
// store that may use it.
func (x *exec) escape(c *cell) {
	x.drop(c.val)
	x.forget(c)
	x.hold(c)
}

// hold notes that the address of a variable is kept for good.
func (x *exec) hold(c *cell) {
	c.held = true
	if !slices.Contains(x.escaped, c) {
		x.escaped = append(x.escaped, c)
	}
}

// effects applies what the tokens from i to end do besides having a value: calls, launches, and
// assignments within expressions.
func (x *exec) effects(i, end int) { x.effectsOf(i, end, true) }

// effectsOf is effects, with or without those of taking an address.
func (x *exec) effectsOf(i, end int, addresses bool) {
	end = min(end, len(x.toks))
	k := x.choice(i, end)
	x.effectsOfOperand(i, k, addresses)
	if k >= end {
		return
	}
	rest := func() { // it is perhaps not executed
		for k < end {
			next := x.choice(k+1, end)
			x.effectsOfOperand(k+1, next, addresses)
			k = next
		}
	}
	first := k
	cells := x.rehearse(rest)
	if x.dry == 0 {
		x.forgetAll(cells)
		k = first
		rest()
		x.forgetAll(cells)
	}
}

// effectsOfOperand is effectsOf for tokens without an operator that decides what is executed, but
// in brackets.
func (x *exec) effectsOfOperand(i, end int, addresses bool) {
	x.effectsOfOperators(i, end)
	first := i
	for ; i < end && x.spend(1); i++ {
		t := x.toks[i]
		switch {
		case t.is("<<<"):
			if next, ok := x.launch(i); ok {
				i = next
			}
		case t.is("[") && !x.isSubscript(i):
			i = x.lambda(i, end)
		case t.is("++"), t.is("--"):
			if i > first && (isName(x.toks[i-1]) || x.toks[i-1].is(")") || x.toks[i-1].is("]")) {
				x.modify(x.operandStart(i, first), i)
			} else {
				x.modify(i+1, x.operandEnd(i+1, end))
			}
		case t.kind == tokPunct && i > first && isAssignment(t.text):
			x.modify(x.targetStart(i, first), i)
		case t.is("&") && addresses && i+1 < end && x.isPrefix(i):
			for _, c := range x.addressed(i+1, x.operandEnd(i+1, end)) {
				x.forgetNamed(c.name)
			}
		case t.is("("), t.is("["), t.is("{"):
			shut := min(x.closer[i], end)
			if t.is("(") && i > first && (x.toks[i-1].is("]") || x.toks[i-1].is(")") && !x.isCastBefore(i)) {
				x.foreign("", i, x.commas(i+1, shut)) // a call of what is no name
			}
			if x.choice(i+1, shut) < shut {
				x.effectsOf(i+1, shut, addresses)
				i = shut
			}
		case t.is(">>") && i+1 < end && x.isStream(i-1):
			x.modify(i+1, x.operandEnd(i+1, end))
		case t.is("asm"), t.is("__asm__"), t.is("__asm"):
			x.change(i+1, end)
		case t.is("delete") && x.destructors, t.is("new") && x.constructors:
			x.outside()
		case isUnevaluated(t) && i+1 < end && x.toks[i+1].is("("):
			i = min(x.closer[i+1], end)
		case t.kind == tokIdent:
			i = x.mention(i, end)
		}
	}
}

// isUnevaluated reports whether an operator does not execute its operand.
func isUnevaluated(t token) bool {
	return t.is("sizeof") || t.is("decltype") || t.is("noexcept") || t.is("alignof")
}

// choice returns the index of the first operator from i to end, outside of brackets, that decides
// whether what follows is executed; end if there is none.
func (x *exec) choice(i, end int) int {
	for ; i < end && x.spend(1); i++ {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = x.closer[i]
		case t.is("&&"), t.is("||"), t.is("?"):
			return i
		}
	}
	return end
}

// isPrefix reports whether the operator at i is a prefix operator: nothing, another operator or a
// cast to a pointer precedes it.
func (x *exec) isPrefix(i int) bool {
	if i == 0 {
		return true
	}
	prev := x.toks[i-1]
	if prev.is(")") {
		return i > 1 && (x.toks[i-2].is("*") || x.isCastBefore(i))
	}
	return prev.kind == tokPunct && !prev.is("]") || prev.kind == tokIdent && notTypes[prev.text] &&
		!prev.is("this") && !prev.is("true") && !prev.is("false")
}

// isCastBefore reports whether the parentheses that end before i are the type of a cast.
func (x *exec) isCastBefore(i int) bool {
	open := x.opener[i-1]
	t, next, ok := x.parseType(x.toks[:i], open+1)
	return ok && next == i-1 && (open == 0 || !isName(x.toks[open-1])) &&
		(t.class != classOther || t.ptr > 0 || x.variable(x.toks[next-1].text) == nil)
}

// isName reports whether a token is a name and no keyword.
func isName(t token) bool { return t.kind == tokIdent && !notTypes[t.text] || t.is("this") }

// effectsOfOperators applies what overloaded operators of the file may do to the operands from i to
// end: a call of one is not told from a builtin operator.
func (x *exec) effectsOfOperators(i, end int) {
	if len(x.funcs["operator"]) == 0 {
		return
	}
	var names []string
	object := false
	for j := i; j < min(end, len(x.toks)); j++ {
		if c := x.variable(x.toks[j].text); c != nil && x.toks[j].kind == tokIdent {
			names = append(names, c.name)
			object = object || c.typ.class == classOther && c.typ.ptr == 0
		}
	}
	if !object {
		return
	}
	x.outside()
	if x.operatorsChangeNumbers() {
		for _, name := range names {
			x.forgetNamed(name)
		}
	}
}

// changesNumbers reports whether a function has a parameter by which it may change a number.
func (f *hostFunc) changesNumbers() bool {
	return slices.ContainsFunc(f.params, func(p parameter) bool {
		return p.typ.ref && !p.typ.fixed && p.typ.rec == nil
	})
}

// takesEnumeration reports whether a function has a parameter that is an enumeration.
func (f *hostFunc) takesEnumeration() bool {
	return slices.ContainsFunc(f.params, func(p parameter) bool { return p.typ.enum })
}

// isAssignment reports whether op changes its left operand.
func isAssignment(op string) bool {
	_, ok := assignments[op]
	return ok
}

// isStream reports whether the operand that ends at i may be a stream, so that >> reads from it.
func (x *exec) isStream(i int) bool {
	if i < 0 || x.toks[i].kind == tokNumber {
		return false
	}
	c := x.variable(x.toks[i].text)
	if i >= 1 && x.toks[i-1].is(">>") && i >= 2 { // in >> a >> b
		return x.isStream(i - 2)
	}
	return c == nil || c.typ.class != classInteger
}

// forgetNamed makes the variable of a name unknown.
func (x *exec) forgetNamed(name string) {
	if c := x.variable(name); c != nil {
		x.drop(c.val)
		x.forget(c)
		if c.alias {
			x.storeThrough(nil)
		}
	}
}

// lambda executes the body of a lambda whose captures are in the brackets at i, with everything
// that it assigns unknown. It returns the index of the last token of it.
func (x *exec) lambda(i, end int) int {
	j := x.closer[i] + 1
	if j < end && x.toks[j].is("<") {
		j = skipAngles(x.toks[:end], j) + 1
	}
	var params [][]token
	if j < end && x.toks[j].is("(") {
		params = splitList(x.toks[j+1 : max(j+1, x.closer[j])])
		j = x.closer[j] + 1
	}
	for j < end && !x.toks[j].is("{") && (x.toks[j].kind == tokIdent || x.toks[j].is("->")) {
		j++
	}
	if j >= end || !x.toks[j].is("{") || x.frame == nil {
		return i
	}
	x.captures(i)
	run := func() {
		x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
		x.lambdaVariables(i, params)
		x.block(j+1, x.closer[j])
		x.frame.scopes = x.frame.scopes[:len(x.frame.scopes)-1]
	}
	cells := x.rehearse(run)
	mark, touched := len(x.journal), len(x.touched)
	x.forgetAll(cells)
	if shut := x.closer[j]; shut+1 >= end || !x.toks[shut+1].is("(") { // it is called later
		x.forgetReferenced(i)
	}
	x.touched = x.touched[:touched]
	run()
	x.rollback(mark)
	x.forgetAll(cells)
	for _, t := range cells {
		x.hold(t.cell) // the lambda may be called later
	}
	return x.closer[j]
}

// captures applies the effects of the captures in the brackets at i that have initializers: [&r =
// n].
func (x *exec) captures(i int) {
	for _, p := range x.commas(i+1, x.closer[i]) {
		for j := p[0]; j < p[1]; j++ {
			if !x.toks[j].is("=") {
				continue
			}
			if x.effects(j+1, p[1]); x.toks[p[0]].is("&") {
				for _, c := range x.addressed(j+1, p[1]) {
					x.escape(c)
				}
			}
			x.keepAddresses(j+1, p[1], true)
			break
		}
	}
}

// forgetReferenced makes unknown what a lambda with the captures in the brackets at i does not
// copy: variables, and what pointers point to.
func (x *exec) forgetReferenced(i int) {
	copies := make(map[string]bool) // "" for those that are not named
	for _, p := range x.commas(i+1, x.closer[i]) {
		switch t := x.toks[p[0]]; {
		case t.is("="):
			copies[""] = true
		case t.is("&") && p[1] > p[0]+1:
			copies[x.toks[p[0]+1].text] = false
		case t.kind == tokIdent:
			copies[t.text] = true
		}
	}
	for _, s := range x.frame.scopes {
		for _, name := range sortedKeys(s) {
			copied, named := copies[name]
			x.drop(s[name].val)
			if !s[name].typ.fixed && !(copied || !named && copies[""]) {
				x.forget(s[name])
			}
		}
	}
	x.outside()
}

// lambdaVariables declares the parameters of a lambda and the captures that have initializers.
func (x *exec) lambdaVariables(i int, params [][]token) {
	for _, p := range x.commas(i+1, x.closer[i]) {
		for j := p[0] + 1; j < p[1]; j++ {
			if x.toks[j].is("=") && x.toks[j-1].kind == tokIdent {
				c := x.declare(x.toks[j-1].text, ctype{}, value{}, false)
				c.alias = x.toks[p[0]].is("&")
			}
		}
	}
	for _, p := range params {
		p = unwrapped(p)
		t, at, ok := x.parseType(p, 0)
		if !ok || at >= len(p) || p[at].kind != tokIdent {
			t, at = ctype{}, len(p)-1
			if k := slices.IndexFunc(p, func(t token) bool { return t.is("=") }); k > 0 {
				at = k - 1
			}
		}
		if at >= 0 && p[at].kind == tokIdent {
			c := x.declare(p[at].text, t, value{}, false)
			c.alias = t.ref
		}
	}
}

// unwrapped returns a declaration without the brackets around the name at its end: int (n).
func unwrapped(toks []token) []token {
	n := len(toks)
	if n < 4 || !toks[n-3].is("(") || toks[n-2].kind != tokIdent || !toks[n-1].is(")") {
		return toks
	}
	return append(toks[:n-3:n-3], toks[n-2])
}

// mention handles a name in an expression: a call, or a call of a method. It returns the index of
// the last token that it handled.
func (x *exec) mention(i, end int) int {
	name := x.toks[i].text
	if o := x.unclear[name]; o != nil {
		x.opaqueUse(o, i, end)
	}
	next := i + 1
	var targs []token
	if next < end && x.toks[next].is("<") {
		if e := skipAngles(x.toks[:end], next); e > next && e+1 < end && x.toks[e+1].is("(") {
			targs, next = x.toks[next+1:e], e+1
		}
	}
	if next < end && x.toks[next].is("{") && x.records[name] != nil {
		x.construction(name, next, end)
		return i
	}
	if next >= end || !x.toks[next].is("(") || notTypes[name] {
		return i
	}
	shut := min(x.closer[next], end)
	parts := x.commas(next+1, shut)
	if i > 0 && (x.toks[i-1].is(".") || x.toks[i-1].is("->")) &&
		!(i > 1 && x.toks[i-2].is("this")) {
		x.method(i, parts)
		return i
	}
	if x.records[name] != nil && x.constructors {
		x.outside() // of its members, too
	}
	if x.records[name] != nil && len(x.funcs[name]) == 0 || typeSizes[name] != 0 && len(x.funcs[name]) == 0 {
		return i
	}
	if x.records[name] != nil {
		x.construction(name, next, end)
		return i
	}
	if x.local(name) != nil || x.globals[name] != nil { // a lambda, a pointer to a function
		x.foreign("", i, parts)
		return i
	}
	if slices.Contains(returningTwice, name) && x.frame != nil {
		x.forgetScopes()
	}
	if minimum, ok := hostAPI[name]; ok && len(parts) >= minimum && x.isStandard(x.toks, i) {
		for _, p := range parts {
			x.nested(p)
		}
		x.api(name, parts)
		return shut
	}
	if f := x.function(x.qualifier(x.toks, i), name, len(parts), x.caller()); f != nil {
		x.callArguments(f, targs, parts)
		return shut
	}
	x.foreign(name, i, parts)
	return i
}

// returningTwice are functions that return again when later code says so, like a label of a goto.
var returningTwice = []string{"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext", "vfork"}

// construction is a call of a constructor of the file with the arguments in the brackets at i.
func (x *exec) construction(name string, i, end int) {
	parts := x.commas(i+1, min(x.closer[i], end))
	if x.records[name].refs {
		for _, p := range parts {
			if x.mayRefer(p[0], p[1]) {
				for _, c := range x.addressed(p[0], p[1]) {
					x.escape(c)
				}
			}
		}
	}
	x.foreign("", i, parts)
	x.keepAddresses(i+1, min(x.closer[i], end), true)
	x.leak(i+1, min(x.closer[i], end))
}

// nested applies the effects of calls within an argument of an API function, but not those of
// taking an address.
func (x *exec) nested(p [2]int) {
	x.effectsOf(p[0], p[1], false)
}

// callArguments evaluates the arguments of a call of a function of the file, and executes it.
func (x *exec) callArguments(f *hostFunc, targs []token, parts [][2]int) {
	args := make([]value, len(parts))
	refs := make([]*cell, len(parts))
	for i, p := range parts {
		toks := x.toks[p[0]:p[1]]
		x.effects(p[0], p[1])
		if len(toks) == 1 && toks[0].kind == tokIdent {
			refs[i] = x.variable(toks[0].text)
		}
		args[i] = x.known(toks)
		if f.params[i].keeps(f, x.hostFile) {
			x.keepAddresses(p[0], p[1], true)
		}
	}
	lent := x.lend(parts)
	for i := range parts {
		if f.params[i].mayRefer() && refs[i] != nil {
			lent = x.lendVariable(lent, refs[i])
		}
	}
	x.call(f, targs, args, refs)
	x.takeBack(lent)
	byReference := slices.ContainsFunc(targs, func(t token) bool { return t.is("&") || t.is("&&") })
	for i, p := range parts {
		t := f.params[i].typ
		if (byReference || t.ref && refs[i] == nil || f.params[i].mayRefer()) && x.mayRefer(p[0], p[1]) {
			x.modify(p[0], p[1])
		}
	}
}

// mayRefer reports whether a parameter may be a reference, as its type may be an alias of one.
func (p parameter) mayRefer() bool { return p.typ.vague || p.typ.mayRefer() && p.generic == "" }

// lend notes the variables whose addresses the arguments of a call are: a store through a pointer
// in the function may change them, which may also have their names or references to them.
func (x *exec) lend(parts [][2]int) []*cell {
	var lent []*cell
	for _, p := range parts {
		for i := p[0]; i+1 < p[1]; i++ {
			if !x.toks[i].is("&") || !x.isPrefix(i) {
				continue
			}
			for _, c := range x.addressed(i+1, x.operandEnd(i+1, p[1])) {
				lent = x.lendVariable(lent, c)
			}
		}
	}
	return lent
}

// lendVariable adds a variable to those that are lent, unless its address is kept already.
func (x *exec) lendVariable(lent []*cell, c *cell) []*cell {
	if slices.Contains(x.escaped, c) {
		return lent
	}
	x.escaped = append(x.escaped, c)
	return append(lent, c)
}

// takeBack ends what lend noted, unless the function has kept an address.
func (x *exec) takeBack(lent []*cell) {
	for _, c := range lent {
		x.forget(c)
	}
	x.escaped = slices.DeleteFunc(x.escaped, func(c *cell) bool {
		return !c.held && slices.Contains(lent, c)
	})
}

// keeps reports whether the body of f may keep the pointer that a parameter is: it is named other
// than to read or write what it points to.
func (p parameter) keeps(f *hostFunc, h *hostFile) bool {
	for i := f.body[0]; i < f.body[1]; i++ {
		if h.toks[i].text != p.name || h.toks[i].kind != tokIdent {
			continue
		}
		next := h.toks[min(i+1, len(h.toks)-1)]
		if !h.toks[i-1].is("*") && !next.is("[") && !next.is("->") && !next.is("==") && !next.is("!=") {
			return true
		}
	}
	return false
}

// constMethods do not change their object.
var constMethods = map[string]bool{"size": true, "data": true, "begin": true, "end": true,
	"get": true, "c_str": true, "empty": true, "length": true, "at": true, "front": true,
	"back": true, "capacity": true, "count": true, "str": true, "find": true}

// method handles a call of a method, whose name is at i.
func (x *exec) method(i int, parts [][2]int) {
	first := x.operandStart(i-1, 0)
	c := x.variable(x.toks[first].text)
	part := first != i-2 // the object is a member, an element or a result
	name := x.toks[i].text
	for _, p := range parts {
		x.passed(p)
	}
	own := len(x.funcs[name]) > 0
	if constMethods[name] && !own {
		return
	}
	if (own || !copying[name]) && !x.takesValues(name) {
		for _, p := range parts {
			if x.mayRefer(p[0], p[1]) && !x.isFixed(p) {
				x.modify(p[0], p[1])
			}
		}
	}
	for _, p := range parts {
		x.keepAddresses(p[0], p[1], true)
		x.leak(p[0], p[1])
	}
	if c == nil {
		x.outside()
		return
	}
	if name == "resize" && !part && c.typ.class == classVector && len(parts) >= 1 {
		n := x.known(x.toks[parts[0][0]:parts[0][1]]).integer()
		x.assign(c, x.unknownOf(c.typ, c.name).with(".size()", integer(n)))
		return
	}
	x.drop(c.val)
	x.forget(c)
	x.outside()
}

// copying are methods of the standard library that copy their arguments.
var copying = map[string]bool{"push_back": true, "push_front": true, "insert": true, "resize": true,
	"reserve": true, "assign": true, "append": true, "fill": true, "push": true, "seed": true}

// takesValues reports whether the file has methods of that name, none of which takes a reference.
func (x *exec) takesValues(name string) bool {
	list := x.funcs[name]
	return len(list) > 0 && !slices.ContainsFunc(list, func(f *hostFunc) bool {
		return slices.ContainsFunc(f.params, func(p parameter) bool { return p.typ.ref })
	})
}

// isFixed reports whether an argument is the name of a constant.
func (x *exec) isFixed(p [2]int) bool {
	if p[1] != p[0]+1 {
		return false
	}
	c := x.variable(x.toks[p[0]].text)
	return c != nil && c.typ.fixed
}

// harmless are functions that change nothing but what their arguments point to.
var harmless = []string{
	"printf", "fprintf", "puts", "putchar", "assert", "malloc", "calloc", "free", "strcmp",
	"strlen", "atoi", "atof", "atol", "rand", "srand", "fopen", "fclose", "exit", "fflush",
	"min", "max", "ceil", "ceilf", "floor", "floorf", "sqrt", "sqrtf", "pow", "log2", "abs",
	"fabs", "time", "clock", "perror", "sizeof", "raw_pointer_cast", "usleep", "memset",
	"memcpy", "if",
}

// harmlessStd are functions of namespace std that change nothing but what their arguments point to
// and call no function that they get.
var harmlessStd = []string{
	"to_string", "stoi", "stol", "stoul", "stoll", "stoull", "stof", "stod", "strtol", "strtoul",
	"strtod", "round", "lround", "trunc", "log", "log10", "exp", "sin", "cos", "tan", "tanh", "hypot",
	"fmod", "isnan", "isinf", "isfinite", "gcd", "lcm", "clamp", "cbrt", "ldexp", "llabs", "labs",
	"fill", "fill_n", "iota", "copy", "copy_n", "equal", "string", "vector", "chrono", "now", "array",
	"duration", "duration_cast", "milliseconds", "microseconds", "setw", "setprecision", "sizeof",
	"numeric_limits", "begin", "end", "size", "data", "complex", "is_same", "getenv", "memcmp",
	"strncmp", "strcpy", "strncpy", "strstr", "strchr", "snprintf", "sprintf", "runtime_error",
	"invalid_argument", "logic_error", "out_of_range", "make_pair", "make_tuple"}

// callers are functions of the CUDA runtime that call functions of the program, or run a graph of
// launches.
var callers = []string{"cudaLaunchHostFunc", "cudaStreamAddCallback", "cudaGraphLaunch"}

// isHarmless reports whether the function that the token at i names, which the file does not
// define, changes nothing but what its arguments point to.
func (h *hostFile) isHarmless(toks []token, i int) bool {
	name := toks[i].text
	if !h.isStandard(toks, i) {
		return false
	}
	if strings.HasPrefix(name, "cuda") {
		return !slices.Contains(callers, name)
	}
	return slices.Contains(harmless, name) || slices.Contains(harmlessStd, name)
}

// isStandard reports whether the function that the token at i names is that of C++ or CUDA with
// this name, if they have one: the file defines none, and no other namespace qualifies it.
func (h *hostFile) isStandard(toks []token, i int) bool {
	if len(h.funcs[toks[i].text]) > 0 || len(h.prototypes[toks[i].text]) > 0 {
		return false
	}
	for i > 1 && toks[i-1].is("::") && toks[i-2].kind == tokIdent {
		if i -= 2; i == 0 || !toks[i-1].is("::") {
			return standardScopes[toks[i].text]
		}
	}
	return true
}

// qualifier returns the name before the "::" before the name at i: "" if there is none, and "::" if
// it is none that is understood.
func (h *hostFile) qualifier(toks []token, i int) string {
	switch {
	case i == 0 || !toks[i-1].is("::"):
		return ""
	case i > 1 && toks[i-2].kind == tokIdent && !notTypes[toks[i-2].text]:
		return toks[i-2].text
	}
	return "::"
}

// foreign is a call of a function that the file does not define: it may change every variable that
// it gets by name, since it may take it by reference, and what every pointer points to.
func (x *exec) foreign(name string, i int, parts [][2]int) {
	safe := name != "" && x.isHarmless(x.toks, i) && !x.mayCall(name, parts)
	readOnly := safe && (name == "free" || strings.HasSuffix(name, "printf") ||
		strings.HasPrefix(name, "cudaFree") || strings.HasPrefix(name, "raw_"))
	for _, p := range parts {
		toks := x.toks[p[0]:p[1]]
		if !readOnly {
			x.passed(p)
		}
		if safe || len(toks) == 0 {
			continue
		}
		switch c := x.variable(toks[0].text); {
		case len(toks) == 1 && c != nil && !c.typ.fixed:
			if i > 1 && x.toks[i-1].is("::") && x.toks[i-2].is("std") { // std::ref, std::tie, std::bind
				x.escape(c)
			}
			x.forget(c)
		case len(toks) > 1 && x.mayRefer(p[0], p[1]):
			x.modify(p[0], p[1])
		}
	}
	if !safe {
		x.outside()
	}
	if len(x.prototypes[name]) > 0 && len(x.funcs[name]) == 0 {
		x.elsewhere()
	}
}

// mayCall reports whether a function of the standard library may call one of its arguments: a
// function, a function object or a lambda.
func (x *exec) mayCall(name string, parts [][2]int) bool {
	if (name == "min" || name == "max") && len(parts) < 3 || strings.HasSuffix(name, "printf") {
		return false
	}
	for _, p := range parts {
		for i := p[0]; i < p[1]; i++ {
			t := x.toks[i]
			c := x.variable(t.text)
			switch {
			case t.kind != tokIdent:
			case c != nil && c.typ.class == classOther && c.typ.ptr == 0 &&
				(c.typ.rec != nil || c.typ.automatic),
				c == nil && x.records[t.text] != nil,
				len(x.funcs[t.text]) > 0 && i+1 < len(x.toks) && !x.toks[i+1].is("("):
				return true
			}
		}
	}
	return false
}

// passed makes unknown the contents of what the pointers in an argument point to.
func (x *exec) passed(p [2]int) {
	for _, t := range x.toks[p[0]:p[1]] {
		if c := x.variable(t.text); t.kind == tokIdent && c != nil {
			x.drop(c.val)
		}
	}
}
