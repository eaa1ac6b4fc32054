package ptx

import "heddle/internal/source"

// operand parses an operand of an instruction (ISA chapter 6): an expression, or two destinations p|q.
func (p *parser) operand() Operand {
	if p.kind == tIdent { // nearly always a name alone
		n := p.name()
		if p.kind == tComma || p.kind == tSemi {
			return n
		}
		if x := p.postfix(n); x != nil {
			return p.afterOperand(x, n.Sp.Start)
		}
		return nil
	}
	start := p.pos
	x := p.unary()
	if x == nil {
		return nil
	}
	return p.afterOperand(x, start)
}

// afterOperand continues an operand that began with x.
func (p *parser) afterOperand(x Operand, start source.Pos) Operand {
	if p.kind == tOr && isDest(x) {
		p.next()
		y := p.unary()
		if y == nil {
			return nil
		}
		d := &Pair{X: x, Y: y}
		d.Sp = p.since(start)
		return d
	}
	return p.exprFrom(x, start)
}

// isDest reports whether x can be the first of two destinations; of other things '|' is the bitwise or.
func isDest(x Operand) bool {
	switch x := x.(type) {
	case *Name:
		return x.Name != "WARP_SZ"
	case *Vector:
		return true
	}
	return false
}

// expr parses an expression (ISA 4.5.4).
func (p *parser) expr() Operand {
	start := p.pos
	x := p.unary()
	if x == nil {
		return nil
	}
	return p.exprFrom(x, start)
}

// exprFrom parses the rest of an expression whose first part, x, began at start.
func (p *parser) exprFrom(x Operand, start source.Pos) Operand {
	if p.binaryOp() == 0 {
		return x
	}
	if x = p.binary(x, start, 1); x == nil || p.kind != tQuest {
		return x
	}
	if !p.enter() {
		p.leave()
		return nil
	}
	defer p.leave()
	p.next()
	b := p.binaries.alloc()
	b.Op, b.X = "?:", x
	if b.Y = p.expr(); b.Y == nil || !p.want(tColon) {
		return nil
	}
	if b.Z = p.expr(); b.Z == nil {
		return nil
	}
	b.Sp = p.since(start)
	return b
}

// precedence of the binary operators, from 1; 0 for other tokens. (ISA Table 4; '?' stands below all.)
var precedence = [numKinds]uint8{
	tQuest: 1, tLOr: 2, tLAnd: 3, tOr: 4, tXor: 5, tAnd: 6, tEq: 7, tNe: 7, tLt: 8, tGt: 8, tLe: 8, tGe: 8,
	tShl: 9, tShr: 9, tPlus: 10, tMinus: 10, tStar: 11, tSlash: 11, tPercent: 11,
}

// binaryOp returns the precedence of the operator at the current token; 0 if it is none. The identifier
// %4 is the operator and a number here; %r4 is none, since a comma was forgotten before it.
func (p *parser) binaryOp() uint8 {
	if p.kind == tIdent && p.src[p.start] == '%' && (class[p.src[p.start+1]]&cDigit != 0 || p.text() == "%WARP_SZ") {
		p.kind, p.off = tPercent, p.start+1
		p.endAt = p.at(p.off)
	}
	return precedence[p.kind]
}

// binary parses operators of at least precedence least after x.
func (p *parser) binary(x Operand, start source.Pos, least uint8) Operand {
	for chain := 0; ; chain++ {
		prec := p.binaryOp()
		if prec < max(least, 2) {
			return x
		}
		if chain == maxChain {
			p.errorAt(p.span(), "found %s after %d operators, expected a shorter expression", p.found(), maxChain)
			return nil
		}
		b := p.binaries.alloc()
		b.Op, b.X = kindText[p.kind], x
		p.next()
		right := p.pos
		y := p.unary()
		if y == nil {
			return nil
		}
		if p.binaryOp() > prec {
			if y = p.binary(y, right, prec+1); y == nil {
				return nil
			}
		}
		b.Y = y
		b.Sp = p.since(start)
		x = b
	}
}

// unary parses a prefix operator or a primary.
func (p *parser) unary() Operand {
	switch p.kind {
	case tIdent:
		return p.postfix(p.name())
	case tInt:
		return p.intOrMask()
	case tFloat:
		if x := p.floatLit(); x != nil {
			return x
		}
		return nil
	case tString:
		return p.str()
	case tDot: // a section in DWARF data
		n := p.names.alloc()
		n.Sp, n.Name = p.span(), p.text()
		p.next()
		return n
	}
	if !p.enter() {
		p.leave()
		return nil
	}
	defer p.leave()
	switch p.kind {
	case tMinus, tPlus, tBang, tTilde:
		if u := p.prefix(kindText[p.kind]); u != nil {
			return u
		}
		return nil
	case tLBrack:
		return p.mem()
	case tLBrace:
		v := p.vectors.alloc()
		start := p.pos
		p.next()
		p.braces++
		if !p.list(tRBrace, &v.Elems) {
			return nil
		}
		p.braces--
		v.Sp = p.since(start)
		return v
	case tLParen:
		return p.paren()
	}
	p.unexpected("an operand")
	return nil
}

