package ptx

// The grammar of a module (ISA 4.1 and chapter 11):
//
//	module = { ";" | directive | fileDir | section | dwarf | loc | prototype | function
//	       | declaration } .
//
// Every definition that does not parse is skipped as a unit, a function with its body, so that one
// error does not cause others further down.

// module parses the directives and definitions of the file up to its end. Stray semicolons between
// them are ignored.
func (p *parser) module() {
	for {
		for _, c := range p.comments {
			p.out.Decls = append(p.out.Decls, c)
		}
		p.comments = p.comments[:0]
		if p.kind == tEOF {
			return
		}
		if p.got(tSemi) {
			continue
		}
		begin, before := p.start, p.mark()
		if d := p.decl(); d != nil {
			p.out.Decls = append(p.out.Decls, d)
			continue
		}
		p.reset(before)
		p.inInit, p.nest = false, 0
		if p.start == begin {
			p.next()
		}
		p.recoverDecl()
	}
}

// recoverDecl skips the rest of an invalid definition: through its ';' or its block, or up to a
// directive at the start of a line. It takes the braces of an open initialiser into account.
func (p *parser) recoverDecl() {
	braces := p.braces
	p.braces = 0
	for ; p.kind != tEOF && p.kind != tDwarf; p.next() {
		switch p.kind {
		case tSemi:
			p.next()
			return
		case tLBrace:
			p.next()
			p.recoverBlock()
			return
		case tRBrace:
			if braces == 0 {
				p.next()
				return
			}
			braces--
		case tDot:
			if p.firstOnLine() && startsStmt(p.text()) {
				return
			}
		}
	}
}

// decl parses one directive or definition; nil after an error, which has been reported.
func (p *parser) decl() Decl {
	switch p.kind {
	case tDwarf:
		if s := p.dwarf(); s != nil {
			return s
		}
		return nil
	case tIdent:
		if p.labelFollows() {
			return p.moduleLabel()
		}
	case tDot:
		return p.dotDecl()
	}
	p.unexpected("a directive")
	return nil
}

// moduleLabel parses a label with a prototype at module level, where compilers put the types of
// indirect calls that several functions share.
func (p *parser) moduleLabel() Decl {
	start, name := p.pos(), p.text()
	p.next()
	p.next() // the colon
	if !p.is(".callprototype") {
		p.unexpected("\".callprototype\" after a label outside of functions")
		return nil
	}
	if d := p.prototype(name, start); d != nil {
		return d
	}
	return nil
}

// dotDecl parses a directive or definition that starts with a dotted word.
func (p *parser) dotDecl() Decl {
	switch text := p.text(); {
	case text == ".file":
		if d := p.fileDir(); d != nil {
			return d
		}
	case text == ".section":
		if d := p.section(); d != nil {
			return d
		}
	case text == ".loc":
		d := &Loc{}
		if p.loc(d) {
			p.got(tSemi)
			return d
		}
	case p.funcFollows() && (text == ".entry" || text == ".func" || linkage(text) != NoLinkage):
		if d := p.function(); d != nil {
			return d
		}
	case linkage(text) != NoLinkage || spaceOf(text) != "":
		if d := p.variable(); d != nil {
			return d
		}
	default:
		if d := p.directive(atModule); d != nil {
			return d
		}
	}
	return nil
}

// linkage returns the linkage that a directive specifies (ISA 11.6).
func linkage(text string) Linkage {
	switch text {
	case ".visible":
		return Visible
	case ".extern":
		return Extern
	case ".weak":
		return Weak
	case ".common":
		return Common
	}
	return NoLinkage
}

// funcFollows reports whether the current directive starts something that exists only outside of
// functions: a function, or a directive of the module.
func (p *parser) funcFollows() bool {
	text := p.text()
	switch text {
	case ".entry", ".func", ".version", ".target", ".address_size", ".alias":
		return true
	}
	if linkage(text) == NoLinkage {
		return false
	}
	i := p.off
	for class[p.src[i]]&cSpace != 0 || p.src[i] == '\n' {
		i++
	}
	word := p.src[i:modEndOr(p.src, i)]
	return word == ".entry" || word == ".func"
}

// modEndOr is modEnd for an offset at which there may be no dotted word.
func modEndOr(src string, i int) int {
	if src[i] != '.' {
		return i
	}
	return modEnd(src, i)
}

// startsStmt reports whether a dotted word starts a statement or definition.
func startsStmt(text string) bool {
	switch text {
	case ".loc", ".file", ".section", ".entry", ".func", ".callprototype":
		return true
	}
	_, known := directives[text]
	return known || linkage(text) != NoLinkage || spaceOf(text) != ""
}
