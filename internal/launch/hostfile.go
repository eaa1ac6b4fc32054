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
	// globalsAt are the declarations at file scope and in classes, and enumsAt those of
	// enumerators: the first token and the end.
	globalsAt, enumsAt [][2]int
	scopes             map[int]hostScope   // of globalsAt and enumsAt, by their first token
	classes            int                 // nesting of classes
	overlaid           map[string]bool     // members of unions, static ones and bit fields
	memberTypes        map[string]ctype    // of all classes; classOther if two classes differ
	ambiguous          map[string]bool     // types of which the file has several
	hidden             map[string]bool     // parameters of templates, which hide global variables
	prototypes         map[string][]string // by function: the types of the parameters of declarations
	within             string              // the innermost namespace or class
	packed             bool                // #pragma pack changes where members lie
	ownDim             bool                // some scope has a type dim3 of its own
	// Some class has a constructor, a destructor, or a method that keeps the address of its object.
	constructors, destructors, keepsThis bool
	initializers                         [][2]int        // those of variables that are declared with their class
	mutableGlobals                       []string        // global variables that some function assigns
	mentioned                            map[string]bool // functions that others name
	launching, loose                     map[string]bool // functions that launch; those whose calls are not all followed
	declaredAt                           map[int]bool    // names of functions where they are declared
	unclear                              map[string]*opaqueMacro
	owners                               []*hostFunc // by token: the function in whose body it is; nil for none
}

// A hostScope is where a name is declared: the innermost namespace or class, or an enumeration in
// it.
type hostScope struct {
	name, enum string
	class      bool
}

// A hostFunc is a function with a body.
type hostFunc struct {
	name     string
	within   hostScope
	types    string   // of the parameters, as text
	defaults int      // parameters with a default argument
	template []string // non-type and type parameters of the template
	params   []parameter
	returns  ctype
	generic  string  // the parameter of the template that it returns; empty if it is none
	variadic bool    // it has any number of parameters
	head     [2]int  // tokens from the bracket before the parameters to the body
	body     [2]int  // tokens within the braces
	result   []token // the expression of a body that is one return statement; else nil
}

// A parameter is one of a hostFunc.
type parameter struct {
	name    string
	typ     ctype
	generic string // the parameter of the template that the type is; empty if it is none
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
		mentioned: make(map[string]bool), scopes: make(map[int]hostScope),
		overlaid: make(map[string]bool), memberTypes: make(map[string]ctype),
		launching: make(map[string]bool), loose: make(map[string]bool), declaredAt: make(map[int]bool),
		ambiguous: make(map[string]bool), hidden: make(map[string]bool), prototypes: make(map[string][]string)}
	for i, t := range toks {
		h.keepsThis = h.keepsThis || t.is("this") && i > 0 && i+1 < len(toks) && !toks[i-1].is("*") &&
			!toks[i+1].is("->")
	}
	h.ownDim = declaresDim(toks)
	h.packed = slices.ContainsFunc(toks, func(t token) bool { return t.is(packing) })
	h.matchBrackets()
	for i := 1; i+1 < len(toks); i++ { // a lambda: []<int n>() { ... }
		if toks[i].is("<") && toks[i-1].is("]") {
			for _, name := range h.templateNames(i+1, skipAngles(toks, i)) {
				h.hidden[name] = true
			}
		}
	}
	h.findOverlaid()
	h.items(0, len(toks))
	h.findMutable()
	h.findLaunching()
	return h
}

// declaresDim reports whether a file declares a type with the name of CUDA's dim3.
func declaresDim(toks []token) bool {
	for i, t := range toks {
		if !t.is("dim3") || i == 0 {
			continue
		}
		prev, next := toks[i-1], token{}
		if i+1 < len(toks) {
			next = toks[i+1]
		}
		switch {
		case prev.is("class"), prev.is("typename"), prev.is("union"), prev.is("using"),
			prev.is("struct") && (next.is("{") || next.is(":") || next.is(";") || next.is("final")):
			return true
		case next.is(";"): // typedef T dim3; using N::dim3;
			for j := i - 1; j >= 0 && !toks[j].is(";") && !toks[j].is("{") && !toks[j].is("}"); j-- {
				if toks[j].is("typedef") || toks[j].is("using") {
					return true
				}
			}
		}
	}
	return false
}

