package kernel

import (
	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// compute translates an instruction from registers to registers, once for each destination.
func (t *thread) compute(in *ir.Instr) {
	if in.UsesCarry() || in.Vec > 1 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	if in.Operation() == isa.Move && t.move(in) {
		return
	}
	f, err := alu.Lookup(&in.Desc)
	if err != nil {
		refuse(in, "%v", err)
	}
	want, known := alu.Sources(&in.Desc)
	var args []explore.Operand
	var preds []bool // of each argument: is it a predicate
	values := 0
	for i, o := range in.Src {
		if o.Kind == ir.None {
			continue
		}
		pred := t.isPred(o) || o.Kind == ir.Imm && (in.Type == isa.Pred || in.SrcType(i) == isa.Pred)
		args = append(args, t.value(in, o, in.SrcType(i)))
		preds = append(preds, pred)
		if !pred {
			values++
		}
		if pred && o.Neg {
			args[len(args)-1] = t.negated(in, args[len(args)-1])
		}
	}
	if known && values != want {
		refuse(in, "%s with %d operands is not supported by heddle explore", in.Text(), values)
	}
	for i, d := range in.Dst {
		if d.Kind == ir.None {
			continue
		}
		if d.Kind != ir.Register || i > 1 {
			refuse(in, "a destination of %s is not supported by heddle explore", in.Text())
		}
		t.emit(in, explore.Inst{Kind: explore.Compute, Dst: int(d.Reg), Args: args,
			Eval: t.evaluate(in, f, preds, i, t.isPred(d), d.Reg)})
	}
}

// evaluate returns what computes destination n of an instruction. The registers of a conversion may
// be wider than its types: the source is cut, the result extended (PTX ISA 9.4.1).
func (t *thread) evaluate(in *ir.Instr, f alu.Func, preds []bool, n int, pred bool,
	to ir.RegID) func([]int64) (int64, bool) {
	have, want, source := in.Type.Size(), t.fn.Regs[to].Type.Size(), in.SType.Size()
	convert := in.Operation() == isa.Conversion
	return func(args []int64) (int64, bool) {
		var o alu.Ops
		var lanes [6]alu.Lanes
		var pd [2]uint32
		o.D = [2]*alu.Lanes{&lanes[0], &lanes[1]}
		o.PD = [2]*uint32{&pd[0], &pd[1]}
		values, np := 0, 0
		for i, a := range args {
			if preds[i] {
				o.PS[np] = uint32(a & 1)
				np++
				continue
			}
			lanes[2+values][0] = uint64(a)
			if convert && source > 0 {
				lanes[2+values][0] = cut(uint64(a), source)
			}
			o.S[values] = &lanes[2+values]
			values++
		}
		for i := values; i < len(o.S); i++ {
			o.S[i] = &lanes[2+i]
		}
		f(&o, 1)
		if pred {
			return int64(pd[n] & 1), true
		}
		v := lanes[n][0]
		if convert && in.Type.Signed() && have < want {
			v = extend(v, uint(8*have), uint(8*want))
		}
		return int64(v), true
	}
}

// extend sign-extends the low from bits of v to to bits.
func extend(v uint64, from, to uint) uint64 {
	v = uint64(int64(v<<(64-from)) >> (64 - from))
	return v << (64 - to) >> (64 - to)
}

// move translates the forms of mov that package alu does not know, and reports whether in is one:
// of special registers, addresses and predicates.
func (t *thread) move(in *ir.Instr) bool {
	if len(in.Dst) != 1 || len(in.Src) != 1 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	if in.Dst[0].Kind == ir.Vector || in.Src[0].Kind == ir.Vector {
		t.pack(in)
		return true
	}
	if in.Dst[0].Kind != ir.Register {
		return true
	}
	v := t.value(in, in.Src[0], in.Type)
	if in.Src[0].Neg {
		v = t.negated(in, v)
	}
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: int(in.Dst[0].Reg),
		Args: []explore.Operand{v}, Eval: func(a []int64) (int64, bool) { return a[0], true }})
	return true
}

