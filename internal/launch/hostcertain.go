package launch

import (
	"slices"
	"strconv"
)

// Which construct a fact of a launch may depend on. A local variable that is named in simple ways
// only, declared, read, allocated, assigned in statements of its own, can change in no other way,
// whatever classes, lambdas and references the file has: a reference to it, or its address, would
// have to name it. With one definition its value needs no evaluation of the code around it. With
// more it depends on the order of statements, so on gotos and exceptions of its function.
// Everything else may depend on anything in the file.

// A certainty decides what facts depend on.
type certainty struct {
	*language
	known map[variableOf]*basis
	decls map[*hostFunc]map[string][]definition
	calls map[string][]int // by name of a function: the tokens that name it in bodies
	jumps map[*hostFunc]*Construct
	all   *Construct // the first construct of the file; not nil
}

// A variableOf is a name in a function.
type variableOf struct {
	in   *hostFunc
	name string
}

// A basis is what a value rests on: a construct, or other variables.
type basis struct {
	construct *Construct
	needs     []variableOf
}

// A definition is a declaration of a variable in a function.
type definition struct {
	at     int // its name; -1 for a parameter
	typ    ctype
	init   [2]int // tokens of the initializer; equal if there is none
	param  int    // index of the parameter that it is; -1 for none
	refers bool   // there is a & in the declaration, or it lasts longer than a call
}

// newCertainty prepares the decision for a file; nil if the file has no construct that heddle may
// not follow completely.
func newCertainty(h *hostFile) *certainty {
	all := h.beyond()
	if all == nil {
		return nil
	}
	l := &language{hostFile: h, x: &exec{hostFile: h, fuel: maxHostWork + 20*len(h.toks)}}
	c := &certainty{language: l, known: make(map[variableOf]*basis), decls: make(map[*hostFunc]map[string][]definition),
		calls: make(map[string][]int), jumps: make(map[*hostFunc]*Construct), all: all}
	for i, t := range l.toks {
		if t.kind == tokIdent && len(l.funcs[t.text]) > 0 && !l.declaredAt[i] {
			c.calls[t.text] = append(c.calls[t.text], i)
		}
	}
	return c
}

// doubts returns what the facts of a launch may depend on, as HostLaunch.Doubts. Its configuration
// and its arguments are the tokens of config and args.
func (c *certainty) doubts(config, args [2]int) map[string]*Construct {
	out := make(map[string]*Construct)
	if c == nil {
		return out
	}
	for i, p := range c.x.commas(config[0], config[1]) {
		if i < 2 {
			out[[...]string{"grid", "block"}[i]] = c.expression(p[0], p[1])
		}
	}
	for i, p := range c.x.commas(args[0], args[1]) {
		out[strconv.Itoa(i)] = c.expression(p[0], p[1])
	}
	return out
}

// expression returns what the value of the expression from i to end may depend on; nil if it
// consists of constants, known functions, and variables that depend on nothing.
func (c *certainty) expression(i, end int) *Construct {
	b := &basis{}
	c.add(b, i, end)
	if b.construct != nil {
		return b.construct
	}
	seen := make(map[variableOf]bool)
	for todo := b.needs; len(todo) > 0; {
		v := todo[0]
		if todo = todo[1:]; seen[v] {
			continue
		}
		seen[v] = true
		of := c.variable(v)
		if of.construct != nil {
			return of.construct
		}
		todo = append(todo, of.needs...)
	}
	return nil
}

// add adds to b what the expression from i to end rests on.
func (c *certainty) add(b *basis, i, end int) {
	for ; i < end && b.construct == nil; i++ {
		t := c.toks[i]
		next := c.at(i + 1)
		switch {
		case t.maybe, isAssignment(t.text) && t.kind == tokPunct, t.is("++"), t.is("--"):
			b.construct = c.all
		case t.kind != tokIdent:
		case c.unclear[t.text] != nil:
			b.construct = c.all
		case c.at(i-1).is(".") || c.at(i-1).is("->"):
			if !(t.is("x") || t.is("y") || t.is("z")) || next.is("(") {
				b.construct = c.all
			}
		case notTypes[t.text], qualifiers[t.text], typeSizes[t.text] != 0, t.is("dim3"), t.is("std"):
			if t.is("this") || t.is("new") {
				b.construct = c.all
			}
		case next.is("("):
			if !c.isHarmless(c.toks, i) && hostAPI[t.text] == 0 || t.is("swap") {
				b.construct = c.all
			}
		case next.is("::"):
		case next.is("[") && !t.is("argv"):
			b.construct = c.all
		default:
			b.needs = append(b.needs, variableOf{c.owners[i], t.text})
		}
	}
}

