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
// Grows (growth.go) shows that what the slice does then does not depend on n either.
//
// It looks at the order of instructions within a block only, and takes it that blocks follow each
// other in any order. It misses loops that count down, counters in memory, and numbers of rounds
// that are computed from n other than by adding a constant or as in quotient.go.

// Rounds are the loops of a kernel whose number of rounds a parameter decides.
type Rounds struct {
	Loops []RoundLoop
	// Least is a value of the parameter from which on its comparisons with constants have one
	// outcome.
	Least uint64
	// Slack is how much smaller than the parameter a counter must be so that its comparisons have
	// the outcome that they have for any larger parameter.
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
	quotient *quotient         // what decides the rounds in place of the parameter; nil: the parameter
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
	// MaxCounted is the largest parameter for which these sums do not become negative as signed
	// numbers: a counter ends at most a constant and a step above the parameter, and two more
	// constants may be added between it and a comparison.
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

// wide128 reports whether an instruction has a register of 128 bits.
func (f *function) wide128(in *ir.Instr) bool {
	wide := false
	for _, ops := range [][]ir.Operand{in.Dst, in.Src} {
		for i := range ops {
			ops[i].EachReg(func(r ir.RegID) { wide = wide || f.fn.Regs[r].Type == isa.B128 })
		}
	}
	return wide
}

// CountedBy returns the loops whose rounds v decides, or why there are none; "" if the kernel has
// no loops at all.
func (s *Slice) CountedBy(v *ir.Var) (*Rounds, string) {
	f := s.funcs[s.order[0]]
	r := &Rounds{s: s, f: f, n: make(map[ir.RegID]int64), counters: make(map[ir.RegID]*counter),
		pred: make(map[int]bool)}
	r.dom = f.dominators()
	r.loops = ir.FindLoops(f.fn, r.dom)
	if len(r.loops.Loops) == 0 {
		return nil, "" // nothing to explain
	}
	switch {
	case len(s.order) > 1:
		return nil, "it calls functions"
	case s.need.local:
		return nil, "its synchronization depends on values in local memory"
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
		if f.kindOf(in) == argument { // which keep a value over rounds, as memory does
			return nil, "its synchronization depends on parameters of calls"
		}
		if in.Action() == isa.ActRegisterPool && r.loops.Of[f.block[i]] != nil {
			return nil, "it changes its number of registers in a loop"
		}
		if f.wide128(in) {
			return nil, "it computes with 128 bits" // a round is compared by 64 bits of a register
		}
		load := in.Action() == isa.ActLoad && in.Space == event.Param
		for j := range in.Src {
			switch o := &in.Src[j]; {
			case o.Var != nil && !load && slices.Contains(f.fn.Params, o.Var): // v may lie behind it
				return nil, "it takes the address of " + o.Var.Shown()
			case o.Var != nil && load && !within(in, o):
				return nil, in.Text() + " reads more than " + o.Var.Shown()
			case o.Var == nil && load && j == 0: // perhaps v, by the address of another one
				return nil, in.Text() + " reads a parameter through an address"
			}
		}
	}
	why := r.countedBy(v)
	if why == "" {
		return r, ""
	}
	q := r.findQuotient(v)
	if q == nil {
		return nil, why
	}
	again := &Rounds{s: s, f: f, dom: r.dom, loops: r.loops, n: make(map[ir.RegID]int64),
		counters: make(map[ir.RegID]*counter), pred: make(map[int]bool), quotient: q}
	if why := again.countedBy(v); why != "" {
		return nil, why
	}
	return again, ""
}

// countedBy finds what v decides, or the number that is computed from it; "" or why it fails.
func (r *Rounds) countedBy(v *ir.Var) string {
	if why := r.holders(v); why != "" {
		return why
	}
	if why := r.comparisons(v); why != "" {
		return why
	}
	r.withConstants()
	if len(r.Loops) == 0 {
		return "no loop counts up to " + v.Shown()
	}
	return ""
}

// Argument returns the smallest value of the parameter from which the number of rounds n is
// computed, n itself unless it is a quotient. It returns false if no value gives n, and then above,
// whether smaller ones do.
func (r *Rounds) Argument(n uint64) (value uint64, ok, above bool) {
	if r.quotient == nil {
		return n, true, false
	}
	k, found := r.quotient.argument(int64(n), r.quotient.reg)
	if v, fits := r.quotient.value(k, r.quotient.reg); found && fits && v == int64(n) {
		return uint64(k), true, false
	}
	least, _ := r.quotient.value(0, r.quotient.reg)
	return 0, false, int64(n) > least
}

// Within reports whether the number of rounds is at most limit for all parameters up to it.
func (r *Rounds) Within(limit uint64) bool {
	return r.quotient == nil || r.quotient.within(int64(limit))
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
		if q := r.quotient; q != nil {
			return in.Index == q.steps[len(q.steps)-1]
		}
		return in.Action() == isa.ActLoad && in.Space == event.Param && in.Src[0].Var == v
	}
	for changed := true; changed; {
		changed = false
		why := r.eachKept(func(in *ir.Instr) string {
			from, c, _ := plusConstant(in)
			base, held := r.n[from]
			switch {
			case loads(in):
				if in.Type.Size() != v.Size && r.quotient == nil { // else it is one value, since it reads no more than v
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
// All sums are of the round at hand: one that is kept over rounds may have been computed when the
// counter was still smaller than Above.
func (r *Rounds) root(reg ir.RegID, at int) sum {
	var plus []int64
	for range 8 {
		defs := r.defsOf(reg)
		if len(defs) != 1 {
			break
		}
		from, c, ok := plusConstant(r.f.instrs[defs[0]])
		if !ok || !r.f.always(defs[0], at) || !r.wide(from) || !r.wide(reg) {
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
	if !r.loops.Reducible {
		return "its control flow is irreducible"
	}
	byHeader := make(map[ir.BlockID]int)
	return r.eachKept(func(in *ir.Instr) string {
		if q := r.quotient; q != nil {
			if n := q.compares(in); n > maxBeside {
				return in.Text() + " compares with a large number"
			} else if n > 0 {
				r.pred[in.Index] = true
				r.Least = max(r.Least, uint64(n-1))
				return ""
			}
		}
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
		// A counter of two loops, one in the other, fails too: what begins it for the inner one is
		// in the outer one.
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
	case shared: // what is stored, if the slice loads it again
		return i == 0 || r.s.need.shared
	case sync:
		if b, ok := in.NumberedBarrier(); ok {
			return i != b.BarrierUse.Predicate
		}
		return i == len(in.Src)-1
	case object:
		return r.f.decidesObject(in, i)
	case input, ignored:
		return false
	}
	return true
}
