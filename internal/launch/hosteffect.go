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
		case t.kind == tokPunct && ok && j > i:
			x.effects(j+1, end)
			x.effectsOfTarget(i, j)
			x.keepAddresses(j+1, end)
			v := x.eval(x.toks[j+1 : end])
			if op != "" {
				v = combine(op, x.known(x.toks[i:j]), x.known(x.toks[j+1:end]))
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

// step executes an increment or a decrement of the lvalue from i to end.
func (x *exec) step(i, end int, op string) bool {
	x.effectsOfTarget(i, end)
	x.store(i, end, combine(op, x.known(x.toks[i:end]), integer(number(1))))
	return true
}

// effectsOfTarget applies the effects of the indices in an lvalue.
func (x *exec) effectsOfTarget(i, end int) {
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
	if toks[0].is("this") && len(toks) > 2 { // the member has two names
		x.storeThrough(nil)
		if m := x.variable(toks[2].text); m != nil {
			x.forget(m)
		}
	}
	c := x.variable(toks[0].text)
	if c == nil && toks[0].kind == tokIdent {
		c = x.extern(toks[0].text)
	}
	switch {
	case c == nil || c.alias || toks[0].kind != tokIdent: // *p = ..., (*p).x = ...
		x.storeThrough(toks)
	case len(toks) == 1:
		if v.kind != nothing && (c.typ.class != classOther || c.typ.ptr > 0) {
			v = convert(v, c.typ)
		}
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
	if v.kind == nothing {
		v = x.object(c.name + path)
	}
	x.assign(c, obj.with(path, v))
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
	for _, c := range x.escaped {
		x.forget(c)
	}
}

// drop makes the contents of what v points to unknown.
func (x *exec) drop(v value) {
	if v.kind == aPointer && (v.root.mem.val.fill >= 0 || x.dry > 0) {
		x.forget(v.root.mem)
	}
}

// retain notes that a pointer into r was stored where other code may find it: its contents are not
// known to stay.
func (x *exec) retain(r *root) {
	x.kept = append(x.kept, r)
	if r.mem.val.fill >= 0 {
		x.forget(r.mem)
	}
}

// escape notes that the address of a variable is kept. Its value is unknown after each call or
// store that may use it.
func (x *exec) escape(c *cell) {
	x.drop(c.val)
	x.forget(c)
	if !slices.Contains(x.escaped, c) {
		x.escaped = append(x.escaped, c)
	}
}

// effects applies what the tokens from i to end do besides having a value: calls, launches, and
// assignments within expressions.
func (x *exec) effects(i, end int) {
	for end = min(end, len(x.toks)); i < end && x.spend(1); i++ {
		t := x.toks[i]
		switch {
		case t.is("<<<"):
			if next, ok := x.launch(i); ok {
				i = next
			}
		case t.is("[") && (i == 0 || x.toks[i-1].kind != tokIdent && !x.toks[i-1].is(")") &&
			!x.toks[i-1].is("]")):
			i = x.lambda(i, end)
		case t.is("++"), t.is("--"):
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < end && x.toks[j].kind == tokIdent {
					x.forgetNamed(x.toks[j].text)
				}
			}
		case t.kind == tokPunct && i > 0 && isAssignment(t.text):
			if j := indexStart(x.toks, i); j < i {
				x.forgetNamed(x.toks[j].text)
			}
		case t.is("&") && i+1 < end && x.toks[i+1].kind == tokIdent && x.isPrefix(i):
			x.addressTaken(i + 1)
		case t.is(">>") && i+1 < end && x.toks[i+1].kind == tokIdent && x.isStream(i-1):
			x.forgetNamed(x.toks[i+1].text)
		case t.kind == tokIdent:
			i = x.mention(i, end)
		}
	}
}

// isPrefix reports whether the operator at i is a prefix operator: nothing, another operator or a
// cast to a pointer precedes it.
func (x *exec) isPrefix(i int) bool {
	if i == 0 {
		return true
	}
	prev := x.toks[i-1]
	if prev.is(")") {
		return i > 1 && x.toks[i-2].is("*")
	}
	return prev.kind == tokPunct && !prev.is("]")
}

// isAssignment reports whether op changes its left operand.
func isAssignment(op string) bool {
	_, ok := assignments[op]
	return ok
}

// isStream reports whether the operand that ends at i may be a stream, so that >> reads from it.
func (x *exec) isStream(i int) bool {
	if i < 0 || x.toks[i].kind == tokNumber || x.toks[i].is(")") {
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

// addressTaken is &name, where the token at i is the name.
func (x *exec) addressTaken(i int) {
	c := x.variable(x.toks[i].text)
	if c == nil || i+1 < len(x.toks) && x.toks[i+1].is("[") {
		return // the address of an element
	}
	if c.typ.fixed && c.typ.ptr == 0 {
		return
	}
	x.forgetNamed(c.name)
}

// lambda executes the body of a lambda whose captures are in the brackets at i, with everything
// that it assigns unknown. It returns the index of the last token of it.
func (x *exec) lambda(i, end int) int {
	j := x.closer[i] + 1
	if j < end && x.toks[j].is("(") {
		j = x.closer[j] + 1
	}
	for j < end && !x.toks[j].is("{") && (x.toks[j].kind == tokIdent || x.toks[j].is("->")) {
		j++
	}
	if j >= end || !x.toks[j].is("{") || x.frame == nil {
		return i
	}
	run := func() {
		x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
		x.block(j+1, x.closer[j])
		x.frame.scopes = x.frame.scopes[:len(x.frame.scopes)-1]
	}
	cells := x.rehearse(run)
	x.forgetAll(cells)
	run()
	x.forgetAll(cells)
	for _, t := range cells {
		if !slices.Contains(x.escaped, t.cell) {
			x.escaped = append(x.escaped, t.cell) // the lambda may be called later
		}
	}
	return x.closer[j]
}

// mention handles a name in an expression: a call, or a call of a method. It returns the index of
// the last token that it handled.
func (x *exec) mention(i, end int) int {
	name := x.toks[i].text
	next := i + 1
	var targs []token
	if next < end && x.toks[next].is("<") {
		if e := skipAngles(x.toks[:end], next); e > next && e+1 < end && x.toks[e+1].is("(") {
			targs, next = x.toks[next+1:e], e+1
		}
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
	if x.records[name] != nil || typeSizes[name] != 0 && len(x.funcs[name]) == 0 {
		return i
	}
	if minimum, ok := hostAPI[name]; ok && len(parts) >= minimum {
		for _, p := range parts {
			x.nested(p)
		}
		x.api(name, parts)
		return shut
	}
	if f := x.function(name, len(parts)); f != nil {
		x.callArguments(f, targs, parts)
		return shut
	}
	x.foreign(name, i, parts)
	return i
}

// nested applies the effects of calls within an argument of an API function, but not those of
// taking an address.
func (x *exec) nested(p [2]int) {
	for i := p[0]; i < p[1]; i++ {
		if x.toks[i].kind == tokIdent {
			i = max(i, x.mention(i, p[1]))
		}
	}
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
	}
	x.call(f, targs, args, refs)
}

// constMethods do not change their object.
var constMethods = map[string]bool{"size": true, "data": true, "begin": true, "end": true,
	"get": true, "c_str": true, "empty": true, "length": true, "at": true, "front": true,
	"back": true, "capacity": true, "count": true, "str": true, "find": true}

// method handles a call of a method, whose name is at i.
func (x *exec) method(i int, parts [][2]int) {
	c := x.variable(x.toks[max(i-2, 0)].text)
	name := x.toks[i].text
	for _, p := range parts {
		x.passed(p)
	}
	if c == nil || constMethods[name] {
		return
	}
	if name == "resize" && c.typ.class == classVector && len(parts) >= 1 {
		n := x.known(x.toks[parts[0][0]:parts[0][1]]).integer()
		x.assign(c, x.unknownOf(c.typ, c.name).with(".size()", integer(n)))
		return
	}
	x.drop(c.val)
	x.forget(c)
	x.outside()
}

// harmless are functions that change nothing but what their arguments point to.
var harmless = []string{
	"printf", "fprintf", "puts", "putchar", "assert", "malloc", "calloc", "free", "strcmp",
	"strlen", "atoi", "atof", "atol", "rand", "srand", "fopen", "fclose", "exit", "fflush",
	"min", "max", "ceil", "ceilf", "floor", "floorf", "sqrt", "sqrtf", "pow", "log2", "abs",
	"fabs", "time", "clock", "perror", "sizeof", "raw_pointer_cast", "usleep", "memset",
	"memcpy", "if",
}

// changing are functions of namespace std that may change variables that they get by name.
var changing = []string{"swap", "exchange", "tie", "ref", "forward_as_tuple", "from_chars",
	"getline", "iter_swap", "advance", "apply", "invoke", "back_inserter", "front_inserter",
	"inserter"}

// isHarmless reports whether the function that the token at i names, which the file does not define,
// changes nothing but what its arguments point to.
func isHarmless(toks []token, i int) bool {
	name := toks[i].text
	return strings.HasPrefix(name, "cuda") || slices.Contains(harmless, name) ||
		i > 1 && toks[i-1].is("::") && toks[i-2].is("std") && !slices.Contains(changing, name)
}

// foreign is a call of a function that the file does not define: it may change every variable that
// it gets by name, since it may take it by reference, and what every pointer points to.
func (x *exec) foreign(name string, i int, parts [][2]int) {
	safe := isHarmless(x.toks, i)
	readOnly := safe && (name == "free" || strings.HasSuffix(name, "printf") ||
		strings.HasPrefix(name, "cudaFree") || strings.HasPrefix(name, "raw_"))
	for _, p := range parts {
		toks := x.toks[p[0]:p[1]]
		if !readOnly {
			x.passed(p)
		}
		if len(toks) != 1 || safe || toks[0].kind != tokIdent {
			continue
		}
		if c := x.variable(toks[0].text); c != nil && !c.typ.fixed {
			x.forget(c)
		}
	}
	if !safe {
		x.outside()
	}
}

// passed makes unknown the contents of what the pointers in an argument point to.
func (x *exec) passed(p [2]int) {
	for _, t := range x.toks[p[0]:p[1]] {
		if c := x.variable(t.text); t.kind == tokIdent && c != nil {
			x.drop(c.val)
		}
	}
}
