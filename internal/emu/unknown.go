package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Unknown values. An unspecified input makes the registers and bytes that depend on it unknown.
// Data may flow on; where a branch, an address or a barrier needs an unknown value, the run stops,
// because it would otherwise hold for one input only. Everything else that a run shows then holds
// for every input. This is the abstraction of Weft (PLDI 2015, §3), with one bit for each lane of a
// register and for each byte of memory.
//
// A result is known if no unknown operand can change it. The rules in trackRules decide this for
// some opcodes; any other result with an unknown operand is unknown. That stops more runs than
// necessary, and is never unsound. Which bits of a register are unknown is followed through a few
// operations (unknownbits.go).

// carryNotSet is the origin (program.origins) of the carry flag before an instruction sets it.
const carryNotSet = 2

// tracker holds the unknown bits of the current frame. A value whose bit is set is meaningless.
type tracker struct {
	regs, preds []uint32
	origin      []uint32
	bits        []uint64   // of an unknown register: those that may be unknown (unknownbits.go)
	lanes       int32      // registers of the frame: predicate p has origin[lanes+p]
	tokens      []token    // see token.go
	answers     []answered // see cancelscript.go
	fresh       uint64     // makes the stored bits of unknown values differ from each other
}

// trackUnknown marks everything as known; in a trace, registers that may be read before they are
// written are unknown.
func (f *frame) trackUnknown(traced bool) {
	n, p := f.fn.lanes, f.fn.preds
	if f.unk == nil {
		f.unk, f.punk, f.origin = make([]uint32, n), make([]uint32, p), make([]uint32, n+p)
		f.bits = make([]uint64, n)
		f.parUnk = make([]bool, len(f.params))
	}
	clear(f.unk)
	clear(f.punk)
	for i := range f.parUnk {
		f.parUnk[i] = traced
	}
	f.ccUnk, f.ccFrom = 0, carryNotSet
	if traced {
		f.ccUnk = full
	}
	for s, origin := range f.fn.unwritten {
		f.unk[s], f.origin[s], f.bits[s] = full, origin, ^uint64(0)
	}
	for s, origin := range f.fn.unwrittenPreds {
		f.punk[s], f.origin[n+int(s)] = full, origin
	}
}

// ofSrc returns the lanes in which a source is unknown, and the origin of the values.
func (t *tracker) ofSrc(s *src) (lanes, origin uint32) {
	if s.c != nil {
		return 0, 0
	}
	return t.regs[s.r], t.plain(t.origin[s.r])
}

// predOrigin returns the origin of an unknown predicate.
func (t *tracker) predOrigin(p psrc) uint32 { return t.plain(t.origin[t.lanes+p.slot]) }

// dependsOn stops the run because of an unknown value.
func (x *exec) dependsOn(in *inst, l int, what string, origin uint32) {
	x.fail(in, DependsOnInput, l, "%s depends on %s", what, x.prog.origins[origin])
}

// loopTracked is loop with a check of the guard.
func (x *exec) loopTracked() {
	for x.steps < x.limit {
		in := &x.code[x.pc]
		x.pc++
		x.steps++
		// Whether the instruction executes depends on an input. A trace may continue; a run stops.
		if u := x.unk.preds[in.guard.slot] & x.mask; u != 0 {
			if x.prog.traced && x.traceGuard(in, u) {
				continue
			}
			what := "the guard of " + in.ir.Op()
			if in.ir.Action() == isa.ActBranch {
				what = "the branch"
			}
			x.dependsOn(in, bits.TrailingZeros32(u), what, x.unk.predOrigin(in.guard))
			return
		}
		m := x.mask & (x.preds[in.guard.slot] ^ in.guard.xor)
		if m == 0 {
			continue
		}
		x.m = m
		x.lanes += uint64(popcount(m))
		in.run(x, in)
	}
}

