package ptx

// The grammar of operands (ISA 4.5, 5.4.4, chapter 6 and 9.7):
//
//	operand = expr | dest "|" dest .
//	expr    = binary [ "?" expr ":" expr ] .
//	binary  = unary { operator unary } .
//	unary   = ( "-" | "+" | "!" | "~" | "(.s64)" | "(.u64)" ) unary | primary .
//	primary = name [ "[" expr "]" ] | int | float | string | "generic" "(" expr ")"
//	        | mask | address | vector | "(" [ expr { "," expr } ] ")" .
//	name    = ident [ "." component ] .
//	mask    = int "(" expr ")" | "mask" "(" int "," expr ")" .
//	address = "[" expr { "," expr } "]" [ ".unified" ] .
//	vector  = "{" expr { "," expr } "}" .
//
// It accepts more than the ISA: any operand can be a constant expression, and vectors and lists
// nest. Package irgen rejects what an instruction does not allow.

// The methods below return the operand that they parse as a record, whose parts are already in the
// tree. The caller decides where the record itself goes. A record of kind NoOperand means an error
// that was reported.

// token returns an operand for the current token.
func (p *parser) token(k OperandKind, flags uint8) operand {
	return operand{start: uint32(p.start), end: uint32(p.off), meta: meta(k, flags, 0)}
}

// compound returns an operand from offset start to the last consumed token, and adds its parts to
// the tree.
func (p *parser) compound(k OperandKind, op uint8, start uint32, parts ...operand) operand {
	first := len(p.out.ops)
	p.out.ops = append(p.out.ops, parts...)
	return operand{start, uint32(p.prev.off), uint32(first), meta(k, op, len(parts))}
}

// unstack moves the operands on the stack from index base to the tree, and returns the index of the
// first and their number.
func (p *parser) unstack(base int) (first, n uint32) {
	first, n = uint32(len(p.out.ops)), uint32(len(p.stack)-base)
	p.out.ops = append(p.out.ops, p.stack[base:]...)
	p.stack = p.stack[:base]
	return first, n
}

// operands is unstack for a node that starts at the given line.
func (p *parser) operands(base, line int) Operands {
	first, n := p.unstack(base)
	return Operands{p.out, first, n, uint32(line)}
}

// keep adds x to the tree.
func (p *parser) keep(x operand) Operand {
	p.out.ops = append(p.out.ops, x)
	return Operand{p.out, uint32(len(p.out.ops) - 1), uint32(p.line)}
}

// operand parses an operand of an instruction (ISA chapter 6): an expression, or two destinations
// p|q. The result has kind NoOperand after an error.
func (p *parser) operand() operand {
	var x operand
	if p.kind == tIdent { // nearly always a single name
		n := p.name()
		if p.kind == tComma || p.kind == tSemi {
			return n
		}
		x = p.postfix(n)
	} else {
		x = p.unary()
	}
	if x.kind() == NoOperand {
		return x
	}
	if p.kind == tOr && p.isDest(&x) {
		p.next()
		y := p.unary()
		if y.kind() == NoOperand {
			return y
		}
		return p.compound(Pair, 0, x.start, x, y)
	}
	return p.exprFrom(x)
}

// isDest reports whether x can be the first of two destinations p|q; after anything else '|' is
// bitwise or. Destinations are names or vectors, and WARP_SZ is a constant that looks like a name.
func (p *parser) isDest(x *operand) bool {
	return x.kind() == Vector || x.kind() == Name && p.src[x.start:x.end] != "WARP_SZ"
}

// expr parses an expression (ISA 4.5.4).
func (p *parser) expr() operand {
	x := p.unary()
	if x.kind() == NoOperand {
		return x
	}
	return p.exprFrom(x)
}

// exprFrom parses the rest of an expression that starts with x.
func (p *parser) exprFrom(x operand) operand {
	if p.binaryOp() == 0 {
		return x
	}
	if x = p.binary(x, 1); x.kind() == NoOperand || p.kind != tQuest {
		return x
	}
	if !p.enter() {
		p.leave()
		return operand{}
	}
	defer p.leave()
	p.next()
	y := p.expr()
	if y.kind() == NoOperand || !p.want(tColon) {
		return operand{}
	}
	z := p.expr()
	if z.kind() == NoOperand {
		return z
	}
	return p.compound(Binary, uint8(tQuest), x.start, x, y, z)
}