// variable returns what the value of a variable rests on.
func (c *certainty) variable(v variableOf) *basis {
	if b := c.known[v]; b != nil {
		return b
	}
	b := &basis{}
	c.known[v] = b
	if !c.decide(b, v.in, v.name) || !c.x.spend(1) {
		b.construct = c.all
	}
	return b
}

// decide sets b to what a name in the function f rests on; false if that may be anything.
func (c *certainty) decide(b *basis, f *hostFunc, name string) bool {
	var defs []definition
	if f != nil {
		defs = c.definitions(f)[name]
	}
	switch {
	case len(defs) == 0 && f != nil && slices.Contains(f.template, name):
		return c.isGiven(f)
	case len(defs) == 0:
		return c.isConstant(name, f != nil && f.within.class)
	case len(defs) > 1 || !defs[0].isSimple():
		return false
	}
	for macro, o := range c.unclear {
		if o.changes && slices.Contains(o.names, name) && macro != name {
			return false
		}
	}
	d := &defs[0]
	defined := d.param >= 0 || d.init[0] < d.init[1] && !(d.typ.ptr > 0 && c.isNull(d.init))
	c.add(b, d.init[0], d.init[1])
	if d.param >= 0 {
		c.arguments(b, f, d.param)
	}
	for i := f.body[0]; i < f.body[1]; i++ {
		if c.toks[i].kind != tokIdent || c.toks[i].text != name || i == d.at ||
			c.at(i-1).is(".") || c.at(i-1).is("->") || c.isRead(f, i) {
			continue
		}
		value, simple := c.write(f, i)
		if !simple {
			return false
		}
		c.add(b, value[0], value[1])
		c.conditions(b, f, i)
		if (defined || d.typ.ptr == 0) && b.construct == nil {
			b.construct = c.flow(f) // which definition counts
		}
		defined = true
	}
	return true
}

// conditions adds to b what decides whether the statement at i in the body of f is executed: the
// headers of the ifs, loops and switches around it.
func (c *certainty) conditions(b *basis, f *hostFunc, i int) {
	for j := i - 1; j >= f.body[0] && b.construct == nil; j-- {
		switch t := c.toks[j]; {
		case t.is("{"), t.is("("): // of a block or a header around it
			if j > f.body[0] && c.at(j-1).is(")") && t.is("{") {
				j = c.header(b, f, j-1)
			} else if t.is("{") && c.at(j-1).is("else") {
				j = c.otherwise(b, f, j-1)
			} else if t.is("(") && c.at(j-1).is("for") {
				j = c.header(b, f, c.closer[j])
			}
		case t.is("else"):
			j = c.otherwise(b, f, j)
		case t.is(")"):
			if c.isHeader(j) && c.owns(j, i) {
				j = c.header(b, f, j)
			} else {
				j = c.opener[j]
			}
		case t.is("]"), t.is("}"):
			j = c.opener[j]
		}
	}
}

// owns reports whether the statement behind the header that ends at j, which has no braces,
// contains i.
func (c *certainty) owns(j, i int) bool { return !c.at(j+1).is("{") && c.x.skip(j+1, len(c.toks)) > i }

// header adds the header that ends at j, and those of the ifs to which it is an alternative. It
// returns the index of its keyword.
func (c *certainty) header(b *basis, f *hostFunc, j int) int {
	open := c.opener[j]
	if !c.isHeader(j) {
		return open
	}
	if c.at(open - 1).is("for") { // what it declares and steps is no condition
		first := c.x.exprEnd(open+1, j)
		c.add(b, min(first+1, j), c.x.exprEnd(min(first+1, j), j))
		return open - 1
	}
	c.add(b, open+1, j)
	if c.at(open - 2).is("else") {
		return c.otherwise(b, f, open-2)
	}
	return open - 1
}