// prefix parses op x, with the operator as the current token.
func (p *parser) prefix(op string) *Unary {
	start := p.pos
	p.next()
	x := p.unary()
	if x == nil {
		return nil
	}
	u := p.unaries.alloc()
	u.Op, u.X = op, x
	u.Sp = p.since(start)
	return u
}

// name takes an identifier, with its component if one follows: %tid.x, r1.b0, V.w.
func (p *parser) name() *Name {
	n := p.names.alloc()
	n.Sp, n.Name = p.span(), p.text()
	if p.src[p.off] == '.' && class[p.src[p.off+1]]&cStart != 0 {
		end := modEnd(p.src, p.off)
		n.Field = p.src[p.off+1 : end]
		p.off, p.endAt = end, p.at(end)
		n.Sp.End = p.endAt
	}
	p.next()
	return n
}

// postfix parses a[i] and generic(x) after the name.
func (p *parser) postfix(n *Name) Operand {
	switch {
	case p.kind == tLBrack && p.pos == n.Sp.End:
		if !p.enter() {
			p.leave()
			return nil
		}
		defer p.leave()
		p.next()
		i := p.expr()
		if i == nil || !p.want(tRBrack) {
			return nil
		}
		x := &Index{X: n, I: i}
		x.Sp = p.since(n.Sp.Start)
		return x
	case p.kind == tLParen && (n.Name == "generic" || n.Name == "mask"):
		return p.call(n.Name, n.Sp.Start)
	}
	return n
}

// call parses the parenthesised operand of generic(x), 0xff(x) or mask(0xff, x) (ISA 5.4.4). The
// last, which the text of the ISA names and its examples do not use, becomes the second.
func (p *parser) call(op string, start source.Pos) Operand {
	if !p.enter() {
		p.leave()
		return nil
	}
	defer p.leave()
	p.next()
	if op == "mask" {
		if p.kind != tInt {
			p.unexpected("an integer mask")
			return nil
		}
		m := p.intLit()
		if m == nil || !p.want(tComma) {
			return nil
		}
		op = m.Text
	}
	x := p.expr()
	if x == nil || !p.want(tRParen) {
		return nil
	}
	u := p.unaries.alloc()
	u.Op, u.X = op, x
	u.Sp = p.since(start)
	return u
}

func (p *parser) intOrMask() Operand {
	x := p.intLit()
	if x == nil {
		return nil
	}
	if p.inInit && p.kind == tLParen {
		return p.call(x.Text, x.Sp.Start)
	}
	return x
}

// mem parses [address] and [a, b, {c, d}].
func (p *parser) mem() Operand {
	m := p.mems.alloc()
	start := p.pos
	p.next()
	if !p.list(tRBrack, &m.Elems) {
		return nil
	}
	if len(m.Elems) == 0 {
		p.errorAt(p.since(start), "found \"[]\", expected an address in it")
		return nil
	}
	if p.is(".unified") {
		m.Field = p.text()[1:]
		p.next()
	}
	m.Sp = p.since(start)
	return m
}

// paren parses (a, b), or the cast (.u64)x.
func (p *parser) paren() Operand {
	start := p.pos
	p.next()
	for _, cast := range [...]string{"(.s64)", "(.u64)"} {
		if p.is(cast[1:5]) {
			if p.next(); p.kind != tRParen {
				p.unexpected("\")\" of the cast")
				return nil
			}
			u := p.prefix(cast)
			if u != nil {
				u.Sp.Start = start
				return u
			}
			return nil
		}
	}
	x := p.parens.alloc()
	if !p.list(tRParen, &x.Elems) {
		return nil
	}
	x.Sp = p.since(start)
	return x
}

// list parses operands up to the closing bracket.
func (p *parser) list(end kind, to *[]Operand) bool {
	var buf [shortList]Operand
	list := buf[:0]
	for p.kind != end {
		x := p.expr()
		if x == nil {
			return false
		}
		list = append(list, x)
		if p.kind != tComma {
			break
		}
		p.next()
		if p.kind == end {
			p.unexpected("an operand after \",\"")
			return false
		}
	}
	if !p.got(end) {
		p.unexpected("\",\" or " + quote(kindText[end]))
		return false
	}
	*to = p.operands.copy(list)
	return true
}
