package launch

import (
	"slices"
	"strings"

	"heddle/internal/source"
)

// The evaluation of host code (exec) makes unknown what it does not follow. C++ has more ways to
// change a variable than one can list: a constructor that keeps a reference, a conversion that
// counts, a method of a base. So this file turns the question around. It describes a language, C
// with the classes of the standard library that own what they hold, in which each change of a
// variable is seen: by its name, by a call that gets its address or the variable by reference, or
// by code of another file that may change what it can name. The facts of a launch may depend on
// what is not in the language; see certainty, and LIMITATIONS, "Launches in host code".

// A Construct is a piece of host code whose effects heddle may not follow completely.
type Construct struct {
	What string      // "a lambda", "a call of a method of Matrix"
	Span source.Span // its place; that of the #include for one in a header
}

// A language decides what is in the language described above.
type language struct {
	*hostFile
	x     *exec // for its functions that do not depend on the state
	found *Construct
}

// beyond returns the first construct outside of the language in the code that may run before or
// with the launches of the file; nil if there is none.
func (h *hostFile) beyond() *Construct {
	l := &language{hostFile: h, x: &exec{hostFile: h, fuel: maxHostWork}}
	todo := sortedKeys(h.launching)
	seen := make(map[string]bool)
	for len(todo) > 0 && l.found == nil {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, f := range h.funcs[name] {
			l.function(f)
			for i := f.body[0]; i < f.body[1]; i++ {
				if t := h.toks[i]; t.kind == tokIdent && len(h.funcs[t.text]) > 0 {
					todo = append(todo, t.text)
				}
			}
		}
	}
	for _, at := range h.globalsAt {
		if !h.scopes[at[0]].class && l.found == nil && !l.ofDevice(at[0], at[1]) {
			l.declaration(at[0], at[1])
		}
	}
	for _, f := range h.funcs["operator"] {
		l.operator(f)
	}
	if l.x.fuel <= 0 {
		l.out(0, "more code than heddle reads")
	}
	return l.found
}

// ofDevice reports whether the declaration from i to end is that of a variable of the device.
func (h *hostFile) ofDevice(i, end int) bool {
	return slices.ContainsFunc(h.toks[i:min(end, len(h.toks))], func(t token) bool {
		return t.is("__device__") || t.is("__constant__") || t.is("__shared__") || t.is("__global__")
	})
}

// out notes that what is at i is outside of the language. It returns false.
func (l *language) out(i int, what string) bool {
	if l.found == nil {
		i = min(i, len(l.toks)-1)
		l.found = &Construct{What: what, Span: spanOf(l.file, l.toks[i].start, l.toks[i].end)}
	}
	return false
}

// operator checks an operator of the file, which is called without its name: one of vectors of
// numbers is in the language, as float4 + float4 is.
func (l *language) operator(f *hostFunc) {
	for _, p := range f.params {
		if p.typ.class == classInteger || p.typ.size == 0 || p.typ.ptr > 0 {
			l.out(f.head[0], "an operator of the file")
		}
	}
}

// function checks the parameters and the body of a function.
func (l *language) function(f *hostFunc) bool {
	name := f.head[0] - 1
	switch {
	case f.within.class:
		return l.out(name, "a method")
	case len(l.funcs[f.name]) > 1:
		return l.out(name, "a function with overloads")
	case f.variadic:
		return l.out(name, "a function with a variable number of arguments")
	case f.returns.ref:
		return l.out(name, "a function that returns a reference")
	}
	for i, p := range splitList(l.toks[f.head[0]+1 : max(f.head[0]+1, l.closer[f.head[0]])]) {
		if i >= len(f.params) {
			break
		}
		if t := f.params[i].typ; t.ptr == 0 && !l.isOwn(t, p) {
			return l.out(name, "a parameter of type "+typeText(p, f.params[i].name))
		}
	}
	return l.block(f.body[0], f.body[1])
}

// typeText returns the type of a declaration for a message: the tokens before the name.
func typeText(toks []token, name string) string {
	for i, t := range toks {
		if t.text == name && i > 0 {
			return text(toks[:i])
		}
	}
	return text(toks[:min(len(toks), 4)])
}