// trackCode makes the instructions of a function propagate unknown bits.
func trackCode(code []inst) {
	for i := range code {
		in := &code[i]
		in.base = in.run
		switch {
		case in.misc != nil && in.misc.unknown:
		case in.mem != nil:
			in.run = runNeedsAddress
		case in.misc != nil && in.misc.mbar != nil:
			in.run = runNeedsObject
		case in.misc != nil && in.misc.bulk != nil:
			in.run = runNeedsBulk
		case in.misc != nil && in.misc.tmem != nil && in.warp == nil:
			in.run = runNeedsTensor
		case in.misc != nil && in.misc.tmap != nil:
			in.run = runNeedsMap
		case in.misc != nil && in.misc.copy != nil:
			if in.misc.copy.from.mem != nil { // else of a trace
				in.run = runNeedsCopy
			}
		case in.bar != nil:
			in.run = runNeedsBarrier
		case in.warp != nil:
			in.run = runNeedsMembers
		case in.misc != nil && in.misc.vecDst != nil:
			in.run = runTrackedVector
		case in.misc != nil && in.misc.targets != nil || in.call != nil && in.ir.Callee == nil:
			in.run = runNeedsTarget
		case in.d[0] >= 0 || in.pd[0] >= 0 || in.d[1] >= 0 || in.pd[1] >= 0:
			in.run, in.rule = runTracked, trackRule(in.ir)
			if in.rule == nil || in.alu == nil {
				in.rule = anySource
			}
			if in.misc != nil && in.misc.origin != 0 {
				in.rule = unknownSource
			}
			if in.misc != nil && in.misc.open != 0 {
				in.rule = openResult
			}
		}
	}
}

// runTracked executes an instruction and marks its results by its rule.
func runTracked(x *exec, in *inst) {
	u, o := in.rule(x, in)
	if in.alu != nil && in.ir.UsesCarry() {
		u, o = x.carried(in, u, o)
	}
	if t := x.tokenOf(in); t != 0 && (in.misc == nil || in.misc.open == 0 && in.misc.origin == 0) {
		o = t
	}
	if h := x.copiedHalf(in); h != 0 {
		o = h
	}
	k := x.unknownBits(in, u)
	if k == 0 {
		u = 0
	}
	in.base(x, in)
	x.unk.results(in, u, o, x.m)
	if u&x.m != 0 && in.d[0] >= 0 && x.unk.regs[in.d[0]]&^x.m == 0 {
		x.unk.bits[in.d[0]] = k
	}
}

// carried adds to the unknown lanes of an instruction those of the carry flag that it reads, and
// marks the one that it sets.
func (x *exec) carried(in *inst, u, origin uint32) (lanes, from uint32) {
	f := x.frame
	if in.ir.ReadsCarry() && f.ccUnk&x.m != 0 {
		u, origin = u|f.ccUnk, f.ccFrom
	}
	if in.ir.Has(isa.CC) {
		f.ccUnk = f.ccUnk&^x.m | u&x.m
		if u&x.m != 0 {
			f.ccFrom = origin
		}
	}
	return u, origin
}

// runLoseCarry runs before a call, which does not preserve the carry flag.
func runLoseCarry(x *exec, _ *inst) {
	x.frame.ccUnk |= x.m
	x.frame.ccFrom = carryNotSet
}

// results marks the destinations of in as unknown for the lanes of u, and as known for the others
// of m.
func (t *tracker) results(in *inst, u, origin, m uint32) {
	for _, d := range in.d {
		if d >= 0 {
			t.set(d, u, origin, m)
		}
	}
	for _, p := range in.pd {
		if p >= 0 {
			t.setPred(p, u, origin, m)
		}
	}
}

// set marks a register as unknown in the lanes of u, and as known in the others of m.
func (t *tracker) set(d int32, u, origin, m uint32) {
	if u&m != 0 {
		t.origin[d] = t.shared(origin, t.origin[d], t.regs[d]&^m)
		t.bits[d] = ^uint64(0)
	}
	t.regs[d] = t.regs[d]&^m | u&m
}

// setPred is set for a predicate.
func (t *tracker) setPred(p int32, u, origin, m uint32) {
	if at := t.lanes + p; u&m != 0 {
		t.origin[at] = t.shared(origin, t.origin[at], t.preds[p]&^m)
	}
	t.preds[p] = t.preds[p]&^m | u&m
}

