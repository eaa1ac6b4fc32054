package launch

import (
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/source"
)

// HostLaunch is one kernel<<<grid, block, shared>>>(args) in host code. Facts that are not constant
// are nil.
type HostLaunch struct {
	Kernel      string      // unqualified name
	Grid, Block *event.Dim3 // blocks, threads per block
	Shared      *uint32     // bytes of dynamic shared memory
	// literals for ParseArg, by position; "" for an argument that is not constant
	Args       []string
	Unresolved []string    // "grid: blocks is not constant"
	Span       source.Span // from the name of the kernel to ">>>"
}

// A hostScanner finds launches in host code. It works on tokens, without types. It tracks scopes by
// braces, and treats a name as constant if it is a macro, or a variable with a constant initializer
// that is not assigned anywhere in the file. Function calls, arrays and members are not constant.
// So it misses facts, but never invents one in code that declares its names in plain C.
type hostScanner struct {
	file    *source.File
	toks    []token // without comments and directives
	macros  map[string][]token
	mutable map[string]bool       // names that are assigned somewhere in the file
	decls   map[int]bool          // tokens that are the name of a declaration
	scopes  []map[string]constant // innermost last
	// declared in parentheses: parameters and loop variables of the next scope
	pending map[string]constant
	parens  int // open parentheses
	// by opening bracket: the index of its closing bracket, or of the last token
	closer []int
}

// What this can get wrong: it does not expand function-like macros, follow includes, or evaluate
// #if. A variable that is assigned through a reference, or in another file, is taken for its
// initial value. The origin of the fact (host code) is in every report, and any other origin except
// PTX overrides it.

// These bounds keep the cost linear on malformed input. Real host code stays far below them.
const (
	maxListTokens = 500 // of one expression or argument list
	maxScopes     = 100 // innermost scopes in which a name is looked up
)

// hostLaunches collects the launches of a file. A first pass finds declarations, so that
// assignments can be told from initializers; a second one evaluates them and the launches.
func (s *SourceFacts) hostLaunches(f *source.File, toks []token, defines []string) {
	if !slices.ContainsFunc(toks, func(t token) bool { return t.is("<<<") }) {
		return
	}
	h := &hostScanner{
		file: f, macros: make(map[string][]token), mutable: make(map[string]bool),
		decls:  make(map[int]bool),
		scopes: []map[string]constant{{}}, pending: make(map[string]constant),
	}
	for _, t := range toks {
		switch t.kind {
		case tokDirective:
			h.define(t.text)
		case tokComment:
		default:
			h.toks = append(h.toks, t)
		}
	}
	for _, d := range defines {
		name, val, ok := strings.Cut(d, "=")
		if !ok {
			val = "1"
		}
		h.macros[name] = scanAll([]byte(val), false)
	}
	h.matchBrackets()
	h.walk(func(int) {}) // fills decls
	h.findMutable()
	h.scopes, h.pending, h.parens = []map[string]constant{{}}, make(map[string]constant), 0
	h.walk(func(i int) {
		if l, ok := h.launch(i); ok {
			s.Launches = append(s.Launches, l)
		}
	})
}

// matchBrackets fills closer.
func (h *hostScanner) matchBrackets() {
	h.closer = make([]int, len(h.toks))
	var open []int
	for i, t := range h.toks {
		switch {
		case t.kind != tokPunct:
		case closers[t.text] != "":
			h.closer[i] = len(h.toks) - 1
			open = append(open, i)
		case t.text == ")" || t.text == "]" || t.text == "}":
			if n := len(open) - 1; n >= 0 && closers[h.toks[open[n]].text] == t.text {
				h.closer[open[n]] = i
				open = open[:n]
			}
		}
	}
}

// define records an object-like macro. Two definitions that differ make it ambiguous, so not
// constant.
func (h *hostScanner) define(line string) {
	toks := scanAll([]byte(line), false)
	if len(toks) < 2 || !toks[0].is("define") || toks[1].kind != tokIdent {
		return
	}
	name, body := toks[1], toks[2:]
	if len(body) > 0 && body[0].is("(") && body[0].start == name.end {
		body = nil // a function-like macro
	}
	if old, ok := h.macros[name.text]; ok && !sameText(old, body) {
		body = nil
	}
	h.macros[name.text] = body
}

