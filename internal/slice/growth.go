package slice

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// The second part of the analysis of rounds.go (docs/theory/periods.md, "Differences", "Numbers").
// Grows takes differences between two executions, of n and of n + P, at places that correspond to
// each other, and shows that nothing that the slice does depends on them: registers differ by
// multiples of some number, and what reads them must not see that (i & 3 does not, if the multiples
// are of 4). What is not known to differ by such multiples counts as different.

// Grows reports whether what the slice does is the same in two executions whose registers differ,
// at some places that correspond to each other, by multiples of delta, and those that it does not
// name not at all. Counters that are compared with the parameter differ by exactly as much as it.
// What small names grows at most MaxGrowth times as fast as the parameter, and rounds that are not
// repeated add at most MaxExtra to it, if they add MaxGrowth at a time. It returns "" or what is
// not the same.
func (r *Rounds) Grows(delta map[ir.RegID]uint64, small map[ir.RegID]bool) string {
	f := r.f
	r.small = small
	d := r.differences(delta)
	for reg, c := range r.counters {
		for _, i := range c.init {
			if r.transfer(f.instrs[i], d) != 0 {
				return fmt.Sprintf("counter %s does not begin with the same value", f.fn.Regs[reg].Name)
			}
		}
	}
	if why := r.touches(d); why != "" {
		return why
	}
	return r.eachKept(func(in *ir.Instr) string {
		if in.Guard != ir.NoReg && d.of(in, in.Guard) != 0 {
			return "whether " + in.Text() + " is executed depends on the number of the round"
		}
		switch f.kindOf(in) {
		case pure, constant, input, ignored:
			return ""
		}
		why := ""
		for i := range in.Src {
			in.Src[i].EachReg(func(reg ir.RegID) {
				_, isN := r.n[reg]
				if (isN || d.of(in, reg) != 0) && r.matters(in, i) && !r.state(in, i) {
					why = in.Text() + " depends on the number of the round"
				}
			})
		}
		return why
	})
}

// touches reports what Grows reports about instructions outside of the slice. A trace looks at what
// they do to registers of matrix operations, and evaluates their guards if the slice computes them.
func (r *Rounds) touches(d *differences) string {
	if !r.s.Warpgroups {
		return ""
	}
	for i, in := range r.f.instrs {
		if r.f.live[r.f.block[i]] && in.Guard != ir.NoReg && r.s.Computes(r.f.fn, in.Guard) &&
			d.of(in, in.Guard) != 0 {
			return "whether " + in.Text() + " is executed depends on the number of the round"
		}
	}
	return ""
}

// differences says by multiples of what registers differ: 1 is anything, 0 nothing. What a block
// begins with may come from the end of any other one.
type differences struct {
	r     *Rounds
	def   map[int]uint64      // results of instructions, by index
	entry map[ir.RegID]uint64 // at the start of blocks
	last  map[int]bool        // instructions whose result may be there at the end of their block
	// exchanged is for what threads pass to each other by barriers with a reduction, shuffles and so
	// on: a thread may be at another such instruction than the one whose result it gets.
	exchanged map[isa.Action]uint64
}

// differences returns the least solution of the equations that the instructions are.
func (r *Rounds) differences(delta map[ir.RegID]uint64) *differences {
	d := &differences{r: r, def: make(map[int]uint64), entry: make(map[ir.RegID]uint64),
		last: make(map[int]bool), exchanged: make(map[isa.Action]uint64)}
	for reg, v := range delta {
		d.entry[reg] = v
	}
	for _, b := range r.f.fn.Blocks {
		written := make(map[ir.RegID]bool)
		for i := len(b.Instrs) - 1; i >= 0; i-- {
			in := b.Instrs[i]
			for j := range in.Dst {
				in.Dst[j].EachReg(func(reg ir.RegID) {
					d.last[in.Index] = d.last[in.Index] || !written[reg]
					written[reg] = written[reg] || in.Guard == ir.NoReg && r.f.kept[in.Index]
				})
			}
		}
	}
	for changed := true; changed; {
		changed = false
		r.eachKept(func(in *ir.Instr) string {
			if r.f.kindOf(in) == sync {
				v := gcd(d.exchanged[in.Action()], r.operands(in, d))
				changed = changed || v != d.exchanged[in.Action()]
				d.exchanged[in.Action()] = v
			}
			if r.pred[in.Index] || r.passesOn(in) || len(in.Dst) == 0 {
				return ""
			}
			v := gcd(d.def[in.Index], r.transfer(in, d))
			changed = changed || v != d.def[in.Index]
			d.def[in.Index] = v
			for i := range in.Dst {
				in.Dst[i].EachReg(func(reg ir.RegID) {
					if v := gcd(d.entry[reg], v); d.last[in.Index] && v != d.entry[reg] {
						d.entry[reg], changed = v, true
					}
				})
			}
			return ""
		})
	}
	return d
}

