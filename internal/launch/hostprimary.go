package launch

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// postfix parses a primary expression with its calls, indices and members.
func (e *evaluator) postfix() value {
	start := e.pos
	v := e.primary()
	for e.pos <= len(e.toks) {
		switch t := e.peek(); {
		case t.is("["):
			v = e.index(e.lift(v, start), start)
		case t.is("."), t.is("->"):
			v = e.member(e.lift(v, start))
		case t.is("("):
			end := e.group()
			if end < 0 {
				return e.fail()
			}
			v, e.pos = value{}, end+1
		case t.is("++"), t.is("--"):
			e.pos++
			v = value{}
		default:
			return v
		}
	}
	return v
}

// group returns the index of the bracket that closes the one at the next token; -1 if none does.
func (e *evaluator) group() int {
	depth := 0
	for i := e.pos; i < len(e.toks); i++ {
		switch t := e.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// arguments parses the expressions in brackets at the next token.
func (e *evaluator) arguments() ([]value, bool) {
	end := e.group()
	if end < 0 {
		return nil, false
	}
	parts := splitList(e.toks[e.pos+1 : end])
	out := make([]value, len(parts))
	for i, p := range parts {
		sub := &evaluator{x: e.x, toks: p, depth: e.depth}
		if v := sub.ternary(); sub.pos == len(p) {
			out[i] = v
		}
		if out[i].kind == nothing {
			out[i] = e.x.opaque(p)
		}
	}
	e.pos = end + 1
	return out, true
}

// splitList splits tokens at commas outside brackets.
func splitList(toks []token) [][]token {
	var parts [][]token
	depth, start := 0, 0
	for i, t := range toks {
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		case t.is(",") && depth == 0:
			parts = append(parts, toks[start:i])
			start = i + 1
		}
	}
	if start < len(toks) || len(parts) > 0 {
		parts = append(parts, toks[start:])
	}
	return parts
}

// primary parses a literal, a name, parentheses, a call or a constructor.
func (e *evaluator) primary() value {
	t := e.peek()
	switch {
	case t.kind == tokNumber:
		return e.number()
	case t.is("("):
		e.pos++
		v := e.ternary()
		if !e.accept(")") {
			return e.fail()
		}
		return v
	case t.is("{"):
		args, ok := e.arguments()
		if !ok {
			return e.fail()
		}
		return dimension(args)
	case t.is("static_cast"), t.is("reinterpret_cast"), t.is("const_cast"):
		return e.namedCast()
	case t.is("true"), t.is("false"), t.is("nullptr"), t.is("NULL"):
		e.pos++
		if t.is("true") {
			return truth(number(1))
		}
		return truth(number(0))
	case t.kind == tokIdent && notTypes[t.text]:
		return e.fail()
	case t.kind == tokIdent:
		return e.name()
	}
	return e.fail()
}

// namedCast parses static_cast<type>(operand).
func (e *evaluator) namedCast() value {
	e.pos++
	if !e.accept("<") {
		return e.fail()
	}
	t, next, ok := e.x.parseType(e.toks, e.pos)
	if !ok || next+1 >= len(e.toks) || !e.toks[next].is(">") || !e.toks[next+1].is("(") {
		return e.fail()
	}
	e.pos = next + 1
	args, ok := e.arguments()
	if !ok || len(args) != 1 {
		return e.fail()
	}
	return reinterpret(args[0], t)
}

// dimension returns the dim3 with these components; nothing if one is no integer.
func dimension(args []value) value {
	v := value{kind: aDim, dim: [3]*Expr{number(1), number(1), number(1)}}
	if len(args) > 3 {
		return value{}
	}
	for i, a := range args {
		if v.dim[i] = a.truncated().n; v.dim[i] == nil {
			return value{}
		}
	}
	return v
}

// name parses a variable, a call, or a constructor of a type.
func (e *evaluator) name() value {
	start := e.pos
	i := start
	qualifier := ""
	for e.toks[i].kind == tokIdent && i+2 < len(e.toks) && e.toks[i+1].is("::") &&
		e.toks[i+2].kind == tokIdent {
		qualifier = e.toks[i].text
		i += 2
	}
	name := e.toks[i].text
	var targs []token
	next := i + 1
	if next < len(e.toks) && e.toks[next].is("<") {
		if end := skipAngles(e.toks, next); end > next && end+1 < len(e.toks) && e.toks[end+1].is("(") {
			targs, next = e.toks[next+1:end], end+1
		}
	}
	call := next < len(e.toks) && (e.toks[next].is("(") || e.toks[next].is("{"))
	c := e.x.variable(name)
	if c != nil && qualifier != "" {
		if c = e.x.globals[name]; c == nil || c.scope.name != qualifier && c.scope.enum != qualifier {
			e.pos = i + 1
			return e.x.object(name) // another variable, perhaps another one each time
		}
	}
	if !call || c != nil {
		e.pos = i + 1
		switch {
		case name == "__COUNTER__" || name == "__LINE__":
			return e.x.object(name)
		case c == nil:
			c = e.x.extern(name)
		}
		v := c.val
		v.class = v.kind == anObject && c.typ.rec != nil && c.typ.ptr == 0 && c.typ.array == 0
		return v
	}
	if t, after, ok := e.x.parseType(e.toks, e.pos); ok && after == next && e.x.isTypeName(name, t) {
		e.pos = next
		if end := e.group(); t.rec != nil && t.ptr == 0 && end > 0 {
			e.pos = end + 1
			v := e.x.object(name)
			if t.isPlain() && e.toks[next].is("{") {
				v = e.x.aggregate(name, t, splitList(e.toks[next+1:end]))
			}
			v.class = true
			return v
		}
		args, ok := e.arguments()
		switch {
		case !ok:
			return e.fail()
		case t.class == classDim:
			return dimension(args)
		case len(args) == 1:
			return convert(args[0], t)
		}
		return value{}
	}
	if e.toks[next].is("{") {
		return e.fail()
	}
	e.pos = next
	args, ok := e.arguments()
	if !ok {
		return e.fail()
	}
	if len(e.x.funcs[name]) == 0 {
		if qualifier != "" && !standardScopes[e.toks[start].text] {
			return value{}
		}
		if t, end, ok := e.x.parseType(targs, 0); ok && end == len(targs) {
			for i := range args {
				args[i] = convert(args[i], t)
			}
		}
		v := libraryCall(name, args)
		if t, end, ok := e.x.parseType(targs, 0); ok && end == len(targs) && v.kind == anInteger {
			v = convert(v, t)
		} else if len(targs) > 0 && name != "raw_pointer_cast" && name != "move" {
			v = value{}
		}
		return v
	}
	return e.x.inline(qualifier, name, targs, args)
}

// isTypeName reports whether name, which parsed as t, is a type and not a function, as half is in
// many a file.
func (h *hostFile) isTypeName(name string, t ctype) bool {
	if len(h.funcs[name]) > 0 && h.records[name] == nil {
		return false
	}
	return t.class != classOther || typeSizes[name] != 0 || h.records[name] != nil
}

// standardScopes are the outermost namespaces of the functions that libraryCall, harmless and hostAPI
// name.
var standardScopes = map[string]bool{"std": true, "thrust": true, "cuda": true}

// libraryCall computes the functions of the standard libraries that launches use.
func libraryCall(name string, args []value) value {
	switch name {
	case "min", "max":
		if len(args) != 2 {
			return value{}
		}
		op := OpMin
		if name == "max" {
			op = OpMax
		}
		if isReal(args[0]) || isReal(args[1]) {
			return value{}
		}
		x, y := args[0].integer(), args[1].integer()
		size, unsigned := common(args[0], args[1])
		if unsigned && (negative(x) || negative(y)) {
			return value{}
		}
		return integer(operation2(op, x, y)).of(size, unsigned)
	case "ceil", "ceilf", "floor", "floorf":
		if len(args) != 1 {
			return value{}
		}
		v := args[0]
		if f, ok := v.float(); ok && name[len(name)-1] == 'f' {
			v = float(f, true)
		}
		return rounded(name[0] == 'c', v)
	case "raw_pointer_cast", "move", "__builtin_assume_aligned":
		if len(args) >= 1 {
			return args[0]
		}
	}
	return value{}
}

// rounded returns a number rounded up or down, as the quotient of an integer and 1.
func rounded(up bool, v value) value {
	if v.kind == aFloat {
		if up {
			return float(math.Ceil(v.f), v.size == 4)
		}
		return float(math.Floor(v.f), v.size == 4)
	}
	f, ok := v.fraction()
	if !ok {
		return value{}
	}
	op := OpDiv // equals rounding down, for sizes
	if up {
		op = OpCeilDiv
	}
	n := operation(op, f.n, f.den)
	if n == nil {
		return value{}
	}
	return value{kind: aFraction, n: n, den: number(1)}
}

// index parses [expression] after a pointer or an array, whose text begins at the token first.
func (e *evaluator) index(v value, first int) value {
	start := e.pos
	e.pos++
	i := e.lift(e.ternary(), start+1).integer()
	if !e.accept("]") {
		return e.fail()
	}
	out := value{}
	if a, ok := v.pointer(); ok {
		out.at = address{root: a.root, elem: a.elem}
		if a.elem > 0 && a.off != nil && i != nil {
			out.at.off = operation2(OpAdd, a.off, operation(OpMul, i, number(a.elem)))
		}
	}
	at := out.at
	out = e.opaque(first)
	out.at = at
	return out
}

// member parses .name or ->name after an object.
func (e *evaluator) member(v value) value {
	path := e.peek().text
	e.pos++
	t := e.peek()
	if t.kind != tokIdent {
		return e.fail()
	}
	e.pos++
	call := e.peek().is("(")
	if call {
		end := e.group()
		if end < 0 {
			return e.fail()
		}
		arguments := end > e.pos+1
		e.pos = end + 1
		if arguments || !e.x.getter(t.text, 0) {
			return value{}
		}
	}
	if e.x.overlaid[t.text] && !call {
		return e.x.object(t.text)
	}
	if n := slices.Index([]string{"x", "y", "z"}, t.text); v.kind == aDim {
		if n < 0 {
			return value{}
		}
		return integer(v.dim[n]).of(4, true)
	}
	switch t.text {
	case "data", "get", "begin":
		if a, ok := v.pointer(); ok && call {
			return value{kind: aPointer, root: a.root, off: a.off, elem: v.elem}
		}
	case "size", "length":
		if len(e.x.funcs["size"])+len(e.x.funcs["length"]) == 0 {
			t.text = "size" // the same number
		}
	}
	path += t.text
	if call {
		path += "()"
	}
	if v.kind == aPointer && path[0] == '-' && v.root.symbol == "" {
		if off, ok := v.off.Constant(); ok && off == 0 {
			return e.x.memberOf(v.root.obj, path)
		}
	}
	if v.kind != anObject {
		return value{}
	}
	if m, ok := v.member(path); ok {
		if m.kind == anInteger && call {
			return m.of(8, true) // size_t
		}
		return m
	}
	return e.x.memberOf(v.obj, path)
}

// memberOf returns an unknown member of an object, always the same one. What lies behind a pointer
// may change with every call that heddle does not know.
func (x *exec) memberOf(o *object, path string) value {
	key := path
	method, called := strings.CutSuffix(strings.TrimLeft(path, ".->"), "()")
	if path[0] == '-' || called && len(x.funcs[method]) > 0 { // which may read other variables
		key = fmt.Sprint(x.epoch) + path
	}
	if m, ok := o.members[key]; ok {
		return m
	}
	m := x.object(o.name + path)
	o.members[key] = m
	return m
}
