package launch

import "slices"

// declaration executes the declaration at i, up to its semicolon, and returns the index after it;
// false if there is none.
func (x *exec) declaration(i, end int) (next int, ok bool) {
	t, at, ok := x.parseType(x.toks[:end], i)
	if !ok || at >= end {
		return i, false
	}
	perhaps := x.toks[i].maybe
	t.automatic = t.class == classOther && x.auto(i, at)
	foreign := slices.ContainsFunc(x.toks[i:at], func(t token) bool { return t.is("extern") })
	x.lasting = x.frame != nil && x.isLasting(i, at)
	x.external = foreign
	defer func() { x.lasting, x.external = false, false }()
	if x.toks[at].is("[") && x.auto(i, at) { // auto [a, b] = ...
		stop := x.exprEnd(at, end)
		x.effects(at, stop)
		for j := at; j < x.closer[at]; j++ {
			switch {
			case x.toks[j].kind != tokIdent:
			case t.ref:
				x.refer(x.toks[j].text, ctype{}, x.toks[x.closer[at]+1:max(stop, x.closer[at]+1)], perhaps)
			default:
				x.declare(x.toks[j].text, ctype{}, value{}, perhaps)
			}
		}
		return stop + 1, true
	}
	for first := true; ; first = false {
		if !first {
			t.ptr, t.ref, t.array = 0, false, 0
			for ; at < end && (x.toks[at].is("*") || x.toks[at].is("&") ||
				qualifiers[x.toks[at].text]); at++ {
				if x.toks[at].is("*") {
					t.ptr++
				}
				t.ref = t.ref || x.toks[at].is("&")
			}
		}
		after, ok := x.declarator(t, at, end, perhaps)
		// Other files set what they declare, and what nothing here gives a value.
		unset := x.frame == nil && !t.static && at+1 < end &&
			(x.toks[at+1].is(";") || x.toks[at+1].is(","))
		if ok && (foreign || unset) && !t.fixed {
			if c := x.variable(x.toks[at].text); c != nil && !slices.Contains(x.shared, c) {
				x.shared = append(x.shared, c)
			}
		}
		if !ok {
			if first {
				return i, false
			}
			stop := x.exprEnd(at, end)
			return stop + 1, true
		}
		if at = after; at >= end || !x.toks[at].is(",") {
			stop := x.exprEnd(at, end)
			return stop + 1, true
		}
		at++
	}
}

// isLasting reports whether the type from i to at is static and not constant: a variable of a
// function then has the value that an earlier call left.
func (x *exec) isLasting(i, at int) bool {
	static := func(t token) bool { return t.is("static") || t.is("thread_local") }
	constant := func(t token) bool { return t.is("const") || t.is("constexpr") }
	return slices.ContainsFunc(x.toks[i:at], static) && !slices.ContainsFunc(x.toks[i:at], constant)
}

// auto reports whether the type from i to at is auto.
func (x *exec) auto(i, at int) bool {
	return slices.ContainsFunc(x.toks[i:at], func(t token) bool { return t.is("auto") })
}