// otherwise adds the condition of the if to which the else at j belongs, if it has braces. It
// returns where to go on.
func (c *certainty) otherwise(b *basis, f *hostFunc, j int) int {
	if !c.at(j - 1).is("}") {
		b.construct = c.all // of a statement without braces
		return j
	}
	open := c.opener[j-1]
	if c.at(open - 1).is(")") {
		return c.header(b, f, open-1)
	}
	return open
}

// isSimple reports whether a variable is a number, a dim3 or a pointer with the lifetime of its
// scope.
func (d *definition) isSimple() bool {
	t := d.typ
	return !t.ref && !t.vague && !t.open && t.array == 0 && !d.refers && (t.ptr > 0 ||
		t.class == classInteger || t.class == classFloating || t.class == classDim)
}

// write decides whether the name at i in the body of f is that of a variable which the statement
// assigns, allocates or fills, and returns the tokens of the expression that it gets; equal if the
// value is new or unknown.
func (c *certainty) write(f *hostFunc, i int) (value [2]int, simple bool) {
	if c.inLambda(f, i) {
		return value, false
	}
	first, k := i, i+1
	if c.at(k).is(".") && c.at(k+1).kind == tokIdent { // of a dim3
		k += 2
	}
	if c.at(first-1).is("++") || c.at(first-1).is("--") {
		first--
	}
	prev := c.at(first - 1)
	starts := c.startsStatement(first)
	step := (prev.is(";") || prev.is(",")) && c.at(c.enclosing(f, first)-1).is("for")
	next := c.at(k)
	switch {
	case (starts || step) && (next.is("++") || next.is("--") || first < i):
		return value, true
	case (starts || step) && next.kind == tokPunct && isAssignment(next.text):
		end := c.x.exprEnd(k+1, f.body[1])
		if list := c.x.commas(k+1, end); step && len(list) > 0 {
			end = list[0][1]
		}
		for j := k + 1; step && j < end; j++ { // of the last part of a for
			if c.toks[j].is("(") {
				j = c.closer[j]
			} else if c.toks[j].is(")") {
				end = j
			}
		}
		return [2]int{k + 1, end}, true
	case c.at(i-1).is("&") && (next.is(",") || next.is(")")): // cudaMalloc(&p, n), scanf("%d", &n)
		j := i - 2
		for ; c.at(j).is(")"); j-- { // a cast
			j = c.opener[j]
		}
		if c.at(j).is(",") {
			j = c.enclosing(f, j)
		}
		return value, c.at(j).is("(") && c.at(j-1).kind == tokIdent && len(c.funcs[c.at(j-1).text]) == 0 &&
			(c.isHarmless(c.toks, j-1) || hostAPI[c.at(j-1).text] > 0)
	case c.at(i-1).is("(") && c.at(i-2).is("swap") && c.at(i+1).is(",") && c.isStandard(c.toks, i-2):
		return [2]int{i + 2, c.closer[i-1]}, true
	case c.at(i-1).is(",") && c.at(i-3).is("(") && c.at(i-4).is("swap") && c.isStandard(c.toks, i-4):
		return [2]int{i - 2, i - 1}, true
	}
	return value, false
}

// isHeader reports whether the bracket at i ends that of an if, a for, a while or a switch.
func (c *certainty) isHeader(i int) bool { return isControl(c.at(c.opener[i] - 1)) }

// isControl reports whether a keyword begins a statement with a header in parentheses.
func isControl(t token) bool { return t.is("if") || t.is("for") || t.is("while") || t.is("switch") }

// startsStatement reports whether a statement may begin at i.
func (c *certainty) startsStatement(i int) bool {
	prev := c.at(i - 1)
	return prev.is(";") || prev.is("{") || prev.is("}") || prev.is("else") || prev.is("do") ||
		prev.is(":") || prev.is(")") && c.isHeader(i-1)
}

// enclosing returns the index of the innermost bracket in the body of f that is open at i; -1 if
// there is none.
func (c *certainty) enclosing(f *hostFunc, i int) int {
	for j := i - 1; j >= f.body[0]; j-- {
		switch t := c.toks[j]; {
		case t.is(")"), t.is("]"), t.is("}"):
			j = c.opener[j]
		case t.is("("), t.is("["), t.is("{"):
			return j
		}
	}
	return -1
}