// precedence of the binary operators, from 1; 0 for other tokens (ISA Table 4). '?' has the lowest.
var precedence = [numKinds]uint8{
	tQuest: 1, tLOr: 2, tLAnd: 3, tOr: 4, tXor: 5, tAnd: 6, tEq: 7, tNe: 7, tLt: 8, tGt: 8, tLe: 8,
	tGe:  8,
	tShl: 9, tShr: 9, tPlus: 10, tMinus: 10, tStar: 11, tSlash: 11, tPercent: 11,
}

// binaryOp returns the precedence of the operator at the current token; 0 if it is not an operator.
// The identifier %4 is the operator % and a number here, but %r4 is a register: a comma is missing
// before it.
func (p *parser) binaryOp() uint8 {
	if p.kind == tIdent && p.src[p.start] == '%' &&
		(class[p.src[p.start+1]]&cDigit != 0 || p.text() == "%WARP_SZ") {
		p.kind, p.off = tPercent, p.start+1
	}
	return precedence[p.kind]
}

// binary parses operators of at least precedence least after x, by precedence climbing.
func (p *parser) binary(x operand, least uint8) operand {
	for chain := 0; ; chain++ {
		prec := p.binaryOp()
		if prec < max(least, 2) {
			return x
		}
		if chain == maxChain {
			p.errorAt(p.span(), "found %s after %d operators, expected a shorter expression", p.found(),
				maxChain)
			return operand{}
		}
		op := uint8(p.kind)
		p.next()
		y := p.unary()
		if y.kind() == NoOperand {
			return y
		}
		if p.binaryOp() > prec {
			if y = p.binary(y, prec+1); y.kind() == NoOperand {
				return y
			}
		}
		x = p.compound(Binary, op, x.start, x, y)
	}
}

// unary parses a prefix operator or a primary.
func (p *parser) unary() operand {
	switch p.kind {
	case tIdent:
		return p.postfix(p.name())
	case tInt:
		return p.intOrMask()
	case tFloat:
		return p.floatLit()
	case tString:
		return p.str()
	case tDot: // a section in DWARF data
		n := p.token(Name, 0)
		p.next()
		return n
	}
	if !p.enter() {
		p.leave()
		return operand{}
	}
	defer p.leave()
	switch p.kind {
	case tMinus, tPlus, tBang, tTilde:
		return p.prefix(uint8(p.kind), uint32(p.start))
	case tLBrack:
		return p.mem()
	case tLBrace:
		start := p.start
		p.next()
		p.braces++
		x := p.list(Vector, tRBrace, start)
		if x.kind() != NoOperand {
			p.braces--
		}
		return x
	case tLParen:
		return p.paren()
	}
	p.unexpected("an operand")
	return operand{}
}

// prefix parses op x, which starts at offset start. The current token is the last one of op.
func (p *parser) prefix(op uint8, start uint32) operand {
	p.next()
	x := p.unary()
	if x.kind() == NoOperand {
		return x
	}
	return p.compound(Unary, op, start, x)
}

// name consumes an identifier, with its component if there is one: %tid.x, r1.b0, V.w.
func (p *parser) name() operand {
	n := p.token(Name, 0)
	if p.src[p.off] == '.' && class[p.src[p.off+1]]&cStart != 0 {
		end := modEnd(p.src, p.off)
		n.end, n.meta = uint32(end), meta(Name, hasField, 0)
		p.off = end
	}
	p.next()
	return n
}

// postfix parses a[i], and generic(x) or mask(0xff, x), after the name n. The bracket must follow
// the name directly: [a] after white space is another operand, before which a comma is missing.
func (p *parser) postfix(n operand) operand {
	switch p.kind {
	case tLBrack:
		if p.start != int(n.end) {
			return n
		}
		if !p.enter() {
			p.leave()
			return operand{}
		}
		defer p.leave()
		p.next()
		i := p.expr()
		if i.kind() == NoOperand || !p.want(tRBrack) {
			return operand{}
		}
		return p.compound(Index, 0, n.start, n, i)
	case tLParen:
		switch p.src[n.start:n.end] {
		case "generic":
			return p.call(n.start, operand{})
		case "mask":
			return p.maskCall(n.start)
		}
	}
	return n
}

