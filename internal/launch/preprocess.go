package launch

import (
	"slices"
	"strings"
)

// A preprocessor replaces macros in the tokens of a host file. It follows neither #include nor the
// conditions of #if that it cannot decide: tokens of such a branch are marked, and the evaluator
// believes an assignment among them no more than it believes that the branch is compiled.
type preprocessor struct {
	macros  map[string]*macro
	given   map[string]bool // the macros of -D options, which the file cannot change
	branch  []branch        // enclosing #if, innermost last
	out     []token         // of the second pass
	budget  int             // tokens that may still be produced by replacement
	collect bool            // the first pass: only definitions count
}

// A macro is one #define.
type macro struct {
	function bool     // it has a parameter list
	params   []string // of a function-like macro
	body     []token
	// ambiguous is set if the file has two different definitions, or one that is not understood: the
	// name stays as it is, and is unknown.
	ambiguous bool
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
)

// preprocess returns the tokens of a file without comments and directives, with macros replaced.
// defines are -D options. Replaced tokens have the position of the macro's use.
func preprocess(toks []token, defines []string) []token {
	p := &preprocessor{macros: make(map[string]*macro), given: make(map[string]bool), collect: true}
	for _, d := range defines {
		name, val, ok := strings.Cut(d, "=")
		if !ok {
			val = "1"
		}
		p.macros[name] = &macro{body: scanAll([]byte(val), false)}
		p.given[name] = true
	}
	p.pass(toks)
	p.collect, p.branch, p.budget = false, nil, macroBudget+4*len(toks)
	p.pass(toks)
	return p.out
}

// pass handles the directives. The second pass also produces tokens.
func (p *preprocessor) pass(toks []token) {
	var run []token
	for i, t := range toks {
		switch {
		case t.kind == tokComment:
		case t.kind == tokDirective:
			next := token{}
			if i+1 < len(toks) {
				next = toks[i+1]
			}
			if words := scanAll([]byte(t.text), false); len(words) > 0 && words[0].kind == tokIdent {
				// #pragma and #include do not end a statement
				p.directive(words, next)
			}
		default:
			if state := p.state(); state != no {
				t.maybe = state == maybe
				run = append(run, t)
			}
		}
	}
	if !p.collect {
		p.out = p.replaced(run, nil)
	}
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
		if p.collect && p.state() != no {
			p.define(words)
		}
	case "undef":
		if len(words) > 1 && p.collect && p.state() != no && !p.given[words[1].text] {
			p.macros[words[1].text] = &macro{ambiguous: true}
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
	switch words[0].text {
	case "ifdef":
		if p.given[name.text] {
			return yes
		}
	case "ifndef":
		if p.given[name.text] {
			return no
		}
		follow := scanAll([]byte(next.text), false)
		if next.kind == tokDirective && len(follow) > 1 && follow[0].is("define") &&
			follow[1].text == name.text {
			return yes
		}
	case "if":
		if len(words) == 2 && name.kind == tokNumber {
			if name.text == "0" {
				return no
			}
			return yes
		}
	}
	return maybe
}

// define records a macro.
func (p *preprocessor) define(words []token) {
	if len(words) < 2 || words[1].kind != tokIdent || p.given[words[1].text] {
		return
	}
	name := words[1]
	m := &macro{body: words[2:]}
	if len(m.body) > 0 && m.body[0].is("(") && m.body[0].start == name.end {
		m.function = true
		i := 1
		for ; i < len(m.body) && !m.body[i].is(")"); i++ {
			switch {
			case m.body[i].kind == tokIdent:
				m.params = append(m.params, m.body[i].text)
			case !m.body[i].is(","):
				m.ambiguous = true // variadic
			}
		}
		m.body = m.body[min(i+1, len(m.body)):]
	}
	m.ambiguous = m.ambiguous || len(m.params) > maxMacroParams ||
		slices.ContainsFunc(m.body, func(t token) bool { return t.is("#") })
	if old, ok := p.macros[name.text]; ok && (old.ambiguous || old.function != m.function ||
		!slices.Equal(old.params, m.params) || !sameText(old.body, m.body)) {
		m.ambiguous = true
	}
	p.macros[name.text] = m
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
	if end < 0 || len(args) != len(m.params) && (len(args) > 1 || len(m.params) > 0) {
		return nil, 0, false
	}
	for n := range args {
		args[n] = p.replaced(args[n], hide)
	}
	body, ok = m.substitute(args)
	p.budget -= len(body)
	return body, end, ok
}

// substitute returns the body of a function-like macro with args for its parameters; false if it
// becomes too long.
func (m *macro) substitute(args [][]token) ([]token, bool) {
	var out []token
	for _, t := range m.body {
		n := slices.Index(m.params, t.text)
		if t.kind != tokIdent || n < 0 || n >= len(args) {
			out = append(out, t)
			continue
		}
		if len(out)+len(args[n]) > 4*maxListTokens {
			return nil, false
		}
		out = append(out, args[n]...)
	}
	return out, true
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