// sameText reports whether a and b are the same tokens, whatever the space between them.
func sameText(a, b []token) bool {
	return slices.EqualFunc(a, b, func(x, y token) bool { return x.text == y.text })
}

// walk visits the tokens, maintains the scopes, declares variables, and calls visit at each "<<<".
func (h *hostScanner) walk(visit func(i int)) {
	for i := 0; i < len(h.toks); {
		t := h.toks[i]
		switch {
		case t.is("{"):
			h.scopes = append(h.scopes, h.pending)
			h.pending, h.parens = make(map[string]constant), 0
		case t.is("}"):
			if len(h.scopes) > 1 {
				h.scopes = h.scopes[:len(h.scopes)-1]
			}
			h.parens = 0
		case t.is("("):
			h.parens++
		case t.is(")"):
			h.parens = max(h.parens-1, 0)
		case t.is(";") && h.parens == 0:
			clear(h.pending)
		case t.is("<<<"):
			visit(i)
		case t.is("template"):
			i = h.template(i + 1)
			continue
		case t.kind == tokIdent && isDeclWord(t.text):
			i = h.declaration(i)
			continue
		}
		i++
	}
}

// isDeclWord reports whether w can start a declaration whose value matters here.
func isDeclWord(w string) bool {
	switch w {
	case "const", "constexpr", "static", "auto", "dim3", "float", "double":
		return true
	}
	return isIntType(w)
}

// template declares the non-type parameters of a template as not constant, and returns the index
// after them.
func (h *hostScanner) template(i int) int {
	if i >= len(h.toks) || !h.toks[i].is("<") {
		return i
	}
	end := skipAngles(h.toks, i)
	for j := i + 1; j <= end && j < len(h.toks); j++ {
		if t := h.toks[j]; (t.is(",") || t.is(">") || t.is("=")) && h.toks[j-1].kind == tokIdent {
			h.decls[j-1] = true
			h.pending[h.toks[j-1].text] = constant{}
		}
	}
	return max(end, i) + 1
}

// declaration parses TYPE name = value, name(value), ...; and returns the index after it. If the
// type words do not start a declaration (a cast, the return type of a function), it only skips
// them.
func (h *hostScanner) declaration(i int) int {
	isConst, isDim := false, false
	for i < len(h.toks) && h.toks[i].kind == tokIdent && isDeclWord(h.toks[i].text) {
		isConst = isConst || strings.HasPrefix(h.toks[i].text, "const")
		isDim = isDim || h.toks[i].is("dim3")
		i++
	}
	for i < len(h.toks) {
		pointer := false
		for i < len(h.toks) && (h.toks[i].is("*") || h.toks[i].is("&") || h.toks[i].is("const") ||
			h.toks[i].is("__restrict__")) {
			pointer = pointer || !h.toks[i].is("const")
			i++
		}
		if i+1 >= len(h.toks) || h.toks[i].kind != tokIdent {
			return i
		}
		name, val := h.toks[i].text, constant{}
		nameAt := i
		i++
		switch next := h.toks[i]; {
		case next.is("="):
			end := h.exprEnd(i + 1)
			val = h.initial(isDim, h.toks[i+1:end])
			i = end
		case next.is("{"), next.is("(") && !h.isFunction(i):
			end := h.closer[i]
			val = h.initial(isDim, h.toks[i:end+1])
			i = end + 1
		case next.is(","), next.is(";"), next.is(")"):
		case next.is("["):
		default:
			return i // a function, or another kind of name
		}
		if pointer || h.parens > 0 && !isConst {
			val = constant{}
		}
		h.decls[nameAt] = true
		h.declare(name, val)
		if i >= len(h.toks) || !h.toks[i].is(",") || h.parens > 0 {
			return i
		}
		i++
	}
	return i
}