// inLambda reports whether the token at i in the body of f is in that of a lambda or of a local
// class.
func (c *certainty) inLambda(f *hostFunc, i int) bool {
	for j := c.enclosing(f, i); j >= 0; j = c.enclosing(f, j) {
		if c.toks[j].is("{") && !c.startsStatement(j) && !c.at(j-1).is("try") {
			return true
		}
	}
	return false
}

// flow returns the first construct in the body of f by which statements may be executed in an order
// that the evaluation does not have; nil if there is none.
func (c *certainty) flow(f *hostFunc) *Construct {
	if out, ok := c.jumps[f]; ok {
		return out
	}
	l := &language{hostFile: c.hostFile, x: c.x}
	for i := f.body[0]; i < f.body[1] && l.found == nil; i++ {
		t := l.toks[i]
		prev := c.at(i - 1)
		switch {
		case t.is("goto"), t.is("try"), t.is("throw"), t.is("asm"), t.is("__asm__"), isInsertion(t),
			t.kind == tokIdent && c.at(i+1).is(":") && !t.is("default") && (prev.is(";") || prev.is("{") ||
				prev.is("}")):
			l.out(i, statementName(t))
		case t.kind == tokDirective:
			l.out(i, "a directive in a function")
		case t.kind == tokIdent && l.unclear[t.text] != nil:
			l.out(i, "the macro "+t.text)
		case t.is("constexpr") && prev.is("if"):
			l.out(i, "an if constexpr")
		case slices.Contains(returningTwice, t.text) && c.at(i+1).is("("):
			l.out(i, "a call of "+t.text)
		case t.maybe && t.kind == tokIdent && notTypes[t.text], t.maybe && (t.is("{") || t.is("}")):
			l.out(i, "an #if that is not decided")
		}
	}
	c.jumps[f] = l.found
	return l.found
}

// isNull reports whether an initializer is a null pointer.
func (c *certainty) isNull(init [2]int) bool {
	t := c.toks[init[0]]
	return init[1] == init[0]+1 && (t.is("NULL") || t.is("nullptr") || t.text == "0")
}

// isConstant reports whether a name is that of a constant, or of nothing that host code can change:
// a name without a declaration is unknown to all evaluation, but may be a member in a method.
func (c *certainty) isConstant(name string, method bool) bool {
	if len(c.funcs[name]) > 0 || slices.Contains(c.mutableGlobals, name) {
		return false
	}
	declared := false
	for _, at := range c.globalsAt {
		for i := at[0]; i < at[1]; i++ {
			if c.toks[i].text != name || c.toks[i].kind != tokIdent {
				continue
			}
			declared = true
			constant := slices.ContainsFunc(c.toks[at[0]:i], func(t token) bool {
				return t.is("const") || t.is("constexpr")
			})
			if !constant || !c.at(i+1).is("=") {
				return false
			}
			if stop := c.x.initEnd(i+2, at[1]); c.expression(i+2, stop) != nil {
				return false
			}
		}
	}
	return declared || !method
}

// isGiven reports whether every call of f gives all arguments of its template.
func (c *certainty) isGiven(f *hostFunc) bool {
	if f.within.class || len(c.funcs[f.name]) > 1 || c.loose[f.name] {
		return false
	}
	for _, i := range c.calls[f.name] {
		if !c.at(i + 1).is("<") {
			return false
		}
		end := skipAngles(c.toks, i+1)
		if len(splitList(c.toks[i+2:max(end, i+2)])) != len(f.template) {
			return false
		}
	}
	return true
}

// definitions returns the declarations in a function, its parameters among them, by name.
func (c *certainty) definitions(f *hostFunc) map[string][]definition {
	if out := c.decls[f]; out != nil {
		return out
	}
	out := make(map[string][]definition)
	c.decls[f] = out
	for i, p := range f.params {
		out[p.name] = append(out[p.name], definition{at: -1, typ: p.typ, param: i})
	}
	for i := f.body[0]; i < f.body[1]; i++ {
		prev := c.at(i - 1)
		start := i == f.body[0] || prev.is(";") || prev.is("{") || prev.is("}") || prev.is(":") ||
			prev.is(")") || prev.is("else") || prev.is("do") ||
			prev.is("(") && isControl(c.at(i-2))
		if start {
			c.declared(i, f.body[1], out)
		}
	}
	return out
}

