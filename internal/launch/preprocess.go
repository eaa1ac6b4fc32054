package launch

import (
	"slices"
	"strconv"
	"strings"
)

// A preprocessor replaces macros in the tokens of a host file, as C++ does (N4950, 15.6), with these
// deviations: it follows no conditions of #if that it cannot decide. Tokens of such a branch are
// marked, and the evaluator believes an assignment among them no more than it believes that the
// branch is compiled. A macro that such branches define differently is not replaced; where it is used,
// opaqueMacro says what it may do.
type preprocessor struct {
	macros map[string]*macro
	given  map[string]bool // the macros of -D options, which the file cannot change
	popped map[string]bool // the macros to which a pragma gives an earlier definition
	depth  int             // open braces
	branch []branch        // enclosing #if, innermost last
	out    []token
	budget int // tokens that may still be produced by replacement
	opaque map[string]*opaqueMacro
}

// A macro is one #define.
type macro struct {
	function bool     // it has a parameter list
	params   []string // of a function-like macro; the last is __VA_ARGS__ if it is variadic
	body     []token
	// ambiguous is set if there are two definitions of which the compiler may see either, or one that
	// is not understood: the name stays as it is, and is unknown.
	ambiguous bool
	perhaps   bool // the definition is in a branch that is perhaps not compiled
}

// An opaqueMacro is what the use of a macro that is not replaced may do.
type opaqueMacro struct {
	names   []string // in its definitions: they may be variables that it changes
	changes bool     // there is an assignment, an increment, or a name that is put together
	calls   bool     // there is a call
}

// A branch is the state of an #if: whether its current group of lines is compiled.
type branch struct {
	state decision
	taken bool // a group before this one was compiled
}

// A decision is whether a condition holds.
type decision uint8

const (
	no    decision = iota
	yes            // certain
	maybe          // unknown
)

const (
	maxMacroDepth  = 40 // nested replacements
	macroBudget    = 200_000
	maxMacroParams = 20
	variadic       = "__VA_ARGS__"
)

// preprocess returns the tokens of a file without comments and directives, with macros replaced, and
// the macros that are not. defines are -D options. Replaced tokens have the position of the macro's
// use.
func preprocess(toks []token, defines []string) ([]token, map[string]*opaqueMacro) {
	p := &preprocessor{macros: make(map[string]*macro), given: make(map[string]bool),
		opaque: make(map[string]*opaqueMacro), budget: macroBudget + 4*len(toks),
		popped: make(map[string]bool)}
	p.findPopped(toks)
	for _, d := range defines {
		name, val, ok := strings.Cut(d, "=")
		if !ok {
			val = "1"
		}
		p.macros[name] = &macro{body: scanAll([]byte(val), false)}
		p.given[name] = true
	}
	p.file(toks)
	return withoutAttributes(p.out), p.opaque
}

// withoutAttributes returns tokens without C++'s attributes, [[likely]]. Two brackets start nothing else
// (N4950, 9.12.1).
func withoutAttributes(toks []token) []token {
	var out []token
	from := 0
	for i := 0; i+1 < len(toks); i++ {
		if !toks[i].is("[") || !toks[i+1].is("[") {
			continue
		}
		for j := i + 2; j+1 < min(len(toks), i+maxListTokens) && !toks[j].is(";"); j++ {
			if toks[j].is("]") && toks[j+1].is("]") {
				out = append(out, toks[from:i]...)
				from, i = j+2, j+1
				break
			}
		}
	}
	if from == 0 {
		return toks
	}
	return append(out, toks[from:]...)
}

// findPopped collects the macros that #pragma pop_macro("NAME") or _Pragma("pop_macro(\"NAME\")") name.
func (p *preprocessor) findPopped(toks []token) {
	for _, t := range toks {
		if t.kind != tokDirective && t.kind != tokString {
			continue
		}
		for _, part := range strings.Split(t.text, "pop_macro")[1:] {
			name := strings.TrimLeft(part, "( \t\\\"")
			end := strings.IndexFunc(name, func(r rune) bool {
				return r < 0x80 && r != '$' && !isLetter(byte(r)) && !isDigit(byte(r))
			})
			if end > 0 {
				p.popped[name[:end]] = true
			}
		}
	}
}

