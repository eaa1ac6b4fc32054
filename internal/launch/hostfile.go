package launch

import (
	"maps"
	"slices"

	"heddle/internal/source"
)

// A hostFile is the structure of a host file: its functions, types and global variables. It is
// found from tokens, without a C++ front end.
type hostFile struct {
	file    *source.File
	toks    []token // after preprocess
	closer  []int   // by opening bracket: its closing bracket, or the last token
	opener  []int   // by closing bracket: its opening bracket, or 0
	funcs   map[string][]*hostFunc
	order   []*hostFunc
	records map[string]*record
	aliases map[string]ctype
	// globalsAt are the declarations at file scope and in classes, and enumsAt those of enumerators:
	// the first token and the end.
	globalsAt, enumsAt [][2]int
	members            map[int]bool    // those of globalsAt that are in a class, by their first token
	classes            int             // nesting of classes
	overlaid           map[string]bool // members of unions and bit fields
	mutableGlobals     []string        // global variables that some function assigns
	mentioned          map[string]bool // functions that others name
	unclear            map[string]*opaqueMacro
}

// A hostFunc is a function with a body.
type hostFunc struct {
	name     string
	template []string // non-type and type parameters of the template
	params   []parameter
	returns  ctype
	variadic bool    // it has any number of parameters
	head     [2]int  // tokens from the bracket before the parameters to the body
	body     [2]int  // tokens within the braces
	result   []token // the expression of a body that is one return statement; else nil
}

// A parameter is one of a hostFunc.
type parameter struct {
	name string
	typ  ctype
	// generic is the parameter of the template that the type has in it; empty if there is none
	generic string
}

// These bounds keep the cost linear on malformed input. Real host code stays far below them.
const (
	maxListTokens = 500 // of one expression or argument list
	maxScopes     = 100 // innermost scopes in which a name is looked up
)

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// newHostFile finds the structure of a file.
func newHostFile(f *source.File, toks []token, opaque map[string]*opaqueMacro) *hostFile {
	h := &hostFile{file: f, toks: toks, unclear: opaque, funcs: make(map[string][]*hostFunc),
		records: make(map[string]*record), aliases: make(map[string]ctype),
		mentioned: make(map[string]bool), members: make(map[int]bool),
		overlaid: make(map[string]bool)}
	h.matchBrackets()
	h.findOverlaid()
	h.items(0, len(toks))
	h.findMutable()
	return h
}

