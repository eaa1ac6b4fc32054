package slice

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Numbers of rounds that are computed from a parameter, as in (K + 63) / 64
// (docs/theory/periods.md, "Quotients"). If everything that the slice does with K goes through one
// number q = f(K), or compares K with constants where f makes a step, then q decides the rounds as
// a parameter would. f consists of operations that never fall as K grows; it is evaluated where K
// is small enough that none wraps around.

// A quotient is a register that holds f(K).
type quotient struct {
	r     *Rounds
	v     *ir.Var
	steps []int             // instructions that compute it, in order, the load first
	cone  map[ir.RegID]bool // registers on the way, without the result
	reg   ir.RegID          // the result
}

// findQuotient finds the number through which the slice reads v; nil if there is none.
func (r *Rounds) findQuotient(v *ir.Var) *quotient {
	f := r.f
	q := &quotient{r: r, v: v}
	derived := make(map[ir.RegID]bool)
	ok := true
	r.eachKept(func(in *ir.Instr) string {
		load := q.loads(in)
		switch {
		case load && in.Type.Size() == v.Size, readsAny(in, derived) && q.isStep(in, derived):
			if in.Guard != ir.NoReg || r.loops.Of[f.block[in.Index]] != nil || len(in.Dst) != 1 ||
				in.Dst[0].Kind != ir.Register || len(r.defsOf(in.Dst[0].Reg)) != 1 {
				ok = ok && !load
				return ""
			}
			derived[in.Dst[0].Reg] = true
			q.steps = append(q.steps, in.Index)
		case load:
			ok = false
		}
		return ""
	})
	if !ok {
		return nil
	}
	for n := len(q.steps); n > 1; n-- {
		if c := q.cut(n); c != nil {
			return c
		}
	}
	return nil
}

// readsAny reports whether an instruction reads one of the registers.
func readsAny(in *ir.Instr, regs map[ir.RegID]bool) bool {
	found := false
	for i := range in.Src {
		in.Src[i].EachReg(func(reg ir.RegID) { found = found || regs[reg] })
	}
	return found
}

// loads reports whether an instruction reads the parameter.
func (q *quotient) loads(in *ir.Instr) bool {
	return in.Action() == isa.ActLoad && in.Space == event.Param && in.Src[0].Var == q.v
}

// isStep reports whether an instruction computes a number from others that never falls as they
// grow: sums with each other and with constants, products, quotients and shifts by constants, and
// copies.
func (q *quotient) isStep(in *ir.Instr, derived map[ir.RegID]bool) bool {
	if !isWhole(in.Type) || truncates(in) || in.Has(isa.Sat) || in.Has(isa.CC) || in.ReadsCarry() {
		return false
	}
	of := func(i int) bool {
		return i < len(in.Src) && in.Src[i].Kind == ir.Register && derived[in.Src[i].Reg]
	}
	constant := func(i int) bool {
		if i >= len(in.Src) {
			return false
		}
		_, ok := constantOf(&in.Src[i])
		return ok
	}
	switch in.Operation() {
	case isa.Move, isa.Conversion:
		return len(in.Src) == 1 && of(0)
	case isa.Sum:
		return len(in.Src) == 2 && (of(0) || constant(0)) && (of(1) || constant(1))
	case isa.Difference, isa.Quotient, isa.LeftShift, isa.RightShift:
		return len(in.Src) == 2 && of(0) && constant(1)
	case isa.Product:
		return len(in.Src) == 2 && of(0) && constant(1) && in.Fn != isa.FnHi
	}
	return false
}

// cut returns the quotient whose computation is the first n steps; nil if something else reads what
// is on the way.
func (q *quotient) cut(n int) *quotient {
	f := q.r.f
	c := &quotient{r: q.r, v: q.v, steps: q.steps[:n], cone: make(map[ir.RegID]bool),
		reg: f.instrs[q.steps[n-1]].Dst[0].Reg}
	for _, i := range c.steps[:n-1] {
		c.cone[f.instrs[i].Dst[0].Reg] = true
	}
	inside := func(in *ir.Instr) bool { return slices.Contains(c.steps, in.Index) }
	closed := q.r.eachKept(func(in *ir.Instr) string {
		reads := readsAny(in, c.cone)
		switch {
		case inside(in), !reads && !q.loads(in):
			return ""
		case reads && c.compares(in) != 0:
			return ""
		}
		return "read elsewhere"
	}) == ""
	if !closed || !c.within(MaxCounted) {
		return nil
	}
	return c
}

