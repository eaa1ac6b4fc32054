package ptx

import "strings"

// The grammar of declarations (ISA 5.1, 5.3 and 5.4):
//
//	declaration = [ linkage ] space { attribute } name { "," name } ";" .
//	space       = ".reg" | ".sreg" | ".const" [ "[" int "]" ] | ".global" | ".local"
//	            | ".param" | ".shared" [ "::" ident ] | ".tex" .
//	attribute   = ".align" int | ".v2" | ".v4" | "." type | ".ptr" [ space ] [ ".align" int ]
//	            | ".attribute" "(" "." ident [ "(" int { "," int } ")" ] { "," ... } ")" .
//	name        = ident ( "<" int ">" | { "[" [ expr ] "]" } [ "=" init ] ) .
//	init        = expr | ident "=" expr | "{" [ init { "," init } ] "}" .
//
// Any word is accepted as a type; package irgen knows the types.

// spaceOf returns the state space, without its dot, that a dotted word names; "" if it does not
// name one.
func spaceOf(text string) string {
	word := text[1:]
	if i := strings.IndexByte(word, ':'); i >= 0 {
		word = word[:i] // of shared::cta
	}
	switch word {
	case "reg", "sreg", "const", "global", "local", "param", "shared", "tex":
		return word
	}
	return ""
}

// variable parses a declaration of variables or registers with its linkage and ';' (ISA 5.4).
func (p *parser) variable() *Var {
	v := p.vars.alloc()
	v.Linkage = linkage(p.text())
	start := p.pos()
	if v.Linkage != NoLinkage {
		p.next()
		if p.kind != tDot || spaceOf(p.text()) == "" {
			p.unexpected("a state space, \".func\" or \".entry\"")
			return nil
		}
	}
	if !p.varHead(v) {
		return nil
	}
	for {
		n, ok := p.varName()
		if !ok {
			return nil
		}
		if p.kind == tAssign && !p.initialise(&n) {
			return nil
		}
		if v.Names == nil {
			v.Names = p.names.one(n)
		} else {
			v.Names = append(v.Names, n)
		}
		if !p.got(tComma) {
			break
		}
	}
	if !p.endStmt("\",\" or \";\"") {
		return nil
	}
	v.Sp = p.since(start)
	return v
}

// varHead parses the part before the names: the space and, in any order, alignment, attributes,
// vector length, type and .ptr.
func (p *parser) varHead(v *Var) bool {
	text := p.text()
	v.Space = spaceOf(text)
	v.Bank = text[1+len(v.Space):]
	p.next()
	if p.kind == tLBrack && !p.bank(v) {
		return false
	}
	for p.kind == tDot {
		if !p.varAttr(v) {
			return false
		}
	}
	if v.Type == "" {
		p.unexpected("a type")
		return false
	}
	return true
}

// bank parses the [2] of .const[2] (ISA 5.1.3.1), which PTX deprecated but old compilers emit.
func (p *parser) bank(v *Var) bool {
	p.next()
	if p.kind != tInt {
		p.unexpected("the number of a bank")
		return false
	}
	v.Bank += "[" + p.text() + "]"
	p.next()
	return p.want(tRBrack)
}

// varAttr parses one of these parts.
func (p *parser) varAttr(v *Var) (ok bool) {
	text := p.text()
	switch {
	case text == ".align":
		p.next()
		return p.smallInt("an alignment", &v.Align)
	case text == ".attribute":
		v.Attrs, ok = p.attributes()
		return ok
	case (text == ".v2" || text == ".v4") && v.Vec == 0:
		v.Vec = int(text[2] - '0')
	case text == ".ptr" && v.Space == "param" && v.Ptr == nil:
		p.next()
		v.Ptr = &Ptr{}
		return p.ptr(v.Ptr)
	case v.Type == "" && spaceOf(text) == "":
		v.Type, v.TypeSpan = text[1:], p.span()
	case v.Type == "":
		p.unexpected("a type")
		return false
	default:
		p.unexpected("a name")
		return false
	}
	p.next()
	return true
}

// ptr parses the part after .ptr (ISA 5.1.6.3).
func (p *parser) ptr(to *Ptr) bool {
	if p.kind == tDot && spaceOf(p.text()) != "" {
		to.Space = p.text()[1:]
		p.next()
	}
	if p.is(".align") {
		p.next()
		return p.smallInt("an alignment", &to.Align)
	}
	return true
}

