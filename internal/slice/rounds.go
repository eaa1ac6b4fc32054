package slice

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Loops whose number of rounds one parameter n decides, and nothing else that the slice does
// (docs/theory/periods.md, "Rounds"). A trace for a concrete n then says what the traces for n + P,
// n + 2P, ... do, if the state of the block repeats after the rounds that P more in n make.
//
// The analysis has two parts. CountedBy finds the comparisons in which n takes part: each has n
// plus a constant on one side, and on the other a constant or a counter of a loop plus a constant.
// Grows takes differences between two executions, of n and of n + P, at places that correspond to
// each other, and shows that nothing that the slice does depends on them: registers differ by
// multiples of some number, and what reads them must not see that (i & 3 does not, if the multiples
// are of 4).
//
// It looks at the order of instructions within a block only, and takes it that blocks follow each
// other in any order. It misses loops that count down, counters in memory, and numbers of rounds
// that are computed from n other than by adding a constant.

// Rounds are the loops of a kernel whose number of rounds a parameter decides.
type Rounds struct {
	Loops []RoundLoop
	// Least is a value of the parameter from which on its comparisons with constants have one
	// outcome.
	Least uint64
	// Slack is how much smaller than the parameter a counter must be so that its comparisons have the
	// outcome that they have for any larger parameter.
	Slack uint64
	// Above is what a counter must have reached so that its comparisons with constants have the
	// outcome that they have from then on.
	Above uint64
	// Bounded says that Grows rests on a bound of what registers hold: the parameter must not be
	// larger than MaxBounded.
	Bounded bool

	s        *Slice
	f        *function
	dom      *ir.DomTree
	loops    *ir.LoopForest
	n        map[ir.RegID]int64 // registers that hold the parameter plus a constant
	counters map[ir.RegID]*counter
	pred     map[int]bool      // comparisons with the parameter, by index
	small    map[ir.RegID]bool // what Grows has been told
}

// RoundLoop is one of the loops.
type RoundLoop struct {
	Header ir.BlockID
	// Counters are compared with the parameter, and grow by the same step in each round.
	Counters []ir.RegID
	Steps    []uint64
	// Live are the registers that the slice needs at the start of a round.
	Live []ir.RegID
}

// counter is a register that some loops increment, each once in each round.
type counter struct {
	loops []loopCount
	init  []int // other definitions
}

// loopCount is a loop with the increment of a counter.
type loopCount struct {
	loop *ir.Loop
	step uint64
	at   int // index of the instruction
}

const (
	// limit of constants beside the parameter, so that sums with them do not wrap around
	maxBeside = 1 << 15
	// MaxCounted is the largest parameter for which they do not, as signed numbers: a counter ends at
	// most a constant and a step above the parameter, and two more constants may be on the way from it
	// to a comparison.
	MaxCounted = 1<<31 - 8*maxBeside
	// MaxBounded is the largest parameter for which bounds hold, MaxGrowth how much faster than the
	// parameter a register may grow whose values are bounded, and MaxExtra what rounds that are not
	// repeated may add to one.
	MaxBounded = 1 << 24
	MaxGrowth  = 16
	MaxExtra   = 1 << 28

	unbounded = 1 << 31
	maxMinus  = 64 // the largest constant to subtract from a counter with a bound
)