// declared adds the variables of the declaration at i, if there is one.
func (c *certainty) declared(i, end int, out map[string][]definition) {
	stop := c.x.exprEnd(i, end)
	t, at, ok := c.parseType(c.toks[:stop], i)
	if !ok || at >= stop || !isName(c.toks[at]) {
		return
	}
	lasting := slices.ContainsFunc(c.toks[i:at], func(t token) bool {
		return t.is("static") || t.is("extern") || t.is("thread_local")
	}) && !t.fixed
	base := t
	for _, p := range c.x.commas(at, stop) {
		d := definition{typ: base, param: -1, refers: base.ref || lasting}
		j := p[0]
		if j > at {
			d.typ.ptr = 0 // int *a, b
		}
		for ; j < p[1] && (c.toks[j].is("*") || c.toks[j].is("&") || c.toks[j].is("&&") ||
			qualifiers[c.toks[j].text]); j++ {
			if c.toks[j].is("*") {
				d.typ.ptr++
			}
			d.refers = d.refers || c.toks[j].is("&") || c.toks[j].is("&&")
		}
		if j >= p[1] || !isName(c.toks[j]) {
			continue
		}
		d.at = j
		name := c.toks[j].text
		j++
		if j < p[1] && c.toks[j].is("[") {
			d.typ.array = -1
		}
		switch {
		case j >= p[1]:
			d.init = [2]int{p[1], p[1]}
			if d.typ.class == classDim && d.typ.ptr == 0 {
				d.refers = true // its members are set one by one
			}
		case c.toks[j].is("="):
			d.init = [2]int{j + 1, p[1]}
		case c.toks[j].is("("), c.toks[j].is("{"):
			d.init = [2]int{j + 1, min(c.closer[j], p[1])}
		}
		out[name] = append(out[name], d)
	}
}

// isRead reports whether the use of a variable at i in the body of f reads its value and can
// neither change it nor keep a reference to it.
func (c *certainty) isRead(f *hostFunc, i int) bool {
	prev, k := c.at(i-1), i+1
	if c.at(k).is(".") && (c.at(k+1).is("x") || c.at(k+1).is("y") || c.at(k+1).is("z")) {
		k += 2 // of a dim3
	}
	next := c.at(k)
	switch {
	case next.kind == tokPunct && isAssignment(next.text), next.is("++"), next.is("--"),
		prev.is("++"), prev.is("--"), prev.is(">>"), prev.is("?"), next.is("?"), prev.is("&") &&
			c.x.isPrefix(i-1), prev.is("&&") && c.x.isPrefix(i-1), next.is("("), next.is("{"):
		return false
	case prev.is("sizeof"):
		return true
	case next.is("[") || next.is("->"): // it is in memory what may change
		return true
	case prev.is("=") && (next.is(";") || next.is(",")), prev.is("return"):
		return !c.refers(f, i)
	case prev.is("[") && next.is("]"): // an index, or the capture of a copy
		return c.isSubscript(i-1) || !c.at(i-2).is(")")
	case (prev.is("(") || prev.is(",") || prev.is("<<<")) &&
		(next.is(")") || next.is(",") || next.is(">>>")):
		return c.isValueArgument(f, i)
	case prev.is(":") || next.is(":"):
		return false
	case isArithmetic(prev), isArithmetic(next):
		return !c.refers(f, i) && !c.operatorsChangeNumbers()
	case next.is(";"):
		return prev.is(";") || prev.is("{") || prev.is("}")
	case prev.is(";"): // the condition of a for
		return false
	case prev.is(")") && c.x.isCastBefore(i): // (size_t)n
		open := c.opener[i-1]
		cast := c.toks[open:i]
		return !slices.ContainsFunc(cast, func(t token) bool { return t.is("&") || t.is("&&") }) &&
			!c.refers(f, i)
	}
	return false
}

// isArithmetic reports whether a token is an operator that reads its operands and gives a value.
func isArithmetic(t token) bool {
	return t.kind == tokPunct && (precedence[t.text] > 0 || t.is("!") || t.is("~"))
}

