package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/internal/source"
)

// Errors have the form "found X, expected Y" and the range of X. After an error the parser skips to
// the end of the statement or definition, so that one run reports all independent errors; rules
// that fail at the same token report it once.

// Limits of the parser, so that no text makes it, or a recursive walk over its tree, overflow the
// stack.
const (
	maxErrors = 50                 // per file
	maxNest   = 200                // nesting depth of blocks, brackets and unary operators
	maxChain  = 1000               // binary operators of one expression without parentheses
	maxOps    = 1<<16 - 1          // operands of one instruction
	maxText   = math.MaxUint32 - 1 // bytes
)

// Parse parses one PTX module: the textual grammar of PTX ISA 9.x, chapters 4, 5, 7 and 11. It
// accepts every opcode with every modifier; package isa knows which of them exist.
//
// It returns errors in the order of the text, up to a limit, and a tree of everything that parsed;
// statements with errors are omitted. Time and memory are linear in the length of the text.
func Parse(f *source.File) (*File, []*Error) { return parse(f, true) }

// parse is Parse with a switch for the fast path of plain.go, which does not affect the result.
func parse(f *source.File, plain bool) (*File, []*Error) {
	p := &parser{out: &File{Source: f}, readPlain: plain}
	if len(f.Content) > maxText {
		at := f.PosAt(0)
		p.errorAt(source.Span{Start: at, End: at}, "found %d bytes, expected a file of at most %d",
			len(f.Content), maxText)
		return p.out, p.errs
	}
	p.init(f)
	p.out.text = p.src
	p.reserve()
	p.next()
	p.module()
	p.out.words = p.ops.words
	return p.out, p.errs
}

// reserve allocates the large arrays at the size that typical text needs, so that they rarely grow:
// one statement per line, one operand per comma, and 1.25 operands per line.
func (p *parser) reserve() {
	f, lines := p.out, p.out.Source.NumLines()
	f.stmts = make([]stmt, 0, lines)
	f.ops = make([]operand, 0, strings.Count(p.src, ",")+lines+lines/4)
}

// parser is a recursive-descent parser with one token of lookahead. A method that parses a part of
// the grammar reports errors itself, and returns false (or nil) so that its callers return too, up
// to the statement, which recovers.
type parser struct {
	scanner
	out  *File
	errs []*Error

	nest   int  // depth of blocks and operands around the current token
	braces int  // open '{' of vectors and initialisers in the current statement
	inInit bool // in an initialiser, where 0xff(x) is a mask

	ops   opcodes   // seen so far
	stack []operand // operands of the lists being parsed

	vars  slab[Var]
	names slab[VarName]
	inits slab[Init]
	dirs  slab[Directive]

	readPlain bool              // use the fast path of plain.go
	pending   [maxPlain]operand // operands of the plain instruction being read
}

// add appends a statement to the tree.
func (p *parser) add(s stmt) { p.out.stmts = append(p.out.stmts, s) }

// addNode appends a statement that is a node, and returns its index.
func (p *parser) addNode(n Node) int {
	p.add(stmt{kind: StmtNode, a: uint32(len(p.out.nodes))})
	p.out.nodes = append(p.out.nodes, n)
	return len(p.out.stmts) - 1
}

// mark is the lengths of the arrays of the tree at some point, for reset.
type mark struct{ stmts, nodes, ops int }

// mark returns the current lengths, for a later reset.
func (p *parser) mark() mark {
	return mark{len(p.out.stmts), len(p.out.nodes), len(p.out.ops)}
}

// reset removes everything that was added to the tree since m. The statements of a function that
// does not parse thus leave no records behind.
func (p *parser) reset(m mark) {
	f := p.out
	f.stmts, f.nodes, f.ops = f.stmts[:m.stmts], f.nodes[:m.nodes], f.ops[:m.ops]
	p.stack = p.stack[:0]
}

