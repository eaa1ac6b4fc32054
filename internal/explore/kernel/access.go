package kernel

import (
	"fmt"
	"math"

	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// convert translates cvta: windows are at fixed addresses, so that it adds or subtracts a constant.
func (t *thread) convert(in *ir.Instr) {
	base := int64(window(in.Space))
	if in.Has(isa.ToSpace) {
		base = -base
	}
	if in.Type.Size() != 8 || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: int(in.Dst[0].Reg),
		Args: []explore.Operand{t.value(in, in.Src[0], in.Type)},
		Eval: func(a []int64) (int64, bool) { return a[0] + base, true }})
}

// access translates a load, a store or an atomic operation. Loads of parameters are constants.
func (t *thread) access(in *ir.Instr) {
	if in.Type == isa.B128 || in.Vec > 1 && in.Action() != isa.ActLoad && in.Action() != isa.ActStore {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	mem := &in.Src[0]
	if mem.Kind != ir.Mem || len(mem.Elems) > 0 {
		refuse(in, "the address of %s is not supported by heddle explore", in.Text())
	}
	if mem.Var != nil && mem.Var.Space == event.Param {
		if in.Action() == isa.ActStore {
			return // an argument of a call that ends the kernel: no other is translated
		}
		t.parameter(in, mem)
		return
	}
	i := explore.Inst{Order: in.Order, Scope: in.Scope, Dst: -1, Size: in.Type.Size(),
		ReadOnly: in.NonCoherent()}
	addr := explore.Const(int64(mem.Val))
	switch {
	case mem.Var != nil:
		addr = explore.Const(int64(t.mem.address(in, mem.Var) + window(mem.Var.Space) + mem.Val))
	case mem.Reg != ir.NoReg:
		addr, i.Offset = explore.Reg(int(mem.Reg)), int64(mem.Val+window(in.Space))
	}
	i.Addr = &addr
	switch in.Action() {
	case isa.ActLoad:
		i.Kind = explore.Load
		t.loads(in, i)
		return
	case isa.ActStore:
		i.Kind = explore.Store
		t.stores(in, i)
		return
	}
	t.update(in, &i)
	t.emit(in, i)
	if in.Action() == isa.ActAtomic {
		t.extended(in, i.Dst)
	}
}

// hidden returns a new register.
func (t *thread) hidden() int {
	t.out.Regs = append(t.out.Regs, 0)
	return len(t.out.Regs) - 1
}

// elements returns the operands of the elements of a vector; of a scalar, itself.
func elements(o ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Elems
	}
	return []ir.Operand{o}
}

// loads emits a load of one value or of a vector, whose elements may overwrite its address.
func (t *thread) loads(in *ir.Instr, i explore.Inst) {
	if len(in.Dst) != 1 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	to := elements(in.Dst[0])
	if len(to) == 1 {
		t.load(in, i, to[0])
		return
	}
	base := explore.Reg(t.hidden())
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: base.Reg, Args: []explore.Operand{*i.Addr},
		Eval: func(a []int64) (int64, bool) { return a[0], true }})
	i.Addr = &base
	for n, o := range to {
		i.Element = n + 1
		t.load(in, i, o)
		i.Offset += int64(i.Size)
	}
}

// stores emits a store of one value or of a vector.
func (t *thread) stores(in *ir.Instr, i explore.Inst) {
	from := elements(in.Src[1])
	var args []explore.Operand
	for _, o := range from {
		args = append(args, t.truncated(in, o))
	}
	for n, v := range args {
		if len(args) > 1 {
			i.Element = n + 1
		}
		i.Args = []explore.Operand{v}
		t.emit(in, i)
		i.Offset += int64(i.Size)
	}
}

// parameter translates a load of a kernel parameter.
func (t *thread) parameter(in *ir.Instr, mem *ir.Operand) {
	v, ok := t.mem.parameter(mem.Var, mem.Val, in.Type.Size())
	if !ok || in.Action() != isa.ActLoad || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register {
		refuse(in, "%s of parameter %s is not supported by heddle explore", in.Text(), mem.Var.Shown())
	}
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: int(in.Dst[0].Reg), Input: true,
		Args: []explore.Operand{explore.Const(int64(v))},
		Eval: func(a []int64) (int64, bool) { return a[0], true }})
	t.extended(in, int(in.Dst[0].Reg))
}

// load emits a load into a register, extended to its width.
func (t *thread) load(in *ir.Instr, i explore.Inst, to ir.Operand) {
	if to.Kind != ir.Register { // the value goes nowhere
		i.Dst = t.hidden()
		t.emit(in, i)
		return
	}
	i.Dst = int(to.Reg)
	t.emit(in, i)
	t.extended(in, i.Dst)
}