// refers reports whether the statement of the token at i in f may bind a reference to what the
// token is part of: it is a declaration with a & in the declarator, or the result of a function
// that returns a reference.
func (c *certainty) refers(f *hostFunc, i int) bool {
	start := i
	for start > f.body[0] {
		t := c.toks[start-1]
		if t.is(";") || t.is("{") || t.is("}") {
			break
		}
		if t.is(")") || t.is("]") {
			start = max(c.opener[start-1], f.body[0])
			continue
		}
		if t.is("(") && isControl(c.at(start-2)) {
			break
		}
		start--
	}
	if c.at(start).is("return") {
		return f.returns.ref || f.returns.vague
	}
	for c.at(start).is("else") || c.at(start).is("do") {
		start++
	}
	t, at, ok := c.parseType(c.toks[:i], start)
	if !ok || at >= i || !isName(c.toks[at]) && !(c.toks[at].is("(") && c.isType(start, at)) {
		return false
	}
	if t.ref || t.vague || c.x.auto(start, at) || t.ptr == 0 && !c.isOwn(t, c.toks[start:at]) {
		return true
	}
	for _, p := range c.x.commas(at, i) {
		for j := p[0]; j < p[1] && !c.toks[j].is("="); j++ {
			if c.toks[j].is("&") || c.toks[j].is("&&") {
				return p[1] == i
			}
		}
	}
	return false
}

// isValueArgument reports whether the name at i, which is all of what stands between brackets or
// commas, is passed by value.
func (c *certainty) isValueArgument(f *hostFunc, i int) bool {
	n, j := 0, i-1
	for ; j >= f.body[0]; j-- {
		t := c.toks[j]
		if t.is(")") || t.is("]") || t.is("}") {
			j = c.opener[j]
			continue
		}
		if t.is(",") {
			n++
			continue
		}
		if t.is("(") || t.is("<<<") {
			break
		}
		if t.is("[") || t.is("{") || t.is(";") {
			return false
		}
	}
	if c.at(j).is("<<<") {
		return true
	}
	if open := c.templateStart(j - 1); c.at(j-1).is(">") && open > 0 && !isCast(c.at(open-1)) {
		j = open
	}
	callee := c.at(j - 1)
	switch {
	case typeSizes[callee.text] != 0: // a cast, unless it is a declaration: int (n)(5)
		before := c.at(j - 2)
		return !c.declaresType(callee.text) && before.kind == tokPunct && !before.is(";") &&
			!before.is("{") && !before.is("}") && !before.is(")")
	case callee.is(">>>"), callee.is("dim3"), callee.is("if"), callee.is("while"), callee.is("switch"):
		return true
	case callee.is(">") && isCast(c.at(c.templateStart(j-1)-1)):
		cast := c.toks[c.templateStart(j-1):j]
		return !slices.ContainsFunc(cast, func(t token) bool { return t.is("&") || t.is("&&") })
	case callee.kind != tokIdent, c.at(j - 2).is("."), c.at(j - 2).is("->"):
		return false
	case len(c.funcs[callee.text]) == 1:
		g := c.funcs[callee.text][0]
		return !g.variadic && n < len(g.params) && !g.params[n].typ.ref && !g.params[n].mayRefer() &&
			c.records[callee.text] == nil
	case isName(c.at(j - 2)): // dim3 grid(n): a declaration
		return c.at(j-2).is("dim3") || typeSizes[c.at(j-2).text] != 0
	}
	return len(c.funcs[callee.text]) == 0 && (c.isHarmless(c.toks, j-1) || hostAPI[callee.text] > 0) &&
		!callee.is("swap")
}

// arguments adds to b what a parameter of f rests on: the arguments of its calls.
func (c *certainty) arguments(b *basis, f *hostFunc, param int) {
	if f.within.class || f.variadic || len(c.funcs[f.name]) > 1 || c.loose[f.name] {
		b.construct = c.all
	}
	for _, i := range c.calls[f.name] {
		next := c.afterName(i)
		if c.owners[i] == nil || !c.at(next).is("(") || c.at(i-1).is(".") || c.at(i-1).is("->") {
			b.construct = c.all
			return
		}
		parts := c.x.commas(next+1, c.closer[next])
		if param < len(parts) { // else the default, of which nothing is known
			c.add(b, parts[param][0], parts[param][1])
		}
	}
}

// at returns the token at i; the zero token if there is none.
func (c *certainty) at(i int) token {
	if i < 0 || i >= len(c.toks) {
		return token{}
	}
	return c.toks[i]
}
