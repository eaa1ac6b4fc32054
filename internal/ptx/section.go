package ptx

import "strings"

// The grammar of debug sections (ISA 11.5.1 and 11.5.2):
//
//	section = ".section" name "{" { label ":" | width expr { "," expr } } "}" .
//	width   = ".b8" | ".b16" | ".b32" | ".b64" .
//	dwarf   = "@@DWARF" ".section" name rest { "@@DWARF" ( label ":" | data ) } .
//	data    = ( ".byte" | ".2byte" | ".4byte" | ".quad" ) expr { "," expr } .
//
// The @@DWARF form is of PTX 1.x; each of its lines is complete in itself.

// section parses .section name { lines } (ISA 11.5.2). It does not interpret the data.
func (p *parser) section() *Section {
	s := &Section{}
	start := p.pos()
	p.next()
	if p.kind != tDot && p.kind != tIdent {
		p.unexpected("the name of a section")
		return nil
	}
	s.Name = p.text()
	p.next()
	if !p.want(tLBrace) {
		return nil
	}
	for p.kind != tRBrace {
		if p.kind == tEOF || !p.sectionItem(s) {
			p.unexpected("data, a label or \"}\" in a section")
			p.recoverBlock()
			return nil
		}
	}
	p.next()
	s.Sp = p.since(start)
	return s
}

// sectionItem parses a label, or consecutive lines of data of one width.
func (p *parser) sectionItem(s *Section) bool {
	item := SectionItem{}
	start := p.pos()
	switch {
	case p.kind == tIdent && p.labelFollows():
		item.Label = p.text()
		p.next()
		p.next()
	case p.kind == tDot && isData(p.text()):
		item.Type = p.text()[1:]
		at := p.line
		for p.kind == tDot && p.text()[1:] == item.Type {
			if p.readPlain && p.plainData("."+item.Type) {
				continue
			}
			p.next()
			if !p.sectionData() {
				return false
			}
		}
		item.Args = p.operands(0, at)
	default:
		return false
	}
	item.Span = p.since(start)
	s.Data = append(s.Data, item)
	return true
}

// isData reports whether text starts a line of data.
func isData(text string) bool {
	return text == ".b8" || text == ".b16" || text == ".b32" || text == ".b64"
}

// sectionData parses the values of a line and leaves them on the stack.
func (p *parser) sectionData() bool {
	for {
		x := p.expr()
		if x.kind() == NoOperand {
			return false
		}
		p.stack = append(p.stack, x)
		if !p.got(tComma) {
			return true
		}
	}
}

// dwarf parses the @@DWARF lines of one section (ISA 11.5.1). The next @@DWARF .section line starts
// another section.
func (p *parser) dwarf() *Section {
	s := &Section{DWARF: true}
	start := p.pos()
	for first := true; p.kind == tDwarf; first = false {
		i := p.off
		for class[p.src[i]]&cSpace != 0 {
			i++
		}
		begins := strings.HasPrefix(p.src[i:], ".section")
		if begins && !first {
			break // the next section
		}
		p.next()
		if first && !begins {
			p.unexpected("\".section\" before the data of a section")
			return nil
		}
		if begins && !p.dwarfSection(s) || !begins && !p.dwarfItem(s) {
			return nil
		}
	}
	s.Sp = p.since(start)
	return s
}

// dwarfSection parses .section name and keeps the rest of the line as text.
func (p *parser) dwarfSection(s *Section) bool {
	p.next()
	if p.kind != tDot && p.kind != tIdent {
		p.unexpected("the name of a section")
		return false
	}
	s.Name = p.text()
	end := p.lineEnd(p.off)
	flags := p.src[p.off:end]
	if i := strings.Index(flags, "//"); i >= 0 {
		flags = flags[:i]
	}
	s.Flags = strings.TrimSpace(flags)
	p.off += len(flags)
	p.next()
	return true
}

// dwarfItem parses one line of data or a label; the line break ends it.
func (p *parser) dwarfItem(s *Section) bool {
	item := SectionItem{}
	line := p.line
	start := p.pos()
	switch {
	case p.kind == tIdent && p.labelFollows():
		item.Label = p.text()
		p.next()
		p.next()
	case p.is(".byte"), p.is(".quad"), p.kind == tFloat &&
		(p.text() == ".4byte" || p.text() == ".2byte"):
		item.Type = p.text()[1:]
		p.next()
		if p.line != line || !p.sectionData() {
			p.unexpected("data")
			return false
		}
		item.Args = p.operands(0, line)
	default:
		p.unexpected("\".byte\", \".4byte\", \".quad\", a label or \".section\"")
		return false
	}
	item.Span = p.since(start)
	s.Data = append(s.Data, item)
	return true
}