// shared returns the origin of a register of which some lanes become unknown and the others with
// the origin before are unknown already: it is a token only if all lanes have it.
func (t *tracker) shared(origin, before, others uint32) uint32 {
	if others != 0 && origin != before {
		return t.plain(origin)
	}
	return origin
}

// anySource is the general rule: any unknown operand makes the result unknown.
func anySource(x *exec, in *inst) (u, origin uint32) {
	for i := range in.sources {
		if v, o := x.unk.ofSrc(&in.s[i]); v&x.m != 0 {
			u, origin = u|v, o
		}
	}
	for _, p := range in.ps {
		if v := x.unk.preds[p.slot]; v&x.m != 0 {
			u, origin = u|v, x.unk.predOrigin(p)
		}
	}
	return u, origin
}

// openResult is the rule of slice.OpenFor: the result is unknown in the lanes with a divisor of 0,
// a base above 31, or a NaN.
func openResult(x *exec, in *inst) (u, origin uint32) {
	u, origin = anySource(x, in)
	if in.ir.Type.IsFloat() {
		if open := nans(in.ir.Type, x.src(&in.s[0])) &^ u; open&x.m != 0 {
			return u | open, in.misc.open
		}
		return u, origin
	}
	second := *x.src(&in.s[1])
	for l := range second {
		second[l] &= 1<<(8*in.ir.Type.Size()) - 1
		if in.ir.Operation() == isa.NthSetBit {
			second[l] = b2u(second[l] <= 31)
		}
	}
	if open := equals(&second, 0) &^ u; open&x.m != 0 {
		return u | open, in.misc.open
	}
	return u, origin
}

// nans returns the lanes in which a number is a NaN, or one of the two of a packed type.
func nans(t isa.Type, v *[event.WarpSize]uint64) (lanes uint32) {
	bits, mantissa := 8*t.Size(), 0
	switch t {
	case isa.F64:
		mantissa = 52
	case isa.F32:
		mantissa = 23
	case isa.F16, isa.F16x2:
		bits, mantissa = 16, 10
	case isa.BF16, isa.BF16x2:
		bits, mantissa = 16, 7
	default:
		return ^uint32(0)
	}
	infinity := uint64(1)<<(bits-1) - 1<<mantissa
	for l := range v {
		for at := 0; at < 8*t.Size(); at += bits {
			if v[l]>>at&(1<<(bits-1)-1) > infinity {
				lanes |= 1 << l
			}
		}
	}
	return lanes
}

// trackRule returns the rule of an instruction whose result may be known although an operand is
// not; nil for others.
func trackRule(in *ir.Instr) func(x *exec, in *inst) (lanes, origin uint32) {
	if in.ReadsCarry() {
		return nil
	}
	return trackRules[in.Operation()]
}

// trackRules contains the operations whose result may be known although an operand is not.
var trackRules = map[isa.Operation]func(x *exec, in *inst) (lanes, origin uint32){
	isa.Conjunction: func(x *exec, in *inst) (uint32, uint32) { return absorb(x, in, 0) },
	isa.Disjunction: func(x *exec, in *inst) (uint32, uint32) { return absorb(x, in, ^uint64(0)) },
	isa.Product:     integerProduct, isa.ShortProduct: integerProduct,
	isa.ProductSum: integerProduct, isa.ShortProductSum: integerProduct,
	isa.ExclusiveOr: sameOperand, isa.Difference: sameOperand, isa.Selection: selected,
}

