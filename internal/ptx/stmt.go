package ptx

import (
	"math"
	"strings"

	"heddle/internal/source"
)

// The grammar of the body of a function, as this file parses it (ISA 4.3, 9.1, 11.3, 11.5):
//
//	block     = "{" { statement } "}" .
//	statement = ";" | block | section | dwarf | label | guard instruction | instruction
//	          | loc | fileDir | declaration | directive .
//	label     = ident ":" [ ".callprototype" prototype ] .
//	guard     = "@" [ "!" ] ident .
//	instruction = opcode { modifier } [ operand { "," operand } ] ";" .
//	loc       = ".loc" int int int { "," "function_name" name [ "+" int ]
//	          | "," "inlined_at" int int int } [ ";" ] .
//
// A statement with an error is removed from the tree, and parsing continues after its ";". Since a
// missing ";" is the most frequent error, a line that clearly starts a statement also ends the one
// before it.

// flushComments adds the comments scanned so far as statements.
func (p *parser) flushComments() {
	for _, c := range p.comments {
		p.addNode(c)
	}
	p.comments = p.comments[:0]
}

// block parses { ... } with its statements. It returns nil only if there is no '{'. A function or
// module directive inside a block means that its '}' is missing: the block ends there.
func (p *parser) block() *Block {
	b := &Block{file: p.out}
	start, open := p.pos(), p.span()
	if !p.want(tLBrace) {
		return nil
	}
	b.first = uint32(len(p.out.stmts))
	b.end = b.first
	if !p.enter() {
		p.leave()
		p.recoverBlock()
		b.Sp = p.since(start)
		return b
	}
	for {
		if len(p.comments) > 0 {
			p.flushComments()
		}
		if p.kind == tRBrace {
			p.next()
			break
		}
		if p.kind == tEOF || p.kind == tDot && p.funcFollows() {
			p.errorAt(p.span(), "found %s, expected \"}\" that closes the block opened at %s", p.found(),
				open.Start)
			break
		}
		if !p.readPlain || !p.plain() {
			p.stmt()
		}
	}
	p.leave()
	b.Sp = p.since(start)
	b.end = uint32(len(p.out.stmts))
	return b
}

// nested parses a block inside a body.
func (p *parser) nested() {
	at := p.addNode(nil)
	b := p.block()
	s := &p.out.stmts[at]
	s.b = b.end
	p.out.nodes[s.a] = b
}

// recoverBlock skips through the '}' of a block that was opened before the current token, or up to
// a function if the '}' is missing.
func (p *parser) recoverBlock() {
	for depth := 1; depth > 0 && p.kind != tEOF; p.next() {
		switch p.kind {
		case tLBrace:
			depth++
		case tRBrace:
			depth--
		case tDot:
			if p.firstOnLine() && p.funcFollows() {
				return
			}
		}
	}
}

// stmt parses one statement, or reports an error and skips it. It always consumes at least one
// token, so that parsing terminates.
func (p *parser) stmt() {
	begin, before := p.start, p.mark()
	ok := false
	switch p.kind {
	case tIdent, tAt:
		ok = p.labelOrInst()
	case tDot:
		ok = p.dotStmt()
	case tLBrace:
		p.nested()
		ok = true
	case tSemi: // an empty statement, as in "L: ;"
		p.next()
		ok = true
	case tDwarf:
		if s := p.dwarf(); s != nil {
			p.addNode(s)
			ok = true
		}
	default:
		p.unexpected("an instruction, a label or a directive")
	}
	if !ok {
		p.reset(before)
		p.inInit = false
		if p.start == begin { // always make progress
			p.next()
		}
		p.recover()
	}
}

// labelOrInst parses "name:" or "@p opcode operands;".
func (p *parser) labelOrInst() bool {
	in := stmt{kind: StmtInst, start: uint32(p.start), line: uint32(p.line)}
	var guard operand
	if p.kind == tAt {
		p.next()
		in.guard = ifTrue
		if p.got(tBang) {
			in.guard = ifFalse
		}
		guard = p.token(Name, 0)
		if _, ok := p.ident("a predicate register after \"@\""); !ok {
			return false
		}
		if p.kind != tIdent {
			p.unexpected("an instruction after its guard")
			return false
		}
	} else if p.labelFollows() {
		return p.label()
	}
	if class[p.src[p.start]]&cStart == 0 {
		p.unexpected("an instruction, a label or a directive")
		return false
	}
	p.opcode(&in)
	if !p.operandsOf(&in, guard) {
		return false
	}
	in.end = uint32(p.prev.off)
	p.add(in)
	return true
}

// labelFollows reports whether the current identifier is followed by a colon.
func (p *parser) labelFollows() bool {
	i := p.off
	for class[p.src[i]]&cSpace != 0 {
		i++
	}
	return p.src[i] == ':' && p.src[i+1] != ':'
}

// label parses name: and, if a prototype follows, the prototype.
func (p *parser) label() bool {
	l := stmt{kind: StmtLabel, start: uint32(p.start), line: uint32(p.line), d: uint32(p.off)}
	start, name := p.pos(), p.text()
	p.next()
	p.next() // the colon
	if p.is(".callprototype") {
		proto := p.prototype(name, start)
		if proto == nil {
			return false
		}
		p.addNode(proto)
		return true
	}
	l.end = uint32(p.prev.off)
	p.add(l)
	return true
}