// of returns by multiples of what a register differs in front of an instruction.
func (d *differences) of(in *ir.Instr, reg ir.RegID) uint64 {
	f, out, before := d.r.f, uint64(0), false
	list := f.fn.Blocks[f.block[in.Index]].Instrs
	for i := len(list) - 1; i >= 0; i-- {
		def := list[i]
		if !before {
			before = def == in
			continue
		}
		writes := false
		for j := range def.Dst {
			def.Dst[j].EachReg(func(r ir.RegID) { writes = writes || r == reg })
		}
		if !writes || !f.kept[def.Index] {
			continue
		}
		if out = gcd(out, d.def[def.Index]); def.Guard == ir.NoReg {
			return out
		}
	}
	return gcd(out, d.entry[reg])
}

// state reports whether operand i of a test is the state of an arrival: which phase it names
// depends on the round, and whether that phase is complete does not.
func (r *Rounds) state(in *ir.Instr, i int) bool {
	b, _ := in.Barrier()
	if !tests(in) || b.Parity || i != 1 || in.Src[1].Kind != ir.Register {
		return false
	}
	return !slices.ContainsFunc(r.defsOf(in.Src[1].Reg), func(d int) bool {
		b, _ := r.f.instrs[d].Barrier()
		return b.Kind != isa.BarrierArrive && b.Kind != isa.BarrierDrop
	})
}

// operands returns by multiples of what the operands of an instruction differ.
func (r *Rounds) operands(in *ir.Instr, g *differences) uint64 {
	out := uint64(0)
	for i := range in.Src {
		in.Src[i].EachReg(func(reg ir.RegID) {
			d := g.of(in, reg)
			if _, isN := r.n[reg]; isN {
				d = 1
			}
			out = gcd(out, d)
		})
	}
	return out
}

// transfer returns by multiples of what the result of an instruction differs: 0 for a result that
// does not, 1 for one of which nothing is known.
func (r *Rounds) transfer(in *ir.Instr, g *differences) uint64 {
	any, narrow := r.operands(in, g), false
	for i := range in.Src {
		in.Src[i].EachReg(func(reg ir.RegID) {
			narrow = narrow || !r.wide(reg) && r.f.fn.Regs[reg].Type != isa.Pred // of a selection
		})
	}
	if in.Guard != ir.NoReg && g.of(in, in.Guard) != 0 {
		return 1
	}
	k := r.f.kindOf(in)
	if k == sync {
		any = gcd(any, g.exchanged[in.Action()])
	}
	switch {
	case k == object:
		if b, _ := in.Barrier(); b.Kind == isa.BarrierArrive || b.Kind == isa.BarrierDrop {
			return 1 // a state
		}
		return 0
	case any == 0, k == input:
		return 0
	case k != pure || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register || !r.wide(in.Dst[0].Reg) ||
		narrow || !isWhole(in.Type) || truncates(in):
		return 1
	}
	return r.arithmetic(in, any, g)
}