// attributes parses .attribute(.managed, .unified(1,2)) (ISA 5.4.8).
func (p *parser) attributes() ([]string, bool) {
	var list []string
	p.next()
	if !p.want(tLParen) {
		return nil, false
	}
	for {
		if p.kind != tDot {
			p.unexpected("an attribute")
			return nil, false
		}
		a := p.text()
		p.next()
		if p.kind == tLParen {
			var ok bool
			if a, ok = p.attrArgs(a); !ok {
				return nil, false
			}
		}
		list = append(list, a)
		if !p.got(tComma) {
			return list, p.want(tRParen)
		}
	}
}

// attrArgs parses the integers of an attribute, and returns its name with them, without spaces.
func (p *parser) attrArgs(name string) (string, bool) {
	a := []byte(name)
	for sep := byte('('); p.kind == tLParen || p.kind == tComma; sep = ',' {
		p.next()
		if p.kind != tInt {
			p.unexpected("an integer")
			return "", false
		}
		a = append(append(a, sep), p.text()...)
		p.next()
	}
	return string(append(a, ')')), p.want(tRParen)
}

// varName parses a name with its range or dimensions.
func (p *parser) varName() (n VarName, ok bool) {
	n.Span = p.span()
	if n.Name, ok = p.ident("a name"); !ok {
		return n, false
	}
	if p.kind == tLt {
		count := p.count()
		if count.kind() == NoOperand {
			return n, false
		}
		val, _, _ := parseInt(p.src[count.start:count.end])
		n.Range = int64(val)
		if p.kind == tLBrack || p.kind == tAssign {
			p.unexpected("\",\" or \";\": a range of names has neither dimensions nor an initialiser")
			return n, false
		}
		n.Span = p.since(n.Span.Start)
	}
	for p.kind == tLBrack {
		d, ok := p.dim(len(n.Dims) == 0)
		if !ok {
			return n, false
		}
		n.Dims = append(n.Dims, d)
	}
	return n, true
}

// count parses <n>, where n is at least 1, and returns n as an operand.
func (p *parser) count() operand {
	p.next()
	at, x := p.span(), p.token(Int, 0)
	var n int64
	if !p.smallInt("the number of names", &n) {
		return operand{}
	}
	if n == 0 {
		p.errorAt(at, "found a range of 0 names, expected at least 1")
		return operand{}
	}
	if !p.want(tGt) {
		return operand{}
	}
	x.setInt(uint64(n))
	return x
}

// dim parses a dimension [n], or [], which is -1 and can only be the first (ISA 5.4.3).
func (p *parser) dim(first bool) (int64, bool) {
	p.next()
	if p.kind == tRBrack && first {
		p.next()
		return -1, true
	}
	at, before := p.pos(), len(p.out.ops)
	x := p.expr()
	if x.kind() == NoOperand {
		return 0, false
	}
	span := p.since(at)
	n, problem := constInt(p.keep(x))
	p.out.ops = p.out.ops[:before] // only the number is kept
	if problem == "" && int64(n.val) < 0 {
		problem = "a size that is negative or too large"
	}
	if problem != "" {
		p.errorAt(span, "found %s, expected the size of an array as a constant", problem)
		return 0, false
	}
	return int64(n.val), p.want(tRBrack)
}

// initialise parses = value (ISA 5.4.4). Inside, 0xff(x) is a mask and not a syntax error.
func (p *parser) initialise(n *VarName) bool {
	p.next()
	p.inInit = true
	n.Init = p.value()
	p.inInit = false
	return n.Init != nil
}

// value parses a value or a list of values in braces; nil after an error.
func (p *parser) value() *Init {
	in := p.inits.alloc()
	start := p.pos()
	if p.kind != tLBrace {
		x := p.initValue(in)
		if x.kind() == NoOperand {
			return nil
		}
		in.Value, in.Span = p.keep(x), p.since(start)
		return in
	}
	if !p.enter() {
		p.leave()
		return nil
	}
	defer p.leave()
	in.Braces = true
	p.next()
	p.braces++
	for p.kind != tRBrace {
		x := p.value()
		if x == nil {
			return nil
		}
		in.List = append(in.List, x)
		if p.kind != tComma {
			break
		}
		if p.next(); p.kind == tRBrace {
			p.unexpected("a value after \",\"")
			return nil
		}
	}
	if p.kind != tRBrace {
		p.unexpected("\",\" or \"}\"")
		return nil
	}
	p.next()
	p.braces--
	in.Span = p.since(start)
	return in
}

// initValue parses a value, or member = value of a sampler or texture (ISA 5.3.2).
func (p *parser) initValue(in *Init) operand {
	x := p.expr()
	if x.kind() == Name && p.kind == tAssign {
		in.Member = p.src[x.start:x.end]
		p.next()
		return p.expr()
	}
	return x
}