// declarator declares one name with its initializer, and returns the index after them.
func (x *exec) declarator(t ctype, at, end int, perhaps bool) (next int, ok bool) {
	if at+2 < end && x.toks[at].is("(") && (x.toks[at+1].is("*") || x.toks[at+1].is("&")) &&
		isName(x.toks[at+2]) && x.closer[at]+1 < end && (x.toks[x.closer[at]+1].is("(") ||
		x.toks[x.closer[at]+1].is("[")) { // a pointer to a function or to an array
		stop := x.initEnd(at, end)
		x.effects(x.closer[at]+1, stop)
		x.keepAddresses(x.closer[at]+1, stop, true)
		x.declare(x.toks[at+2].text, ctype{}, value{}, perhaps)
		return stop, true
	}
	if x.isParenthesized(t, at, end) { // int (n)(5), int (&r) = n
		name, stop := x.closer[at]-1, x.initEnd(at, end)
		x.effects(name+2, stop)
		x.keepAddresses(name+2, stop, true)
		if t.ref || t.vague || x.toks[at+1].is("&") || x.toks[at+1].is("&&") {
			x.refer(x.toks[name].text, ctype{}, x.toks[name+2:max(stop, name+2)], perhaps)
		} else {
			x.declare(x.toks[name].text, ctype{}, value{}, perhaps)
		}
		return stop, true
	}
	if at >= end || x.toks[at].kind != tokIdent || notTypes[x.toks[at].text] {
		return at, false
	}
	name := x.toks[at].text
	at++
	for at < end && x.toks[at].is("[") {
		t.rows = t.array != 0
		n, ok := x.eval(x.toks[at+1 : max(x.closer[at], at+1)]).integer().Constant()
		switch {
		case !ok || n <= 0 || n > 1<<20 || t.array < 0:
			t.array = -1
		case t.array == 0:
			t.array = n
		default:
			if t.array *= n; t.array > 1<<31 {
				t.array = -1
			}
		}
		at = x.closer[at] + 1
	}
	if at >= end {
		x.declare(name, t, value{}, perhaps)
		return end, true
	}
	switch s := x.toks[at]; {
	case s.is("="):
		stop := x.initEnd(at+1, end)
		x.effects(at+1, stop)
		x.initialize(name, t, [2]int{at + 1, stop}, perhaps)
		return stop, true
	case s.is("{"), s.is("("):
		if s.is("(") && x.isPrototype(at) {
			shut := min(x.closer[at], end)
			return shut + 1, shut+1 < end && x.toks[shut+1].is(",") // others are declared after it
		}
		shut := min(x.closer[at], end)
		x.effects(at+1, shut)
		if t.class == classOther && t.ptr == 0 { // a constructor may take references
			x.foreign("", at, x.commas(at+1, shut))
			x.keepAddresses(at+1, shut, true)
		}
		if t.rec != nil && t.rec.refs && t.ptr == 0 {
			x.refer(name, ctype{rec: t.rec}, x.toks[at+1:max(at+1, shut)], perhaps)
			return shut + 1, true
		}
		if t.ref && shut > at+1 {
			if !x.reference(name, t, x.toks[at+1:shut], perhaps) {
				x.construct(name, t, [2]int{at, shut}, perhaps)
			}
			return shut + 1, true
		}
		x.construct(name, t, [2]int{at, shut}, perhaps)
		return shut + 1, true
	case s.is(","), s.is(";"), s.is(")"), s.is(":"):
		if t.class == classOther && t.ptr == 0 && x.constructors && x.frame != nil {
			x.outside()
		}
		x.declare(name, t, x.blank(name, t), perhaps)
		return at, true
	}
	return at, false
}

// isParenthesized reports whether a name in brackets is at i that a declaration of type t declares,
// and no cast: something may follow that initializes it.
func (x *exec) isParenthesized(t ctype, i, end int) bool {
	if i+3 >= end || !x.toks[i].is("(") || x.closer[i]+1 >= end {
		return false
	}
	shut := x.closer[i]
	mark := shut == i+3 && (x.toks[i+1].is("*") || x.toks[i+1].is("&") || x.toks[i+1].is("&&"))
	next := x.toks[shut+1]
	known := t.class != classOther || t.rec != nil || t.size > 0 || t.vague || t.automatic || t.ref // else perhaps a call
	switch {
	case !isName(x.toks[shut-1]) || shut != i+2 && !mark:
		return false
	case !known:
		return mark && (next.is("=") || next.is("{"))
	}
	return next.is("(") || next.is("{") || next.is("=") || next.is("[") || next.is(";") || next.is(",")
}

// initEnd returns the index of the ',' or ';' that ends the initializer at i.
func (x *exec) initEnd(i, end int) int {
	for ; i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = x.closer[i]
		case t.is("<"):
			if e := skipAngles(x.toks[:end], i); e > i && e+1 < end && x.toks[e+1].is("(") {
				i = e
			}
		case t.is(","), t.is(";"), t.is(")"), t.is("}"):
			return i
		}
	}
	return end
}

