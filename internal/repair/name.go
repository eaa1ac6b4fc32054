package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Names of mbarriers for other places than those that have them. A compiler computes the address of
// an object where it is used, in registers of that place: the object of a wait that is missing has
// no register there. Its address is then that of a variable, or is computed again, with the counter
// of the loop at the new place for that of the old one.

// mostComputed bounds the instructions that compute an address or a number.
const mostComputed = 12

// writerOf returns the instruction that gives a register its value, if there is one alone, it has no
// guard, and it computes with its sources only; else nil.
func (r *repairer) writerOf(reg ir.RegID) *ir.Instr {
	if reg == ir.NoReg {
		return nil
	}
	if r.writers == nil {
		r.writers, r.written = map[ir.RegID]*ir.Instr{}, map[ir.RegID]int{}
		for _, b := range r.x.k.Func.Blocks {
			for _, in := range b.Instrs {
				for i := range in.Dst {
					in.Dst[i].EachReg(func(x ir.RegID) {
						r.written[x]++
						if r.writers[x] = nil; r.written[x] == 1 && computes(in) {
							r.writers[x] = in
						}
					})
				}
			}
		}
	}
	return r.writers[reg]
}

// computes reports whether an instruction writes one register that its sources alone decide.
func computes(in *ir.Instr) bool {
	if in.Guard != ir.NoReg || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register || in.Row == nil {
		return false
	}
	switch in.Operation() {
	case isa.Move, isa.Conversion, isa.Sum, isa.Difference, isa.Product, isa.ProductSum, isa.Conjunction,
		isa.Disjunction, isa.ExclusiveOr, isa.LeftShift, isa.RightShift, isa.Quotient, isa.Remainder,
		isa.Complement, isa.BitField:
		return true
	}
	return in.Action() == isa.ActConvertAddress
}

// number returns the value of a source that is a number, or a register that holds one.
func (r *repairer) number(o *ir.Operand) (uint64, bool) {
	if o.Kind == ir.Register {
		in := r.writerOf(o.Reg)
		if in == nil || in.Operation() != isa.Move || len(in.Src) != 1 {
			return 0, false
		}
		o = &in.Src[0]
	}
	return o.Val, o.Kind == ir.Imm
}

// variable returns the variable that a register holds the address of, and the distance from it; nil
// if it is none.
func (r *repairer) variable(reg ir.RegID) (v *ir.Var, offset int64) {
	for range mostComputed {
		in := r.writerOf(reg)
		if in == nil {
			return nil, 0
		}
		o := &in.Src[0]
		switch {
		case in.Operation() == isa.Sum && len(in.Src) == 2 && in.Src[1].Kind == ir.Imm:
			offset += int64(in.Src[1].Val)
		case len(in.Src) != 1:
			return nil, 0
		case o.Kind == ir.VarAddr:
			return o.Var, offset + int64(o.Val)
		}
		if o.Kind != ir.Register {
			return nil, 0
		}
		reg = o.Reg
	}
	return nil, 0
}

// counterOf returns the innermost loop around a place that steps a register by a constant, and its
// number among the counters of the loop.
func (r *repairer) counterOf(reg ir.RegID, p ir.BlockID) (n int, ok bool) {
	for l := r.x.flow.loops.Of[p]; l != nil; l = l.Parent {
		if n := slices.Index(r.counters(l), reg); n >= 0 {
			return n, true
		}
	}
	return 0, false
}

// counters are the registers that a loop steps by a constant, sums and parities.
func (r *repairer) counters(l *ir.Loop) []ir.RegID {
	return slices.Concat(r.steppedBy(l, isa.Sum), r.steppedBy(l, isa.ExclusiveOr))
}

