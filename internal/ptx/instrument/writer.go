package instrument

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// writer writes the arguments of one log call, in a block with registers of its own. The operands
// of the instruction are visible there, since the block stands directly before it.
type writer struct {
	f     *ir.Func
	decls strings.Builder
	code  strings.Builder
	n     int
	bits  int    // of registers, predicates not counted
	other string // see second
}

// reg returns a new register of a type.
func (w *writer) reg(t string) string {
	name := fmt.Sprintf("%%%s%d", Prefix, w.n)
	w.n++
	fmt.Fprintf(&w.decls, ".reg .%s %s;\n", t, name)
	switch t {
	case "b64":
		w.bits += 64
	case "pred":
	default:
		w.bits += 32
	}
	return name
}

// registers returns the number of registers of 32 bits that the call needs.
func (w *writer) registers() int { return w.bits / 32 }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.code, format, args...)
	w.code.WriteByte('\n')
}

// block returns the code so far and a call, as a block.
func (w *writer) block(call string) string { return w.open(call) + "}\n" }

// open is block without the brace at its end.
func (w *writer) open(call string) string {
	return "{\n" + w.decls.String() + w.code.String() + call + "\n"
}

// takes returns whether the guard lets a lane execute the instruction: 1 or 0.
func (w *writer) takes(in *ir.Instr) string {
	if in.Guard == ir.NoReg {
		return "1"
	}
	r := w.reg("b32")
	yes, no := 1, 0
	if in.Neg {
		yes, no = 0, 1
	}
	w.line("selp.b32 %s, %d, %d, %s;", r, yes, no, w.f.Regs[in.Guard].Name)
	return r
}

// address returns a register with the address of a memory operand, in 64 bits. Shared memory has
// addresses of 32 bits, to which all are truncated (PTX ISA 6.4.1).
func (w *writer) address(o *ir.Operand, space event.Space) string {
	a := w.reg("b64")
	switch {
	case o.Var != nil:
		w.line("mov.u64 %s, %s;", a, o.Var.Name)
	case o.Reg != ir.NoReg:
		w.code.WriteString(widen(a, w.f.Regs[o.Reg].Name, w.f.Regs[o.Reg].Type.Size()))
	default:
		w.line("mov.u64 %s, %d;", a, o.Val)
		return a
	}
	if o.Val != 0 {
		w.line("add.s64 %s, %s, %d;", a, a, int64(o.Val))
	}
	if o.Reg != ir.NoReg && space == event.Shared {
		w.line("and.b64 %s, %s, 0xffffffff;", a, a)
	}
	return a
}

// sort makes a generic address in a register one that says its space: in shared memory it becomes
// an offset with SharedBit. It returns whether a lane takes part: not if its address is in local
// memory.
func (w *writer) sort(a, takes string) string {
	p, s, on := w.reg("pred"), w.reg("b64"), w.reg("b32")
	w.line("isspacep.shared %s, %s;", p, a)
	w.line("cvta.to.shared.u64 %s, %s;", s, a)
	w.line("or.b64 %s, %s, 0x%x;", s, s, uint64(SharedBit))
	w.line("isspacep.local %s, %s;", w.second(), a)
	w.line("selp.b64 %s, %s, %s, %s;", a, s, a, p)
	w.line("selp.b32 %s, 0, %s, %s;", on, takes, w.second())
	return on
}

// second returns a predicate for the second of two questions about an address.
func (w *writer) second() string {
	if w.other == "" {
		w.other = w.reg("pred")
	}
	return w.other
}

// value returns a register with the low size bytes of an operand, with zeros above them.
func (w *writer) value(o *ir.Operand, size int) string {
	v := w.reg("b64")
	if o.Kind != ir.Register {
		w.line("mov.u64 %s, %d;", v, o.Val&mask(size))
		return v
	}
	w.code.WriteString(w.read(v, o.Reg, size))
	return v
}

// mask has ones in the low size bytes.
func mask(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// read returns code that copies the low size bytes of a register into one of 64 bits, with zeros
// above them.
func (w *writer) read(to string, from ir.RegID, size int) string {
	r := &w.f.Regs[from]
	have := r.Type.Size()
	name, code := r.Name, ""
	if t := r.Type; t.IsFloat() && have < 8 { // cvt would convert the number
		bare := w.reg(fmt.Sprintf("b%d", 8*have))
		code = fmt.Sprintf("mov.b%d %s, %s;\n", 8*have, bare, name)
		name = bare
	}
	code += widen(to, name, have)
	if have > size {
		code += fmt.Sprintf("and.b64 %s, %s, 0x%x;\n", to, to, mask(size))
	}
	return code
}

// widen returns code that copies a register of size bytes into one of 64 bits, with zeros above
// them.
func widen(to, from string, size int) string {
	if size == 8 {
		return fmt.Sprintf("mov.b64 %s, %s;\n", to, from)
	}
	return fmt.Sprintf("cvt.u64.u%d %s, %s;\n", 8*size, to, from)
}

// words returns registers with what a store writes, in words of 8 bytes.
func (w *writer) words(in *ir.Instr, s *Site) []string {
	size := in.Type.Size()
	elems := in.Src[1:2]
	if elems[0].Kind == ir.Vector {
		elems = elems[0].Elems
	}
	out := make([]string, s.Words)
	for i := range elems {
		v := w.value(&elems[i], size)
		at := i * size
		if at%8 == 0 {
			out[at/8] = v
			continue
		}
		w.line("shl.b64 %s, %s, %d;", v, v, 8*(at%8))
		w.line("or.b64 %s, %s, %s;", out[at/8], out[at/8], v)
	}
	return out
}

// barrier returns a register with the number of a barrier and the count of threads.
func (w *writer) barrier(in *ir.Instr) string {
	u, _ := in.Barrier()
	id := w.reg("b64")
	if u.ID == nil {
		w.line("mov.u64 %s, 0;", id)
	} else {
		w.line("mov.b64 %s, %s;", id, w.value(u.ID, 4))
	}
	if u.Count != nil {
		n := w.value(u.Count, 4)
		w.line("shl.b64 %s, %s, 32;", n, n)
		w.line("or.b64 %s, %s, %s;", id, id, n)
	}
	return id
}

// bytesRead returns a register with the number of bytes that cp.async reads: all of them, as many
// as its fourth operand says, or none if that is a predicate and true.
func (w *writer) bytesRead(in *ir.Instr, s *Site) string {
	if len(in.Src) < 4 || slices.Contains(in.Mods, "L2::cache_hint") {
		n := w.reg("b64")
		w.line("mov.u64 %s, %d;", n, s.Size)
		return n
	}
	o := &in.Src[3]
	if o.Kind != ir.Register || w.f.Regs[o.Reg].Type != isa.Pred {
		return w.value(o, 4)
	}
	n := w.reg("b64")
	yes, no := 0, s.Size
	if o.Neg {
		yes, no = no, yes
	}
	w.line("selp.b64 %s, %d, %d, %s;", n, yes, no, w.f.Regs[o.Reg].Name)
	return n
}