// value computes f up to a register for a value of the parameter; false if something on the way
// does not fit: a sum below 0 or not below 2^31, or 2^63 for 64 bits.
func (q *quotient) value(k int64, reg ir.RegID) (int64, bool) {
	at := make(map[ir.RegID]int64)
	for _, i := range q.steps {
		in := q.r.f.instrs[i]
		of := func(i int) int64 {
			if c, ok := constantOf(&in.Src[i]); ok {
				if in.Type.Size() == 4 {
					return int64(int32(c))
				}
				return c
			}
			return at[in.Src[i].Reg]
		}
		var v int64
		switch in.Operation() {
		case isa.Sum:
			v = of(0) + of(1)
		case isa.Difference:
			v = of(0) - of(1)
		case isa.Product:
			if of(1) < 0 || of(1) > 1<<20 || of(0) > 1<<40 {
				return 0, false
			}
			v = of(0) * of(1)
		case isa.Quotient:
			if of(1) <= 0 {
				return 0, false
			}
			v = of(0) / of(1)
		case isa.LeftShift, isa.RightShift:
			c := of(1)
			left := in.Operation() == isa.LeftShift
			if c < 0 || c >= int64(8*in.Type.Size()) || left && (c > 20 || of(0) > 1<<40) {
				return 0, false
			}
			if v = of(0) >> c; left {
				v = of(0) << c
			}
		case isa.Move, isa.Conversion:
			v = of(0)
		default: // the load
			v = k
		}
		bits := 8*q.r.f.fn.Regs[in.Dst[0].Reg].Type.Size() - 1
		if v < 0 || bits < 63 && v >= 1<<bits {
			return 0, false
		}
		at[in.Dst[0].Reg] = v
		if in.Dst[0].Reg == reg {
			return v, true
		}
	}
	return 0, false
}

// within reports whether f has values from 0 to limit for all parameters from 0 to limit.
func (q *quotient) within(limit int64) bool {
	_, ok := q.value(0, q.reg)
	most, ok2 := q.value(limit, q.reg)
	return ok && ok2 && most <= limit
}

// argument returns the smallest value of the parameter from 0 to MaxCounted for which reg is at
// least n; false if there is none.
func (q *quotient) argument(n int64, reg ir.RegID) (int64, bool) {
	low, high := int64(0), int64(MaxCounted)
	if v, ok := q.value(high, reg); !ok || v < n {
		return 0, false
	}
	for low < high {
		mid := (low + high) / 2
		if v, _ := q.value(mid, reg); v >= n {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, true
}

// changes returns the numbers from which on a comparison with c may have another outcome. flipped
// says that c is the left operand.
func changes(op isa.Cmp, c int64, flipped bool) []int64 {
	switch op {
	case isa.LT, isa.LO, isa.GE, isa.HS:
		if flipped {
			c++
		}
		return []int64{c}
	case isa.LE, isa.LS, isa.GT, isa.HI:
		if !flipped {
			c++
		}
		return []int64{c}
	}
	return []int64{c, c + 1}
}

// compares examines a comparison of a number on the way with a constant: its outcome must be the
// same for all parameters with one quotient. It returns a quotient from which on it does not
// change, plus 1; 0 if the instruction is no such comparison.
func (q *quotient) compares(in *ir.Instr) int64 {
	if in.Operation() != isa.Comparison || len(in.Src) != 2 || !isWhole(in.Type) {
		return 0
	}
	for i := range in.Src {
		c, ok := constantOf(&in.Src[1-i])
		o := &in.Src[i]
		if !ok || o.Kind != ir.Register || !q.cone[o.Reg] {
			continue
		}
		if in.Type.Size() == 4 {
			c = int64(int32(c))
		}
		if c < 0 && (in.Type == isa.U32 || in.Type == isa.U64) {
			return 1 // a number that is larger than any
		}
		most := int64(1)
		for _, n := range changes(in.Cmp, c, i == 1) {
			k, found := q.argument(n, o.Reg)
			if !found || k == 0 {
				continue
			}
			before, _ := q.value(k-1, q.reg)
			now, _ := q.value(k, q.reg)
			if before == now {
				return 0
			}
			most = max(most, now+1)
		}
		return most
	}
	return 0
}