// CountedBy returns the loops whose rounds v decides, and why there are none.
func (s *Slice) CountedBy(v *ir.Var) (*Rounds, string) {
	f := s.funcs[s.order[0]]
	r := &Rounds{s: s, f: f, n: make(map[ir.RegID]int64), counters: make(map[ir.RegID]*counter),
		pred: make(map[int]bool)}
	switch {
	case len(s.order) > 1:
		return nil, "it calls functions"
	case s.need.shared || s.need.local:
		return nil, "its synchronization depends on values in memory"
	case v.Type.IsFloat() || v.Size != v.Type.Size() || v.Size < 4:
		return nil, v.Shown() + " is not an integer"
	}
	for i, in := range f.instrs {
		if !f.kept[i] {
			continue
		}
		if in.Has(isa.CC) || in.ReadsCarry() {
			return nil, "it computes with a carry"
		}
		load := in.Action() == isa.ActLoad && in.Space == event.Param
		for j := range in.Src {
			switch o := &in.Src[j]; {
			case o.Var == v && !load:
				return nil, "it takes the address of " + v.Shown()
			case o.Var != nil && load && !within(in, o):
				return nil, in.Text() + " reads more than " + o.Var.Shown()
			case o.Var == nil && load && j == 0: // perhaps v, by the address of another one
				return nil, in.Text() + " reads a parameter through an address"
			}
		}
	}
	if why := r.holders(v); why != "" {
		return nil, why
	}
	if why := r.comparisons(v); why != "" {
		return nil, why
	}
	r.withConstants()
	if len(r.Loops) == 0 {
		return nil, "no loop counts up to " + v.Shown()
	}
	return r, ""
}

// TensorMap returns the parameter or variable that holds, or points to, the tensor map of a bulk
// copy of the kernel; nil if it is not found, or the copy has none.
func (s *Slice) TensorMap(in *ir.Instr) *ir.Var {
	use, ok := in.Bulk()
	if !ok || use.Size >= 0 {
		return nil
	}
	o := in.Src[0]
	if use.To == event.Shared {
		o = in.Src[1]
	}
	copied := *in
	copied.Src = []ir.Operand{o}
	for _, fn := range s.order {
		if f := s.funcs[fn]; in.Index < len(f.instrs) && f.instrs[in.Index] == in {
			return f.base(&copied)
		}
	}
	return nil
}

// within reports whether a load reads nothing beyond the variable that it names. Such a load has no
// register in its address.
func within(in *ir.Instr, o *ir.Operand) bool {
	count := int64(0)
	for i := range in.Dst {
		in.Dst[i].EachReg(func(ir.RegID) { count++ })
	}
	at := int64(o.Val)
	return at >= 0 && at+max(count, 1)*int64(in.Type.Size()) <= int64(o.Var.Size)
}

// Loads reports whether the slice reads a parameter of the kernel.
func (s *Slice) Loads(v *ir.Var) bool {
	f := s.funcs[s.order[0]]
	for i, in := range f.instrs {
		if f.kept[i] && f.kinds[i] == constant && f.live[f.block[i]] && in.Space == event.Param &&
			in.Src[0].Var == v {
			return true
		}
	}
	return false
}

// eachKept visits the instructions of the slice that a trace executes.
func (r *Rounds) eachKept(visit func(in *ir.Instr) string) string {
	f := r.f
	for i, in := range f.instrs {
		if f.kept[i] && f.live[f.block[i]] && r.s.Role(f.fn, in) != Skip {
			if why := visit(in); why != "" {
				return why
			}
		}
	}
	return ""
}

// defsOf returns the definitions of a register in the slice.
func (r *Rounds) defsOf(reg ir.RegID) (out []int) {
	for _, i := range r.f.defs[reg] {
		if r.f.kept[i] && r.f.live[r.f.block[i]] {
			out = append(out, int(i))
		}
	}
	return out
}

// constantOf returns the value of an operand that is a number.
func constantOf(o *ir.Operand) (int64, bool) {
	return int64(o.Val), o.Kind == ir.Imm
}

// isWhole reports whether t is an integer of 32 or 64 bits, and no packed type.
func isWhole(t isa.Type) bool {
	switch t {
	case isa.U32, isa.S32, isa.B32, isa.U64, isa.S64, isa.B64:
		return true
	}
	return false
}

// truncates reports whether a conversion reads a part of its source only, or no integer.
func truncates(in *ir.Instr) bool {
	return in.Operation() == isa.Conversion && !isWhole(in.SType)
}

