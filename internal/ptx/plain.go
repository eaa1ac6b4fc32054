package ptx

import "strings"

// Nearly all statements of a module are instructions, labels and .loc lines in the plain form that compilers
// write: one line each, operands that are names, numbers, addresses and vectors of these. They are read
// here straight from the bytes, without cutting tokens first. What is not plain, or wrong, is left to the
// parser proper, which makes the same tree of whatever both can read.
//
// A method that reads a piece of the text from offset i returns the offset after it; fail if it is not plain.

const fail = -1

// maxPlain is the number of operands of a plain instruction, those of vectors included.
const maxPlain = 32

// plain reads statements from the current token on, as far as they are plain, and reports whether there was
// one. The token after them becomes the current one.
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

// resume makes the token after the plain text that ends at end the current one; false if there was none.
func (p *parser) resume(end place) bool {
	if end.off == fail {
		return false
	}
	p.off, p.line, p.lineStart = end.off, end.line, end.lineStart
	p.next()
	return true
}

// plainData reads lines of numbers of a width, which is ".b8" for example, in a section, from the current token
// on, as far as they are plain, and reports whether there was one. The numbers go to the stack.
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

// plainNumbers reads blanks, and numbers with commas between them.
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

// blanks passes blanks, line ends and comments that do not become nodes.
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

// endsPlain reports whether a statement ends before offset i, after the blanks that follow it: a label may
// begin a prototype, and a .loc may go on in the next line.
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

// plainPlace reads blanks and a number.
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

// plainInt reads a decimal number of up to 9 digits.
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