// findLaunching finds the functions that launch, and those of them that are used in other ways than
// by a call that exec.call follows.
func (h *hostFile) findLaunching() {
	callers := make(map[string][]string) // by the name of a function, those that mention it
	h.owners = make([]*hostFunc, len(h.toks))
	var todo []string
	for _, f := range h.order {
		for i := f.body[0]; i < f.body[1]; i++ {
			h.owners[i] = f
			if t := h.toks[i]; t.is("<<<") {
				todo = append(todo, f.name)
			} else if len(h.funcs[t.text]) > 0 {
				callers[t.text] = append(callers[t.text], f.name)
			}
		}
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !h.launching[name] {
			h.launching[name] = true
			todo = append(todo, callers[name]...)
		}
	}
	x := &exec{hostFile: h, fuel: maxHostWork}
	for i, t := range h.toks {
		if t.kind == tokIdent && h.launching[t.text] && !h.declaredAt[i] && !x.follows(i, h.owners[i]) {
			h.loose[t.text] = true
		}
	}
	for _, o := range h.unclear {
		for _, name := range o.names {
			h.loose[name] = h.loose[name] || h.launching[name]
		}
	}
}

// follows reports whether the name at i in the body of caller is that of a function which is called
// there, and known.
func (x *exec) follows(i int, caller *hostFunc) bool {
	next := x.afterName(i)
	return caller != nil && next < len(x.toks) && x.toks[next].is("(") && !x.toks[i-1].is(".") &&
		!x.toks[i-1].is("->") && x.records[x.toks[i].text] == nil && x.function(x.qualifier(x.toks, i),
		x.toks[i].text, len(x.commas(next+1, x.closer[next])), caller) != nil
}

// afterName returns the index after the name at i and its template arguments.
func (h *hostFile) afterName(i int) int {
	if i+1 < len(h.toks) && h.toks[i+1].is("<") {
		return skipAngles(h.toks, i+1) + 1
	}
	return i + 1
}

// isSubscript reports whether the bracket at i follows what it indexes: it begins no lambda.
func (h *hostFile) isSubscript(i int) bool {
	return i > 0 && (isName(h.toks[i-1]) || h.toks[i-1].is(")") || h.toks[i-1].is("]"))
}

// operatorsChangeNumbers reports whether an operator of the file can change a number or a pointer.
func (h *hostFile) operatorsChangeNumbers() bool {
	return slices.ContainsFunc(h.funcs["operator"], (*hostFunc).changesNumbers)
}

// matchBrackets fills closer and opener. A brace closes what is open within its block, so that a
// missing parenthesis does not swallow the rest of the file.
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
		names := h.templateNames(i+2, shut)
		for _, name := range names {
			h.addAlias(name, ctype{})
			h.hidden[name] = true
		}
		template = append(template, names...)
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
				name := h.within
				if t.is("namespace") && h.toks[j-1].kind == tokIdent && j-1 > i {
					name = h.toks[j-1].text
				}
				h.inside(name, func() { h.items(j+1, min(h.closer[j], end)) })
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

// templateNames returns the names of the parameters of a template from i to end.
func (h *hostFile) templateNames(i, end int) []string {
	var out []string
	name, depth, given := "", 0, false
	for ; i <= end; i++ {
		switch t := h.toks[i]; {
		case i == end || depth == 0 && t.is(","):
			out = append(out, name)
			name, given = "", false
		case t.is("("), t.is("["), t.is("{"):
			i = h.closer[i]
		case t.is("<"):
			depth++
		case t.is(">"):
			depth--
		case t.is("="):
			given = true
		case depth == 0 && t.kind == tokIdent && !given:
			name = t.text
		}
	}
	return out
}

// inside runs code for what a namespace or a class holds.
func (h *hostFile) inside(name string, code func()) {
	outer := h.within
	h.within = name
	code()
	h.within = outer
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
			h.scopes[j+1] = hostScope{h.within, "", false}
			if j > i && h.toks[j-1].kind == tokIdent && !h.toks[j-1].is("enum") {
				name, t := h.enumType(i, j)
				h.addAlias(name, t)
				h.scopes[j+1] = hostScope{h.within, name, false}
			}
			return h.statementEnd(min(h.closer[j]+1, end), end)
		}
		if h.toks[j].is(";") {
			return j + 1
		}
	}
	return i + 1
}