// plusConstant matches an instruction that adds a constant to a register, or copies it. The
// constant is read in the width of the operation.
func plusConstant(in *ir.Instr) (from ir.RegID, c int64, ok bool) {
	if len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register || !isWhole(in.Type) || truncates(in) {
		return ir.NoReg, 0, false
	}
	reg := func(o *ir.Operand) bool { return o.Kind == ir.Register }
	narrow := func(c int64) int64 {
		if in.Type.Size() == 4 {
			return int64(int32(c))
		}
		return c
	}
	switch in.Operation() {
	case isa.Move, isa.Conversion:
		if len(in.Src) == 1 && reg(&in.Src[0]) {
			return in.Src[0].Reg, 0, true
		}
	case isa.Sum, isa.Difference:
		if len(in.Src) != 2 {
			break
		}
		a, b := &in.Src[0], &in.Src[1]
		if c, ok := constantOf(b); ok && reg(a) {
			if in.Operation() == isa.Difference {
				c = -c
			}
			return a.Reg, narrow(c), true
		}
		if c, ok := constantOf(a); ok && reg(b) && in.Operation() == isa.Sum {
			return b.Reg, narrow(c), true
		}
	}
	return ir.NoReg, 0, false
}

// wide reports whether an integer register keeps values up to 2^31.
func (r *Rounds) wide(reg ir.RegID) bool {
	t := r.f.fn.Regs[reg].Type
	return !t.IsFloat() && t != isa.Pred && (t.Size() == 4 || t.Size() == 8)
}

// holders finds the registers that hold the parameter plus a constant.
func (r *Rounds) holders(v *ir.Var) string {
	loads := func(in *ir.Instr) bool {
		return in.Action() == isa.ActLoad && in.Space == event.Param && in.Src[0].Var == v
	}
	for changed := true; changed; {
		changed = false
		why := r.eachKept(func(in *ir.Instr) string {
			from, c, _ := plusConstant(in)
			base, held := r.n[from]
			switch {
			case loads(in):
				if in.Type.Size() != v.Size { // else it is one value, since it reads no more than v
					return "it reads a part of " + v.Shown()
				}
				c, base = 0, 0
			case !held:
				return ""
			}
			dst, sum := in.Dst[0].Reg, base+c
			if in.Guard != ir.NoReg || !r.wide(dst) || sum > maxBeside || sum < -maxBeside {
				return fmt.Sprintf("it computes with %s by %s", v.Shown(), in.Text())
			}
			if sum < 0 { // a wider type sees whether it has wrapped around
				r.Least = max(r.Least, uint64(-sum+1))
			}
			if old, ok := r.n[dst]; ok && old != sum {
				return fmt.Sprintf("register %s holds different sums with %s", r.f.fn.Regs[dst].Name,
					v.Shown())
			} else if !ok {
				r.n[dst], changed = sum, true
			}
			return ""
		})
		if why != "" {
			return why
		}
	}
	for reg := range r.n { // nothing else is in them
		for _, i := range r.defsOf(reg) {
			in := r.f.instrs[i]
			from, _, _ := plusConstant(in)
			if _, held := r.n[from]; !loads(in) && !held {
				return fmt.Sprintf("register %s holds %s at some places only", r.f.fn.Regs[reg].Name,
					v.Shown())
			}
		}
	}
	return ""
}

// sum is a register plus a constant.
type sum struct {
	reg   ir.RegID
	plus  int64
	at    int   // index of the instruction that reads the register
	least int64 // the smallest of the sums of constants on the way
	large bool  // one of them, or of the constants, is beyond maxBeside
}

// root follows sums with constants from a register, as instruction at reads it, to one that is not
// such a sum. A sum on the way that is smaller wraps around if the register is small, which a
// conversion to a wider type sees, and one that is much larger may be negative as a signed number.
func (r *Rounds) root(reg ir.RegID, at int) sum {
	var plus []int64
	for range 8 {
		defs := r.defsOf(reg)
		if len(defs) != 1 {
			break
		}
		from, c, ok := plusConstant(r.f.instrs[defs[0]])
		if !ok || r.f.instrs[defs[0]].Guard != ir.NoReg || !r.wide(from) || !r.wide(reg) {
			break
		}
		plus = append(plus, c)
		reg, at = from, defs[0]
	}
	out := sum{reg: reg, at: at}
	for i, c := range slices.Backward(plus) {
		out.plus += c
		for _, v := range [...]int64{c, out.plus} {
			out.large = out.large || v > maxBeside || v < -maxBeside
		}
		if i == len(plus)-1 || out.plus < out.least {
			out.least = out.plus
		}
	}
	return out
}