// arithmetic is transfer for an integer operation of 32 or 64 bits on registers that differ. What
// differs by multiples of a number does so modulo 2^32 or 2^64: where a division or a wider type
// sees the number itself, exact says what remains.
func (r *Rounds) arithmetic(in *ir.Instr, any uint64, g *differences) uint64 {
	of := func(i int) uint64 {
		if in.Src[i].Kind == ir.Register {
			return g.of(in, in.Src[i].Reg)
		}
		return 0
	}
	c, constant := int64(0), false
	if len(in.Src) >= 2 {
		c, constant = constantOf(&in.Src[1])
		if in.Type.Size() == 4 {
			c = int64(uint32(c))
		}
	}
	simple := constant && c > 0 && c < 1<<31
	if in.Has(isa.Sat) {
		return 1
	}
	switch in.Operation() {
	case isa.Move:
		if len(in.Src) == 1 && in.Src[0].Kind == ir.Register {
			return any
		}
	case isa.Conversion:
		if len(in.Src) == 1 && in.Src[0].Kind == ir.Register {
			if in.SType.Size() >= in.Type.Size() {
				return any
			}
			return r.exact(in, any, g)
		}
	case isa.Sum, isa.Difference:
		return any
	case isa.Selection:
		if len(in.Src) == 3 && of(2) == 0 {
			return gcd(of(0), of(1))
		}
	case isa.LeftShift:
		if constant && c >= 0 && c < 32 && any < 1<<32 {
			return any << c
		}
	case isa.Product, isa.ProductSum:
		if in.Fn == isa.FnHi || !simple || c > 1<<20 || of(0) >= 1<<40 {
			break
		}
		d := of(0)
		if in.Fn == isa.FnWide && d != 0 {
			d = r.exact(in, d, g)
		}
		d *= uint64(c)
		if len(in.Src) == 3 {
			d = gcd(d, of(2))
		}
		return d
	case isa.Conjunction:
		if simple {
			bits := uint64(1)
			for bits <= uint64(c) {
				bits <<= 1
			}
			if any%bits == 0 {
				return 0
			}
		}
		return any & -any
	case isa.Disjunction, isa.ExclusiveOr, isa.Complement, isa.LogicOfThree:
		return any & -any // the bits below agree
	case isa.BitField:
		if of(0) != any {
			break
		}
		length, known := constantOf(&in.Src[2])
		low := any & -any
		switch {
		case !constant || !known || c < 0 || length < 0 || c+length > int64(8*in.Type.Size()):
		case low>>(c+length) > 0 || length == 0:
			return 0
		case low>>c > 0:
			return low >> c
		}
	case isa.RightShift:
		if d := r.exact(in, any, g); constant && c >= 0 && c < 31 && d%(1<<c) == 0 {
			return d >> c
		}
	case isa.Remainder, isa.Quotient:
		if !simple || of(0) != any {
			break
		}
		signed := in.Type == isa.S32 || in.Type == isa.S64
		if signed && !r.bounded(in, g) { // rounds towards zero
			break
		}
		r.Bounded = r.Bounded || signed
		d := r.exact(in, any, g)
		switch {
		case d%uint64(c) != 0:
		case in.Operation() == isa.Remainder:
			return 0
		default:
			return d / uint64(c)
		}
	}
	return 1
}

// exact returns by multiples of what the first operand differs as a number, if it differs by
// multiples of v modulo 2^32 or 2^64: of v, if it does not wrap around, and else of the power of
// two in v.
func (r *Rounds) exact(in *ir.Instr, v uint64, g *differences) uint64 {
	o, power := &in.Src[0], v&-v
	if o.Kind == ir.Register && r.f.fn.Regs[o.Reg].Type.Size() == 4 {
		power = min(power, 1<<32)
	}
	switch {
	case power == v:
		return v
	case r.bounded(in, g):
		r.Bounded = true
		return v
	}
	return power
}

// linear reports whether a register that differs only grows, by at most MaxGrowth at a time, from
// small values that do not differ, so that rounds that are repeated add the same to it again.
func (r *Rounds) linear(reg ir.RegID, g *differences, depth int) bool {
	if !r.small[reg] {
		return false
	}
	for _, i := range r.defsOf(reg) {
		from, c, ok := plusConstant(r.f.instrs[i])
		if ok && from == reg && c >= 0 && c <= MaxGrowth {
			continue
		}
		b := &bounding{r: r, g: g, minus: ir.NoReg}
		if g.def[i] != 0 || b.result(r.f.instrs[i], true, depth+1) > maxBeside || b.wraps() {
			return false
		}
	}
	return true
}

// bounded reports whether operand 0 of an instruction is below unbounded wherever it differs.
func (r *Rounds) bounded(in *ir.Instr, g *differences) bool {
	b := &bounding{r: r, g: g, minus: ir.NoReg}
	return b.operand(in, 0, true, 0) < unbounded && !b.wraps()
}

// bounding is the search for a bound of an operand. A counter minus a constant has wrapped around
// in the first rounds, in which the counter does not differ yet. So it has a bound only if nothing
// else in the operand differs, and all of it is of the round at hand.
type bounding struct {
	r       *Rounds
	g       *differences
	minus   ir.RegID // the counter
	differs []ir.RegID
	other   bool // something else differs, or is of another round
}