// isFunction reports whether the parentheses at i are the parameters of a function: a body follows,
// or they contain a type. C++ itself has this ambiguity between dim3 grid(n) and a function
// declaration.
func (h *hostScanner) isFunction(i int) bool {
	end := h.closer[i]
	if end <= i+1 || end+1 < len(h.toks) && h.toks[end+1].is("{") {
		return true
	}
	first := h.toks[i+1]
	return first.kind == tokIdent && isDeclWord(first.text) && i+2 < len(h.toks) &&
		!h.toks[i+2].is("(")
}

// declare sets the value of a name in the current scope, or in the next one within parentheses.
func (h *hostScanner) declare(name string, val constant) {
	scope := h.pending
	if h.parens == 0 {
		scope = h.scopes[len(h.scopes)-1]
	}
	if old, ok := scope[name]; ok && old != val {
		val = constant{} // two values in one scope: the branches of an #if
	}
	scope[name] = val
}

// exprEnd returns the index of the ',' or ';' or closing bracket that ends the expression at i.
func (h *hostScanner) exprEnd(i int) int {
	limit := min(len(h.toks), i+maxListTokens)
	for ; i < limit; i++ {
		switch t := h.toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = h.closer[i]
		case t.is(","), t.is(";"), t.is(")"), t.is("]"), t.is("}"):
			return i
		}
	}
	return limit
}

// eval computes an expression in the current scope.
func (h *hostScanner) eval(toks []token) constant {
	return h.evaluator().eval(toks)
}

// evaluator returns an evaluator for the current scope.
func (h *hostScanner) evaluator() evaluator {
	fuel := maxExprWork
	return evaluator{lookup: h.lookup, macro: h.macro, fuel: &fuel}
}

// initial computes an initializer: an expression, or the arguments of a constructor with their
// brackets. With isDim the variable is a dim3.
func (h *hostScanner) initial(isDim bool, toks []token) constant {
	e := h.evaluator()
	e.toks = toks
	if isDim && len(toks) > 0 && closers[toks[0].text] != "" {
		if c := e.dim(toks[0].text); e.pos == len(toks) {
			return c
		}
	}
	if !isDim && len(toks) > 2 && toks[0].is("{") {
		toks = toks[1 : len(toks)-1]
	}
	c := e.eval(toks)
	if d := c.asDim(); isDim && d != nil {
		return constant{kind: dimConst, dim: *d}
	}
	return c
}

// lookup returns the value of a variable that is never assigned.
func (h *hostScanner) lookup(name string) constant {
	if h.mutable[name] {
		return constant{}
	}
	if c, ok := h.pending[name]; ok {
		return c
	}
	for _, scope := range slices.Backward(h.scopes[max(0, len(h.scopes)-maxScopes):]) {
		if c, ok := scope[name]; ok {
			return c
		}
	}
	return constant{}
}

// macro returns the body of an object-like macro; nil if it is not constant.
func (h *hostScanner) macro(name string) ([]token, bool) {
	body, ok := h.macros[name]
	return body, ok
}

// assignments are the operators that change their left operand.
var assignments = map[string]bool{
	"=": true, "+=": true, "-=": true, "*=": true, "/=": true, "%=": true, "&=": true, "|=": true,
	"^=":  true,
	"<<=": true, ">>=": true, "++": true, "--": true,
}

// findMutable collects the names that are assigned, incremented, read from a stream, or whose
// address is taken. It ignores scopes: a name that is assigned anywhere is not constant anywhere,
// which loses facts but invents none.
func (h *hostScanner) findMutable() {
	at := func(i int) token {
		if i >= 0 && i < len(h.toks) {
			return h.toks[i]
		}
		return token{}
	}
	for i, t := range h.toks {
		if t.kind != tokIdent || h.decls[i] {
			continue
		}
		prev, next := at(i-1), at(i+1)
		if prev.is(".") || prev.is("->") {
			continue
		}
		if next.is(".") { // grid.x = 4
			next = at(i + 3)
		}
		addressTaken := prev.is("&") && (at(i-2).is("(") || at(i-2).is(",") || at(i-2).is("="))
		if next.kind == tokPunct && assignments[next.text] || prev.is("++") || prev.is("--") ||
			prev.is(">>") || addressTaken {
			h.mutable[t.text] = true
		}
	}
}