// comparisons examines everything that reads the parameter.
func (r *Rounds) comparisons(v *ir.Var) string {
	r.dom = ir.Dominators(r.f.fn)
	r.loops = ir.FindLoops(r.f.fn, r.dom)
	if !r.loops.Reducible {
		return "its control flow is irreducible"
	}
	byHeader := make(map[ir.BlockID]int)
	return r.eachKept(func(in *ir.Instr) string {
		reads := -1
		for i := range in.Src {
			in.Src[i].EachReg(func(reg ir.RegID) {
				if _, ok := r.n[reg]; ok {
					reads = i
				}
			})
		}
		if reads < 0 || r.passesOn(in) || !r.matters(in, reads) {
			return ""
		}
		if in.Operation() != isa.Comparison || len(in.Src) != 2 || !isWhole(in.Type) {
			return fmt.Sprintf("%s depends on %s, and is not a comparison with a counter", in.Text(),
				v.Shown())
		}
		beside, other := r.n[in.Src[reads].Reg], &in.Src[1-reads]
		r.pred[in.Index] = true
		if c, ok := constantOf(other); ok {
			if in.Type.Size() == 4 {
				c = int64(int32(c))
			}
			if c > maxBeside || c < -maxBeside {
				return fmt.Sprintf("%s compares %s with a large number", in.Text(), v.Shown())
			}
			r.Least = max(r.Least, uint64(max(c-beside+1, -beside+1, 0)))
			return ""
		}
		if other.Kind != ir.Register {
			return in.Text() + " is not a comparison with a counter"
		}
		side := r.root(other.Reg, in.Index)
		c, why := r.counterOf(side.reg, side.at)
		if why != "" {
			return fmt.Sprintf("%s compares %s with %s, which %s", in.Text(), v.Shown(),
				r.f.fn.Regs[side.reg].Name, why)
		}
		if side.large {
			return in.Text() + " compares with a large number"
		}
		r.Least = max(r.Least, uint64(max(-beside+1, 0)))
		r.Slack = max(r.Slack, uint64(max(side.plus-beside+1, 1)), c.step)
		r.Above = max(r.Above, uint64(max(-side.least+1, 0))) // before, sums wrap around
		k, ok := byHeader[c.loop.Header]
		if !ok {
			k = len(r.Loops)
			byHeader[c.loop.Header] = k
			r.Loops = append(r.Loops, RoundLoop{Header: c.loop.Header, Live: r.liveRegs(c.loop.Header)})
		}
		l := &r.Loops[k]
		if !slices.Contains(l.Counters, side.reg) {
			l.Counters, l.Steps = append(l.Counters, side.reg), append(l.Steps, c.step)
		}
		return ""
	})
}

// passesOn reports whether an instruction makes a register hold the parameter.
func (r *Rounds) passesOn(in *ir.Instr) bool {
	from, _, _ := plusConstant(in)
	_, is := r.n[from]
	return is
}

// liveRegs returns the registers that the slice needs at the start of a block.
func (r *Rounds) liveRegs(b ir.BlockID) (out []ir.RegID) {
	for reg, i := range r.f.rank {
		if i >= 0 && r.f.liveIn[b].has(i) { // not the carry flag, see CountedBy
			if _, ok := r.n[ir.RegID(reg)]; !ok {
				out = append(out, ir.RegID(reg))
			}
		}
	}
	return out
}

