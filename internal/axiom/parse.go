package axiom

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds the nesting of parentheses and of operators that associate to the right, and so
// the parser's recursion.
const maxDepth = 200

// Parse reads the text of a file. An error is an *Error.
func Parse(name, text string) (*File, error) {
	p := &parser{
		name: name, types: map[string]*kind{}, defined: map[string]signature{},
		functions: map[string]*function{},
	}
	if err := p.scan(text); err != nil {
		return nil, err
	}
	f := &File{Name: name}
	for p.at < len(p.toks) {
		if err := p.declaration(f); err != nil {
			return nil, err
		}
	}
	if err := p.checkKinds(); err != nil {
		return nil, err
	}
	f.called = p.called
	return f, nil
}

// token is a word, a number or an operator.
type token struct {
	text      string
	line, col int
}

// signature is a function that the file declares.
type signature struct {
	builtin string // a key of operators; empty for a function of the kernel
	params  []*kind
	result  *kind
}

// call is a use of a function of the kernel, for checkKinds.
type call struct {
	at token
	fn *function
}

// parser is a recursive-descent parser.
type parser struct {
	name      string
	toks      []token
	at        int
	depth     int
	types     map[string]*kind
	defined   map[string]signature
	functions map[string]*function
	called    []*function
	calls     []call
	vars      []variable // of the axiom
	pattern   bool       // within a trigger
}

// fail returns an error at a token.
func (p *parser) fail(at token, format string, args ...any) error {
	return &Error{p.name, at.line, at.col, fmt.Sprintf(format, args...)}
}

// symbols are the operators and punctuation marks, longer ones first.
var symbols = []string{"<==>", "==>", "{:", "::", "==", "!=", "&&", "||", "!", "(", ")", "{", "}",
	",", ";", ":", "=", "∀"}

// isWord reports whether c belongs to a name or a number of Boogie.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		strings.IndexByte("_.$#'`~^?", c) >= 0
}

// scan splits the text into tokens, without comments. The last one is empty.
func (p *parser) scan(text string) error {
	line, start := 1, 0
	for i := 0; i < len(text); {
		rest := text[i:]
		at := token{line: line, col: i - start + 1}
		n := 0
		switch c := text[i]; {
		case c == '\n':
			line, start, n = line+1, i+1, 1
		case c == ' ' || c == '\t' || c == '\r':
			n = 1
		case strings.HasPrefix(rest, "//"):
			n = len(rest)
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				n = end
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return p.fail(at, "expected */ at the end of the comment")
			}
			n = end + 2
			if last := strings.LastIndexByte(rest[:n], '\n'); last >= 0 {
				line, start = line+strings.Count(rest[:n], "\n"), i+last+1
			}
		case c == '"':
			end := strings.IndexAny(rest[1:], "\"\n")
			if end < 0 || rest[1+end] != '"' {
				return p.fail(at, "expected \" at the end of the string")
			}
			n = end + 2
			at.text = rest[:n]
		case isWord(c):
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			at.text = rest[:n]
		default:
			k := slices.IndexFunc(symbols, func(s string) bool { return strings.HasPrefix(rest, s) })
			if k < 0 {
				return p.fail(at, "unexpected %q", []rune(rest)[0])
			}
			at.text, n = symbols[k], len(symbols[k])
		}
		if at.text != "" {
			p.toks = append(p.toks, at)
		}
		i += n
	}
	return nil
}

// peek returns the next token; at the end one without text, behind the last one.
func (p *parser) peek() token {
	if p.at < len(p.toks) {
		return p.toks[p.at]
	}
	if p.at == 0 {
		return token{"", 1, 1}
	}
	last := p.toks[len(p.toks)-1]
	return token{"", last.line, last.col + len(last.text)}
}

// next consumes and returns the next token.
func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// accept consumes the next token if it is text.
func (p *parser) accept(text string) bool {
	if p.peek().text != text {
		return false
	}
	p.at++
	return true
}

// expect consumes a token that must be text.
func (p *parser) expect(text string) error {
	if t := p.peek(); !p.accept(text) {
		return p.fail(t, "expected %s, found %s", text, found(t))
	}
	return nil
}

// found is a token in a message.
func found(t token) string {
	if t.text == "" {
		return "the end of the file"
	}
	return strconv.Quote(t.text)
}

// identifier consumes a name.
func (p *parser) identifier(what string) (token, error) {
	t := p.peek()
	if t.text == "" || !isWord(t.text[0]) || t.text[0] >= '0' && t.text[0] <= '9' {
		return t, p.fail(t, "expected %s, found %s", what, found(t))
	}
	p.at++
	return t, nil
}

