package ir

import (
	"errors"
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/isa"
)

// CheckModule is Check for all functions of m, and for what they share.
func CheckModule(m *Module) []error {
	var errs []error
	for i, f := range m.Funcs {
		if f.Module != m || f.Index != i {
			errs = append(errs, fmt.Errorf("%s: not function %d of its module", f.Name, i))
		}
		errs = append(errs, Check(f)...)
	}
	for _, v := range m.Vars {
		for _, r := range v.Relocs {
			if r.Offset < 0 || r.Offset+r.Size > v.Size || (r.Target == nil) == (r.Func == nil) {
				errs = append(errs, fmt.Errorf("%s: relocation at %d is malformed", v.Name, r.Offset))
			}
		}
		if len(v.Init) > v.Size {
			errs = append(errs, fmt.Errorf("%s: %d bytes of initialiser for %d", v.Name, len(v.Init),
				v.Size))
		}
	}
	return errs
}

// Check reports every way in which f breaks the rules that its users rely on: edges agree in both
// directions and with the terminators, operands are in range and of the kinds that their roles
// take, register types agree with instruction types, instructions are numbered and have spans. It
// is for tests; a function that irgen accepts has no such faults.
func Check(f *Func) []error {
	c := &checker{f: f}
	if f.Blocks == nil {
		return nil
	}
	if len(f.Blocks) == 0 {
		return []error{fmt.Errorf("%s: a body without blocks", f.Name)}
	}
	for i, b := range f.Blocks {
		c.block(b, BlockID(i))
	}
	if c.next != f.NumInstrs {
		c.errorf("NumInstrs is %d, but there are %d instructions", f.NumInstrs, c.next)
	}
	c.area("parameter area", f.ParamSize, f.Params, f.Results)
	for _, v := range f.Vars {
		switch v.Space {
		case event.Param:
			c.area("parameter area", f.ParamSize, []*Var{v})
		case event.Local:
			c.area("local frame", f.LocalSize, []*Var{v})
		}
	}
	return c.errs
}

// Must panics with all errors if there are any: for tests and tools that build functions by hand.
func Must(errs []error) {
	if err := errors.Join(errs...); err != nil {
		panic(err)
	}
}

// checker collects the violations of one function. b and in are where it is, for messages.
type checker struct {
	f    *Func
	b    *Block
	in   *Instr
	next int
	errs []error
}