// counterOf examines a register that instruction at reads, for a comparison with the parameter. It
// must have one increment in each loop that it counts the rounds of, which is executed in each
// round, and begin anew whenever such a loop is entered. It returns the loop to which the
// instruction belongs or which it follows, with nothing else written to the register since.
func (r *Rounds) counterOf(reg ir.RegID, at int) (loopCount, string) {
	c := r.counters[reg]
	if c == nil {
		if !r.wide(reg) {
			return loopCount{}, "is no integer of 32 or 64 bits"
		}
		var why string
		if c, why = r.newCounter(reg); why != "" {
			return loopCount{}, why
		}
		r.counters[reg] = c
	}
	found := -1
	for i, l := range c.loops {
		if r.dom.Dominates(l.loop.Header, r.f.block[at]) {
			if found >= 0 {
				return loopCount{}, "counts the rounds of two loops one after the other"
			}
			found = i
		}
	}
	if found < 0 {
		return loopCount{}, "does not count there yet"
	}
	l := c.loops[found]
	for _, def := range r.defsOf(reg) {
		if def != l.at && r.reaches(def, at, l.loop.Header) {
			return loopCount{}, "may have another value there"
		}
	}
	return l, ""
}

// reaches reports whether there is a path from behind one instruction to another one that does not
// enter a block.
func (r *Rounds) reaches(from, to int, without ir.BlockID) bool {
	f := r.f
	if f.block[from] == f.block[to] && from < to {
		return true
	}
	seen := map[ir.BlockID]bool{without: true}
	work := []ir.BlockID{f.block[from]}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, next := range f.fn.Blocks[b].Succs {
			if seen[next] {
				continue
			}
			if next == f.block[to] {
				return true
			}
			seen[next] = true
			work = append(work, next)
		}
	}
	return false
}

func (r *Rounds) newCounter(reg ir.RegID) (*counter, string) {
	c := &counter{}
	for _, i := range r.defsOf(reg) {
		in := r.f.instrs[i]
		from, step, ok := plusConstant(in)
		if !ok || from != reg {
			c.init = append(c.init, i)
			continue
		}
		at := r.f.block[i]
		l := r.loops.Of[at]
		if l == nil || step <= 0 || step > maxBeside || in.Guard != ir.NoReg ||
			slices.ContainsFunc(c.loops, func(o loopCount) bool { return o.loop == l }) {
			return nil, "does not grow by one constant in each round"
		}
		for _, latch := range l.Latches {
			if !r.dom.Dominates(at, latch) {
				return nil, "does not grow in each round"
			}
		}
		c.loops = append(c.loops, loopCount{l, uint64(step), i})
	}
	if len(c.loops) == 0 {
		return nil, "is not a counter"
	}
	for _, l := range c.loops {
		begins := false
		for _, i := range c.init {
			b := r.f.block[i]
			if l.loop.Contains(b) {
				return nil, "begins anew within its loop"
			}
			begins = begins || r.f.instrs[i].Guard == ir.NoReg && r.dom.Dominates(b, l.loop.Header) &&
				(l.loop.Parent == nil || l.loop.Parent.Contains(b))
		}
		// A counter of two loops, one in the other, fails too: what begins it for the inner one is in
		// the outer one.
		if !begins {
			return nil, "does not begin anew when its loop is entered"
		}
	}
	return c, ""
}

// compared reports whether a register that an instruction reads is a counter that is compared with
// the parameter in the loop whose rounds it counts there. Only of these does a trace require Above:
// the same register may count other rounds in another loop, beside the counter of that one.
func (r *Rounds) compared(reg ir.RegID, at int) bool {
	if r.counters[reg] == nil {
		return false
	}
	c, why := r.counterOf(reg, at)
	return why == "" && slices.ContainsFunc(r.Loops, func(l RoundLoop) bool {
		return l.Header == c.loop.Header && slices.Contains(l.Counters, reg)
	})
}