// enumType returns the name and the type of the enumeration at i, whose enumerators start at open.
func (h *hostFile) enumType(i, open int) (string, ctype) {
	t := ctype{class: classInteger, size: 4}
	name := h.toks[open-1].text
	if colon := slices.IndexFunc(h.toks[i:open], func(t token) bool { return t.is(":") }); colon > 0 {
		name = h.toks[i+colon-1].text
		base, next, ok := h.parseType(h.toks[:open], i+colon+1)
		if !ok || next != open || base.class != classInteger {
			base = ctype{}
		}
		t = base
	}
	t.enum = true
	return name, t
}

// alias records typedef type name; and using name = type;
func (h *hostFile) alias(i, end int) int {
	stop := h.statementEnd(i, end)
	if h.toks[i].is("using") {
		if i+2 < stop && h.toks[i+2].is("=") {
			if t, next, ok := h.parseType(h.toks[:stop], i+3); ok && next+1 == stop {
				h.addAlias(h.toks[i+1].text, t)
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
				h.addAlias(name.text, ctype{class: classInteger, size: 4, enum: true})
			} else if name.kind == tokIdent {
				h.addRecord(name.text, h.record(j+1, h.closer[j], name.text))
			}
			return stop
		}
	}
	name := max(stop-2, i)
	if t, next, ok := h.parseType(h.toks[:name], i+1); ok && next == name &&
		h.toks[name].kind == tokIdent {
		h.addAlias(h.toks[name].text, t)
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
				rec := h.record(j+1, shut, name)
				rec.ok = rec.ok && !h.toks[i].is("union")
				if base := slices.IndexFunc(h.toks[i:j], func(t token) bool { return t.is(":") }); base >= 0 {
					h.inherit(rec, i+base, j)
				}
				h.addRecord(name, rec)
			}
			h.classes++
			h.inside(name, func() { h.items(j+1, shut) })
			h.classes--
			next := h.statementEnd(min(shut+1, end), end)
			h.initializers = append(h.initializers, [2]int{shut, next})
			return next, true
		case t.is("("), t.is(";"), t.is("="):
			return i, false
		case t.kind == tokIdent && name == "":
			name = t.text
		}
	}
	return i, false
}

// inherit adds to a class what its bases, which the tokens from i to end name, may do. A base has
// members before those of the class.
func (h *hostFile) inherit(rec *record, i, end int) {
	rec.ok = false
	for _, t := range h.toks[i:end] {
		if b := h.records[t.text]; b != nil && t.kind == tokIdent {
			rec.refs = rec.refs || b.refs
		}
	}
}

// addRecord adds a class. Of two of one name, which namespaces or functions have, nothing is known
// but what either may do.
func (h *hostFile) addRecord(name string, rec *record) {
	if old := h.records[name]; old != nil {
		rec.ok = false
		rec.refs = rec.refs || old.refs
		*old = *rec // variables have it
		return
	}
	h.records[name] = rec
	if _, ok := h.aliases[name]; ok {
		h.addAlias(name, ctype{})
	}
}

// addAlias adds a name for a type. Of two types of one name nothing is known.
func (h *hostFile) addAlias(name string, t ctype) {
	rec := h.records[name]
	if old, ok := h.aliases[name]; ok && old != t || h.ambiguous[name] || rec != nil && t.rec != rec {
		h.ambiguous[name] = true
		t = ctype{}
	}
	h.aliases[name] = t
}