// extended sign-extends a register after a narrower signed value was put into it.
func (t *thread) extended(in *ir.Instr, reg int) {
	if reg < 0 || reg >= len(t.fn.Regs) || !in.Type.Signed() {
		return
	}
	have, want := uint(8*in.Type.Size()), uint(8*t.fn.Regs[reg].Type.Size())
	if want <= have {
		return
	}
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: reg,
		Args: []explore.Operand{explore.Reg(reg)},
		Eval: func(a []int64) (int64, bool) { return int64(extend(uint64(a[0]), have, want)), true }})
}

// truncated returns an operand cut to the size of the instruction's type.
func (t *thread) truncated(in *ir.Instr, o ir.Operand) explore.Operand {
	v := t.value(in, o, in.Type)
	size := in.Type.Size()
	if size == 8 {
		return v
	}
	if !v.IsReg {
		return explore.Const(int64(cut(uint64(v.Value), size)))
	}
	if t.fn.Regs[o.Reg].Type.Size() <= size {
		return v
	}
	r := t.hidden()
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: r, Args: []explore.Operand{v},
		Eval: func(a []int64) (int64, bool) { return int64(cut(uint64(a[0]), size)), true }})
	return explore.Reg(r)
}

// cut returns the low size bytes of v.
func cut(v uint64, size int) uint64 {
	if size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

// update fills in an atomic operation: relaxed, and of the scope of the device, unless it says
// otherwise (PTX ISA 9.7.13.5).
func (t *thread) update(in *ir.Instr, i *explore.Inst) {
	i.Kind = explore.Update
	if !in.Order.Strong() {
		i.Order = event.Relaxed
	}
	if in.Scope == event.NoScope {
		i.Scope = event.GPU
	}
	i.Reduce = in.Action() == isa.ActReduce
	if !i.Reduce && len(in.Dst) == 1 && in.Dst[0].Kind == ir.Register {
		i.Dst = int(in.Dst[0].Reg)
	}
	for _, o := range in.Src[1:] {
		if o.Kind != ir.None {
			i.Args = append(i.Args, t.truncated(in, o))
		}
	}
	switch in.Fn {
	case isa.FnExch:
		i.Update = explore.Swap
		return
	case isa.FnCAS:
		i.Update = explore.CompareAndSwap
		return
	}
	f := modify(in.Fn, in.Type)
	if f == nil || len(i.Args) != 1 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	size := in.Type.Size()
	switch in.Fn {
	case isa.FnAdd, isa.FnAnd, isa.FnOr, isa.FnXor, isa.FnMin, isa.FnMax:
		if !in.Type.IsFloat() {
			i.Commutes = fmt.Sprint(in.Fn, in.Type)
		}
	}
	i.Eval = func(a []int64) (int64, bool) {
		return int64(cut(f(uint64(a[0]), uint64(a[1])), size)), true
	}
}

// modify returns the function of an atomic operation on two values; nil if it is not known here.
func modify(fn isa.Fn, t isa.Type) func(old, b uint64) uint64 {
	if t.IsFloat() {
		if fn != isa.FnAdd || t != isa.F32 && t != isa.F64 {
			return nil
		}
		if t == isa.F64 {
			return func(a, b uint64) uint64 {
				return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
			}
		}
		return func(a, b uint64) uint64 {
			sum := math.Float32frombits(uint32(a)) + math.Float32frombits(uint32(b))
			return uint64(math.Float32bits(sum))
		}
	}
	n := uint(8 * t.Size())
	less := func(a, b uint64) bool { return a < b }
	if t.Signed() {
		less = func(a, b uint64) bool { return int64(a<<(64-n)) < int64(b<<(64-n)) }
	}
	switch fn {
	case isa.FnAdd:
		return func(a, b uint64) uint64 { return a + b }
	case isa.FnAnd:
		return func(a, b uint64) uint64 { return a & b }
	case isa.FnOr:
		return func(a, b uint64) uint64 { return a | b }
	case isa.FnXor:
		return func(a, b uint64) uint64 { return a ^ b }
	case isa.FnMin:
		return func(a, b uint64) uint64 {
			if less(b, a) {
				return b
			}
			return a
		}
	case isa.FnMax:
		return func(a, b uint64) uint64 {
			if less(a, b) {
				return b
			}
			return a
		}
	case isa.FnInc: // wraps at the operand (PTX ISA 9.7.13.5)
		return func(a, b uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		}
	case isa.FnDec:
		return func(a, b uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		}
	}
	return nil
}