// withConstants finds the comparisons of counters with constants: when a counter has passed the
// constant, they have one outcome.
func (r *Rounds) withConstants() {
	r.eachKept(func(in *ir.Instr) string {
		if from, c, ok := plusConstant(in); ok && c < 0 && c >= -maxMinus && r.compared(from, in.Index) {
			r.Above = max(r.Above, uint64(-c+1)) // so that it does not wrap around (bound)
		}
		if in.Operation() != isa.Comparison || len(in.Src) != 2 || !isWhole(in.Type) {
			return ""
		}
		for i := range in.Src {
			c, ok := constantOf(&in.Src[1-i])
			if !ok || in.Src[i].Kind != ir.Register {
				continue
			}
			if in.Type.Size() == 4 {
				c = int64(int32(c))
			}
			side := r.root(in.Src[i].Reg, in.Index)
			if side.large || c > maxBeside || c < -maxBeside || !r.compared(side.reg, side.at) {
				continue
			}
			r.pred[in.Index] = true
			r.Above = max(r.Above, uint64(max(c-side.plus+1, -side.least+1, 0)))
		}
		return ""
	})
}

// matters reports whether what a trace does with an instruction depends on operand i.
func (r *Rounds) matters(in *ir.Instr, i int) bool {
	switch r.f.kindOf(in) {
	case shared:
		return i == 0
	case sync:
		if b, ok := in.NumberedBarrier(); ok {
			return i != b.BarrierUse.Predicate
		}
		return i == len(in.Src)-1
	case object:
		return decidesObject(in, i)
	case input, ignored:
		return false
	}
	return true
}

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
	case isa.RightShift:
		if d := r.exact(in, any, g); constant && c >= 0 && c < 31 && d%(1<<c) == 0 {
			return d >> c
		}
	case isa.Remainder, isa.Quotient:
		if !simple || of(0) != any {
			break
		}
		signed := in.Type == isa.S32 || in.Type == isa.S64
		if signed && r.bound(in, 0, g, 0) >= unbounded { // rounds towards zero
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
	case r.bound(in, 0, g, 0) < unbounded:
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
		if g.def[i] != 0 || r.boundOf(r.f.instrs[i], g, depth+1) > maxBeside {
			return false
		}
	}
	return true
}

// bound returns a number that operand i of an instruction is not larger than wherever something in
// it differs; unbounded if none below that is known.
func (r *Rounds) bound(in *ir.Instr, i int, g *differences, depth int) uint64 {
	o := &in.Src[i]
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
	case r.linear(o.Reg, g, depth):
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
		most = max(most, r.boundOf(r.f.instrs[d], g, depth+1))
	}
	return min(most, unbounded)
}

// boundOf is bound for the result of an instruction.
func (r *Rounds) boundOf(in *ir.Instr, g *differences, depth int) uint64 {
	if len(in.Dst) != 1 || r.f.kindOf(in) != pure || !isWhole(in.Type) || truncates(in) {
		return unbounded
	}
	of := func(i int) uint64 { return r.bound(in, i, g, depth) }
	if from, c, ok := plusConstant(in); ok && c < 0 {
		if c >= -maxMinus && r.compared(from, in.Index) { // see withConstants
			return of(0)
		}
		return unbounded
	}
	switch in.Operation() {
	case isa.Move, isa.Conversion:
		if len(in.Src) == 1 {
			return of(0)
		}
	case isa.Sum:
		return of(0) + of(1)
	case isa.Selection:
		return max(of(0), of(1))
	case isa.LeftShift:
		if c, ok := constantOf(&in.Src[1]); ok && c >= 0 && c < 32 {
			return of(0) << c
		}
	case isa.RightShift:
		return of(0)
	case isa.Product, isa.ProductSum:
		most := of(0)
		if in.Fn == isa.FnHi || most >= unbounded || of(1) >= unbounded {
			break
		}
		if most *= of(1); len(in.Src) == 3 {
			most += of(2)
		}
		return most
	case isa.Quotient:
		return of(0)
	case isa.Remainder:
		if in.Type == isa.U32 || in.Type == isa.U64 {
			return of(1)
		}
		return of(0)
	case isa.Conjunction:
		return of(1)
	}
	return unbounded
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