// errorAt records an error. At the limit it skips to the end of the text.
func (p *parser) errorAt(span source.Span, format string, args ...any) {
	if len(p.errs) > maxErrors {
		return
	}
	if n := len(p.errs); n > 0 && p.errs[n-1].Span == span {
		return // two rules failed at the same token: the first message stands
	}
	if len(p.errs) == maxErrors {
		p.errs = append(p.errs, &Error{Span: span, Msg: "too many errors"})
		p.stop()
		return
	}
	p.errs = append(p.errs, &Error{Span: span, Msg: fmt.Sprintf(format, args...)})
}

// stop truncates the text at the current token, so that all loops of the parser see the end of the
// file.
func (p *parser) stop() {
	p.src, p.end, p.off, p.kind, p.comments = p.src[:p.start]+padding, p.start, p.start, tEOF, nil
}

// unexpected reports that the current token is not what was expected.
func (p *parser) unexpected(expected string) {
	p.errorAt(p.span(), "found %s, expected %s", p.found(), expected)
}

// found describes the current token for an error message: its text in quotes, or what is wrong with
// it.
func (p *parser) found() string {
	switch p.kind {
	case tEOF:
		return "end of file"
	case tBad:
		return p.bad
	}
	return quote(p.text())
}

// quote quotes text for a message and truncates it.
func quote(text string) string {
	const longest = 60
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strconv.Quote(text)
}

// is reports whether the current token is the identifier or dotted word.
func (p *parser) is(word string) bool {
	return (p.kind == tDot || p.kind == tIdent) && p.text() == word
}

// got consumes a token of kind k and reports whether there was one.
func (p *parser) got(k kind) bool {
	if p.kind != k {
		return false
	}
	p.next()
	return true
}

// want is got, and reports an error if there was no such token.
func (p *parser) want(k kind) bool {
	if p.got(k) {
		return true
	}
	p.unexpected(quote(kindText[k]))
	return false
}

// ident consumes an identifier. what describes it in the error message: "a name".
func (p *parser) ident(what string) (string, bool) {
	if p.kind != tIdent {
		p.unexpected(what)
		return "", false
	}
	s := p.text()
	p.next()
	return s, true
}

// since returns the range from start to the end of the last consumed token. The current token is
// not part of it.
func (p *parser) since(start source.Pos) source.Span {
	return source.Span{Start: start,
		End: source.MakePos(p.file, p.prev.line, p.prev.off-p.prev.lineStart+1)}
}

// enter enters a block or a nested operand, and reports whether the depth is within the limit.
// Every call needs a call of leave.
func (p *parser) enter() bool {
	p.nest++
	if p.nest <= maxNest {
		return true
	}
	p.errorAt(p.span(), "found %s nested more than %d levels deep, expected a simpler text", p.found(),
		maxNest)
	return false
}

// leave undoes enter.
func (p *parser) leave() { p.nest-- }

// endStmt consumes the ';' of a statement. If it is missing, it reports an error, and returns true
// if parsing can continue because the next line starts a statement.
func (p *parser) endStmt(expected string) bool {
	if p.got(tSemi) {
		return true
	}
	p.unexpected(expected)
	return p.kind == tRBrace || p.firstOnLine() &&
		(p.kind == tIdent || p.kind == tDot || p.kind == tAt)
}

// recover skips the rest of an invalid statement: through its ';', or up to a '}' or a directive at
// the start of a line. It skips braces that the statement opened.
func (p *parser) recover() {
	depth := p.braces
	p.braces = 0
	for {
		switch p.kind {
		case tEOF:
			return
		case tSemi:
			p.next()
			return
		case tLBrace:
			depth++
		case tRBrace:
			if depth == 0 || p.firstOnLine() {
				return
			}
			depth--
		case tDwarf:
			return
		case tDot:
			if p.firstOnLine() && startsStmt(p.text()) {
				return
			}
		}
		p.next()
	}
}