// matchBrackets fills closer and opener. A brace closes what is open within its block, so that a missing
// parenthesis does not swallow the rest of the file.
func (h *hostFile) matchBrackets() {
	h.closer, h.opener = make([]int, len(h.toks)), make([]int, len(h.toks))
	var open []int
	braces := 0
	for i, t := range h.toks {
		switch {
		case t.kind != tokPunct:
		case closers[t.text] != "":
			h.closer[i] = len(h.toks) - 1
			open = append(open, i)
			if t.text == "{" {
				braces++
			}
		case t.text == ")" || t.text == "]" || t.text == "}":
			for t.text == "}" && braces > 0 && len(open) > 0 && !h.toks[open[len(open)-1]].is("{") {
				h.closer[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
			if n := len(open) - 1; n >= 0 && closers[h.toks[open[n]].text] == t.text {
				h.closer[open[n]], h.opener[i] = i, open[n]
				open = open[:n]
				if t.text == "}" {
					braces--
				}
			}
		}
	}
}

// items finds the declarations among the tokens from i to end: of the file, a namespace or a class.
func (h *hostFile) items(i, end int) {
	for i < end {
		i = max(h.item(i, end), i+1)
	}
}

// item handles the declaration at i and returns the index after it.
func (h *hostFile) item(i, end int) int {
	var template []string
	for i+1 < end && h.toks[i].is("template") && h.toks[i+1].is("<") {
		shut := skipAngles(h.toks[:end], i+1)
		for j := i + 2; j <= shut; j++ {
			if (h.toks[j].is(",") || h.toks[j].is(">") || h.toks[j].is("=")) &&
				h.toks[j-1].kind == tokIdent {
				template = append(template, h.toks[j-1].text)
			}
		}
		i = max(shut, i+1) + 1
	}
	if i >= end {
		return end
	}
	switch t := h.toks[i]; {
	case t.is("namespace"), t.is("extern") && i+2 < end && h.toks[i+1].kind == tokString &&
		h.toks[i+2].is("{"):
		for j := i + 1; j < min(end, i+maxHeader); j++ {
			if h.toks[j].is("{") {
				h.items(j+1, min(h.closer[j], end))
				return h.closer[j] + 1
			}
			if h.toks[j].is(";") {
				return j + 1
			}
		}
		return i + 1
	case t.is("enum"):
		return h.enum(i, end)
	case t.is("using"), t.is("typedef"):
		return h.alias(i, end)
	case t.is("struct"), t.is("class"), t.is("union"):
		if next, ok := h.class(i, end); ok {
			return next
		}
	}
	return h.functionOrVariable(i, end, template)
}

// statementEnd returns the index after the ';' that ends the declaration at i.
func (h *hostFile) statementEnd(i, end int) int {
	for limit := min(end, i+4*maxHeader); i < limit; i++ {
		switch t := h.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = h.closer[i]
		case t.is(";"):
			return i + 1
		case t.is("}"):
			return i
		}
	}
	return min(i, end)
}

// enum records the enumerators of the enumeration at i.
func (h *hostFile) enum(i, end int) int {
	for j := i; j < min(end, i+20); j++ {
		if h.toks[j].is("{") {
			h.enumsAt = append(h.enumsAt, [2]int{j + 1, min(h.closer[j], end)})
			if j > i && h.toks[j-1].kind == tokIdent && !h.toks[j-1].is("enum") {
				h.aliases[h.toks[j-1].text] = ctype{class: classInteger, size: 4}
			}
			return h.statementEnd(min(h.closer[j], end), end)
		}
		if h.toks[j].is(";") {
			return j + 1
		}
	}
	return i + 1
}

// alias records typedef type name; and using name = type;
func (h *hostFile) alias(i, end int) int {
	stop := h.statementEnd(i, end)
	if h.toks[i].is("using") {
		if i+2 < stop && h.toks[i+2].is("=") {
			if t, next, ok := h.parseType(h.toks[:stop], i+3); ok && next+1 == stop {
				h.aliases[h.toks[i+1].text] = t
			}
		}
		return stop
	}
	if i+1 < stop && (h.toks[i+1].is("struct") || h.toks[i+1].is("enum")) {
		for j := i + 1; j < min(stop, i+4); j++ {
			if !h.toks[j].is("{") {
				continue
			}
			name := h.toks[min(h.closer[j]+1, len(h.toks)-1)]
			if h.toks[i+1].is("enum") {
				h.enum(i+1, end)
				h.aliases[name.text] = ctype{class: classInteger, size: 4}
			} else if name.kind == tokIdent {
				h.records[name.text] = h.record(j+1, h.closer[j], name.text)
			}
			return stop
		}
	}
	if t, next, ok := h.parseType(h.toks[:stop], i+1); ok && next+2 == stop &&
		h.toks[next].kind == tokIdent {
		h.aliases[h.toks[next].text] = t
	}
	return stop
}

// class records the layout of a struct or class with its functions; false if what is at i only uses
// the word, as in struct stat s;
func (h *hostFile) class(i, end int) (next int, ok bool) {
	name := ""
	for j := i + 1; j < min(end, i+maxHeader); j++ {
		switch t := h.toks[j]; {
		case t.is("{"):
			shut := min(h.closer[j], end)
			if name != "" {
				h.records[name] = h.record(j+1, shut, name)
			}
			h.classes++
			h.items(j+1, shut)
			h.classes--
			return h.statementEnd(shut, end), true
		case t.is("("), t.is(";"), t.is("="):
			return i, false
		case t.kind == tokIdent && name == "":
			name = t.text
		}
	}
	return i, false
}

// record returns what is known of the class whose members are the tokens from i to end.
func (h *hostFile) record(i, end int, name string) *record {
	r := h.layout(i, end)
	for j := i; j < end; j++ {
		switch t := h.toks[j]; {
		case t.is("~"):
			r.dtor = r.dtor || j+1 < end && h.toks[j+1].is(name)
		case t.is("&"), t.is("&&"): // of a member, not of the result of a method
			r.refs = r.refs || !(j+2 < end && (h.toks[j+1].is("operator") || h.toks[j+2].is("(")))
		case t.is(name) && j+1 < end && h.toks[j+1].is("("):
			r.ctor = true
			j = h.closer[j+1]
		case t.is("("), t.is("["), t.is("{"):
			j = h.closer[j]
		}
	}
	return r
}

// findOverlaid collects the names of members that share memory with others, or have fewer bits than
// their type.
func (h *hostFile) findOverlaid() {
	for i, t := range h.toks {
		if !t.is("union") && !t.is("struct") && !t.is("class") {
			continue
		}
		for j := i + 1; j < min(len(h.toks), i+maxHeader) && !h.toks[j].is(";") && !h.toks[j].is("("); j++ {
			if h.toks[j].is("{") {
				h.membersOf(j+1, h.closer[j], t.is("union"))
				break
			}
		}
	}
}

// membersOf adds to overlaid the members among the tokens from i to end: all, or only bit fields.
func (h *hostFile) membersOf(i, end int, all bool) {
	for ; i+1 < end; i++ {
		t, next := h.toks[i], h.toks[i+1]
		switch {
		case t.is("(") || t.is("[") || t.is("{") && !all:
			i = h.closer[i]
		case t.kind != tokIdent:
		case next.is(":") && !t.is("public") && !t.is("private") && !t.is("protected"):
			h.overlaid[t.text] = true
		case all && (next.is(",") || next.is(";") || next.is("[") || next.is("=") || next.is("{")):
			h.overlaid[t.text] = true
		}
	}
}

// layout computes where the members of a struct lie, by the rules of C: each at a multiple of its
// alignment, the size a multiple of the largest. Members that are not numbers, pointers or such
// structs, and anything but plain members, make the layout unknown.
func (h *hostFile) layout(i, end int) *record {
	r := &record{}
	largest := int64(1)
	for i < end {
		stop := h.statementEnd(i, end)
		t, at, ok := h.parseType(h.toks[:end], i)
		r.refs = r.refs || ok && t.ref
		if !ok || h.toks[i].is("static") || h.toks[i].maybe || t.ref {
			return r
		}
		base := t
		for j := at - 1; j > i && h.toks[j].is("*"); j-- {
			base.ptr--
		}
		for ; at+1 < stop; at++ {
			name := h.toks[at]
			end := h.toks[at+1]
			if name.kind != tokIdent || !end.is(",") && !end.is(";") || t.rec != nil && t.ptr == 0 {
				return r
			}
			size := t.bytes()
			if size == 0 || size > 8 || size&(size-1) != 0 {
				return r // alignment of vector types differs
			}
			largest = max(largest, size)
			r.size = (r.size + size - 1) / size * size
			r.fields = append(r.fields, recordField{name.text, r.size, t})
			r.size += size
			at++
			for t = base; at+1 < stop && h.toks[at+1].is("*"); at++ { // int *a, *b
				t.ptr++
			}
		}
		i = stop
	}
	r.size = (r.size + largest - 1) / largest * largest
	r.ok = len(r.fields) > 0
	return r
}

// functionOrVariable records the function or the variables that are declared at i.
func (h *hostFile) functionOrVariable(i, end int, template []string) int {
	name, open, device, hostToo := 0, 0, false, false
	// A declaration that does not end within the limit is skipped, so that the cost is linear.
	for j := i; j < min(end, i+maxHeader); j++ {
		switch t := h.toks[j]; {
		case t.is("__global__"), t.is("__device__"):
			device = true
		case t.is("__host__"):
			hostToo = true
		case t.is("operator") && open == 0:
			name, open = j, h.operatorParameters(j+1, min(end, j+maxOperator))
			if open == 0 {
				return h.statementEnd(j, end)
			}
			j = h.closer[open]
		case t.is("(") && open == 0 && j > i && h.toks[j-1].kind == tokIdent &&
			!attributes[h.toks[j-1].text]:
			name, open = j-1, j
			j = h.closer[j]
		case t.is("("), t.is("["):
			j = h.closer[j]
		case t.is("="), t.is(";"), t.is("}"):
			if !device {
				h.global(i, h.statementEnd(j, end))
			}
			return h.statementEnd(j, end)
		case t.is("{") && open == 0:
			h.global(i, h.statementEnd(j, end))
			return h.statementEnd(j, end)
		case t.is("{"):
			if !device || hostToo {
				h.define(i, name, open, j, template)
			}
			return min(h.closer[j], end) + 1
		case t.is("public"), t.is("private"), t.is("protected"):
			return j + 2
		}
	}
	return i + maxHeader
}

// global records the declaration from i to end.
func (h *hostFile) global(i, end int) {
	h.globalsAt = append(h.globalsAt, [2]int{i, end})
	h.members[i] = h.classes > 0
}

// define records a function: its name, parameters and body, by the indices of their first tokens.
func (h *hostFile) define(i, name, open, body int, template []string) {
	f := &hostFunc{name: h.toks[name].text, template: template,
		head: [2]int{open, body}, body: [2]int{body + 1, h.closer[body]}}
	first := i
	for first < name && h.toks[first].is("template") {
		first = skipAngles(h.toks[:name], first+1) + 1
	}
	returns, at, understood := h.parseType(h.toks[:name], first)
	arrow := slices.IndexFunc(h.toks[h.closer[open]:body], func(t token) bool { return t.is("->") })
	if arrow >= 0 {
		returns, _, understood = h.parseType(h.toks[:body], h.closer[open]+arrow+1)
	} else {
		understood = understood && at == name
	}
	if f.returns = returns; returns.ptr > 0 {
		f.returns = ctype{ref: returns.ref}
	}
	for _, p := range splitList(h.toks[open+1 : max(open+1, min(h.closer[open], body))]) {
		t, at, ok := h.parseType(p, 0)
		param := parameter{typ: t}
		for _, word := range p[:min(at, len(p))] {
			if slices.Contains(template, word.text) {
				param.generic = word.text
			}
		}
		if ok && at < len(p) && p[at].kind == tokIdent {
			param.name = p[at].text
			if at+1 < len(p) && p[at+1].is("[") {
				param.typ.ptr++
			}
		}
		for j := 0; j+2 < len(p) && param.name == ""; j++ { // a pointer to a function or an array
			if p[j].is("(") && (p[j+1].is("*") || p[j+1].is("&")) && p[j+2].kind == tokIdent {
				param.name, param.typ = p[j+2].text, ctype{}
			}
		}
		f.variadic = f.variadic || slices.ContainsFunc(p, func(t token) bool { return t.is("...") })
		if len(p) > 1 || ok && !p[0].is("void") {
			f.params = append(f.params, param)
		}
	}
	if toks := h.toks[f.body[0]:max(f.body[0], f.body[1])]; understood && len(toks) > 2 &&
		toks[0].is("return") {
		end := slices.IndexFunc(toks, func(t token) bool { return t.is(";") })
		if end == len(toks)-1 {
			f.result = toks[1:end]
		}
	}
	h.funcs[f.name] = append(h.funcs[f.name], f)
	h.order = append(h.order, f)
}

// maxOperator bounds the tokens of the name of an operator: "operator const unsigned long long".
const maxOperator = 8

// operatorParameters returns the index of the bracket before the parameters of an operator function,
// whose name goes on at i: "+", "()", "[]", "int"; 0 if there is none before end.
func (h *hostFile) operatorParameters(i, end int) int {
	if i+2 < end && h.toks[i].is("(") && h.toks[i+1].is(")") {
		i += 2
	}
	for ; i < end; i++ {
		if h.toks[i].is("(") {
			return i
		}
	}
	return 0
}

// function returns the only function of that name and number of arguments; nil if there is none, or
// if overloads have the same number.
func (h *hostFile) function(name string, args int) *hostFunc {
	var out *hostFunc
	for _, f := range h.funcs[name] {
		if f.variadic {
			return nil
		}
		if len(f.params) != args {
			continue
		}
		if out != nil {
			return nil
		}
		out = f
	}
	return out
}

// findMutable collects the names that functions may change, and the functions that they name. It
// ignores scopes: a global variable whose name is changed anywhere is not constant, which loses facts
// but invents none. What a function does with a name is a change unless it is known to be none.
func (h *hostFile) findMutable() {
	found := make(map[string]bool)
	x := &exec{hostFile: h, fuel: maxHostWork}
	for _, f := range h.order {
		m := mutableFinder{x: x, hostFile: h, found: found, first: f.body[0], end: f.body[1]}
		m.header(f)
		for i := f.body[0]; i < f.body[1]; i++ {
			if t := h.toks[i]; t.kind == tokIdent {
				h.mentioned[t.text] = h.mentioned[t.text] || len(h.funcs[t.text]) > 0 && t.text != f.name
				if o := h.unclear[t.text]; o != nil && o.changes {
					for _, name := range o.names {
						found[name] = true
					}
					m.all(i+1, min(i+maxListTokens, h.statementEnd(i, f.body[1])))
				}
			}
			m.token(i, f.returns.ref || f.returns.vague)
		}
	}
	h.mutableGlobals = sortedKeys(found)
}

// A mutableFinder looks for changes in the body of a function.
type mutableFinder struct {
	*hostFile
	x          *exec // for its functions that do not depend on the state
	found      map[string]bool
	first, end int
}

// all adds the names from i to end.
func (m *mutableFinder) all(i, end int) {
	for ; i < end; i++ {
		if m.toks[i].kind == tokIdent {
			m.found[m.toks[i].text] = true
		}
	}
}

// header adds what default arguments and the initializers of members refer to.
func (m *mutableFinder) header(f *hostFunc) {
	shut := m.closer[f.head[0]]
	for _, p := range m.x.commas(f.head[0]+1, min(shut, f.head[1])) {
		if k := slices.IndexFunc(m.toks[p[0]:p[1]], func(t token) bool { return t.is("=") }); k >= 0 {
			m.all(p[0]+k+1, p[1])
		}
	}
	for i := shut; i < f.head[1]; i++ {
		if m.toks[i].is("(") || m.toks[i].is("{") {
			m.all(i+1, min(m.closer[i], f.head[1]))
		}
	}
}

// token adds what the token at i shows to be changed. refers says whether the function returns a
// reference.
func (m *mutableFinder) token(i int, refers bool) {
	x := m.x
	at := func(i int) token {
		if i >= m.first && i < m.end {
			return m.toks[i]
		}
		return token{}
	}
	prefix := func() bool {
		prev := at(i - 1)
		return prev.kind == tokPunct && !prev.is(")") && !prev.is("]") || prev.kind == tokEOF ||
			prev.kind == tokIdent && !isName(prev) || prev.is(")") && x.isCastBefore(i)
	}
	t := m.toks[i]
	switch {
	case t.kind == tokPunct && isAssignment(t.text):
		m.all(x.targetStart(i, m.first), i)
		if start := x.targetStart(i, m.first); t.is("=") && slices.ContainsFunc(m.toks[start:i],
			func(t token) bool { return t.is("&") || t.is("&&") || vagueTypes[t.text] }) { // int &r = g
			m.all(i+1, m.statementEnd(i, m.end))
		}
	case t.is("++"), t.is("--"):
		m.all(x.operandStart(i, m.first), i)
		m.all(i+1, x.operandEnd(i+1, m.end))
	case (t.is("&") || t.is("&&")) && prefix():
		m.all(i+1, x.operandEnd(i+1, m.end))
	case (t.is("&") || t.is("&&")) && at(i+1).kind == tokIdent && (at(i+2).is("{") || at(i+2).is("(") ||
		at(i+2).is(":")): // int &r{g}, or in a range
		m.all(i+2, m.statementEnd(i, m.end))
	case t.is(">>"), t.is("asm"), t.is("__asm__"):
		m.all(i+1, m.statementEnd(i, m.end))
	case t.is("return") && refers:
		m.all(i+1, m.statementEnd(i, m.end))
	case t.is("[") && isName(at(i-1)):
		m.all(i-1, i) // an element may be assigned later in the expression
	case t.is("(") && isName(at(i-1)):
		m.call(i)
	case t.is("{") && isName(at(i-1)) && i > m.first && m.records[at(i-1).text] != nil,
		t.is("{") && isName(at(i-1)) && isName(at(i-2)) && !m.isPlainType(at(i-2).text):
		m.arguments(i, nil)
	}
}

// isPlainType reports whether a word is a type without constructors that keep references.
func (h *hostFile) isPlainType(word string) bool {
	return typeSizes[word] != 0 || word == "vector" || qualifiers[word]
}

// call adds what the call may change whose arguments are in the brackets at i: its arguments, if a
// parameter may be a reference, and the object of a method.
func (m *mutableFinder) call(i int) {
	x := m.x
	name := m.toks[i-1].text
	if i-2 >= m.first && (m.toks[i-2].is(".") || m.toks[i-2].is("->")) {
		if !constMethods[name] && !copying[name] && !x.takesValues(name) {
			m.arguments(i, nil)
		}
		if !constMethods[name] {
			m.all(x.operandStart(i-2, m.first), i-2)
		}
		return
	}
	declared := i-2 >= m.first && (isName(m.toks[i-2]) || m.toks[i-2].is(">")) // T v(arguments)
	switch list := m.funcs[name]; {
	case declared && m.isPlainType(m.toks[i-2].text), !declared && m.isPlainType(name) && len(list) == 0:
	case !declared && len(list) > 0:
		m.arguments(i, list)
	case declared || !isHarmless(m.toks, i-1):
		m.arguments(i, nil)
	}
}

// arguments adds the arguments in the brackets at i that a parameter may change by reference. list
// are the functions that may be called; nil if that is not known.
func (m *mutableFinder) arguments(i int, list []*hostFunc) {
	for n, p := range m.x.commas(i+1, min(m.closer[i], m.end)) {
		byValue := len(list) > 0
		for _, f := range list {
			byValue = byValue && n < len(f.params) && !f.params[n].typ.ref
		}
		if !byValue && m.x.mayRefer(p[0], p[1]) {
			m.all(p[0], p[1])
		}
	}
}