// absorb is the rule for operations in which one operand of value v determines the result.
func absorb(x *exec, in *inst, v uint64) (uint32, uint32) {
	if in.d[0] < 0 { // predicates
		a, b := in.ps[0], in.ps[1]
		ua, ub := x.unk.preds[a.slot], x.unk.preds[b.slot]
		da, db := x.psrc(a)^uint32(v)^full, x.psrc(b)^uint32(v)^full // lanes where the value is v
		u := (ua | ub) &^ (da &^ ua) &^ (db &^ ub)
		if ua&u != 0 {
			return u, x.unk.predOrigin(a)
		}
		return u, x.unk.predOrigin(b)
	}
	if n := in.ir.Type.Size(); n > 0 && n < 8 {
		v &= 1<<(8*n) - 1
	}
	ua, oa := x.unk.ofSrc(&in.s[0])
	ub, ob := x.unk.ofSrc(&in.s[1])
	// A lane is known if one operand is known to have the deciding value.
	u := (ua | ub) &^ (equals(x.src(&in.s[0]), v) &^ ua) &^ (equals(x.src(&in.s[1]), v) &^ ub)
	if ua&u != 0 {
		return u, oa
	}
	return u, ob
}

// equals returns the lanes in which s is v.
func equals(s *alu.Lanes, v uint64) (m uint32) {
	for l := range s {
		if s[l] == v {
			m |= 1 << l
		}
	}
	return m
}

// integerProduct is the rule for products: for integers, zero times anything is zero.
func integerProduct(x *exec, in *inst) (uint32, uint32) {
	if in.ir.Type.IsFloat() {
		return anySource(x, in)
	}
	u, o := absorb(x, in, 0)
	if in.sources > 2 {
		if v, p := x.unk.ofSrc(&in.s[2]); v != 0 {
			return u | v, p
		}
	}
	return u, o
}

// sameOperand is the rule for sub and xor: x-x and x^x are zero, for integers.
func sameOperand(x *exec, in *inst) (uint32, uint32) {
	if in.d[0] >= 0 && in.s[0] == in.s[1] && !in.ir.Type.IsFloat() {
		return 0, 0
	}
	return anySource(x, in)
}

// selected is the rule for selp: only the selected operand matters.
func selected(x *exec, in *inst) (uint32, uint32) {
	ua, oa := x.unk.ofSrc(&in.s[0])
	ub, ob := x.unk.ofSrc(&in.s[1])
	p, up := x.psrc(in.ps[0]), x.unk.preds[in.ps[0].slot]
	u := up | p&ua | ^p&ub
	// Name the origin of an operand that makes some executed lane unknown.
	switch m := u & x.m; {
	case up&m != 0:
		return u, x.unk.predOrigin(in.ps[0])
	case p&ua&m != 0:
		return u, oa
	}
	return u, ob
}

// runTrackedVector packs or unpacks: a destination is unknown if a source that shares bits with it
// is.
func runTrackedVector(x *exec, in *inst) {
	u, o := uint32(0), uint32(0)
	p := in.misc
	parts, halves := make([]uint32, len(p.vecSrc)), [2]uint32{}
	for i := range p.vecSrc {
		if p.width == 64 && p.to == 64 && i < len(halves) {
			halves[i] = x.unk.halfOf(&p.vecSrc[i], x.m)
		}
		v, w := x.unk.ofSrc(&p.vecSrc[i])
		if parts[i] = v; v&x.m != 0 {
			u, o = u|v, w
		}
	}
	in.base(x, in)
	for i, d := range p.vecDst {
		if d < 0 {
			continue
		}
		lo, hi := uint(i)*p.to, uint(i+1)*p.to // bits that this destination takes
		u = 0
		for k, v := range parts {
			if uint(k)*p.width < hi && uint(k+1)*p.width > lo {
				u |= v
			}
		}
		if i < len(halves) && halves[i] != 0 {
			x.unk.set(d, u, halves[i], x.m)
			continue
		}
		x.unk.set(d, u, o, x.m)
	}
}

// needs stops the run if a source is unknown in a lane that executes the instruction.
func (x *exec) needs(in *inst, s *src, what string) bool {
	u, o := x.unk.ofSrc(s)
	if u &= x.m; u == 0 {
		return true
	}
	x.dependsOn(in, bits.TrailingZeros32(u), what, o)
	return false
}

