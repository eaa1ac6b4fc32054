package ptx

import (
	"io"
	"strconv"
)

// Print writes f as PTX text in one fixed layout: parsing what it wrote gives an equal tree, and printing
// that the same text. Comments other than "// heddle" ones are not in the tree and so are gone.
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

// dataPerLine is the number of values in a line of a section.
const dataPerLine = 16

// flushAt is the size at which the printer hands on what it has.
const flushAt = 1 << 16

// printer collects text; depth is the indentation.
type printer struct {
	b     []byte
	depth int
}

func (p *printer) text(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
}

func (p *printer) int(v int64) { p.b = strconv.AppendInt(p.b, v, 10) }

// indent begins a line.
func (p *printer) indent() {
	for range p.depth {
		p.b = append(p.b, '\t')
	}
}

func (p *printer) decl(d Decl) {
	switch d := d.(type) {
	case *Func:
		p.function(d)
	case *Prototype:
		p.prototype(d)
	case *Loc:
		p.loc(d)
	default: // all others may stand in bodies too
		p.node(d)
	}
}

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
	p.text("\n")
}

func (p *printer) ints(list ...int64) {
	for _, v := range list {
		p.text(" ")
		p.int(v)
	}
}

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
