package ptx

import (
	"io"
	"strconv"
)

// The layout: one statement per line, indented by a tab per block; one space after an opcode and
// after each comma; an empty line before each function with a body. Names, numbers and modifiers
// keep their spelling, so that a diff between the source and the printed text shows changes of
// layout only.

// Print writes f as PTX text in a fixed layout. Parsing the result gives an equal tree, and
// printing that tree gives the same text. Comments other than "// heddle" and the call sites behind
// a .loc are not in the tree, so they are lost. It returns the first error of w.
func Print(w io.Writer, f *File) error {
	p := &printer{}
	for i, d := range f.Decls {
		if fn, ok := d.(*Func); ok && i > 0 && fn.Body != nil {
			p.text("\n")
		}
		p.decl(d)
		if len(p.b) >= flushAt {
			if _, err := w.Write(p.b); err != nil {
				return err
			}
			p.b = p.b[:0]
		}
	}
	_, err := w.Write(p.b)
	return err
}

// dataPerLine is the number of values per line of a section.
const dataPerLine = 16

// flushAt is the number of bytes after which the printer writes its buffer.
const flushAt = 1 << 16

// printer collects text. depth is the indentation in tabs. Its methods cannot fail: only Print
// writes.
type printer struct {
	b     []byte
	depth int
}

// text appends strings.
func (p *printer) text(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
}

// int appends a decimal number.
func (p *printer) int(v int64) { p.b = strconv.AppendInt(p.b, v, 10) }

// indent appends the indentation of a line.
func (p *printer) indent() {
	for range p.depth {
		p.b = append(p.b, '\t')
	}
}

// decl prints a node at module level.
func (p *printer) decl(d Decl) {
	switch d := d.(type) {
	case *Func:
		p.function(d)
	case *Prototype:
		p.prototype(d)
	case *Loc:
		p.loc(d)
	default: // all others can also be in bodies
		p.node(d)
	}
}

// stmt prints a statement of a body.
func (p *printer) stmt(s Stmt) {
	switch s.Kind() {
	case StmtInst:
		p.inst(s.Inst())
	case StmtLabel:
		p.text(s.Label(), ":\n")
	case StmtLoc:
		l := s.Loc()
		p.loc(&l)
	case StmtNode:
		p.node(s.Node())
	}
}

// node prints a node that can be in a body.
func (p *printer) node(s Node) {
	switch s := s.(type) {
	case *Var:
		p.indent()
		p.variable(s)
		p.text(";\n")
	case *Block:
		p.block(s)
	case *Directive:
		p.indent()
		p.directive(s)
		p.text("\n")
	case *Comment:
		p.indent()
		p.text("// ", s.Text, "\n")
	case *Prototype:
		p.prototype(s)
	case *Section:
		p.section(s)
	case *FileDir:
		p.fileDir(s)
	}
}

// block prints a block, with its statements indented by one more level.
func (p *printer) block(b *Block) {
	p.indent()
	p.text("{\n")
	p.depth++
	for s := range b.Stmts() {
		p.stmt(s)
	}
	p.depth--
	p.indent()
	p.text("}\n")
}

// inst prints an instruction with its guard.
func (p *printer) inst(in Inst) {
	p.indent()
	if g, ok := in.Guard(); ok {
		p.text("@")
		if g.Neg {
			p.text("!")
		}
		p.text(g.Name, " ")
	}
	p.text(in.Text())
	if ops := in.Operands(); ops.Len() > 0 {
		p.text(" ")
		p.list(ops)
	}
	p.text(";\n")
}

// directive prints a directive without indentation and line end, since it can follow a header on
// its line.
func (p *printer) directive(d *Directive) {
	p.text(d.Name)
	if d.Args.Len() > 0 {
		p.text(" ")
		p.list(d.Args)
	}
	if directives[d.Name].semi {
		p.text(";")
	}
}

// fileDir prints a .file directive.
func (p *printer) fileDir(d *FileDir) {
	p.indent()
	p.text(".file ")
	p.int(d.Index)
	p.text(" ")
	p.b = appendQuoted(p.b, d.Name)
	for _, v := range d.Extra {
		p.text(", ")
		p.int(v)
	}
	p.text("\n")
}

// loc prints a .loc directive.
func (p *printer) loc(l *Loc) {
	p.indent()
	p.text(".loc")
	p.ints(l.File, l.Line, l.Col)
	if l.FuncName != "" {
		p.text(", function_name ", l.FuncName)
		if l.FuncOff != 0 {
			p.text("+")
			p.int(l.FuncOff)
		}
	}
	if l.Inlined {
		p.text(", inlined_at")
		p.ints(l.InFile, l.InLine, l.InCol)
	}
	if l.CallSites != "" {
		p.text(" // @[ ", l.CallSites, " ]")
	}
	p.text("\n")
}

// ints prints numbers, each after a space.
func (p *printer) ints(list ...int64) {
	for _, v := range list {
		p.text(" ")
		p.int(v)
	}
}

// section prints a section, which in its @@DWARF form is a list of lines.
func (p *printer) section(s *Section) {
	if s.DWARF {
		p.dwarf(s)
		return
	}
	p.indent()
	p.text(".section ", s.Name, "\n")
	p.indent()
	p.text("{\n")
	for i := range s.Data {
		p.item("\t", &s.Data[i], dataPerLine)
	}
	p.indent()
	p.text("}\n")
}

// dwarf prints the @@DWARF lines of a section.
func (p *printer) dwarf(s *Section) {
	if s.Name != "" {
		p.text("@@DWARF .section ", s.Name)
		if s.Flags != "" && s.Flags[0] != ',' {
			p.text(" ")
		}
		p.text(s.Flags, "\n")
	}
	for i := range s.Data {
		p.item("@@DWARF ", &s.Data[i], s.Data[i].Args.Len()) // one line is one item
	}
}

// item prints a label or data of a section. Each line starts with lead and has at most perLine
// values.
func (p *printer) item(lead string, it *SectionItem, perLine int) {
	if it.Label != "" {
		if lead == "\t" {
			lead = ""
		}
		p.text(lead, it.Label, ":\n")
		return
	}
	for i, x := range it.Args.All() {
		if i%perLine == 0 {
			p.text(lead, ".", it.Type, " ")
		}
		p.expr(x)
		if (i+1)%perLine == 0 || i+1 == it.Args.Len() {
			p.text("\n")
		} else {
			p.text(", ")
		}
	}
}