// opcode consumes the opcode at the current token with its modifiers.
func (p *parser) opcode(in *stmt) {
	in.c = uint32(p.start)
	end := opcodeEnd(p.src, p.start)
	text := p.src[p.start:end]
	p.off = end
	p.next()
	if p.kind == tDot && !p.firstOnLine() { // modifiers after white space
		parts := []string{text}
		for p.kind == tDot && !p.firstOnLine() {
			parts = append(parts, p.text())
			p.next()
		}
		text = strings.Join(parts, "")
	}
	in.a, in.d = p.ops.get(text), uint32(p.prev.off)
}

// operandsOf parses the operands of an instruction and its ';', and adds them to the tree after its
// guard.
func (p *parser) operandsOf(in *stmt, guard operand) bool {
	ok := true
	if !p.got(tSemi) {
		for {
			if p.firstOnLine() && p.instFollows() {
				ok = p.endStmt("an operand or \";\"")
				p.stack = p.stack[:0]
				break
			}
			x := p.operand()
			if x.kind() == NoOperand {
				return false
			}
			p.stack = append(p.stack, x)
			if p.kind == tComma {
				p.next()
				continue
			}
			ok = p.endStmt("\",\" or \";\"")
			break
		}
	}
	if len(p.stack) > maxOps {
		p.errorAt(p.span(), "found %d operands of one instruction, expected at most %d", len(p.stack),
			maxOps)
		return false
	}
	if in.guard != noGuard {
		p.out.ops = append(p.out.ops, guard)
	}
	first, n := p.unstack(0)
	in.b, in.n = first, uint16(n)
	return ok
}

// instFollows reports whether the current token, the first of its line where an operand is
// expected, starts a statement instead: a guard, a directive, or an opcode with an operand after
// white space. The ';' of the statement before it is then missing.
func (p *parser) instFollows() bool {
	switch p.kind {
	case tAt, tDot, tRBrace:
		return true
	case tIdent:
		i := opcodeEnd(p.src, p.start)
		if i == p.start || class[p.src[i]]&cSpace == 0 {
			return false
		}
		for class[p.src[i]]&cSpace != 0 {
			i++
		}
		c := p.src[i]
		return class[c]&cWord != 0 || c == '%' || c == '[' || c == '{'
	}
	return false
}

// dotStmt parses a directive or declaration in the body of a function.
func (p *parser) dotStmt() bool {
	switch text := p.text(); {
	case text == ".loc":
		s := stmt{kind: StmtLoc, start: uint32(p.start), line: uint32(p.line)}
		var l Loc
		if !p.loc(&l) {
			return false
		}
		s.end = uint32(p.prev.off)
		p.addLoc(s, &l)
		p.got(tSemi) // some compilers write one
	case text == ".section":
		s := p.section()
		if s == nil {
			return false
		}
		p.addNode(s)
	case text == ".file":
		f := p.fileDir()
		if f == nil {
			return false
		}
		p.addNode(f)
	case text == ".callprototype":
		p.errorAt(p.span(), "found \".callprototype\", expected a label before it")
		return false
	case spaceOf(text) != "" || linkage(text) != NoLinkage:
		v := p.variable()
		if v == nil {
			return false
		}
		p.addNode(v)
	default:
		d := p.directive(inBody)
		if d == nil {
			return false
		}
		p.addNode(d)
	}
	return true
}

// prototype parses .callprototype (ret) _ (params) directives ; after its label.
func (p *parser) prototype(name string, start source.Pos) *Prototype {
	d := &Prototype{Name: name}
	p.next()
	var ok bool
	if p.kind == tLParen {
		if d.Results, _, ok = p.params(); !ok {
			return nil
		}
	}
	if _, ok = p.ident("\"_\""); !ok {
		return nil
	}
	if p.kind == tLParen {
		if d.Params, d.Variadic, ok = p.params(); !ok {
			return nil
		}
	}
	if d.Dirs, ok = p.funcDirs(); !ok || !p.endStmt("\";\"") {
		return nil
	}
	d.Sp = p.since(start)
	return d
}

// loc parses .loc file line column {, function_name label{+n}, inlined_at file line column} (ISA
// 11.5.4). The attributes can be in any order.
func (p *parser) loc(l *Loc) bool {
	start := p.pos()
	p.next()
	if !p.places(&l.File, &l.Line, &l.Col) {
		return false
	}
	for p.kind == tComma {
		p.next()
		switch {
		case p.is("function_name"):
			p.next()
			if !p.strLabel(l) {
				return false
			}
		case p.is("inlined_at"):
			p.next()
			l.Inlined = true
			if !p.places(&l.InFile, &l.InLine, &l.InCol) {
				return false
			}
		default:
			p.unexpected("\"function_name\" or \"inlined_at\"")
			return false
		}
	}
	l.Sp = p.since(start)
	return true
}

// addLoc adds s as a statement with the contents of l.
func (p *parser) addLoc(s stmt, l *Loc) {
	if !l.Inlined && l.FuncName == "" && max(l.File, l.Line, l.Col) <= math.MaxUint32 {
		s.a, s.b, s.c = uint32(l.File), uint32(l.Line), uint32(l.Col)
	} else {
		p.out.locs = append(p.out.locs, *l)
		s.d = uint32(len(p.out.locs))
	}
	p.add(s)
}

// places parses the three numbers of a position.
func (p *parser) places(file, line, col *int64) bool {
	return p.smallInt("a file index", file) && p.smallInt("a line number", line) &&
		p.smallInt("a column", col)
}

// strLabel parses the label of the name of a function in .debug_str, with an optional offset.
func (p *parser) strLabel(l *Loc) bool {
	if p.kind != tIdent && p.kind != tDot {
		p.unexpected("a label of .debug_str")
		return false
	}
	l.FuncName = p.text()
	p.next()
	if p.got(tPlus) {
		return p.smallInt("an offset in .debug_str", &l.FuncOff)
	}
	return true
}