// record returns what is known of the class whose members are the tokens from i to end.
func (h *hostFile) record(i, end int, name string) *record {
	r := h.layout(i, end)
	for j := i; j < end; j++ {
		switch t := h.toks[j]; {
		case t.is("~"):
			h.destructors = h.destructors || j+1 < end && h.toks[j+1].is(name)
		case t.is("&"), t.is("&&"): // of a member, not of the result of a method
			r.refs = r.refs || !(j+2 < end && (h.toks[j+1].is("operator") || h.toks[j+2].is("(")))
		case t.is(name) && j+1 < end && h.toks[j+1].is("("):
			h.constructors = true
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

// memberType records the type of a member of a class.
func (h *hostFile) memberType(name string, t ctype) {
	t.fixed, t.static = false, false
	if old, ok := h.memberTypes[name]; ok && old != t {
		t = ctype{}
	}
	h.memberTypes[name] = t
}

// membersAt records the types of the members that the declaration from i to end has. One that it
// does not understand has an unknown type, as other code has it.
func (h *hostFile) membersAt(i, end int) {
	t, at, ok := h.parseType(h.toks[:end], i)
	if !ok || t.ref {
		return
	}
	static := t.static && !t.fixed
	for first := true; at+1 < end; first = false {
		if !first {
			t.ptr, t.array, t.rows = 0, 0, false
			for ; h.toks[at].is("*"); at++ {
				t.ptr++
			}
		}
		name, next := h.toks[at], h.toks[at+1]
		if name.kind != tokIdent {
			return
		}
		member := t
		if next.is("[") {
			member.array = -1
		}
		if !next.is("(") {
			h.memberType(name.text, member)
			h.overlaid[name.text] = h.overlaid[name.text] || static
		}
		for at++; at < end && !h.toks[at].is(","); at++ {
			if h.toks[at].is("(") || h.toks[at].is("[") || h.toks[at].is("{") {
				at = h.closer[at]
			}
		}
		at++
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
		r.refs = r.refs || ok && (t.ref || t.mayRefer())
		if !ok || h.toks[i].is("static") || h.toks[i].maybe || t.ref ||
			slices.ContainsFunc(h.toks[i:at], func(t token) bool { return alignments[t.text] }) {
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
	r.ok = len(r.fields) > 0 && !h.packed
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
		case t.is("(") && open == 0 && j > i && h.toks[j-1].is(">") && h.templateStart(j-1) > i+1:
			name, open = h.templateStart(j-1)-1, j // a specialization
			j = h.closer[j]
		case t.is("("), t.is("["):
			j = h.closer[j]
		case t.is("="), t.is(";"), t.is("}"):
			if open > 0 && h.toks[name].kind == tokIdent {
				h.declaredAt[name] = true
				_, types, _, _ := h.parameters(open, j, template)
				h.prototypes[h.toks[name].text] = append(h.prototypes[h.toks[name].text], types)
			}
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
	if h.classes > 0 {
		h.membersAt(i, end)
	}
	h.globalsAt = append(h.globalsAt, [2]int{i, end})
	h.scopes[i] = hostScope{h.within, "", h.classes > 0}
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
	if arrow < 0 && first < name {
		f.generic = generic(h.toks[first:name], template)
	}
	f.params, f.types, f.defaults, f.variadic = h.parameters(open, body, template)
	f.variadic = f.variadic || h.toks[body-1].is("try") // the handlers are no part of the body
	f.within = hostScope{h.within, "", h.classes > 0}
	if name > i && h.toks[name-1].is("::") { // of a class, or of a namespace
		f.within = hostScope{h.toks[name-2].text, "", true}
	}
	if toks := h.toks[f.body[0]:max(f.body[0], f.body[1])]; understood && len(toks) > 2 &&
		toks[0].is("return") {
		end := slices.IndexFunc(toks, func(t token) bool { return t.is(";") })
		if end == len(toks)-1 {
			f.result = toks[1:end]
		}
	}
	h.declaredAt[name] = true
	h.funcs[f.name] = append(h.funcs[f.name], f)
	h.order = append(h.order, f)
}

// parameters returns the parameters in the brackets at open, their types as text, how many have a
// default argument, and whether there may be any number. Those of a template have the names in
// template.
func (h *hostFile) parameters(open, end int, template []string) (params []parameter, types string,
	defaults int, variadic bool) {
	for _, p := range splitList(h.toks[open+1 : max(open+1, min(h.closer[open], end))]) {
		t, at, ok := h.parseType(p, 0)
		param := parameter{typ: t}
		param.generic = generic(p[:min(at, len(p))], template)
		if ok && at < len(p) && p[at].kind == tokIdent {
			param.name = p[at].text
			if at+1 < len(p) && p[at+1].is("[") {
				param.typ.ptr++
				if slices.ContainsFunc(p[at+2:], func(t token) bool { return t.is("[") }) {
					param.typ.size = 0 // a pointer to arrays
				}
			}
		}
		for j := 0; j+2 < len(p) && param.name == ""; j++ { // a pointer to a function or an array, int (&x)
			if p[j].is("(") && (p[j+1].is("*") || p[j+1].is("&") || p[j+1].is("&&")) && p[j+2].kind == tokIdent {
				ref := !p[j+1].is("*")
				param.name, param.typ = p[j+2].text, ctype{ref: ref}
			} else if ok && p[j].is("(") && p[j+1].kind == tokIdent && p[j+2].is(")") { // int &(x)
				param.name = p[j+1].text
			}
		}
		variadic = variadic || slices.ContainsFunc(p, func(t token) bool { return t.is("...") })
		if slices.ContainsFunc(p, func(t token) bool { return t.is("=") }) {
			defaults++
		}
		if len(p) > 1 || ok && !p[0].is("void") {
			params = append(params, param)
			types += text(p[:min(at, len(p))]) + ","
		}
	}
	return params, types, defaults, variadic
}

// generic returns the parameter of a template that a type is, perhaps a reference to it; empty if
// it is none.
func generic(toks []token, template []string) string {
	name := ""
	for _, t := range toks {
		switch {
		case t.kind == tokIdent && slices.Contains(template, t.text) && name == "":
			name = t.text
		case !t.is("&") && !t.is("&&") && !qualifiers[t.text] && !attributes[t.text]:
			return ""
		}
	}
	return name
}

// maxOperator bounds the tokens of the name of an operator: "operator const unsigned long long".
const maxOperator = 8

// operatorParameters returns the index of the bracket before the parameters of an operator
// function, whose name goes on at i: "+", "()", "[]", "int"; 0 if there is none before end.
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

// function returns the function that a call of a name with so many arguments certainly means, where
// qualifier is what precedes "::"; nil if that is not known: overloads accept the number, or others
// are declared.
func (h *hostFile) function(qualifier, name string, args int, caller *hostFunc) *hostFunc {
	var out *hostFunc
	for _, f := range h.funcs[name] {
		if f.variadic {
			return nil
		}
		if args > len(f.params) || args < len(f.params)-f.defaults {
			continue
		}
		if out != nil {
			return nil
		}
		out = f
	}
	switch {
	case out == nil, qualifier == "" && (slices.Contains(harmless, name) || hostAPI[name] > 0),
		qualifier != "" && qualifier != out.within.name,
		qualifier == "" && out.within.class && (caller == nil || caller.within != out.within):
		return nil
	}
	for _, types := range h.prototypes[name] {
		if !slices.ContainsFunc(h.funcs[name], func(f *hostFunc) bool { return f.types == types }) {
			return nil
		}
	}
	return out
}

// findMutable collects the names that functions may change, and the functions that they name. It
// ignores scopes: a global variable whose name is changed anywhere is not constant, which loses
// facts but invents none. What a function does with a name is a change unless it is known to be
// none.
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
	m := mutableFinder{hostFile: h, found: found}
	for _, at := range h.initializers {
		m.all(at[0], at[1])
	}
	for _, at := range h.globalsAt { // int *p = &n, int &r = n
		if slices.ContainsFunc(h.toks[at[0]:at[1]], func(t token) bool { return t.is("&") || t.is("&&") }) {
			m.all(at[0], at[1])
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
		own := len(m.funcs[name]) > 0
		if (own || !constMethods[name] && !copying[name]) && !x.takesValues(name) {
			m.arguments(i, nil)
		}
		if own || !constMethods[name] {
			m.all(x.operandStart(i-2, m.first), i-2)
		}
		return
	}
	declared := i-2 >= m.first && (isName(m.toks[i-2]) || m.toks[i-2].is(">")) // T v(arguments)
	switch list := m.funcs[name]; {
	case declared && m.isPlainType(m.toks[i-2].text), !declared && m.isPlainType(name) && len(list) == 0:
	case !declared && len(list) > 0:
		m.arguments(i, list)
	case declared || !m.isHarmless(m.toks, i-1):
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