// file produces the tokens of a file.
func (p *preprocessor) file(toks []token) {
	var run []token // since the last directive that counts
	for i, t := range toks {
		switch {
		case t.kind == tokComment:
		case t.kind == tokDirective:
			next := token{}
			if i+1 < len(toks) {
				next = toks[i+1]
			}
			words := scanAll([]byte(t.text), false)
			if len(words) == 0 || words[0].kind != tokIdent {
				continue
			}
			if words[0].is("define") || words[0].is("undef") {
				p.out = append(p.out, p.replaced(run, nil)...)
				run = run[:0]
			}
			if isInclude(words[0]) && p.depth > 0 && p.state() != no {
				at := token{kind: tokIdent, text: insertion, start: t.start, end: t.end}
				end := token{kind: tokPunct, text: ";", start: t.start, end: t.end}
				run = append(run, at, end)
			}
			if len(words) > 1 && words[0].is("pragma") && words[1].is("pack") {
				run = append(run, token{kind: tokIdent, text: packing, start: t.start, end: t.end},
					token{kind: tokPunct, text: ";", start: t.start, end: t.end})
			}
			// other #pragma and #include do not end a statement
			p.directive(words, next)
		default:
			if state := p.state(); state != no {
				t.maybe = state == maybe
				t = spelled(t)
				if t.is("{") {
					p.depth++
				} else if t.is("}") {
					p.depth--
				}
				run = append(run, t)
			}
		}
	}
	p.out = append(p.out, p.replaced(run, nil)...)
}

// insertion is the name of a token that stands for a file that is included within braces: it may hold
// any statement. No name of C++ has its first character.
const insertion = "#include"

// packing is the name of a token that stands for #pragma pack.
const packing = "#pragma pack"

// isInsertion reports whether a token stands for an included file.
func isInsertion(t token) bool { return t.is(insertion) }

// isInclude reports whether a directive of this name inserts a file.
func isInclude(t token) bool {
	return t.is("include") || t.is("include_next") || t.is("import") || t.is("embed")
}

// spellings are the other spellings that C++ has for operators (N4950, 5.5).
var spellings = map[string]string{"and": "&&", "and_eq": "&=", "bitand": "&", "bitor": "|",
	"compl": "~", "not": "!", "not_eq": "!=", "or": "||", "or_eq": "|=", "xor": "^", "xor_eq": "^=",
	"<%": "{", "%>": "}"}

// spelled returns an operator in its first spelling.
func spelled(t token) token {
	if s, ok := spellings[t.text]; ok && (t.kind == tokIdent || t.kind == tokPunct) {
		t.kind, t.text = tokPunct, s
	}
	return t
}

// state is whether the current line is compiled.
func (p *preprocessor) state() decision {
	out := yes
	for _, b := range p.branch {
		switch b.state {
		case no:
			return no
		case maybe:
			out = maybe
		}
	}
	return out
}

// directive follows one preprocessor line. next is the token after it.
func (p *preprocessor) directive(words []token, next token) {
	top := len(p.branch) - 1
	switch words[0].text {
	case "define":
		if s := p.state(); s != no {
			p.define(words, s)
		}
	case "undef":
		if s := p.state(); len(words) > 1 && s != no && !p.given[words[1].text] {
			if m := p.macros[words[1].text]; s == maybe && m != nil {
				p.unclear(words[1].text, m)
			} else {
				delete(p.macros, words[1].text)
			}
		}
	case "if", "ifdef", "ifndef":
		if len(p.branch) < maxScopes {
			s := p.condition(words, next)
			p.branch = append(p.branch, branch{state: s, taken: s == yes})
		}
	case "elif", "else":
		if top < 0 {
			return
		}
		b := &p.branch[top]
		switch {
		case b.taken:
			b.state = no
		case b.state == no && words[0].text == "else":
			b.state, b.taken = yes, true
		default:
			b.state = maybe
		}
	case "endif":
		if top >= 0 {
			p.branch = p.branch[:top]
		}
	}
}