// runNeedsAddress stops the run if the address of an access is unknown.
func runNeedsAddress(x *exec, in *inst) {
	u, o := x.unk.ofSrc(&in.s[0])
	if in.mem.selected != 0 {
		runSelected(x, in, u)
		return
	}
	if in.mem.lanes != 0 { // the others need none
		u &= in.mem.lanes
	}
	if u&x.m != 0 {
		// the access has no effect on others: the loaded value is unknown
		if in.mem.kind == event.Read && (in.mem.space == event.Const ||
			x.prog.traced && in.mem.space == event.Global) {
			for _, d := range in.mem.dst {
				if d >= 0 {
					x.unk.set(d, full, o, x.m)
				}
			}
			return
		}
		x.dependsOn(in, bits.TrailingZeros32(u&x.m), fmt.Sprintf("the address of this %s", in.mem.kind),
			o)
		return
	}
	in.base(x, in)
}

// runSelected executes a load from a parameter in the lanes that are known to address one. In the
// others the value is unknown: it is one of global memory, which the kernel itself or another block
// may change, also where the launch says what it holds at first.
func runSelected(x *exec, in *inst, unknown uint32) {
	x.effective(in)
	sp, all, known := &x.prog.space, x.m, uint32(0)
	for t := all &^ unknown; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if a := x.addr[l]; a>>sp.shift == 0 && sp.windowOf(a) == paramWindow {
			known |= 1 << l
		}
	}
	if x.m = known; known != 0 {
		in.base(x, in)
	}
	x.m = all
	for _, d := range in.mem.dst {
		if d >= 0 {
			x.unk.set(d, all&^known, in.mem.selected, all&^known)
		}
	}
}

// runNeedsTarget stops the run if the target of an indirect branch or call is unknown.
func runNeedsTarget(x *exec, in *inst) {
	if x.needs(in, &in.s[0], "the target of "+in.ir.Op()) {
		in.base(x, in)
	}
}

// runNeedsMembers stops the run if the member mask of a warp operation is unknown.
func runNeedsMembers(x *exec, in *inst) {
	if !in.warp.sync || x.needs(in, &in.warp.members, "the member mask of "+in.ir.Op()) {
		in.base(x, in)
	}
}

// runNeedsBarrier stops the run if an operand of a barrier is unknown.
func runNeedsBarrier(x *exec, in *inst) {
	if !x.needs(in, &in.s[0], "the barrier's number") ||
		in.bar.counted && !x.needs(in, &in.s[1], "the barrier's thread count") {
		return
	}
	if u := x.unk.preds[in.ps[0].slot] & x.m; u != 0 {
		x.dependsOn(in, bits.TrailingZeros32(u), "the barrier's predicate", x.unk.predOrigin(in.ps[0]))
		return
	}
	in.base(x, in)
}

// collected marks the results of a warp operation: unknown in all lanes if any input is, except
// that a shuffle depends on one source lane only.
func (t *tracker) collected(x *exec, in *inst, m uint32) {
	u, o := x.coll.unknown, x.coll.origin
	if in.ir.Action() == isa.ActElect {
		t.results(in, 0, 0, m)
		return
	}
	if in.warp.shfl == 0 {
		if u != 0 {
			u = full
		}
		if token := x.tokenOfAll(in, m); token != 0 {
			o = token
		}
		for _, d := range in.warp.results {
			if d >= 0 {
				t.set(d, u, o, m)
			}
		}
		t.results(in, u, o, m)
		return
	}
	// The lane number and the segment operand decide which lane a value comes from.
	sel := uint32(0)
	for i := 1; i <= 2; i++ {
		if v, w := t.ofSrc(&in.s[i]); v&m != 0 {
			sel, o = sel|v, w
		}
	}
	res := sel
	for l := m; l != 0; l &= l - 1 {
		k := bits.TrailingZeros32(l) & 31
		switch from := x.from[k]; {
		case u>>from&1 != 0:
			res |= 1 << k
		case ^x.coll.lanes>>from&1 != 0: // undefined
			res |= 1 << k
			if u|sel == 0 {
				o = in.warp.absent
			}
		}
	}
	d := *in
	d.pd[0] = -1
	t.results(&d, res, o, m)
	d.d, d.pd = [2]int32{-1, -1}, in.pd
	t.results(&d, sel, o, m)
}