// declaration parses a type, a function or an axiom.
func (p *parser) declaration(f *File) error {
	switch t := p.next(); t.text {
	case "type":
		return p.typeSynonym()
	case "function":
		return p.function()
	case "axiom":
		return p.axiom(f)
	default:
		return p.fail(t, "expected type, function or axiom, found %s", found(t))
	}
}

// typeSynonym parses "type NAME = TYPE;".
func (p *parser) typeSynonym() error {
	name, err := p.identifier("the name of a type")
	if err != nil {
		return err
	}
	if err := p.expect("="); err != nil {
		return err
	}
	k, err := p.typ()
	if err != nil {
		return err
	}
	p.types[name.text] = k
	return p.expect(";")
}

// typ parses a type: bool, bvN, or a synonym.
func (p *parser) typ() (*kind, error) {
	t, err := p.identifier("a type")
	if err != nil {
		return nil, err
	}
	if k := p.types[t.text]; k != nil {
		return k, nil
	}
	if t.text == "bool" {
		return &kind{known: true}, nil
	}
	if digits, ok := strings.CutPrefix(t.text, "bv"); ok {
		if w, err := strconv.Atoi(digits); err == nil && w > 0 && w <= 64 {
			return &kind{known: true, width: w}, nil
		}
	}
	return nil, p.fail(t, "type %q: expected bool, bv1 to bv64, or a type that is declared before",
		t.text)
}

// function parses a declaration "function {:bvbuiltin "NAME"} NAME(TYPE, x: TYPE) : TYPE;".
func (p *parser) function() error {
	var s signature
	for p.peek().text == "{:" {
		p.next()
		word := p.next()
		value := p.next()
		if word.text != "bvbuiltin" && word.text != "builtin" {
			return p.fail(word, "attribute %q: expected bvbuiltin", word.text)
		}
		if s.builtin = strings.Trim(value.text, `"`); operators[s.builtin].apply == nil {
			return p.fail(value, "%s is not a function of bit-vectors that heddle knows", value.text)
		}
		if err := p.expect("}"); err != nil {
			return err
		}
	}
	name, err := p.identifier("the name of a function")
	if err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.accept(")") {
		if len(s.params) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if p.at+1 < len(p.toks) && p.toks[p.at+1].text == ":" { // the parameter has a name
			p.at += 2
		}
		k, err := p.typ()
		if err != nil {
			return err
		}
		s.params = append(s.params, k)
	}
	if p.peek().text != ":" {
		return p.fail(p.peek(), "expected : and the type of the result")
	}
	p.next()
	if s.result, err = p.typ(); err != nil {
		return err
	}
	if op, ok := operators[s.builtin]; ok {
		if err := p.fits(name, op, s); err != nil {
			return err
		}
	}
	p.defined[name.text] = s
	if p.peek().text == "{" {
		return p.fail(p.peek(), "a function with a body: write an axiom instead")
	}
	return p.expect(";")
}

// fits checks that the types of a function are those of the operator that it stands for.
func (p *parser) fits(name token, op operator, s signature) error {
	if len(s.params) != op.arity {
		return p.fail(name, "%s has %d parameters; expected %d", name.text, len(s.params), op.arity)
	}
	args := make([]*expr, len(s.params))
	for i, k := range s.params {
		args[i] = &expr{kind: k, line: name.line, col: name.col}
	}
	e, err := p.operation(name, s.builtin, args)
	if err != nil {
		return err
	}
	return p.same(name, e.kind, s.result)
}

// same joins two kinds.
func (p *parser) same(at token, k, l *kind) error {
	if !k.join(l) {
		return p.fail(at, "%s here, where %s is needed", k.find(), l.find())
	}
	return nil
}

// String is the type in Boogie.
func (k *kind) String() string {
	switch {
	case !k.known:
		return "a type that is not known"
	case k.width == 0:
		return "bool"
	}
	return fmt.Sprintf("bv%d", k.width)
}

