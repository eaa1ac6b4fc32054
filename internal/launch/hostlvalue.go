package launch

import "slices"

// Changes of what an expression refers to. The rule of this file: what is not a plain name, a member
// of one, an element or the target of a pointer may be anything that the expression names.

// modify makes unknown what the expression of the tokens from i to end refers to.
func (x *exec) modify(i, end int) {
	if i < end {
		x.store(i, end, value{})
	}
}

// change makes unknown what a store may change whose target is more than a plain place: every
// variable that it names, in all scopes, since a qualified name skips some, and what they point to.
// A call in it may return a reference to anything that other code may change.
func (x *exec) change(i, end int) {
	for j := i; j < end && x.spend(1); j++ {
		t := x.toks[j]
		if t.kind != tokIdent {
			continue
		}
		x.forgetEverywhere(t.text)
		if j+1 < end && x.toks[j+1].is("(") {
			x.outside()
		}
	}
	x.storeThrough(nil)
}

// forgetEverywhere makes unknown the variables of a name in all scopes.
func (x *exec) forgetEverywhere(name string) {
	lose := func(c *cell) {
		if c != nil {
			x.drop(c.val)
			x.forget(c)
		}
	}
	if x.frame != nil {
		for _, s := range x.frame.scopes {
			lose(s[name])
		}
	}
	lose(x.globals[name])
	lose(x.externs[name])
}

// isPlace reports whether the tokens from i to end are a name with members and indices, perhaps
// behind a *, which store follows.
func (x *exec) isPlace(i, end int) bool {
	for i < end && x.toks[i].is("*") {
		i++
	}
	if i >= end || x.toks[i].kind != tokIdent || notTypes[x.toks[i].text] {
		return false
	}
	for i++; i < end; i++ {
		switch t := x.toks[i]; {
		case t.is("["):
			i = x.closer[i]
		case (t.is(".") || t.is("->")) && i+1 < end && x.toks[i+1].kind == tokIdent &&
			!(i+2 < end && x.toks[i+2].is("(")):
			i++
		default:
			return false
		}
	}
	return true
}

// targetStart returns the index of the first token of the left operand of the assignment at i: all of
// it back to what separates expressions, since = binds less than nearly everything.
func (x *exec) targetStart(i, first int) int {
	for i--; i >= first; i-- {
		switch t := x.toks[i]; {
		case t.is(")"), t.is("]"), t.is("}"):
			if x.opener[i] < first {
				return i + 1
			}
			i = x.opener[i]
		case t.is("("), t.is("["), t.is("{"), t.is(","), t.is(";"), t.is("?"), t.is(":"),
			t.is("return"), t.is("else"), t.is("do"), t.is("&&"), t.is("||"), t.is("throw"),
			t.kind == tokPunct && isAssignment(t.text):
			return i + 1
		}
	}
	return first
}

// operandStart returns the index of the first token of the postfix expression that ends before i.
func (x *exec) operandStart(i, first int) int {
	for i > first {
		switch t := x.toks[i-1]; {
		case t.is(")"), t.is("]"):
			i = max(x.opener[i-1], first)
			if i > first && x.toks[i-1].kind != tokIdent && !x.toks[i-1].is(")") && !x.toks[i-1].is("]") &&
				!x.toks[i-1].is(">") {
				return i
			}
		case t.is(">"):
			open := x.templateStart(i - 1)
			if open < first {
				return i
			}
			i = open
		case t.kind == tokIdent && !notTypes[t.text] || isCast(t):
			i--
			if i == first || !x.toks[i-1].is(".") && !x.toks[i-1].is("->") && !x.toks[i-1].is("::") {
				return i
			}
			i--
		case t.is("::"), t.kind == tokIdent:
			i--
		default:
			return i
		}
	}
	return first
}

// isCast reports whether a token is one of C++'s named casts.
func isCast(t token) bool {
	return t.is("static_cast") || t.is("const_cast") || t.is("reinterpret_cast") ||
		t.is("dynamic_cast")
}

