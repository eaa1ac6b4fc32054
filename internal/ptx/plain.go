package ptx

import "strings"

// This file is a fast path. Nearly all statements of a module are instructions, labels and .loc
// lines in the plain form that compilers write: one per line, with operands that are names,
// numbers, addresses and vectors of these. They are read directly from the bytes, without splitting
// them into tokens. The general parser handles everything else, errors included, and builds the
// same tree for whatever both accept; TestPlain and the fuzz tests check that.
//
// A method that reads a part of the text from offset i returns the offset after it, or fail if it
// is not plain.

// fail is the offset that means "not plain".
const fail = -1

// maxPlain bounds the operands of a plain instruction, including the elements of vectors.
const maxPlain = 32

// plain reads consecutive plain statements from the current token, and reports whether there was at
// least one. The token after them becomes the current one.
func (p *parser) plain() bool {
	f := p.out
	at := place{p.start, p.line, p.lineStart}
	end := place{off: fail}
	for {
		stmts, ops := len(f.stmts), len(f.ops)
		i := fail
		switch c := p.src[at.off]; {
		case c == '.':
			i = p.plainLoc(at.off, at.line)
		case class[c]&cStart != 0 || c == '@':
			i = p.plainInst(at.off, at.line)
		}
		if i == fail {
			f.ops = f.ops[:ops]
			break
		}
		next := p.blanks(place{i, at.line, at.lineStart})
		if !p.endsPlain(f.stmts[stmts].kind, next.off) {
			f.stmts = f.stmts[:stmts]
			break
		}
		end, at = place{i, at.line, at.lineStart}, next
	}
	return p.resume(end)
}

// resume makes the token after the plain text that ends at end the current one. It returns false if
// there was no such text.
func (p *parser) resume(end place) bool {
	if end.off == fail {
		return false
	}
	p.off, p.line, p.lineStart = end.off, end.line, end.lineStart
	p.next()
	return true
}

// plainData reads consecutive plain lines of numbers of one width, such as ".b8", in a section, and
// reports whether there was at least one. It puts the numbers on the stack.
func (p *parser) plainData(width string) bool {
	at := place{p.start, p.line, p.lineStart}
	end := place{off: fail}
	for strings.HasPrefix(p.src[at.off:], width) {
		have := len(p.stack)
		i := p.plainNumbers(at.off + len(width))
		next := at
		if i != fail {
			next = p.blanks(place{i, at.line, at.lineStart})
		}
		if c := p.src[next.off]; i == fail || c != '.' && c != '}' && class[c]&cStart == 0 {
			p.stack = p.stack[:have]
			break
		}
		end, at = place{i, at.line, at.lineStart}, next
	}
	return p.resume(end)
}

// plainNumbers reads numbers separated by commas, after white space.
func (p *parser) plainNumbers(i int) int {
	for {
		j := i
		for class[p.src[j]]&cSpace != 0 {
			j++
		}
		if p.src[i-1] != ',' && j == i {
			return fail
		}
		var x operand
		if x, i = p.plainNumber(j); i == fail {
			return fail
		}
		p.stack = append(p.stack, x)
		if p.src[i] != ',' {
			break
		}
		i++
	}
	if c := p.src[i]; c != '\n' && class[c]&cSpace == 0 {
		return fail
	}
	return i
}

// blanks skips white space, line ends and comments that do not become nodes.
func (p *parser) blanks(at place) place {
	src, i := p.src, at.off
	for {
		switch c := src[i]; {
		case class[c]&cSpace != 0:
			i++
		case c == '\n':
			i++
			at.line++
			at.lineStart = i
		case c == '/' && src[i+1] == '/':
			j := i + 2
			for src[j] == ' ' || src[j] == '\t' {
				j++
			}
			n := strings.IndexByte(src[j:], '\n')
			if n < 0 || src[j] == commentMark[0] {
				at.off = i
				return at
			}
			i = j + n
		default:
			at.off = i
			return at
		}
	}
}

// endsPlain reports whether a statement of kind k is complete, given the offset i of the text after
// it: a label may start a prototype, and a .loc may continue on the next line.
func (p *parser) endsPlain(k StmtKind, i int) bool {
	if k == StmtInst {
		return true
	}
	switch p.src[i] {
	case ',', ';', '/', '#':
		return false
	case '.':
		return k == StmtLoc || !strings.HasPrefix(p.src[i:], ".callprototype")
	}
	return true
}

// plainLoc reads .loc file line column.
func (p *parser) plainLoc(i, line int) int {
	src := p.src
	if word(src, i)&0xffffffff != '.'|'l'<<8|'o'<<16|'c'<<24 {
		return fail
	}
	s := stmt{start: uint32(i), line: uint32(line), kind: StmtLoc}
	if s.a, i = p.plainPlace(i + 4); i == fail {
		return fail
	}
	if s.b, i = p.plainPlace(i); i == fail {
		return fail
	}
	if s.c, i = p.plainPlace(i); i == fail {
		return fail
	}
	if c := src[i]; c != '\n' && class[c]&cSpace == 0 {
		return fail
	}
	s.end = uint32(i)
	p.add(s)
	return i
}

// plainPlace reads white space and a number.
func (p *parser) plainPlace(i int) (uint32, int) {
	src, j := p.src, i
	for class[src[j]]&cSpace != 0 {
		j++
	}
	if j == i {
		return 0, fail
	}
	return p.plainInt(j)
}

// plainInt reads a decimal number of up to 9 digits, which fits in 32 bits.
func (p *parser) plainInt(i int) (uint32, int) {
	src, j := p.src, i
	v := uint32(0)
	for class[src[j]]&cDigit != 0 {
		v = 10*v + uint32(src[j]-'0')
		j++
	}
	if n := j - i; n == 0 || n > 9 || n > 1 && src[i] == '0' {
		return 0, fail
	}
	return v, j
}
