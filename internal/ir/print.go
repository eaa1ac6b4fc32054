package ir

import (
	"fmt"
	"strings"

	"heddle/internal/isa"
	"heddle/internal/source"
)

// String prints f for people: its parameters and variables, and each block with its edges and
// instructions. The form is not meant to be read back.
func (f *Func) String() string {
	var p printer
	p.fn(f)
	return p.String()
}

// String returns the instruction in PTX syntax, without register names: see Func.Format.
func (in *Instr) String() string {
	var p printer
	p.instr(in)
	return p.String()
}

// Format returns the instruction in PTX syntax.
func (f *Func) Format(in *Instr) string {
	p := printer{f: f}
	p.instr(in)
	return p.String()
}

// FormatParts returns the destinations of an instruction and the rest of it without its guard, with
// the registers named as name says: "%r1" and "add.s32 %r2, 1".
func (f *Func) FormatParts(in *Instr, name func(RegID) string) (dst, rest string) {
	d, r := printer{f: f, name: name}, printer{f: f, name: name}
	if in.IsCall() {
		unguarded := *in
		unguarded.Guard = NoReg
		r.instr(&unguarded)
		return "", r.String()
	}
	d.list(in.Dst)
	unguarded := *in
	unguarded.Guard, unguarded.Dst = NoReg, nil
	r.instr(&unguarded)
	return d.String(), r.String()
}

// printer writes IR as text. f may be nil; registers are then numbers.
type printer struct {
	strings.Builder
	f    *Func
	name func(RegID) string // of registers; nil: as they are declared
}

// fn writes a function: a line for each variable, then its blocks.
func (p *printer) fn(f *Func) {
	p.f = f
	kind := "func"
	if f.Kernel {
		kind = "kernel"
	}
	fmt.Fprintf(p, "%s %s", kind, f.Name)
	if f.Demangled != "" && f.Demangled != f.Name {
		fmt.Fprintf(p, " \"%s\"", f.Demangled)
	}
	p.WriteByte('\n')
	for _, group := range []struct {
		name string
		vars []*Var
	}{{"param", f.Params}, {"result", f.Results}, {"var", f.Vars}} {
		for _, v := range group.vars {
			fmt.Fprintf(p, "  %s ", group.name)
			p.variable(v)
			p.WriteByte('\n')
		}
	}
	for _, b := range f.Blocks {
		p.block(b)
	}
}

// variable writes the layout of a variable and the inferred pointers in it.
func (p *printer) variable(v *Var) {
	if v.InReg {
		fmt.Fprintf(p, "%s .reg.%s", v.Name, v.Type)
		return
	}
	fmt.Fprintf(p, "%s .%s.%s size %d align %d at %d", v.Name, v.Space, v.Type, v.Size, v.Align,
		v.Offset)
	if v.Pointer {
		p.WriteString(" pointer")
	}
	if len(v.PtrFields) > 0 {
		fmt.Fprintf(p, " pointers at %v", v.PtrFields)
	}
}

// block writes a block with its predecessors, its instructions with their source positions, and its
// successors.
func (p *printer) block(b *Block) {
	fmt.Fprintf(p, "b%d", b.ID)
	if b.Label != "" {
		fmt.Fprintf(p, " %s", b.Label)
	}
	p.WriteString(":")
	if len(b.Preds) > 0 {
		p.WriteString(" <-")
		for _, s := range b.Preds {
			fmt.Fprintf(p, " b%d", s)
		}
	}
	p.WriteByte('\n')
	for _, in := range b.Instrs {
		fmt.Fprintf(p, "  %3d  ", in.Index)
		p.instr(in)
		if in.Loc != nil && p.f.Module != nil {
			p.WriteString("  ; ")
			p.frames(p.f.Module.Files, in.Loc)
		}
		p.WriteByte('\n')
	}
	if len(b.Succs) > 0 {
		p.WriteString("       ->")
		for _, s := range b.Succs {
			fmt.Fprintf(p, " b%d", s)
		}
		p.WriteByte('\n')
	}
}

// frames writes an inline stack, innermost first.
func (p *printer) frames(files *source.Set, f *source.Frame) {
	for sep := ""; f != nil; f, sep = f.Parent, " < " {
		p.WriteString(sep)
		if files != nil {
			p.WriteString(files.Format(f.Pos))
		} else {
			p.WriteString(f.Pos.String())
		}
	}
}