// wraps reports whether the operand may have wrapped around where it differs.
func (b *bounding) wraps() bool {
	return b.minus != ir.NoReg && (b.other ||
		slices.ContainsFunc(b.differs, func(reg ir.RegID) bool { return reg != b.minus }))
}

// leaf notes that a register is read that has a bound of its own.
func (b *bounding) leaf(in *ir.Instr, reg ir.RegID, fresh bool) {
	switch {
	case b.g.of(in, reg) == 0:
	case fresh && b.r.compared(reg, in.Index):
		b.differs = append(b.differs, reg)
	default:
		b.other = true
	}
}

// operand returns a number that operand i of an instruction is not larger than, unless it wraps;
// unbounded if none below that is known. fresh says that the instruction is executed in each round
// in which the result of the search is used.
func (b *bounding) operand(in *ir.Instr, i int, fresh bool, depth int) uint64 {
	o, r := &in.Src[i], b.r
	if c, ok := constantOf(o); ok {
		return uint64(min(uint64(c), unbounded))
	}
	switch {
	case o.Kind == ir.Special && !o.Neg:
		switch o.Sreg {
		case ir.TidX, ir.TidY, ir.TidZ, ir.LaneID:
			return 1 << 10
		}
		return unbounded
	case o.Kind != ir.Register || o.Neg || depth > 6 || !r.wide(o.Reg):
		return unbounded
	case r.linear(o.Reg, b.g, depth):
		b.leaf(in, o.Reg, fresh)
		return MaxGrowth*MaxBounded + MaxExtra
	}
	defs := r.defsOf(o.Reg)
	if len(defs) == 0 {
		return unbounded
	}
	inFront := func(d int) bool { // in the same block
		return r.f.block[d] == r.f.block[in.Index] && d < in.Index
	}
	for k, d := range slices.Backward(defs) {
		if inFront(d) && r.f.instrs[d].Guard == ir.NoReg { // no earlier one is read
			defs = slices.DeleteFunc(defs[k:], func(d int) bool { return !inFront(d) })
			break
		}
	}
	most := uint64(0)
	for _, d := range defs {
		now := fresh && len(defs) == 1 && r.f.always(d, in.Index)
		most = max(most, b.result(r.f.instrs[d], now, depth+1))
	}
	return min(most, unbounded)
}

// result is operand for the result of an instruction.
func (b *bounding) result(in *ir.Instr, fresh bool, depth int) uint64 {
	if len(in.Dst) != 1 || b.r.f.kindOf(in) != pure || !isWhole(in.Type) || truncates(in) {
		return unbounded
	}
	of := func(i int) uint64 { return b.operand(in, i, fresh, depth) }
	only := func(i int) uint64 { // whatever the other operand is
		if _, ok := constantOf(&in.Src[1-i]); !ok && b.g.def[in.Index] != 0 {
			b.other = true
		}
		return of(i)
	}
	if from, c, ok := plusConstant(in); ok && c < 0 {
		if c < -maxMinus || !b.r.compared(from, in.Index) { // see withConstants
			return unbounded
		}
		b.other = b.other || !fresh || b.minus != ir.NoReg && b.minus != from
		b.minus = from
		return of(0)
	}
	switch in.Operation() {
	case isa.Move, isa.Conversion:
		if len(in.Src) == 1 {
			return of(0)
		}
	case isa.Sum:
		return of(0) + of(1)
	case isa.Selection:
		b.other = b.other || b.g.of(in, in.Src[2].Reg) != 0
		return max(of(0), of(1))
	case isa.LeftShift:
		if c, ok := constantOf(&in.Src[1]); ok && c >= 0 && c < 32 {
			return of(0) << c
		}
	case isa.RightShift, isa.Quotient:
		return only(0)
	case isa.Product, isa.ProductSum:
		most := of(0)
		if in.Fn == isa.FnHi || most >= unbounded || of(1) >= unbounded {
			break
		}
		if most *= of(1); len(in.Src) == 3 {
			most += of(2)
		}
		return most
	case isa.Remainder:
		if in.Type == isa.U32 || in.Type == isa.U64 {
			return only(1)
		}
		return only(0)
	case isa.Conjunction:
		return only(1)
	}
	return unbounded
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