// launch parses the launch whose "<<<" is at i.
func (h *hostScanner) launch(i int) (HostLaunch, bool) {
	name, ok := h.nameBefore(i)
	if !ok {
		return HostLaunch{}, false
	}
	l := HostLaunch{Kernel: name.text}
	config, end := h.list(i+1, ">>>")
	if end < 0 || len(config) < 2 {
		return HostLaunch{}, false
	}
	l.Span = spanOf(h.file, name.start, h.toks[end].end)
	for k, what := range []string{"grid", "block", "shared"} {
		if k >= len(config) {
			break
		}
		if !l.set(what, h.eval(config[k])) {
			l.Unresolved = append(l.Unresolved, what+": "+text(config[k])+" is not constant")
		}
	}
	if end+1 < len(h.toks) && h.toks[end+1].is("(") {
		args, _ := h.list(end+2, ")")
		for _, a := range args {
			l.Args = append(l.Args, h.argument(a))
		}
	}
	return l, true
}

// set stores a fact of the launch, and reports whether c is a value for it.
func (l *HostLaunch) set(what string, c constant) bool {
	switch what {
	case "grid":
		l.Grid = c.asDim()
		return l.Grid != nil
	case "block":
		l.Block = c.asDim()
		return l.Block != nil
	}
	if c.kind != intConst || c.n < 0 || c.n > 1<<31 {
		return false
	}
	n := uint32(c.n)
	l.Shared = &n
	return true
}

// nameBefore returns the name of the kernel before "<<<": name, ns::name, name<int, 4>.
func (h *hostScanner) nameBefore(i int) (token, bool) {
	i--
	if i >= 0 && (h.toks[i].is(">") || h.toks[i].is(">>")) {
		i = h.templateStart(i) - 1
	}
	if i < 0 || h.toks[i].kind != tokIdent {
		return token{}, false
	}
	return h.toks[i], true
}

// templateStart returns the index of the '<' that opens the template arguments that end at i; -1 if
// there is none in this statement.
func (h *hostScanner) templateStart(i int) int {
	angles, parens := 0, 0
	for limit := i - maxListTokens; i >= 0 && i > limit; i-- {
		switch t := h.toks[i]; {
		case t.is(";"), t.is("{"), t.is("}"):
			return -1
		case t.is(")"):
			parens++
		case t.is("("):
			parens--
		case parens > 0:
		case t.is(">"):
			angles++
		case t.is(">>"):
			angles += 2
		case t.is("<"):
			if angles--; angles <= 0 {
				return i
			}
		}
	}
	return -1
}

// list splits the tokens from i up to the closing token at commas. end is the index of the closing
// token; -1 if there is none in this statement.
func (h *hostScanner) list(i int, closing string) (parts [][]token, end int) {
	start := i
	for limit := i + maxListTokens; i < min(limit, len(h.toks)); i++ {
		switch t := h.toks[i]; {
		case t.is(closing):
			if i > start || len(parts) > 0 {
				parts = append(parts, h.toks[start:i])
			}
			return parts, i
		case t.is(","):
			parts = append(parts, h.toks[start:i])
			start = i + 1
		case t.is("("), t.is("["), t.is("{"):
			i = h.closer[i]
		case t.is(";"), t.is("}"):
			return nil, -1
		}
	}
	return nil, -1
}

// argument returns a constant kernel argument as a literal, "" if it is not constant.
func (h *hostScanner) argument(toks []token) string {
	if c := h.eval(toks); c.kind == intConst {
		return strconv.FormatInt(c.n, 10)
	}
	sign := ""
	if len(toks) == 2 && toks[0].is("-") {
		sign, toks = "-", toks[1:]
	}
	if len(toks) != 1 || toks[0].kind != tokNumber {
		return ""
	}
	num := strings.TrimRight(toks[0].text, "fFlL")
	if _, err := strconv.ParseFloat(num, 64); err != nil || strings.HasPrefix(num, "0x") {
		return ""
	}
	return sign + num
}

// text joins tokens for a message, with a space where the file has white space.
func text(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && t.start > toks[i-1].end {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