// axiom parses "axiom EXPR;" or "axiom (forall x, y : TYPE :: {TRIGGER} EXPR);".
func (p *parser) axiom(f *File) error {
	var a axiom
	start := p.peek()
	bracket := start.text == "(" && p.at+1 < len(p.toks) &&
		(p.toks[p.at+1].text == "forall" || p.toks[p.at+1].text == "∀")
	if p.vars = nil; bracket {
		p.at += 2
		if err := p.variables(); err != nil {
			return err
		}
		if a.vars = p.vars; len(a.vars) == 0 {
			return p.fail(start, "expected a variable behind forall")
		}
		for p.peek().text == "{" {
			patterns, err := p.trigger()
			if err != nil {
				return err
			}
			a.triggers = append(a.triggers, patterns)
		}
	}
	body, err := p.expression()
	if err != nil {
		return err
	}
	if err := p.same(start, body.kind, &kind{known: true}); err != nil {
		return err
	}
	if a.body = body; bracket {
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	if bracket && len(a.triggers) == 0 {
		a.triggers = derived(body, len(a.vars))
		if len(a.triggers) == 0 {
			return p.fail(start, "the axiom passes no function of the kernel all of its variables: "+
				"write a trigger, such as { f(x), g(y) }")
		}
	}
	f.axioms = append(f.axioms, a)
	return p.expect(";")
}

// variables parses "x, y : TYPE, z : TYPE ::".
func (p *parser) variables() error {
	for {
		var names []token
		for len(names) == 0 || p.accept(",") {
			name, err := p.identifier("a variable")
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		if err := p.expect(":"); err != nil {
			return err
		}
		k, err := p.typ()
		if err != nil {
			return err
		}
		for _, n := range names {
			p.vars = append(p.vars, variable{n.text, k})
		}
		if p.accept("::") {
			return nil
		}
		if err := p.expect(","); err != nil {
			return err
		}
	}
}

// trigger parses "{ EXPR, ... }": applications of functions of the kernel with all variables.
func (p *parser) trigger() ([]*expr, error) {
	open := p.next()
	p.pattern = true
	defer func() { p.pattern = false }()
	var out []*expr
	for len(out) == 0 || p.accept(",") {
		at := p.peek()
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		if e.op != opCall {
			return nil, p.fail(at, "expected an application of a function of the kernel")
		}
		out = append(out, e)
	}
	if !covers(out, len(p.vars)) {
		return nil, p.fail(open, "the trigger does not have all variables of the axiom")
	}
	return out, p.expect("}")
}

// covers reports whether n variables all occur in expressions.
func covers(list []*expr, n int) bool {
	seen := make([]bool, n)
	for _, e := range list {
		e.visit(func(x *expr) {
			if x.op == opVariable {
				seen[x.index] = true
			}
		})
	}
	return !slices.Contains(seen, false)
}

// visit calls f for an expression and all within.
func (e *expr) visit(f func(*expr)) {
	f(e)
	for _, a := range e.args {
		a.visit(f)
	}
}

// derived returns the triggers of an axiom that states none: each application of a function of the
// kernel that has all variables and no operator in its arguments.
func derived(body *expr, vars int) [][]*expr {
	var out [][]*expr
	body.visit(func(e *expr) {
		plain := e.op == opCall
		e.visit(func(x *expr) { plain = plain && operators[x.op].apply == nil })
		if plain && covers([]*expr{e}, vars) {
			out = append(out, []*expr{e})
		}
	})
	return out
}

// levels are the binary operators by precedence, lowest first. Those of one level do not mix.
var levels = [][]string{{"<==>"}, {"==>"}, {"||", "&&"}, {"==", "!="}}

// expression parses an expression.
func (p *parser) expression() (*expr, error) { return p.binary(0) }

// binary parses operators of a level or higher. Only ==> associates to the right.
func (p *parser) binary(level int) (*expr, error) {
	if p.depth++; p.depth > maxDepth*(len(levels)+1) {
		return nil, p.fail(p.peek(), "more than %d nested operators", maxDepth)
	}
	defer func() { p.depth-- }()
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	used := ""
	for err == nil && slices.Contains(levels[level], p.peek().text) {
		at := p.next()
		if used != "" && (used != at.text || level == len(levels)-1) {
			return nil, p.fail(at, "%s behind %s: write parentheses", at.text, used)
		}
		used = at.text
		operand := level + 1
		if at.text == "==>" {
			operand = level
		}
		var right *expr
		if right, err = p.binary(operand); err == nil {
			left, err = p.operation(at, at.text, []*expr{left, right})
		}
	}
	return left, err
}

// operation applies an operator.
func (p *parser) operation(at token, name string, args []*expr) (*expr, error) {
	if p.pattern {
		return nil, p.fail(at, "an operator in a trigger: expected functions of the kernel, variables "+
			"and numbers")
	}
	op := operators[name]
	e := &expr{op: name, args: args, kind: &kind{known: true}, line: at.line, col: at.col}
	if len(args) != op.arity {
		return nil, p.fail(at, "%s has %d arguments; expected %d", at.text, len(args), op.arity)
	}
	for i, a := range args {
		want := args[0].kind
		if op.shape == boolean {
			want = e.kind
		}
		if err := p.same(token{"", args[i].line, args[i].col}, a.kind, want); err != nil {
			return nil, err
		}
		if k := a.kind.find(); (op.shape == vectors || op.shape == compare) && k.known && k.width == 0 {
			return nil, p.fail(at, "%s of Booleans: expected bit-vectors", at.text)
		}
	}
	if op.shape == vectors {
		e.kind = args[0].kind
	}
	return e, nil
}

// unary parses a negation, a parenthesized expression, a number, a variable or an application.
func (p *parser) unary() (*expr, error) {
	t := p.next()
	switch {
	case t.text == "!":
		x, err := p.binary(len(levels))
		if err != nil {
			return nil, err
		}
		return p.operation(t, "!", []*expr{x})
	case t.text == "(":
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		return x, p.expect(")")
	case t.text == "true" || t.text == "false":
		return p.operation(t, t.text, nil)
	case t.text == "forall" || t.text == "exists" || t.text == "∀":
		return nil, p.fail(t, "a quantifier within an axiom: heddle reads one forall around the axiom")
	case t.text != "" && t.text[0] >= '0' && t.text[0] <= '9':
		return p.number(t)
	case t.text == "" || !isWord(t.text[0]):
		return nil, p.fail(t, "expected an expression, found %s", found(t))
	case p.peek().text == "(":
		return p.application(t)
	}
	for i, v := range slices.Backward(p.vars) { // the innermost of two of one name
		if v.name == t.text {
			return &expr{op: opVariable, index: i, kind: v.kind, line: t.line, col: t.col}, nil
		}
	}
	return nil, p.fail(t, "%q is not a variable of the axiom", t.text)
}

// number parses a bit-vector, such as 7bv32.
func (p *parser) number(t token) (*expr, error) {
	digits, width, ok := strings.Cut(t.text, "bv")
	w, werr := strconv.Atoi(width)
	v, err := strconv.ParseUint(digits, 10, 64)
	if !ok || werr != nil || err != nil || w < 1 || w > 64 || bits.Len64(v) > w {
		return nil, p.fail(t, "%q: expected a bit-vector, such as 7bv32", t.text)
	}
	return &expr{op: opNumber, number: v, kind: &kind{known: true, width: w}, line: t.line,
		col: t.col}, nil
}

// application parses the arguments of a function.
func (p *parser) application(name token) (*expr, error) {
	p.next()
	var args []*expr
	for !p.accept(")") {
		if len(args) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		a, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	s, declared := p.defined[name.text]
	if declared && len(s.params) != len(args) {
		return nil, p.fail(name, "%s has %d arguments here and %d parameters", name.text, len(args),
			len(s.params))
	}
	for i, k := range s.params {
		if err := p.same(token{"", args[i].line, args[i].col}, args[i].kind, k); err != nil {
			return nil, err
		}
	}
	if s.builtin != "" {
		return p.operation(name, s.builtin, args)
	}
	fn := p.functions[name.text]
	if fn == nil {
		fn = &function{name: name.text, result: &kind{}}
		if declared {
			fn.result = s.result
		}
		for _, a := range args {
			fn.params = append(fn.params, a.kind)
		}
		p.functions[name.text] = fn
		p.called = append(p.called, fn)
	}
	if len(fn.params) != len(args) {
		return nil, p.fail(name, "%s has %d arguments here and %d elsewhere", name.text, len(args),
			len(fn.params))
	}
	for i, a := range args {
		if err := p.same(token{"", a.line, a.col}, a.kind, fn.params[i]); err != nil {
			return nil, err
		}
	}
	p.calls = append(p.calls, call{name, fn})
	return &expr{op: opCall, fn: fn, args: args, kind: fn.result, line: name.line, col: name.col}, nil
}

// checkKinds refuses Booleans as arguments and results of functions of the kernel, since C has
// several representations of them.
func (p *parser) checkKinds() error {
	for _, c := range p.calls {
		for _, k := range append(slices.Clone(c.fn.params), c.fn.result) {
			if k = k.find(); k.known && k.width == 0 {
				return p.fail(c.at, "%s has a Boolean parameter or result: expected bit-vectors", c.fn.name)
			}
		}
	}
	return nil
}