// condition decides an #if from literals and -D options alone: another name can be defined by a
// header or by the compiler. A definition that #ifndef of its name precedes is the name's first.
func (p *preprocessor) condition(words []token, next token) decision {
	if len(words) < 2 {
		return maybe
	}
	name := words[1]
	m := p.macros[name.text]
	switch words[0].text {
	case "ifdef":
		if p.given[name.text] {
			return yes
		}
	case "ifndef":
		switch {
		case p.given[name.text], m != nil && !m.perhaps && !p.popped[name.text]:
			return no
		case m != nil || p.popped[name.text]:
			return maybe
		}
		follow := scanAll([]byte(next.text), false)
		if next.kind == tokDirective && len(follow) > 1 && follow[0].is("define") &&
			follow[1].text == name.text {
			return yes
		}
	case "if":
		if len(words) == 2 && name.kind == tokNumber {
			switch n, ok := parseCInteger(name.text); {
			case !ok:
				return maybe
			case n == 0:
				return no
			}
			return yes
		}
	}
	return maybe
}

// define records a macro, in a line that is compiled certainly or perhaps.
func (p *preprocessor) define(words []token, state decision) {
	if len(words) < 2 || words[1].kind != tokIdent || p.given[words[1].text] {
		return
	}
	name := words[1]
	m := &macro{body: words[2:], ambiguous: p.popped[words[1].text], perhaps: state == maybe}
	if len(m.body) > 0 && m.body[0].is("(") && m.body[0].start == name.end {
		m.function = true
		i := 1
		for ; i < len(m.body) && !m.body[i].is(")"); i++ {
			switch {
			case m.body[i].kind == tokIdent:
				m.params = append(m.params, m.body[i].text)
			case m.body[i].is("...") && m.body[i-1].kind != tokIdent:
				m.params = append(m.params, variadic)
			case !m.body[i].is(","):
				m.ambiguous = true // a named list of parameters, which is no C++
			}
		}
		m.body = m.body[min(i+1, len(m.body)):]
	}
	for i, t := range m.body {
		m.body[i] = spelled(t)
	}
	m.ambiguous = m.ambiguous || len(m.params) > maxMacroParams ||
		slices.ContainsFunc(m.body, func(t token) bool { return t.is("__VA_OPT__") })
	old, ok := p.macros[name.text]
	same := ok && old.function == m.function && slices.Equal(old.params, m.params) &&
		sameText(old.body, m.body)
	if m.ambiguous || ok && !same && state == maybe {
		p.unclear(name.text, m)
	}
	if ok && (m.ambiguous || old.ambiguous && state == maybe) {
		p.unclear(name.text, old)
		m.ambiguous = true
	} else if ok && !same && state == maybe {
		p.unclear(name.text, old)
	}
	m.perhaps = m.perhaps && !(ok && !old.perhaps)
	p.macros[name.text] = m
}

// unclear notes a definition of which it is not known whether it counts.
func (p *preprocessor) unclear(name string, m *macro) {
	m.ambiguous = true
	o := p.opaque[name]
	if o == nil {
		o = &opaqueMacro{}
		p.opaque[name] = o
	}
	for i, t := range m.body {
		o.changes = o.changes || t.kind == tokPunct && isAssignment(t.text) || t.is("++") ||
			t.is("--") || t.is("##") || t.is("&") || t.is(">>") || t.is("asm")
		if t.kind == tokIdent && !slices.Contains(m.params, t.text) {
			o.names = append(o.names, t.text)
			o.calls = o.calls || i+1 < len(m.body) && m.body[i+1].is("(") && !notTypes[t.text]
		}
	}
}

// sameText reports whether a and b are the same tokens, whatever the space between them.
func sameText(a, b []token) bool {
	return slices.EqualFunc(a, b, func(x, y token) bool { return x.text == y.text })
}

// replaced returns toks with macros replaced, except those in hide.
func (p *preprocessor) replaced(toks []token, hide []string) []token {
	var out []token
	for i := 0; i < len(toks); i++ {
		body, end, ok := p.use(toks, i, hide)
		if !ok {
			out = append(out, toks[i])
			continue
		}
		t := toks[i]
		for j := range body {
			body[j].start, body[j].end, body[j].maybe = t.start, t.end, t.maybe
		}
		out = append(out, p.replaced(body, append(slices.Clip(hide), t.text))...)
		i = end
	}
	return out
}

