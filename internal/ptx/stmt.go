package ptx

import (
	"strings"

	"heddle/internal/source"
)

// flushComments moves the comments that were passed so far into the statements.
func (p *parser) flushComments() {
	for _, c := range p.comments {
		p.stmts = append(p.stmts, c)
	}
	p.comments = p.comments[:0]
}

// block parses { ... }. It returns nil only if there is no '{'.
func (p *parser) block() *Block {
	b := p.blocks.alloc()
	start, open := p.pos, p.span()
	if !p.want(tLBrace) {
		return nil
	}
	if !p.enter() {
		p.leave()
		p.recoverBlock()
		b.Sp = p.since(start)
		return b
	}
	base := len(p.stmts)
	for {
		if len(p.comments) > 0 {
			p.flushComments()
		}
		if p.kind == tRBrace {
			p.next()
			break
		}
		if p.kind == tEOF || p.kind == tDot && p.funcFollows() {
			p.errorAt(p.span(), "found %s, expected \"}\" that closes the block opened at %s", p.found(), open.Start)
			break
		}
		p.stmt()
	}
	p.leave()
	b.Sp = p.since(start)
	if n := len(p.stmts) - base; n > 0 {
		b.Stmts = make([]Stmt, n)
		copy(b.Stmts, p.stmts[base:])
	}
	p.stmts = p.stmts[:base]
	return b
}

// recoverBlock skips through the '}' of a block that was opened before the current token.
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

// stmt parses one statement and appends it to p.stmts. What is wrong it skips.
func (p *parser) stmt() {
	begin := p.start
	ok := false
	switch p.kind {
	case tIdent, tAt:
		ok = p.labelOrInst()
	case tDot:
		ok = p.dotStmt()
	case tLBrace:
		p.stmts = append(p.stmts, p.block())
		ok = true
	case tSemi: // an empty statement, as in "L: ;"
		p.next()
		ok = true
	case tDwarf:
		if s := p.dwarf(); s != nil {
			p.stmts = append(p.stmts, s)
			ok = true
		}
	default:
		p.unexpected("an instruction, a label or a directive")
	}
	if !ok {
		p.inInit = false
		if p.start == begin { // always make progress
			p.next()
		}
		p.recover()
	}
}

// labelOrInst parses "name:" or "@p opcode operands;".
func (p *parser) labelOrInst() bool {
	start := p.pos
	var guard *Guard
	if p.kind == tAt {
		p.next()
		guard = p.guards.alloc()
		guard.Neg = p.got(tBang)
		name, ok := p.ident("a predicate register after \"@\"")
		if !ok {
			return false
		}
		guard.Name = name
		guard.Span = p.since(start)
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
	in := p.insts.alloc()
	in.Guard = guard
	p.opcode(in)
	if !p.operandsOf(in) {
		return false
	}
	in.Sp = p.since(start)
	p.stmts = append(p.stmts, in)
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

// label parses name: and, if a prototype follows, that.
func (p *parser) label() bool {
	start := p.pos
	name := p.text()
	p.next()
	p.next() // the colon
	if p.is(".callprototype") {
		proto := p.prototype(name, start)
		if proto == nil {
			return false
		}
		p.stmts = append(p.stmts, proto)
		return true
	}
	l := p.labels.alloc()
	l.Name = name
	l.Sp = p.since(start)
	p.stmts = append(p.stmts, l)
	return true
}

// opcode takes the opcode at the current token with its modifiers.
func (p *parser) opcode(in *Inst) {
	start := p.pos
	end, h := opcodeEnd(p.src, p.start)
	text := p.src[p.start:end]
	p.off, p.endAt = end, p.at(end)
	p.next()
	if p.kind == tDot && !p.firstOnLine() { // modifiers after a blank
		parts := []string{text}
		for p.kind == tDot && !p.firstOnLine() {
			parts = append(parts, p.text())
			p.next()
		}
		text = strings.Join(parts, "")
		h = hash(text)
	}
	op := p.ops.get(text, h)
	in.Opcode, in.Mods = op.name, op.mods
	in.OpSpan = p.since(start)
}

// operandsOf parses the operands of an instruction and its ';'.
func (p *parser) operandsOf(in *Inst) bool {
	if p.got(tSemi) {
		return true
	}
	var buf [shortList]Operand
	list := buf[:0]
	for {
		if p.firstOnLine() && p.instFollows() {
			return p.endStmt("an operand or \";\"")
		}
		x := p.operand()
		if x == nil {
			return false
		}
		list = append(list, x)
		if p.kind != tComma {
			break
		}
		p.next()
	}
	in.Operands = p.operands.copy(list)
	return p.endStmt("\",\" or \";\"")
}

// instFollows reports whether the current token, the first of its line where an operand should be, rather
// begins a statement: a guard, a directive, or an opcode with an operand after a blank.
func (p *parser) instFollows() bool {
	switch p.kind {
	case tAt, tDot, tRBrace:
		return true
	case tIdent:
		i, _ := opcodeEnd(p.src, p.start)
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

// dotStmt parses a directive or a declaration of a function's body.
func (p *parser) dotStmt() bool {
	switch text := p.text(); {
	case text == ".loc":
		l := p.loc()
		if l == nil {
			return false
		}
		p.stmts = append(p.stmts, l)
	case text == ".section":
		s := p.section()
		if s == nil {
			return false
		}
		p.stmts = append(p.stmts, s)
	case text == ".file":
		f := p.fileDir()
		if f == nil {
			return false
		}
		p.stmts = append(p.stmts, f)
	case text == ".callprototype":
		p.errorAt(p.span(), "found \".callprototype\", expected a label before it")
		return false
	case spaceOf(text) != "" || linkage(text) != NoLinkage:
		v := p.variable()
		if v == nil {
			return false
		}
		p.stmts = append(p.stmts, v)
	default:
		d := p.directive(inBody)
		if d == nil {
			return false
		}
		p.stmts = append(p.stmts, d)
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

// loc parses .loc file line column {, function_name label{+n}, inlined_at file line column} (ISA 11.5.4).
func (p *parser) loc() *Loc {
	l := p.locs.alloc()
	start := p.pos
	p.next()
	if !p.places(&l.File, &l.Line, &l.Col) {
		return nil
	}
	for p.kind == tComma {
		p.next()
		switch {
		case p.is("function_name"):
			p.next()
			if !p.strLabel(l) {
				return nil
			}
		case p.is("inlined_at"):
			p.next()
			l.Inlined = true
			if !p.places(&l.InFile, &l.InLine, &l.InCol) {
				return nil
			}
		default:
			p.unexpected("\"function_name\" or \"inlined_at\"")
			return nil
		}
	}
	l.Sp = p.since(start)
	p.got(tSemi) // some writers end it
	return l
}

// places parses the three numbers of a place.
func (p *parser) places(file, line, col *int64) bool {
	return p.smallInt("a file index", file) && p.smallInt("a line number", line) && p.smallInt("a column", col)
}

// strLabel parses the label of a function's name in .debug_str, with its offset.
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