// isPrototype reports whether the parentheses at i are the parameters of a function declaration.
// C++ itself has this ambiguity between dim3 grid(n) and a function.
func (x *exec) isPrototype(i int) bool {
	shut := x.closer[i]
	if shut <= i+1 {
		return true
	}
	if shut+1 < len(x.toks) && x.toks[shut+1].is("{") {
		return true
	}
	t, next, ok := x.parseType(x.toks[:shut], i+1)
	if !ok || next == i+1 {
		return false
	}
	builtin := t.class != classOther || typeSizes[x.toks[i+1].text] != 0
	return next >= shut && (t.ptr > 0 || builtin) ||
		next < shut && x.toks[next].kind == tokIdent || builtin && next < shut &&
		(x.toks[next].is(",") || x.toks[next].is("["))
}

// blank returns the value of a variable without initializer.
func (x *exec) blank(name string, t ctype) value {
	switch {
	case x.frame == nil: // a member of a class, or set by another file
	case t.array != 0 && t.ptr == 0:
		return x.arrayOf(name, t, nil)
	case t.class == classVector && t.ptr == 0 && !t.fixedSize:
		v := x.unknownOf(t, name)
		return v.with(".size()", integer(number(0)))
	case t.class == classDim && t.ptr == 0:
		return value{kind: aDim, dim: [3]*Expr{number(1), number(1), number(1)}}
	}
	return value{}
}

// arrayOf returns an array as a pointer to memory with the given first bytes; nil if its contents
// are unknown.
func (x *exec) arrayOf(name string, t ctype, data []byte) value {
	r := newRoot(x.fresh(name))
	m := value{kind: aMemory, fill: -1}
	if n := t.bytes(); n > 0 {
		m.n = number(n)
	}
	if data != nil {
		m.data, m.fill = data, 0
	}
	r.mem.val, r.mem.noted = m, m.noted()
	return value{kind: aPointer, root: r, off: number(0), elem: t.elemSize()}
}

// initialize declares a variable with = initializer, the tokens of at.
func (x *exec) initialize(name string, t ctype, at [2]int, perhaps bool) {
	toks := x.toks[at[0]:max(at[0], at[1])]
	if len(toks) == 0 {
		x.declare(name, t, value{}, perhaps)
		return
	}
	if t.ref && x.reference(name, t, toks, perhaps) {
		return
	}
	if t.rec != nil && t.rec.refs && t.ptr == 0 {
		x.refer(name, ctype{rec: t.rec}, toks, perhaps)
		return
	}
	if t.mayRefer() && x.isPlace(at[0], at[1]) {
		x.refer(name, ctype{}, toks, perhaps)
		return
	}
	x.keepAddresses(at[0], at[1], t.keeps())
	if toks[0].is("{") {
		x.construct(name, t, at, perhaps)
		return
	}
	v := x.eval(toks)
	if v.kind != aPointer {
		x.leak(at[0], at[1])
	}
	if v.class && t.rec != nil && !t.rec.ok { // a copy constructor may do anything
		v = value{}
	}
	if o, ok := x.texts[text(toks)]; ok && v.kind == anObject && o.val.obj == v.obj {
		v = value{} // not understood: the name of the variable says more
	}
	if v.kind != nothing {
		v = convert(v, t)
	}
	x.declare(name, t, v, perhaps)
}

// reference declares a reference that is initialized with toks; false if it refers to a temporary
// object, which makes it a constant.
func (x *exec) reference(name string, t ctype, toks []token, perhaps bool) bool {
	if c := x.variable(toks[0].text); c != nil && len(toks) == 1 && toks[0].kind == tokIdent {
		same := !t.vague && t.class == c.typ.class && t.bytes() == c.typ.bytes() &&
			t.unsigned == c.typ.unsigned && t.truth == c.typ.truth ||
			!t.vague && t.class == classOther && t.size == 0
		if same && !perhaps && x.frame != nil {
			x.frame.scopes[len(x.frame.scopes)-1][name] = c // another name of the variable
			return true
		}
	}
	from := 0
	for from < len(toks) && toks[from].is("*") {
		from++
	}
	place := len(toks) > 1 && from < len(toks) && toks[from].kind == tokIdent &&
		!slices.ContainsFunc(toks[from:], func(t token) bool {
			return t.kind != tokIdent && t.kind != tokNumber && !t.is(".") && !t.is("->") &&
				!t.is("[") && !t.is("]")
		})
	if t.fixed && !place && !x.mayBeReference(toks) {
		return false
	}
	x.refer(name, ctype{}, toks, perhaps)
	return true
}