// use returns what replaces the macro at toks[i], and the index of the last token of its use; false
// if there is no macro.
func (p *preprocessor) use(toks []token, i int, hide []string) (body []token, end int, ok bool) {
	t := toks[i]
	m := p.macros[t.text]
	if t.kind != tokIdent || m == nil || m.ambiguous || len(hide) >= maxMacroDepth ||
		p.budget < len(m.body) || slices.Contains(hide, t.text) {
		return nil, 0, false
	}
	p.budget -= len(m.body) + 1
	if !m.function {
		return slices.Clone(m.body), i, true
	}
	args, end := macroArguments(toks, i+1)
	if end < 0 {
		return nil, 0, false
	}
	if n := len(m.params); n > 0 && m.params[n-1] == variadic {
		args = withRest(args, n-1)
	}
	if len(args) != len(m.params) && (len(args) > 1 || len(m.params) > 0) {
		return nil, 0, false
	}
	plain := slices.Clone(args)
	for n := range args {
		args[n] = p.replaced(args[n], hide)
	}
	body, ok = m.substitute(args, plain)
	p.budget -= len(body)
	return body, end, ok
}

// withRest returns args with those from n on as one argument, which may be empty.
func withRest(args [][]token, n int) [][]token {
	if len(args) <= n {
		return append(args, nil)
	}
	rest := args[n]
	for _, a := range args[n+1:] {
		rest = append(append(slices.Clip(rest), token{kind: tokPunct, text: ","}), a...)
	}
	return append(args[:n:n], rest)
}

// substitute returns the body of a function-like macro with args for its parameters, where plain are
// the arguments whose macros are not replaced, for # and ##; false if it becomes too long.
func (m *macro) substitute(args, plain [][]token) ([]token, bool) {
	var out []token
	argument := func(from [][]token, i int) ([]token, bool) {
		if i >= len(m.body) || m.body[i].kind != tokIdent {
			return nil, false
		}
		n := slices.Index(m.params, m.body[i].text)
		if n < 0 || n >= len(from) {
			return nil, false
		}
		return from[n], true
	}
	for i := 0; i < len(m.body); i++ {
		t := m.body[i]
		add := []token{t}
		if a, ok := argument(plain, i+1); ok && t.is("#") {
			add = []token{{kind: tokString, text: strconv.Quote(text(a))}}
			i++
		} else if a, ok := argument(plain, i); ok && i+1 < len(m.body) && m.body[i+1].is("##") {
			add = a
		} else if a, ok := argument(args, i); ok {
			add = a
		}
		out = append(out, add...)
		for i+2 < len(m.body) && m.body[i+1].is("##") {
			right, ok := argument(plain, i+2)
			switch {
			case !ok:
				out = pasted(out, m.body[i+2:i+3])
			case m.body[i+2].is(variadic) && m.body[i].is(","): // as GCC and nvcc have it
				if out = append(out, right...); len(right) == 0 {
					out = out[:len(out)-1]
				}
			default:
				out = pasted(out, right)
			}
			i += 2
		}
		if len(out) > 4*maxListTokens {
			return nil, false
		}
	}
	return out, true
}

// pasted puts the last token of left and the first of right together.
func pasted(left, right []token) []token {
	if len(left) == 0 || len(right) == 0 {
		return append(left, right...)
	}
	last := left[len(left)-1]
	both := scanAll([]byte(last.text+right[0].text), false)
	return append(append(left[:len(left)-1:len(left)-1], both...), right[1:]...)
}

// macroArguments splits the arguments in parentheses at i. end is the index of the closing
// parenthesis; -1 if there is none nearby.
func macroArguments(toks []token, i int) (args [][]token, end int) {
	if i >= len(toks) || !toks[i].is("(") {
		return nil, -1
	}
	depth, start := 0, i+1
	for j := i; j < min(len(toks), i+maxListTokens); j++ {
		switch t := toks[j]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth == 0 {
				return append(args, toks[start:j]), j
			}
		case t.is(",") && depth == 1:
			args = append(args, toks[start:j])
			start = j + 1
		}
	}
	return nil, -1
}