// ownTypes are types of the standard library and of CUDA whose objects change nothing but
// themselves, and keep no reference to anything else.
var ownTypes = map[string]bool{"string": true, "vector": true, "FILE": true, "time_t": true,
	"clock_t": true, "timeval": true, "timespec": true, "ifstream": true, "ofstream": true,
	"fstream": true, "stringstream": true, "istringstream": true, "ostringstream": true,
	"mt19937": true, "mt19937_64": true, "default_random_engine": true, "random_device": true,
	"uniform_real_distribution": true, "uniform_int_distribution": true, "normal_distribution": true,
	"time_point": true, "duration": true, "milliseconds": true, "microseconds": true,
	"device_vector": true, "host_vector": true, "array": true, "void": true, "pair": true,
	"complex": true, "half_float": true, "clock": true, "high_resolution_clock": true,
	"steady_clock": true, "system_clock": true, "tm": true, "stat": true, "rusage": true}

// ownPrefixes begin the names of types of CUDA's libraries.
var ownPrefixes = []string{"cuda", "CU", "curand", "cublas", "cufft", "cusparse", "cusolver", "nvtx"}

// isOwnName reports whether a name is that of one of ownTypes, or of a type of CUDA's libraries.
func isOwnName(name string) bool {
	return ownTypes[name] || typeSizes[name] != 0 ||
		slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// isOwn reports whether a variable of type t, whose tokens are toks, only holds a value: a number,
// a plain struct, or an object of ownTypes.
func (l *language) isOwn(t ctype, toks []token) bool {
	switch {
	case t.vague, t.automatic, t.open:
		return false
	case t.class != classOther:
		return true
	case t.rec != nil:
		return t.rec.ok
	}
	for i, t := range toks {
		if t.kind != tokIdent || qualifiers[t.text] || t.is("std") || t.is("chrono") || t.is("thrust") {
			continue
		}
		if l.declaresType(t.text) {
			return false
		}
		return isOwnName(t.text) || i > 1 && toks[i-2].is("chrono")
	}
	return false
}

// block checks the statements from i to end.
func (l *language) block(i, end int) bool {
	for i < end && l.found == nil && l.x.spend(1) {
		i = max(l.statement(i, end), i+1)
	}
	return l.found == nil
}

// statement checks the statement at i and returns the index after it.
func (l *language) statement(i, end int) int {
	t := l.toks[i]
	switch {
	case t.maybe && (t.is("return") || t.is("break") || t.is("continue") || t.is("else") || t.is("if")):
		l.out(i, "an #if that is not decided")
		return end
	case t.is(";"), t.is("else"), t.is("do"):
		return i + 1
	case t.is("{"):
		l.block(i+1, min(l.closer[i], end))
		return min(l.closer[i], end) + 1
	case t.is("if"), t.is("while"), t.is("switch"):
		if i+1 < end && l.toks[i+1].is("(") {
			l.expression(i+2, l.closer[i+1])
			return l.closer[i+1] + 1
		}
		l.out(i, "an if constexpr")
		return end
	case t.is("for"):
		return l.forStatement(i, end)
	case t.is("return"):
		stop := l.x.exprEnd(i, end)
		l.expression(i+1, stop)
		return stop + 1
	case t.is("break"), t.is("continue"), t.is("default"):
		return i + 2
	case t.is("case"):
		return l.x.labelEnd(i, end) + 1
	case t.is("using") && i+1 < end && l.toks[i+1].is("namespace"):
		return l.x.exprEnd(i, end) + 1
	case t.is("goto"), t.is("try"), t.is("throw"), t.is("asm"), t.is("__asm__"), t.is("struct") &&
		i+2 < end && !isName(l.toks[i+2]), t.is("class"), t.is("union"), t.is("enum"), t.is("using"),
		t.is("typedef"), t.is("this"), l.x.isLabel(i), isInsertion(t), t.kind == tokDirective:
		l.out(i, statementName(t))
		return end
	}
	stop := l.x.exprEnd(i, end)
	if _, at, ok := l.parseType(l.toks[:stop], i); ok && at < stop && isName(l.toks[at]) {
		l.declaration(i, stop)
		return stop + 1
	} else if ok && at+1 < stop && at > i && l.toks[at].is("(") && l.isType(i, at) &&
		(l.toks[at+1].is("*") || l.toks[at+1].is("&")) {
		l.out(at, "a pointer to a function or an array")
		return end
	} else if ok && at > i && l.x.isParenthesized(l.typeAt(i), at, end) {
		l.out(at, "a declarator in parentheses")
		return end
	}
	l.assignments(i, stop)
	return stop + 1
}

// isType reports whether the tokens from i to end, which parse as a type, are certainly one.
func (l *language) isType(i, end int) bool {
	t := l.typeAt(i)
	return t.class != classOther || t.rec != nil || t.size > 0 || l.toks[end-1].is("void") ||
		l.toks[end-1].is("*")
}

// typeAt returns the type at i.
func (l *language) typeAt(i int) ctype {
	t, _, _ := l.parseType(l.toks, i)
	return t
}

// statementName describes the statement that begins with a token.
func statementName(t token) string {
	switch {
	case isInsertion(t):
		return "an #include in a function"
	case t.is("goto"), t.is("throw"):
		return "a " + t.text
	case t.is("try"):
		return "a try block"
	case t.is("asm"), t.is("__asm__"):
		return "an asm statement"
	case t.is("this"):
		return "a method"
	case t.is("union"):
		return "a union"
	case t.is("struct"), t.is("class"), t.is("enum"), t.is("using"), t.is("typedef"):
		return "a type that a function declares"
	}
	return "a label"
}

// forStatement checks what is in the brackets of the for at i.
func (l *language) forStatement(i, end int) int {
	open := i + 1
	if open >= end || !l.toks[open].is("(") {
		return end
	}
	shut := min(l.closer[open], end)
	first := l.x.exprEnd(open+1, shut)
	if first >= shut {
		l.out(i, "a range-based for")
		return end
	}
	if _, at, ok := l.parseType(l.toks[:first], open+1); ok && at < first && isName(l.toks[at]) {
		l.declaration(open+1, first)
	} else {
		l.assignments(open+1, first)
	}
	second := l.x.exprEnd(first+1, shut)
	l.expression(first+1, second)
	l.assignments(min(second+1, shut), shut)
	return shut + 1
}

// assignments checks a list of assignments with commas between them.
func (l *language) assignments(i, end int) {
	for _, p := range l.x.commas(i, end) {
		l.assignment(p[0], p[1])
	}
}

// declaration checks the declaration of variables from i to end, without its semicolon.
func (l *language) declaration(i, end int) bool {
	end = min(end, len(l.toks))
	for i < end && l.toks[end-1].is(";") {
		end--
	}
	t, at, ok := l.parseType(l.toks[:end], i)
	if !ok || at > end {
		return l.out(i, "a declaration")
	}
	for j := i; j < at; j++ {
		switch s := l.toks[j]; {
		case s.is("&"), s.is("&&"):
			return l.out(j, "a reference")
		case (s.is("static") || s.is("extern") || s.is("thread_local")) && !t.fixed &&
			!l.isGlobal(i):
			return l.out(j, "a variable that keeps its value between calls")
		}
	}
	if l.x.auto(i, at) {
		return l.automatic(at, end)
	}
	for _, p := range l.x.commas(at, end) {
		pointer := t.ptr > 0 && p[0] == at
		j := p[0]
		for ; j < p[1] && (l.toks[j].is("*") || qualifiers[l.toks[j].text]); j++ {
			pointer = pointer || l.toks[j].is("*")
		}
		if j >= p[1] || !isName(l.toks[j]) {
			return l.out(p[0], "a declaration")
		}
		if !pointer && !l.isOwn(t, l.toks[i:at]) {
			return l.out(i, "an object of type "+text(l.toks[i:at]))
		}
		for j++; j < p[1] && l.toks[j].is("["); j = l.closer[j] + 1 {
			l.expression(j+1, l.closer[j])
		}
		switch {
		case j >= p[1]:
		case l.toks[j].is("="):
			l.initializer(j+1, p[1])
		case l.toks[j].is("("), l.toks[j].is("{"):
			for _, q := range l.x.commas(j+1, min(l.closer[j], p[1])) {
				l.initializer(q[0], q[1])
			}
		default:
			return l.out(j, "a declaration")
		}
	}
	return l.found == nil
}

// isGlobal reports whether the declaration at i is outside of functions and classes.
func (h *hostFile) isGlobal(i int) bool {
	scope, ok := h.scopes[i]
	return ok && !scope.class
}

// automatic checks the declaration of a variable whose type is auto: a time, or the result of a
// cast or of new.
func (l *language) automatic(at, end int) bool {
	if at+2 >= end || !isName(l.toks[at]) || !l.toks[at+1].is("=") {
		return l.out(at, "a variable of type auto")
	}
	first := l.toks[at+2]
	clock := slices.ContainsFunc(l.toks[at+2:end], func(t token) bool {
		return t.is("now") || t.is("duration_cast")
	})
	if !clock && !first.is("new") && !isCast(first) && first.kind != tokNumber {
		return l.out(at, "a variable of type auto")
	}
	return l.expression(at+2, end)
}

// initializer checks an initializer: an expression, or a list in braces.
func (l *language) initializer(i, end int) bool {
	if i < end && l.toks[i].is("{") {
		for _, p := range l.x.commas(i+1, min(l.closer[i], end)) {
			l.initializer(p[0], p[1])
		}
		return l.found == nil
	}
	for j := i; j < end; j++ { // an address that a variable keeps, but that of an element
		if l.toks[j].is("(") && j > i && isName(l.toks[j-1]) {
			j = l.closer[j]
			continue
		}
		if l.toks[j].is("&") && l.x.isPrefix(j) && !(j+2 < end && l.toks[j+2].is("[")) {
			return l.out(j, "an address that is kept")
		}
	}
	return l.expression(i, end)
}

// assignment checks an expression statement from i to end: an assignment to a place, an increment,
// or an expression.
func (l *language) assignment(i, end int) bool {
	if i >= end {
		return true
	}
	if l.toks[i].is("++") || l.toks[i].is("--") {
		return l.target(i+1, end)
	}
	if l.toks[end-1].is("++") || l.toks[end-1].is("--") {
		return l.target(i, end-1)
	}
	for j := i; j < end; j++ {
		switch t := l.toks[j]; {
		case t.is("("), t.is("["), t.is("{"):
			j = l.closer[j]
		case t.kind == tokPunct && isAssignment(t.text):
			if !l.target(i, j) {
				return false
			}
			if next := l.x.targetEnd(j+1, end); next < end { // a = b = c
				return l.assignment(j+1, end)
			}
			return l.initializer(j+1, end)
		}
	}
	return l.expression(i, end)
}

// target checks what is assigned to: a name with members and indices, or what a pointer points to.
func (l *language) target(i, end int) bool {
	if i < end && l.toks[i].is("*") && l.x.isPlace(i+1, end) {
		i++
	}
	if !l.x.isPlace(i, end) {
		return l.out(i, "an assignment to an expression")
	}
	return l.expression(i, end)
}

// ownMethods are methods of the standard library that change nothing but their object and what it
// holds, besides constMethods and copying.
var ownMethods = map[string]bool{"clear": true, "pop_back": true, "open": true, "close": true,
	"is_open": true, "good": true, "eof": true, "fail": true, "count": true, "substr": true,
	"erase": true, "swap": true, "precision": true, "time_since_epoch": true, "what": true}

// expression checks an expression from i to end.
func (l *language) expression(i, end int) bool {
	first := i
	for end = min(end, len(l.toks)); i < end && l.found == nil && l.x.spend(1); i++ {
		t := l.toks[i]
		switch {
		case t.kind == tokDirective, isInsertion(t):
			return l.out(i, "a directive in an expression")
		case t.kind == tokNumber || t.kind == tokString:
			if i+1 < end && l.toks[i+1].kind == tokIdent && l.toks[i+1].start == t.end {
				return l.out(i, "a literal with a suffix of the program")
			}
		case t.kind == tokIdent:
			i = l.name(i, first, end)
		case t.is("[") && !(i > first && l.isSubscript(i)) && !l.toks[i-1].is("delete"):
			return l.out(i, "a lambda")
		case t.is("++"), t.is("--"), isAssignment(t.text) && t.kind == tokPunct:
			return l.out(i, "an assignment in an expression")
		case t.is("("):
			if i > first && (l.toks[i-1].is(")") && !l.x.isCastBefore(i) || l.toks[i-1].is("]")) {
				return l.out(i, "a call through an expression")
			}
			if parts := l.x.commas(i+1, l.closer[i]); len(parts) > 1 && !l.isCall(i, first) {
				return l.out(i, "a comma operator")
			}
		case t.is("&") && l.x.isPrefix(i) && !l.isArgument(i, first) &&
			!(i+2 < end && l.toks[i+2].is("[")):
			return l.out(i, "an address that is kept")
		}
	}
	return l.found == nil
}

// isCall reports whether the bracket at i opens arguments: a name, template arguments or the end of
// a launch's configuration precede it.
func (l *language) isCall(i, first int) bool {
	return i > first && (l.toks[i-1].kind == tokIdent || l.toks[i-1].is(">") || l.toks[i-1].is(">>>"))
}

// isArgument reports whether the operator at i begins an argument of a call, perhaps after casts.
func (l *language) isArgument(i, first int) bool {
	for i > first && l.toks[i-1].is(")") { // a cast
		i = l.opener[i-1]
	}
	if i <= first {
		return false
	}
	prev := l.toks[i-1]
	return prev.is(",") || prev.is("(") && l.isCall(i-1, first)
}

// name checks the name or keyword at i. It returns the index of the last token that it checked.
func (l *language) name(i, first, end int) int {
	t := l.toks[i]
	next := i + 1
	if next < end && l.toks[next].is("<") {
		if e := skipAngles(l.toks[:end], next); e > next && e+1 < end && l.toks[e+1].is("(") {
			next = e + 1
		}
	}
	called := next < end && l.toks[next].is("(")
	member := i > first && (l.toks[i-1].is(".") || l.toks[i-1].is("->"))
	switch {
	case isUnevaluated(t) && called:
		return min(l.closer[next], end)
	case t.is("sizeof"):
		return l.x.operandEnd(i+1, end) - 1
	case t.is("new"), t.is("delete"):
		if l.destructors || l.constructors {
			l.out(i, "new or delete beside classes with constructors")
		}
	case isCast(t):
		return skipAngles(l.toks[:end], i+1)
	case t.is("true"), t.is("false"), t.is("nullptr"):
	case notTypes[t.text]:
		l.out(i, "the keyword "+t.text)
	case l.unclear[t.text] != nil:
		l.out(i, "the macro "+t.text)
	case member && called:
		if own := len(l.funcs[t.text])+len(l.prototypes[t.text]) > 0; own ||
			!constMethods[t.text] && !copying[t.text] && !ownMethods[t.text] {
			l.out(i, "a call of the method "+t.text)
		}
	case member:
	case len(l.funcs[t.text]) > 0 && !called:
		l.out(i, "the address of the function "+t.text)
	case len(l.funcs[t.text]) > 0:
		n := len(l.x.commas(next+1, l.closer[next]))
		if f := l.funcs[t.text][0]; n > len(f.params) || n < len(f.params)-f.defaults ||
			len(l.funcs[t.text]) > 1 {
			l.out(i, "a call of an overloaded function")
		}
		return next - 1
	case l.records[t.text] != nil && !l.records[t.text].ok && next < end &&
		(called || l.toks[next].is("{")):
		l.out(i, "an object of type "+t.text)
	case called && slices.Contains(returningTwice, t.text),
		called && slices.Contains(callers, t.text) && !t.is("cudaGraphLaunch"),
		called && i > first && l.toks[i-1].is("::") && l.inStd(i) && !l.isHarmless(l.toks, i) &&
			hostAPI[t.text] == 0:
		l.out(i, "a call of "+t.text)
	case called:
		return next - 1
	}
	return i
}

// inStd reports whether the name at i is qualified by the name of the namespace std.
func (l *language) inStd(i int) bool {
	for i > 1 && l.toks[i-1].is("::") {
		i -= 2
	}
	return l.toks[i].is("std")
}