// operandEnd returns the index after the unary expression at i.
func (x *exec) operandEnd(i, end int) int {
	for i < end && x.toks[i].kind == tokPunct && slices.Contains([]string{"*", "&", "++", "--", "+", "-",
		"!", "~", "::"}, x.toks[i].text) {
		i++
	}
	if i < end && x.toks[i].is("(") {
		i = min(x.closer[i]+1, end)
		if i < end && (x.toks[i].kind == tokIdent || x.toks[i].kind == tokNumber || x.toks[i].is("(")) {
			return x.operandEnd(i, end) // a cast
		}
	} else if i < end {
		i++
	}
	for i < end {
		switch t := x.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = min(x.closer[i]+1, end)
		case t.is("."), t.is("->"), t.is("::"):
			i = min(i+2, end)
		case t.is("<"):
			e := skipAngles(x.toks[:end], i)
			if e == i || e+1 >= end || !x.toks[e+1].is("(") && !x.toks[e+1].is("::") {
				return i
			}
			i = e + 1
		default:
			return i
		}
	}
	return end
}

// mayRefer reports whether the argument of the tokens from i to end may be something that a
// parameter can change by reference: it is no number, no result of arithmetic, and no result of a
// function that returns a value.
func (x *exec) mayRefer(i, end int) bool {
	if i < end && (isCast(x.toks[i]) || slices.ContainsFunc(x.toks[i:end], func(t token) bool {
		return t.is("?") || t.is(",")
	})) {
		return true
	}
	for j := i; j < end; j++ {
		switch t := x.toks[j]; {
		case t.is("&") && j+1 < end && x.toks[j+1].is(")"): // of a cast
		case t.kind == tokNumber, t.kind == tokString:
			return false
		case t.is("["):
			j = x.closer[j]
		case t.is("("):
			if j > i && x.toks[j-1].kind == tokIdent {
				return x.returnsReference(x.toks[j-1].text)
			}
		case t.is("*") && j == i, t.is("<"), t.is(">"):
		case t.kind == tokPunct && precedence[t.text] > 0, t.is("!"), t.is("~"), t.is("&"), t.is("{"):
			return false
		}
	}
	return i < end
}

// returnsReference reports whether a function of the file with that name returns a reference. Of
// others it is taken not to refer to an argument.
func (h *hostFile) returnsReference(name string) bool {
	return slices.ContainsFunc(h.funcs[name], func(f *hostFunc) bool {
		return f.returns.ref || f.returns.mayRefer() && f.generic == ""
	})
}

// escapeOperand notes that the address of what the operand of the & at i refers to is kept.
func (x *exec) escapeOperand(i, end int) {
	for _, c := range x.addressed(i+1, x.operandEnd(i+1, end)) {
		x.escape(c)
	}
}

// addressed returns the variables to whose memory the address of the expression from i to end may
// lead. An element of an array is in the memory that the array points to.
func (x *exec) addressed(i, end int) []*cell {
	var out []*cell
	for j := i; j < end; j++ {
		t := x.toks[j]
		if t.is("[") {
			j = x.closer[j]
			continue
		}
		c := x.variable(t.text)
		if t.kind != tokIdent || c == nil || c.typ.fixed && c.typ.ptr == 0 ||
			j > i && (x.toks[j-1].is(".") || x.toks[j-1].is("->")) {
			continue
		}
		if j+1 < end && x.toks[j+1].is("[") {
			continue
		}
		out = append(out, c)
	}
	return out
}

// opaqueUse makes unknown what the use of a macro at i may change that is not replaced. The
// arguments of it are handled as what follows a name.
func (x *exec) opaqueUse(o *opaqueMacro, i, end int) {
	if o.changes {
		for _, name := range o.names {
			x.forgetEverywhere(name)
		}
		if i+1 < end && x.toks[i+1].is("(") {
			x.change(i+2, min(x.closer[i+1], end))
		}
	}
	if o.calls {
		x.outside()
	}
}