// errorf records a violation with the function, the block and the instruction in which it was
// found.
func (c *checker) errorf(format string, args ...any) {
	where := c.f.Name
	if c.b != nil {
		where += fmt.Sprintf(" b%d", c.b.ID)
	}
	if c.in != nil {
		where += fmt.Sprintf(" #%d %q", c.in.Index, c.f.Format(c.in))
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

// area checks that variables lie inside their area of size bytes and at their alignment. Overlaps
// are allowed: call sequences share the parameter area.
func (c *checker) area(name string, size int, lists ...[]*Var) {
	for _, vars := range lists {
		for _, v := range vars {
			if !v.InReg && (v.Offset < 0 || v.Offset+v.Size > size || v.Align > 0 && v.Offset%v.Align != 0) {
				c.errorf("%s at %d, size %d, align %d, does not fit a %s of %d bytes", v.Name, v.Offset, v.Size,
					v.Align, name, size)
			}
		}
	}
}

// block checks one block: its edges in both directions, its instructions, and that only the last
// one transfers control. A successor out of range ends the check, since the rest would index with
// it.
func (c *checker) block(b *Block, id BlockID) {
	c.b = b
	if b.ID != id {
		c.errorf("block %d has ID %d", id, b.ID)
	}
	for _, s := range b.Succs {
		if !c.blockInRange(s) {
			c.errorf("successor b%d does not exist", s)
			return
		}
		if count(b.Succs, s) != count(c.f.Blocks[s].Preds, id) {
			c.errorf("edge to b%d is not among its predecessors as often", s)
		}
	}
	for _, p := range b.Preds {
		if !c.blockInRange(p) || !slices.Contains(c.f.Blocks[p].Succs, id) {
			c.errorf("predecessor b%d has no edge to it", p)
		}
	}
	for i, in := range b.Instrs {
		c.in = in
		if in.Index != c.next {
			c.errorf("Index is %d, want %d", in.Index, c.next)
		}
		c.next++
		c.instr(in)
		if in.IsTerminator() && i != len(b.Instrs)-1 {
			c.errorf("a terminator in the middle of a block")
		}
	}
	c.in = nil
	c.successors(b)
	c.b = nil
}

// count is how often id occurs in ids. An edge may occur several times, and then on both sides as
// often.
func count(ids []BlockID, id BlockID) int {
	n := 0
	for _, x := range ids {
		if x == id {
			n++
		}
	}
	return n
}

// blockInRange reports whether b is a block of the function; NoBlock is not.
func (c *checker) blockInRange(b BlockID) bool { return b >= 0 && int(b) < len(c.f.Blocks) }

// successors compares the edges of a block with its last instruction.
func (c *checker) successors(b *Block) {
	want := 1 // a fall-through
	if t := b.Terminator(); t != nil {
		want = 0
		for i := range t.Src {
			if t.Src[i].Kind == BranchTo {
				if want >= len(b.Succs) || b.Succs[want] != t.Src[i].Block {
					c.errorf("target b%d of %s is not successor %d", t.Src[i].Block, t.Op(), want)
				}
				want++
			}
		}
		if t.Guard != NoReg {
			want++
		}
	}
	if len(b.Succs) != want {
		c.errorf("%d successors, but the last instruction makes %d", len(b.Succs), want)
	}
	if t := b.Terminator(); len(b.Succs) > 0 && (t == nil || t.Guard != NoReg) &&
		b.Succs[len(b.Succs)-1] != b.ID+1 {
		c.errorf("falls through to b%d, which is not the next block", b.Succs[len(b.Succs)-1])
	}
}

// instr checks one instruction: its guard, its operands, their types, and the operands that an
// action cannot do without.
func (c *checker) instr(in *Instr) {
	if in.Row == nil {
		c.errorf("no opcode")
		return
	}
	if !in.Span.IsValid() {
		c.errorf("no span")
	}
	if in.Guard != NoReg && (!c.regInRange(in.Guard) || c.f.Regs[in.Guard].Type != isa.Pred) {
		c.errorf("the guard is not a predicate register")
	}
	ok := true
	for i := range in.Dst {
		ok = c.operand(&in.Dst[i], true) && ok
	}
	for i := range in.Src {
		ok = c.operand(&in.Src[i], false) && ok
	}
	if !ok {
		return
	}
	for _, e := range CheckTypes(c.f, in) {
		c.errorf("%s", e.Msg)
	}
	switch in.Action() {
	case isa.ActBranch:
		if len(in.Src) != 1 || in.Src[0].Kind != BranchTo {
			c.errorf("a branch without target")
		}
	case isa.ActIndexedBranch:
		if len(in.Src) < 2 || in.Src[0].Kind == BranchTo {
			c.errorf("an indexed branch without index or targets")
		}
	case isa.ActCall:
		if in.Callee == nil && (len(in.Src) == 0 || in.Src[0].Kind != Register) {
			c.errorf("an indirect call without target register")
		}
	}
}

// regInRange reports whether r is a register of the function; NoReg is not.
func (c *checker) regInRange(r RegID) bool { return r >= 0 && int(r) < len(c.f.Regs) }

// operand checks what an operand refers to, and that a destination is something that can be
// written.
func (c *checker) operand(o *Operand, dst bool) bool {
	n := len(c.errs)
	if dst && o.Kind != None && o.Kind != Register && o.Kind != Vector && o.Kind != VarVal {
		c.errorf("a destination of kind %d", o.Kind)
	}
	switch o.Kind {
	case Register:
		if !c.regInRange(o.Reg) {
			c.errorf("register %d does not exist", o.Reg)
		}
	case Special:
		if o.Sreg == NoSreg || o.Sreg >= NumSregs {
			c.errorf("special register %d does not exist", o.Sreg)
		}
	case Mem:
		if o.Var != nil && o.Reg != NoReg || o.Var == nil && o.Reg != NoReg && !c.regInRange(o.Reg) {
			c.errorf("an address with base register %d and variable %v", o.Reg, o.Var != nil)
		}
	case VarAddr, VarVal:
		if o.Var == nil {
			c.errorf("no variable")
		}
	case FuncAddr:
		if o.Func == nil {
			c.errorf("no function")
		}
	case BranchTo:
		if !c.blockInRange(o.Block) {
			c.errorf("target b%d does not exist", o.Block)
		}
	}
	for i := range o.Elems {
		c.operand(&o.Elems[i], dst && o.Kind == Vector)
	}
	return len(c.errs) == n
}
