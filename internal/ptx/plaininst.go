package ptx

import "strings"

// plainInst reads an instruction or a label. The opcode must be one that the general parser has
// seen before, which decides whether it is valid: the first instruction of each spelling takes the
// slow path. On failure it may leave operands behind, which plain removes.
func (p *parser) plainInst(i, line int) int {
	src := p.src
	s := stmt{start: uint32(i), line: uint32(line), kind: StmtInst}
	var guard operand
	if src[i] == '@' {
		s.guard = ifTrue
		if i++; src[i] == '!' {
			s.guard = ifFalse
			i++
		}
		if guard, i = p.plainName(i); i == fail || guard.op() != 0 || class[src[i]]&cSpace == 0 {
			return fail
		}
		for class[src[i]]&cSpace != 0 {
			i++
		}
		if class[src[i]]&cStart == 0 {
			return fail
		}
	}
	start := i
	for {
		for class[src[i]]&cOpcode != 0 {
			i++
		}
		if src[i] != ':' || src[i+1] != ':' {
			break
		}
		i += 2
	}
	if src[i] == ':' {
		return p.plainLabel(s, i)
	}
	w, known := p.ops.find(src[start:i], hash(src, start, i))
	if !known {
		return fail // the general parser decides whether it is one
	}
	s.a, s.c, s.d = w, uint32(start), uint32(i)
	n := 0
	if i, n = p.plainOperands(i); i == fail {
		return fail
	}
	f := p.out
	if s.guard != noGuard {
		f.ops = append(f.ops, guard)
	}
	s.b, s.n, s.end = uint32(len(f.ops)), uint16(n), uint32(i)
	for k := range n {
		f.ops = append(f.ops, p.pending[k])
	}
	f.stmts = append(f.stmts, s)
	return i
}

// plainLabel reads the word of s as a label; i is the offset of its colon.
func (p *parser) plainLabel(s stmt, i int) int {
	if s.guard != noGuard || strings.IndexByte(p.src[s.start:i], '.') >= 0 ||
		strings.IndexByte(p.src[s.start:i], ':') >= 0 {
		return fail
	}
	s.kind, s.d, s.end = StmtLabel, uint32(i), uint32(i+1)
	p.add(s)
	return i + 1
}

// plainOperands reads operands and a ';'. It leaves n operands in p.pending.
func (p *parser) plainOperands(i int) (end, n int) {
	src := p.src
	for class[src[i]]&cSpace != 0 {
		i++
	}
	if src[i] == ';' {
		return i + 1, 0
	}
	for n < maxPlain {
		if p.pending[n], i = p.plainOperand(i, n); i == fail {
			return fail, 0
		}
		n++
		for class[src[i]]&cSpace != 0 {
			i++
		}
		switch src[i] {
		case ';':
			return i + 1, n
		case ',':
			i++
		default:
			return fail, 0
		}
		for class[src[i]]&cSpace != 0 {
			i++
		}
	}
	return fail, 0
}

// plainOperand reads one operand; n operands are already pending.
func (p *parser) plainOperand(i, n int) (operand, int) {
	switch p.src[i] {
	case '[':
		return p.plainMem(i)
	case '{':
		return p.plainVector(i, n)
	case '!':
		x, j := p.plainName(i + 1)
		if j == fail {
			return x, fail
		}
		p.part(x)
		return p.plainCompound(Unary, uint8(tBang), i, j, 1), j
	}
	x, j := p.plainLeaf(i)
	if j == fail || p.src[j] != '|' || p.src[i] != '%' {
		return x, j
	}
	y, j := p.plainName(j + 1)
	if j == fail {
		return x, fail
	}
	p.part(x)
	p.part(y)
	return p.plainCompound(Pair, 0, i, j, 2), j
}

// plainCompound returns an operand whose n parts are the last ones in the tree.
func (p *parser) plainCompound(k OperandKind, op uint8, start, end, n int) operand {
	return operand{uint32(start), uint32(end), uint32(len(p.out.ops) - n), meta(k, op, n)}
}

// part adds a part of an operand to the tree.
func (p *parser) part(x operand) { p.out.ops = append(p.out.ops, x) }

// plainLeaf reads a name or a number with an optional minus sign.
func (p *parser) plainLeaf(i int) (operand, int) {
	switch c := p.src[i]; {
	case c == '-':
		x, j := p.plainNumber(i + 1)
		if j == fail {
			return x, fail
		}
		p.part(x)
		return p.plainCompound(Unary, uint8(tMinus), i, j, 1), j
	case class[c]&cDigit != 0:
		return p.plainNumber(i)
	}
	return p.plainName(i)
}

// plainName reads a name with its component.
func (p *parser) plainName(i int) (operand, int) {
	src, j := p.src, i
	if src[j] == '%' {
		j++
	} else if class[src[j]]&cStart == 0 {
		return operand{}, fail
	}
	k := j
	for class[src[j]]&cWord != 0 {
		j++
	}
	if j == k {
		return operand{}, fail
	}
	flags := uint8(0)
	if src[j] == '.' {
		if class[src[j+1]]&cStart == 0 {
			return operand{}, fail
		}
		for j++; class[src[j]]&cWord != 0; j++ {
		}
		flags = hasField
	}
	return operand{start: uint32(i), end: uint32(j), meta: meta(Name, flags, 0)}, j
}

// plainNumber reads a decimal integer, or a float in its hexadecimal form.
func (p *parser) plainNumber(i int) (operand, int) {
	src := p.src
	if src[i] == '0' && class[src[i+1]]&cStart != 0 {
		digits := 8
		switch src[i+1] {
		case 'f', 'F':
		case 'd', 'D':
			digits = 16
		default:
			return operand{}, fail
		}
		j := i + 2
		for class[src[j]]&cHex != 0 {
			j++
		}
		if j-i-2 != digits {
			return operand{}, fail
		}
		return operand{start: uint32(i), end: uint32(j), meta: meta(Float, 0, 0)}, j
	}
	v, j := p.plainInt(i)
	return operand{start: uint32(i), end: uint32(j), val: v, meta: meta(Int, 0, 0)}, j
}

// plainMem reads [name], [name+n], [name+-n] or [name-n].
func (p *parser) plainMem(i int) (operand, int) {
	src := p.src
	x, j := p.plainName(i + 1)
	if j == fail {
		return x, fail
	}
	if c := src[j]; c == '+' || c == '-' {
		k := j
		var y operand
		if y, j = p.plainLeaf(j + 1); j == fail || y.kind() == Name {
			return x, fail
		}
		op := uint8(tPlus)
		if src[k] == '-' {
			op = uint8(tMinus)
		}
		p.part(x)
		p.part(y)
		x = p.plainCompound(Binary, op, i+1, j, 2)
	}
	if src[j] != ']' {
		return x, fail
	}
	p.part(x)
	return p.plainCompound(Mem, 0, i, j+1, 1), j + 1
}

// plainVector reads {a, b}; n operands before it are pending.
func (p *parser) plainVector(i, n int) (operand, int) {
	src, j, m := p.src, i, n
	for {
		for j++; class[src[j]]&cSpace != 0; j++ {
		}
		if m == maxPlain {
			return operand{}, fail
		}
		if p.pending[m], j = p.plainLeaf(j); j == fail {
			return operand{}, fail
		}
		m++
		for class[src[j]]&cSpace != 0 {
			j++
		}
		if src[j] == '}' {
			break
		}
		if src[j] != ',' {
			return operand{}, fail
		}
	}
	for k := n; k < m; k++ {
		p.part(p.pending[k])
	}
	return p.plainCompound(Vector, 0, i, j+1, m-n), j + 1
}