// instr writes an instruction as PTX has it, with blocks in the place of labels.
func (p *printer) instr(in *Instr) {
	if in.Guard != NoReg {
		p.WriteByte('@')
		if in.Neg {
			p.WriteByte('!')
		}
		p.reg(in.Guard)
		p.WriteByte(' ')
	}
	word, _, _ := strings.Cut(in.Op(), ".")
	p.WriteString(word)
	for _, m := range in.Mods {
		p.WriteString("." + m)
	}
	if in.IsCall() {
		p.call(in)
		return
	}
	sep := " "
	for _, group := range [][]Operand{in.Dst, in.Src} {
		for i := range group {
			p.WriteString(sep)
			p.operand(&group[i])
			sep = ", "
		}
	}
}

// call writes "(results), target, (arguments)".
func (p *printer) call(in *Instr) {
	p.WriteByte(' ')
	if len(in.Dst) > 0 {
		p.WriteByte('(')
		p.list(in.Dst)
		p.WriteString("), ")
	}
	args := in.Src
	switch {
	case in.Callee != nil:
		p.WriteString(in.Callee.Name)
	case len(args) > 0:
		p.operand(&args[0])
		args = args[1:]
	}
	if len(args) > 0 {
		p.WriteString(", (")
		p.list(args)
		p.WriteByte(')')
	}
}

// operand writes one operand. Small immediates are decimal, others hexadecimal: they are bits and
// may be floats or masks.
func (p *printer) operand(o *Operand) {
	switch {
	case o.Neg && p.f != nil && o.Kind == Register && p.f.Regs[o.Reg].Type != isa.Pred: // vmad
		p.WriteByte('-')
	case o.Neg:
		p.WriteByte('!')
	}
	switch o.Kind {
	case None:
		p.WriteByte('_')
	case Register:
		p.reg(o.Reg)
		if s := o.Selector(); s != "" {
			p.WriteString("." + s)
		}
	case Imm:
		if o.Val < 1<<16 {
			fmt.Fprintf(p, "%d", o.Val)
		} else {
			fmt.Fprintf(p, "%#x", o.Val)
		}
	case Special:
		p.WriteString(o.Sreg.String())
		if o.Sreg == EnvReg || o.Sreg == PM || o.Sreg == ReservedSmemOffset {
			fmt.Fprintf(p, "%d", o.Val)
		}
	case Mem:
		p.mem(o)
	case VarAddr, VarVal:
		p.WriteString(o.Var.Name)
		p.offset(o.Val)
	case FuncAddr:
		p.WriteString(o.Func.Name)
	case Vector:
		p.WriteByte('{')
		p.list(o.Elems)
		p.WriteByte('}')
	case BranchTo:
		fmt.Fprintf(p, "b%d", o.Block)
	}
}

// list writes operands with commas between them.
func (p *printer) list(ops []Operand) {
	for i := range ops {
		if i > 0 {
			p.WriteString(", ")
		}
		p.operand(&ops[i])
	}
}

// mem writes an address in brackets.
func (p *printer) mem(o *Operand) {
	p.WriteByte('[')
	switch {
	case o.Var != nil:
		p.WriteString(o.Var.Name)
		p.offset(o.Val)
	case o.Reg != NoReg:
		p.reg(o.Reg)
		p.offset(o.Val)
	default:
		fmt.Fprintf(p, "%d", o.Val)
	}
	if len(o.Elems) > 0 {
		p.WriteString(", ")
		p.list(o.Elems)
	}
	p.WriteByte(']')
}

// offset writes a byte offset with its sign; nothing for 0.
func (p *printer) offset(v uint64) {
	if v != 0 {
		fmt.Fprintf(p, "%+d", int64(v))
	}
}

// reg writes a register's name, or its number if the function is unknown.
func (p *printer) reg(r RegID) {
	switch {
	case r == NoReg:
		p.WriteString("%none")
	case p.name != nil:
		p.WriteString(p.name(r))
	case p.f != nil && int(r) < len(p.f.Regs):
		p.WriteString(p.f.Regs[r].Name)
	default:
		fmt.Fprintf(p, "%%%d", r)
	}
}