// mayBeReference reports whether an expression may be a reference: it is a choice, a cast or a call
// of a function of which it is not known that it returns a value.
func (x *exec) mayBeReference(toks []token) bool {
	for i, t := range toks {
		if t.is("?") || isCast(t) {
			return true
		}
		if i+1 >= len(toks) || !toks[i+1].is("(") || !isName(t) || typeSizes[t.text] != 0 {
			continue
		}
		if len(x.funcs[t.text]) == 0 || x.returnsReference(t.text) {
			return true
		}
	}
	return false
}

// mayRefer reports whether a variable may be a reference, as its type may be an alias of one.
func (t ctype) mayRefer() bool { return t.open && t.ptr == 0 && t.array == 0 }

// refer declares a name for something that the tokens of an expression lead to: what it refers to
// may change without its name, and it may change with any store.
func (x *exec) refer(name string, t ctype, toks []token, perhaps bool) {
	for _, tok := range toks {
		if c := x.variable(tok.text); c != nil && tok.kind == tokIdent {
			x.escape(c)
		}
	}
	c := x.declare(name, t, value{}, perhaps)
	c.alias = true
	x.aliases = append(x.aliases, c)
}

// keepAddresses notes the variables whose addresses the tokens from i to end take. through says
// whether those that are passed to a function count, whose result may have them; of functions of
// the CUDA runtime and of C that is known not to be so.
func (x *exec) keepAddresses(i, end int, through bool) {
	for end = min(end, len(x.toks)); i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("(") && i > 0 && isName(x.toks[i-1]) && (!through || x.isHarmless(x.toks, i-1) ||
			hostAPI[x.toks[i-1].text] > 0):
			i = x.closer[i]
		case t.is("&") && i+1 < end && x.isPrefix(i):
			x.escapeOperand(i, end)
		}
	}
}

// construct declares a variable with the arguments of a constructor in the brackets of at.
func (x *exec) construct(name string, t ctype, at [2]int, perhaps bool) {
	toks := x.toks[at[0]+1 : max(at[0]+1, min(at[1], x.closer[at[0]]))]
	braces := x.toks[at[0]].is("{")
	parts := splitList(toks)
	if t.array < 0 && braces && !t.rows && !slices.ContainsFunc(toks, isInsertion) &&
		!slices.ContainsFunc(parts, func(p []token) bool { return !t.isElement(p) }) {
		t.array = int64(len(parts))
	}
	if t.ptr == 0 || t.array != 0 {
		x.leak(at[0], at[1])
	}
	if t.mayRefer() && x.isPlace(at[0]+1, min(at[1], x.closer[at[0]])) {
		x.refer(name, ctype{}, toks, perhaps)
		return
	}
	var v value
	switch {
	case t.array != 0 && t.ptr == 0 || t.class == classVector && braces && t.ptr == 0:
		v = x.list(name, t, parts)
	case t.class == classDim && t.ptr == 0:
		args := make([]value, len(parts))
		for i, p := range parts {
			args[i] = x.known(p)
		}
		if len(args) == 1 && args[0].kind == aDim {
			v = args[0]
		} else {
			v = dimension(args)
		}
	case t.class == classVector && t.ptr == 0:
		v = x.unknownOf(t, name)
		if len(parts) == 1 || len(parts) == 2 && !x.isPointer(parts[0]) {
			n := convert(x.known(parts[0]), ctype{class: classInteger, size: 8, unsigned: true})
			v = v.with(".size()", integer(n.integer()))
		}
	case t.isPlain() && braces:
		v = x.aggregate(name, t, parts)
	case len(parts) == 1:
		if v = x.eval(parts[0]); v.kind != nothing {
			v = convert(v, t)
		}
		if t.class == classOther && t.ptr == 0 && v.kind != nothing { // a constructor of a class
			v = value{}
		}
	case len(parts) == 0 && braces && t.class == classInteger && t.ptr == 0:
		v = integer(number(0))
	}
	x.declare(name, t, v, perhaps)
}

// isPlain reports whether a type is a struct of known layout.
func (t ctype) isPlain() bool {
	return t.class == classOther && t.ptr == 0 && t.array == 0 && t.rec != nil && t.rec.ok
}

