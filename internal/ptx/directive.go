package ptx

// context is where a directive may be, as a set of bits.
type context uint8

const (
	atModule context = 1 << iota
	inHeader         // between a function's header and its body
	inBody
)

// String describes a single context for an error message.
func (c context) String() string {
	switch c {
	case atModule:
		return "a directive of the module"
	case inHeader:
		return "a directive of a function's header, \"{\" or \";\""
	}
	return "a directive of a function's body"
}

// argKind is the kind of the arguments of a directive.
type argKind uint8

const (
	noArgs  argKind = iota // none
	numbers                // constant expressions
	names                  // identifiers, or ranges N<5>
	strs                   // quoted strings
)

// dirInfo describes a directive that has no node type of its own.
type dirInfo struct {
	where context // one or more of its bits
	args  argKind
	max   int  // number of arguments; 0 for any number
	semi  bool // ends with ';'
}

// directives maps each of these directives to its description; the comments are sections of the
// ISA.
var directives = map[string]dirInfo{
	".version":              {where: atModule, args: numbers, max: 1},                      // 11.1.1
	".target":               {where: atModule, args: names},                                // 11.1.2
	".address_size":         {where: atModule, args: numbers, max: 1},                      // 11.1.3
	".alias":                {where: atModule, args: names, max: 2, semi: true},            // 11.2.3
	".branchtargets":        {where: inBody, args: names, semi: true},                      // 11.3.1
	".calltargets":          {where: inBody, args: names, semi: true},                      // 11.3.2
	".maxnreg":              {where: inHeader, args: numbers, max: 1},                      // 11.4.1
	".maxntid":              {where: inHeader, args: numbers, max: 3},                      // 11.4.2
	".reqntid":              {where: inHeader, args: numbers, max: 3},                      // 11.4.3
	".minnctapersm":         {where: inHeader, args: numbers, max: 1},                      // 11.4.4
	".maxnctapersm":         {where: inHeader, args: numbers, max: 1},                      // 11.4.5
	".noreturn":             {where: inHeader},                                             // 11.4.6
	".pragma":               {where: atModule | inHeader | inBody, args: strs, semi: true}, // 11.4.7
	".abi_preserve":         {where: inHeader, args: numbers, max: 1},                      // 11.4.8
	".abi_preserve_control": {where: inHeader, args: numbers, max: 1},                      // 11.4.9
	".reqnctapercluster":    {where: inHeader, args: numbers, max: 3},                      // 11.7.1
	".explicitcluster":      {where: inHeader},                                             // 11.7.2
	".maxclusterrank":       {where: inHeader, args: numbers, max: 1},                      // 11.7.3
	".blocksareclusters":    {where: inHeader},                                             // 11.8.1
}

// directive parses a directive of the table; nil after an error. A directive that is known but not
// allowed in this context is an error, whose message names the context.
func (p *parser) directive(where context) *Directive {
	name := p.text()
	info, known := directives[name]
	if !known || info.where&where == 0 {
		p.unexpected(where.String())
		return nil
	}
	d := p.dirs.alloc()
	d.Name = name
	start, line := p.pos(), p.line
	p.next()
	if info.args != noArgs {
		if !p.dirArgs(name, info) {
			return nil
		}
		d.Args = p.operands(0, line)
	}
	d.Sp = p.since(start)
	if info.semi {
		if !p.endStmt("\",\" or \";\"") {
			return nil
		}
		d.Sp = p.since(start)
	}
	return d
}

// dirArgs parses the arguments of a directive and leaves them on the stack.
func (p *parser) dirArgs(name string, info dirInfo) bool {
	for {
		at := p.span()
		a := p.dirArg(info.args)
		if a.kind() == NoOperand {
			return false
		}
		p.stack = append(p.stack, a)
		if n := len(p.stack); info.max > 0 && n > info.max {
			p.errorAt(at, "found %d arguments of %s, expected at most %d", n, name, info.max)
			return false
		}
		if !p.got(tComma) {
			return true
		}
	}
}

// dirArg parses one argument.
func (p *parser) dirArg(k argKind) operand {
	switch {
	case k == strs && p.kind == tString:
		return p.str()
	case k == strs:
		p.unexpected("a string")
		return operand{}
	case k == names && p.kind == tIdent:
		return p.nameOrRange()
	case k == names:
		p.unexpected("a name")
		return operand{}
	case p.kind == tDot || p.kind == tIdent && p.text() != "WARP_SZ":
		p.unexpected("a number")
		return operand{}
	}
	return p.expr()
}

// nameOrRange parses a name, or N<5> (ISA 11.3.1).
func (p *parser) nameOrRange() operand {
	n := p.token(Name, 0)
	p.next()
	if p.kind != tLt {
		return n
	}
	count := p.count()
	if count.kind() == NoOperand {
		return count
	}
	return p.compound(Range, 0, n.start, n, count)
}

// funcDirs parses the directives between the header of a function and its body.
func (p *parser) funcDirs() ([]*Directive, bool) {
	var list []*Directive
	for p.kind == tDot && !p.declFollows() {
		d := p.directive(inHeader)
		if d == nil {
			return nil, false
		}
		list = append(list, d)
	}
	return list, true
}

// fileDir parses .file index "name" {, timestamp, size} (ISA 11.5.3).
func (p *parser) fileDir() *FileDir {
	d := &FileDir{}
	start := p.pos()
	p.next()
	if !p.smallInt("a file index", &d.Index) {
		return nil
	}
	if p.kind != tString {
		p.unexpected("a file name in quotes")
		return nil
	}
	d.Name = unquote(p.text())
	p.next()
	for len(d.Extra) < 2 && p.got(tComma) {
		var v int64
		if !p.smallInt("a time stamp and a size", &v) {
			return nil
		}
		d.Extra = append(d.Extra, v)
	}
	d.Sp = p.since(start)
	p.got(tSemi)
	return d
}
