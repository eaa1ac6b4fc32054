// Package irtest builds functions of the IR in tests:
//
//	f := irtest.Fun("k",
//		irtest.Regs("a u32", "b u32", "p pred"),
//		irtest.Block("entry",
//			irtest.Op("setp.lt.u32", "p", "a", 3),
//			irtest.If("p", "exit")),
//		irtest.Block("then", irtest.Op("add.u32", "b", "a", "b"), irtest.Goto("exit")),
//		irtest.Block("exit", irtest.Op("ret")))
//
// Mistakes panic: whoever calls it is a test. What it builds passes ir.Check.
package irtest

import (
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// Part is a part of a function: Regs, Param, Shared or Block.
type Part func(*builder)

// Stmt is an instruction of a block.
type Stmt func(*builder) *ir.Instr

type builder struct {
	f      *ir.Func
	regs   map[string]ir.RegID
	vars   map[string]*ir.Var
	labels map[string]ir.BlockID
	bodies []func()
	line   int
}

// Fun builds a kernel of a module of its own. The first block is the entry.
func Fun(name string, parts ...Part) *ir.Func {
	b := &builder{
		f:      &ir.Func{Module: &ir.Module{Files: source.NewSet(), AddressSize: 64}, Name: name, Demangled: name, Kernel: true},
		regs:   make(map[string]ir.RegID),
		vars:   make(map[string]*ir.Var),
		labels: make(map[string]ir.BlockID),
	}
	b.f.Module.Funcs = []*ir.Func{b.f}
	b.f.Span = b.span()
	for _, p := range parts {
		p(b)
	}
	for _, body := range b.bodies { // now every label has its block
		body()
	}
	for _, blk := range b.f.Blocks {
		if t := blk.Terminator(); t != nil {
			for _, o := range t.Src {
				if o.Kind == ir.BranchTo {
					blk.Succs = append(blk.Succs, o.Block)
				}
			}
		}
		if blk.Terminator() == nil || blk.Terminator().Guard != ir.NoReg {
			if int(blk.ID)+1 == len(b.f.Blocks) {
				panic(fmt.Sprintf("%s: block %s falls off the end", name, blk.Label))
			}
			blk.Succs = append(blk.Succs, blk.ID+1)
		}
	}
	b.f.Link()
	ir.Must(ir.CheckModule(b.f.Module))
	return b.f
}

// Regs declares registers, each "name type".
func Regs(decls ...string) Part {
	return func(b *builder) {
		for _, d := range decls {
			name, typ, _ := strings.Cut(d, " ")
			t, ok := isa.TypeOf(typ)
			if !ok {
				panic("no type " + typ)
			}
			b.regs[name] = ir.RegID(len(b.f.Regs))
			b.f.Regs = append(b.f.Regs, ir.Reg{Name: name, Type: t})
		}
	}
}

// Param declares a parameter of size bytes, aligned to its size.
func Param(name string, size int) Part {
	return func(b *builder) {
		at := (b.f.ParamSize + size - 1) / size * size
		v := &ir.Var{Name: name, Space: event.Param, Type: isa.B8, Size: size, Align: size, Offset: at}
		b.f.ParamSize = at + size
		b.f.Params = append(b.f.Params, v)
		b.vars[name] = v
	}
}

// Var declares a variable of the body.
func Var(name string, space event.Space, size, align int) Part {
	return func(b *builder) {
		v := &ir.Var{Name: name, Space: space, Type: isa.B8, Size: size, Align: align}
		if space == event.Local {
			v.Offset = (b.f.LocalSize + align - 1) / align * align
			b.f.LocalSize = v.Offset + size
		}
		b.f.Vars = append(b.f.Vars, v)
		b.vars[name] = v
	}
}

// Block is a basic block. Without a branch, ret, exit or trap at its end it falls through to the next.
func Block(name string, stmts ...Stmt) Part {
	return func(b *builder) {
		blk := &ir.Block{ID: ir.BlockID(len(b.f.Blocks)), Label: name}
		b.labels[name] = blk.ID
		b.f.Blocks = append(b.f.Blocks, blk)
		b.bodies = append(b.bodies, func() {
			for _, s := range stmts {
				blk.Instrs = append(blk.Instrs, s(b))
			}
		})
	}
}

// Goto is an unconditional branch.
func Goto(to string) Stmt { return Op("bra", label(to)) }

// If is a branch to then when pred, which may begin with "!", holds; else control falls through to the
// next block.
func If(pred, then string) Stmt { return When(pred, Goto(then)) }

// When guards an instruction by a predicate register, which may begin with "!".
func When(pred string, s Stmt) Stmt {
	return func(b *builder) *ir.Instr {
		in := s(b)
		name, neg := strings.CutPrefix(pred, "!")
		in.Guard, in.Neg = b.reg(name), neg
		return in
	}
}

type label string

// Mem is an address operand: a register's or variable's name, and an offset.
type Mem struct {
	Base string
	Off  int64
}

// Op is an instruction: destinations first, as in PTX. An argument is the name of a register, a variable
// (its address) or a special register, "_", a number, a Mem, or a list []any for a vector. A second
// destination that may be left out, such as the predicate of lop3, is given with all operands or not.
func Op(opcode string, args ...any) Stmt {
	words := strings.Split(opcode, ".")
	return func(b *builder) *ir.Instr {
		desc, err := isa.Decode(words[0], words[1:])
		if err != nil {
			panic(err)
		}
		in := &ir.Instr{Desc: desc, Guard: ir.NoReg, Span: b.span()}
		for i, a := range args {
			roles := desc.Row.Roles
			if i < len(roles) && (roles[i] == isa.Dst || roles[i] == isa.DstPred && len(args) == len(roles)) {
				in.Dst = append(in.Dst, b.operand(a))
			} else {
				in.Src = append(in.Src, b.operand(a))
			}
		}
		return in
	}
}

func (b *builder) operand(a any) ir.Operand {
	o := ir.Operand{Reg: ir.NoReg, Span: b.span()}
	switch a := a.(type) {
	case int:
		o.Kind, o.Val = ir.Imm, uint64(a)
	case label:
		id, ok := b.labels[string(a)]
		if !ok {
			panic("no block " + string(a))
		}
		o.Kind, o.Block = ir.BranchTo, id
	case Mem:
		o.Kind, o.Val = ir.Mem, uint64(a.Off)
		if v := b.vars[a.Base]; v != nil {
			o.Var = v
		} else {
			o.Reg = b.reg(a.Base)
		}
	case []any:
		o.Kind = ir.Vector
		for _, e := range a {
			o.Elems = append(o.Elems, b.operand(e))
		}
	case string:
		b.name(&o, a)
	default:
		panic(fmt.Sprintf("operand %v", a))
	}
	return o
}

func (b *builder) name(o *ir.Operand, name string) {
	s := ir.SregByName(name)
	switch {
	case name == "_":
	case s != ir.NoSreg:
		o.Kind, o.Sreg = ir.Special, s
	case b.vars[name] != nil:
		o.Kind, o.Var = ir.VarAddr, b.vars[name]
	default:
		o.Kind, o.Reg = ir.Register, b.reg(name)
	}
}

func (b *builder) reg(name string) ir.RegID {
	r, ok := b.regs[name]
	if !ok {
		panic("no register " + name)
	}
	return r
}

// span returns a place of its own for each thing built.
func (b *builder) span() source.Span {
	b.line++
	return source.Span{Start: source.MakePos(1, b.line, 1)}
}