// aggregate returns the struct of type t that a list in braces initializes, with or without the
// names of the members: {a, b} or {.x = a, .y = b}.
func (x *exec) aggregate(name string, t ctype, parts [][]token) value {
	v := x.unknownOf(t, name)
	for i, p := range parts {
		if len(p) > 3 && p[0].is(".") && p[1].kind == tokIdent && p[2].is("=") {
			i = slices.IndexFunc(t.rec.fields, func(f recordField) bool { return f.name == p[1].text })
			p = p[3:]
		}
		if i < 0 || i >= len(t.rec.fields) || len(p) == 0 || p[0].is(".") {
			continue
		}
		f := t.rec.fields[i]
		v = v.with("."+f.name, convert(x.known(p), f.typ))
	}
	return v
}

// leak retains what the pointers point to that the tokens from i to end name: their values may be
// in an object, in an integer or in an array. Functions of the CUDA runtime and of C keep none.
func (x *exec) leak(i, end int) {
	for end = min(end, len(x.toks)); i < end; i++ {
		t := x.toks[i]
		if t.is("(") && i > 0 && isName(x.toks[i-1]) &&
			(x.isHarmless(x.toks, i-1) || hostAPI[x.toks[i-1].text] > 0) {
			i = x.closer[i]
		} else if c := x.variable(t.text); t.kind == tokIdent && c != nil && c.val.kind == aPointer {
			x.retain(c.val.root)
		}
	}
}

// isElement reports whether an initializer in a list is that of one element of an array of type t:
// not of a part of it, of many, or of one with an index before it.
func (t ctype) isElement(toks []token) bool {
	switch {
	case len(toks) == 0 || toks[0].is("[") || toks[0].kind == tokString && t.ptr == 0:
		return false
	case t.class == classInteger || t.class == classFloating || t.class == classDim || t.ptr > 0:
		return true
	}
	return toks[0].is("{")
}

// isNumber reports whether an expression is certainly a number.
func (x *exec) isNumber(toks []token) bool {
	v := x.eval(toks)
	return v.kind == anInteger || isReal(v)
}

// isPointer reports whether an expression is a pointer or an iterator.
func (x *exec) isPointer(toks []token) bool {
	v := x.eval(toks)
	return v.kind != anInteger && !(v.kind == anObject && v.elem == 0 && len(toks) == 1)
}

// maxContents bounds the bytes of contents that host code gives.
const maxContents = 1 << 16

// list returns the array or vector with these elements; its contents are known if all are constant.
func (x *exec) list(name string, t ctype, parts [][]token) value {
	if t.class == classVector {
		v := x.unknownOf(t, name)
		if !t.plain || t.fixedSize || !slices.ContainsFunc(parts, x.isNumber) && len(parts) > 0 {
			return v // {n} and {first, last} may be the arguments of another constructor
		}
		return v.with(".size()", integer(number(int64(len(parts)))))
	}
	if slices.ContainsFunc(parts, func(p []token) bool { return slices.ContainsFunc(p, isInsertion) }) {
		t.array = -1
		return x.arrayOf(name, t, nil)
	}
	size := t.size
	if t.ptr > 0 || t.array < 0 || t.class != classInteger && t.class != classFloating ||
		t.bytes() > maxContents || int64(len(parts)) > t.array {
		return x.arrayOf(name, t, nil)
	}
	data := make([]byte, 0, size*t.array)
	for _, p := range parts {
		b, ok := literalBytes(x.eval(p), t)
		if !ok {
			return x.arrayOf(name, t, nil)
		}
		data = append(data, b...)
	}
	for int64(len(data)) < t.bytes() {
		data = append(data, 0)
	}
	return x.arrayOf(name, t, data)
}

// literalBytes returns a constant as bytes in memory order; false if it is none or does not fit.
func literalBytes(v value, t ctype) ([]byte, bool) {
	b := make([]byte, t.size)
	if t.class == classFloating {
		f, ok := v.float()
		put(b, floatBits(f, t.size))
		return b, ok
	}
	elem := ctype{class: t.class, size: t.size, unsigned: t.unsigned, truth: t.truth}
	n, ok := convert(v, elem).n.Constant()
	put(b, uint64(n))
	return b, ok
}