// formula is how the value of a register at a place comes about, the same for two registers that
// are computed alike, each with the counter of a loop around its place.
func (r *repairer) formula(reg ir.RegID, at ir.BlockID, depth int) string {
	if n, ok := r.counterOf(reg, at); ok {
		return fmt.Sprint("counter ", n)
	}
	in := r.writerOf(reg)
	if in == nil || depth == 0 {
		return r.x.k.Func.Regs[reg].Name
	}
	move := in.Operation() == isa.Move || in.Operation() == isa.Conversion ||
		in.Action() == isa.ActConvertAddress // before or behind a sum, as compilers please
	if move && len(in.Src) == 1 && in.Src[0].Kind == ir.Register {
		return r.formula(in.Src[0].Reg, at, depth-1)
	}
	parts := []string{in.Text()}
	if move {
		parts = nil
	}
	for i := range in.Src {
		switch o := &in.Src[i]; o.Kind {
		case ir.Register:
			parts = append(parts, r.formula(o.Reg, at, depth-1))
		case ir.Imm:
			parts = append(parts, fmt.Sprint(o.Val))
		case ir.VarAddr:
			parts = append(parts, fmt.Sprintf("%s+%d", o.Var.Name, o.Val))
		default:
			return r.x.k.Func.Regs[reg].Name
		}
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// computation is the instructions that compute a register again, and their registers.
type computation struct {
	decls, instrs []string
	done          map[ir.RegID]string
}

// again computes the value that a register has at some block once more at a place, and returns the
// name of the register with it; empty if that is not possible.
func (r *repairer) again(c *computation, reg ir.RegID, at ir.BlockID, p Point) string {
	if name := c.done[reg]; name != "" {
		return name
	}
	regs := r.x.k.Func.Regs
	if n, ok := r.counterOf(reg, at); ok {
		l := r.x.flow.loops.Of[p.Block]
		if l == nil || n >= len(r.counters(l)) {
			return ""
		}
		to := r.counters(l)[n]
		if regs[to].Type.Size() != regs[reg].Type.Size() {
			return ""
		}
		return regs[to].Name
	}
	in := r.writerOf(reg)
	if r.written[reg] == 1 && r.known(reg, p) {
		return regs[reg].Name
	}
	if in == nil || len(c.instrs) >= mostComputed {
		return ""
	}
	var src []string
	for i := range in.Src {
		text := ""
		switch o := &in.Src[i]; o.Kind {
		case ir.Register:
			text = r.again(c, o.Reg, at, p)
		case ir.Imm:
			text = fmt.Sprint(int64(o.Val))
		case ir.VarAddr:
			if text = o.Var.Name; o.Val != 0 {
				text += fmt.Sprintf("+%d", o.Val)
			}
		}
		if text == "" {
			return ""
		}
		src = append(src, text)
	}
	name := fmt.Sprintf("%%%sa%d", freePrefix(string(r.x.k.File.Content)), len(c.instrs))
	kind := ".b32"
	if regs[reg].Type.Size() == 8 {
		kind = ".b64"
	}
	c.decls = append(c.decls, fmt.Sprintf(".reg %s \t%s;", kind, name))
	c.instrs = append(c.instrs, fmt.Sprintf("%s \t%s, %s;", in.Text(), name, strings.Join(src, ", ")))
	if c.done == nil {
		c.done = map[ir.RegID]string{}
	}
	c.done[reg] = name
	return name
}

// here returns an object under a name that means it at a place, and whether there is one.
func (r *repairer) here(o object, p Point) (object, bool) {
	if r.known(o.reg, p) {
		return o, true
	}
	at := r.x.where(o.in).Block
	var c computation
	name := r.again(&c, o.reg, at, p)
	if name == "" || o.remote {
		return o, false
	}
	o.before, o.name = append(c.decls, c.instrs...), o.text+", computed again"
	o.reg = ir.NoReg
	if o.text = "[" + name + "]"; o.offset != 0 {
		o.text = fmt.Sprintf("[%s+%d]", name, o.offset)
	}
	return o, true
}

// within puts an instruction behind what computes the address of its object.
func (o *object) within(text string) string {
	if len(o.before) == 0 {
		return text
	}
	return "{\n\t" + strings.Join(o.before, "\n\t") + "\n\t" + text + "\n\t}"
}