// call parses the parenthesised operand of generic(x) or, with a mask, of 0xff(x) (ISA 5.4.4).
func (p *parser) call(start uint32, mask operand) operand {
	if !p.enter() {
		p.leave()
		return operand{}
	}
	defer p.leave()
	p.next()
	return p.callArg(start, mask)
}

// callArg parses x and the closing parenthesis of generic(x) or, with a mask, of 0xff(x) and
// mask(0xff, x).
func (p *parser) callArg(start uint32, mask operand) operand {
	x := p.expr()
	if x.kind() == NoOperand || !p.want(tRParen) {
		return operand{}
	}
	if mask.kind() == NoOperand {
		return p.compound(Unary, opGeneric, start, x)
	}
	flags := uint8(0)
	if mask.start != start {
		flags = inWords
	}
	return p.compound(Mask, flags, start, mask, x)
}

// maskCall parses the operands of mask(0xff, x), a form that the text of ISA 5.4.4 gives but its
// examples do not use. It means 0xff(x).
func (p *parser) maskCall(start uint32) operand {
	if !p.enter() {
		p.leave()
		return operand{}
	}
	defer p.leave()
	p.next()
	if p.kind != tInt {
		p.unexpected("an integer mask")
		return operand{}
	}
	m := p.intLit()
	if m.kind() == NoOperand || !p.want(tComma) {
		return operand{}
	}
	return p.callArg(start, m)
}

// intOrMask parses an integer, or in an initialiser the mask 0xff(x).
func (p *parser) intOrMask() operand {
	x := p.intLit()
	if x.kind() != NoOperand && p.inInit && p.kind == tLParen {
		return p.call(x.start, x)
	}
	return x
}

// mem parses [address] and [a, b, {c, d}], with an optional .unified after the bracket (ISA
// 9.7.9.8).
func (p *parser) mem() operand {
	start, at := p.start, p.pos()
	p.next()
	m := p.list(Mem, tRBrack, start)
	if m.kind() == NoOperand {
		return m
	}
	if m.parts() == 0 {
		p.errorAt(p.since(at), "found \"[]\", expected an address in it")
		return operand{}
	}
	if p.is(".unified") {
		m.end = uint32(p.off)
		m.meta |= hasField << metaOp
		p.next()
	}
	return m
}

// paren parses (a, b), or the cast (.u64)x. A single operand in parentheses is kept as a Paren, so
// that printing preserves it.
func (p *parser) paren() operand {
	start := p.start
	p.next()
	cast := uint8(0)
	switch {
	case p.is(".s64"):
		cast = opS64
	case p.is(".u64"):
		cast = opU64
	default:
		return p.list(Paren, tRParen, start)
	}
	if p.next(); p.kind != tRParen {
		p.unexpected("\")\" of the cast")
		return operand{}
	}
	return p.prefix(cast, uint32(start))
}

// list parses operands up to the closing bracket. The opening one, at offset start, is already
// consumed. The list may be empty; a comma before the closing bracket is an error.
func (p *parser) list(k OperandKind, end kind, start int) operand {
	base := len(p.stack)
	for p.kind != end {
		x := p.expr()
		if x.kind() == NoOperand {
			return x
		}
		p.stack = append(p.stack, x)
		if p.kind != tComma {
			break
		}
		p.next()
		if p.kind == end {
			p.unexpected("an operand after \",\"")
			return operand{}
		}
	}
	if len(p.stack)-base > maxParts {
		p.errorAt(p.span(), "found a list of %d operands, expected at most %d", len(p.stack)-base,
			maxParts)
		return operand{}
	}
	if !p.got(end) {
		p.unexpected("\",\" or " + quote(kindText[end]))
		return operand{}
	}
	first, n := p.unstack(base)
	return operand{uint32(start), uint32(p.prev.off), first, meta(k, 0, int(n))}
}