// pack translates a mov between a register and its parts: the bits of the sources, low ones first,
// are distributed over the destinations (PTX ISA 9.7.9.7).
func (t *thread) pack(in *ir.Instr) {
	parts := func(o ir.Operand) []ir.Operand {
		if o.Kind == ir.Vector {
			return o.Elems
		}
		return []ir.Operand{o}
	}
	from, to := parts(in.Src[0]), parts(in.Dst[0])
	total := 8 * in.Type.Size()
	if total > 64 || total%len(from) != 0 || total%len(to) != 0 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	whole := t.hidden() // all sources are read before a destination is written
	join := explore.Inst{Kind: explore.Compute, Dst: whole}
	for _, o := range from {
		join.Args = append(join.Args, t.value(in, o, in.Type))
	}
	width := total / len(from)
	join.Eval = func(a []int64) (v int64, ok bool) {
		for i := range a {
			v |= int64(cut(uint64(a[i]), width/8)) << (i * width)
		}
		return v, true
	}
	t.emit(in, join)
	width2 := total / len(to)
	for i, o := range to {
		if o.Kind == ir.None {
			continue
		}
		t.emit(in, explore.Inst{Kind: explore.Compute, Dst: int(o.Reg),
			Args: []explore.Operand{explore.Reg(whole)},
			Eval: func(a []int64) (int64, bool) {
				return int64(cut(uint64(a[0])>>(i*width2), width2/8)), true
			}})
	}
}

// negated returns a hidden register with the negation of a predicate.
func (t *thread) negated(in *ir.Instr, v explore.Operand) explore.Operand {
	r := t.hidden()
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: r, Args: []explore.Operand{v},
		Eval: func(a []int64) (int64, bool) { return 1 - a[0]&1, true }})
	return explore.Reg(r)
}

// isPred reports whether an operand is a predicate register.
func (t *thread) isPred(o ir.Operand) bool {
	return o.Kind == ir.Register && t.fn.Regs[o.Reg].Type == isa.Pred
}

// value returns an operand of the program: a register, or what is constant for this thread.
func (t *thread) value(in *ir.Instr, o ir.Operand, typ isa.Type) explore.Operand {
	switch o.Kind {
	case ir.Register:
		if t.fn.Regs[o.Reg].Type == isa.B128 {
			refuse(in, "%s of 128 bits is not supported by heddle explore", in.Text())
		}
		return explore.Reg(int(o.Reg))
	case ir.Imm:
		return explore.Const(int64(o.Val))
	case ir.Special:
		if v, ok := t.special(o.Sreg); ok {
			return explore.Const(int64(v))
		}
		refuse(in, "%v, whose value no launch determines, is not supported by heddle explore", o.Sreg)
	case ir.VarAddr:
		return explore.Const(int64(t.mem.address(in, o.Var) + o.Val))
	}
	refuse(in, "an operand of %s is not supported by heddle explore", in.Text())
	return explore.Operand{}
}

// special returns the value of a special register for this thread (PTX ISA 10).
func (t *thread) special(s ir.Sreg) (uint64, bool) {
	g := t.geo
	block, thread := t.place()
	at := func(d event.Dim3, i ir.Sreg) (uint64, bool) {
		return uint64([3]uint32{d.X, d.Y, d.Z}[i]), true
	}
	switch {
	case s >= ir.TidX && s <= ir.TidZ:
		return at(thread, s-ir.TidX)
	case s >= ir.NtidX && s <= ir.NtidZ:
		return at(g.Block, s-ir.NtidX)
	case s >= ir.CtaidX && s <= ir.CtaidZ:
		return at(block, s-ir.CtaidX)
	case s >= ir.NctaidX && s <= ir.NctaidZ:
		return at(g.Grid, s-ir.NctaidX)
	case s == ir.LaneID:
		return uint64(t.lane), true
	case s == ir.WarpID:
		return uint64(t.warp), true
	case s == ir.WarpSz:
		return event.WarpSize, true
	}
	return 0, false
}
