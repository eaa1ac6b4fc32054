package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Operations among the lanes of a warp: bar.warp.sync (PTX ISA 9.7.13.2), shfl (9.7.9.5, 9.7.9.6),
// vote (9.7.13.8, 9.7.13.9), match.sync (9.7.13.10), redux.sync (9.7.13.12), elect.sync
// (9.7.13.14).
//
// The sync forms wait "until all non-exited threads corresponding to membermask have executed" the
// operation "with the same qualifiers and same membermask value", possibly as another instruction.
// So an operation has two steps: collect the inputs of each fragment, then finish it in each. Only
// bar.warp.sync orders memory; the others exchange registers.

// warpOp is a decoded warp operation. s[0] and ps[0] are the inputs of a lane; members is the
// operand with the member mask.
type warpOp struct {
	key     warpKey
	sync    bool
	all     bool // lanes that have exited are waited for as well: ir.Func.WholeWarp
	members src
	finish  func(x *exec, in *inst, m uint32)
	shfl    isa.Fn
	absent  uint32 // origin of the value of a lane that takes no part, in a trace

	// Matrix operations: further inputs of a lane, and the registers that are written.
	more    []src
	results []int32
}

// warpKey distinguishes operations that cannot be performed together.
type warpKey struct {
	op    string
	fn    isa.Fn
	t     isa.Type
	flags isa.Flag
	at    *ir.Instr // the instruction, where all lanes must execute the same one; else nil
}

// collected holds the inputs of the lanes of one operation.
type collected struct {
	lanes   uint32
	value   alu.Lanes
	pred    uint32
	unknown uint32 // lanes whose value or predicate is unknown
	origin  uint32
	more    []alu.Lanes
}

// warpInst starts the decoding of a warp operation. finish is its second step, which runs once for
// each fragment when the inputs of all members are in x.coll. The key makes operations compatible
// that differ only in place and operands.
func (c *compiler) warpInst(in *ir.Instr, finish func(*exec, *inst, uint32)) (inst, *warpOp) {
	op := &warpOp{key: warpKey{op: in.Op(), fn: in.Fn, t: in.Type, flags: in.Flags}, finish: finish}
	d := inst{run: runWarpOp, guard: c.guard(), warp: op, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	// an operation without an input reads a constant, since there may be no register
	d.s[0] = src{c: c.constant(0)}
	if in.Action() == isa.ActShuffle && c.slice != nil && c.slice.Track {
		what := "the value of a lane that takes no part in " + in.Op()
		if line := c.lineOf(in); line != "" {
			what = fmt.Sprintf("%s at %s", what, line)
		}
		op.absent = c.origin(what)
	}
	return d, op
}

// emitWarp completes the decoding. mask is the member mask operand, or nil for a form that does not
// wait.
func (c *compiler) emitWarp(in *ir.Instr, d inst, mask *ir.Operand) error {
	var err error
	if mask != nil {
		d.warp.sync, d.warp.all = true, c.fc.fn.WholeWarp(mask)
		if d.warp.members, err = c.srcOf(*mask, isa.B32); err != nil {
			return err
		}
	}
	for _, o := range in.Dst {
		switch {
		case o.Kind == ir.None:
		case c.isPred(o):
			d.pd[0] = c.fc.slots[o.Reg]
		case o.Kind == ir.Register:
			d.d[0] = c.fc.slots[o.Reg]
		default:
			return fmt.Errorf("%s: destination of kind %d is not supported", opcodeText(in), o.Kind)
		}
	}
	c.emit(d)
	if mask != nil && (in.Guard != ir.NoReg || d.warp.members.c == nil) { // lanes may diverge here
		c.control(inst{run: runJoin})
	}
	return nil
}

// maskOperand returns the member mask, which is operand i of the sync form; nil for the older form,
// which does not wait.
func maskOperand(in *ir.Instr, i int) (*ir.Operand, error) {
	switch len(in.Src) {
	case i:
		return nil, nil
	case i + 1:
		return &in.Src[i], nil
	}
	return nil, fmt.Errorf("%s: %d operands", opcodeText(in), len(in.Src))
}

// warpSync decodes bar.warp.sync, PTX ISA 9.7.13.2: it exchanges nothing, and orders the memory
// accesses of its members.
func (c *compiler) warpSync(in *ir.Instr) error {
	d, _ := c.warpInst(in, func(*exec, *inst, uint32) {})
	if len(in.Src) != 1 {
		return fmt.Errorf("%s: a member mask expected", opcodeText(in))
	}
	return c.emitWarp(in, d, &in.Src[0])
}

// shuffle decodes shfl, PTX ISA 9.7.9.6: value, lane or distance b, and c, which has the clamp in
// bits 0 to 4 and the mask of a segment in bits 8 to 12.
func (c *compiler) shuffle(in *ir.Instr) (err error) {
	d, op := c.warpInst(in, finishShuffle)
	mask, err := maskOperand(in, 3)
	if err != nil {
		return err
	}
	switch op.shfl = in.Fn; op.shfl {
	case isa.FnUp, isa.FnDown, isa.FnBfly, isa.FnIdx:
	default:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	for i := range 3 {
		if d.s[i], err = c.srcOf(in.Src[i], isa.B32); err != nil {
			return err
		}
	}
	return c.emitWarp(in, d, mask)
}

// vote decodes vote, PTX ISA 9.7.13.9: all, any, uni (all or none) and ballot. Only lanes that take
// part count.
func (c *compiler) vote(in *ir.Instr) error {
	// The votes on a predicate, and ballot, whose result is the mask of the true lanes.
	finish := map[isa.Fn]func(*exec, *inst, uint32){
		isa.FnAll:    votePred(func(pred, lanes uint32) bool { return pred == lanes }),
		isa.FnAny:    votePred(func(pred, _ uint32) bool { return pred != 0 }),
		isa.FnUni:    votePred(func(pred, lanes uint32) bool { return pred == 0 || pred == lanes }),
		isa.FnBallot: func(x *exec, in *inst, m uint32) { x.setLanes(in, m, uint64(x.coll.pred)) },
	}[in.Fn]
	if finish == nil {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	d, _ := c.warpInst(in, finish)
	mask, err := maskOperand(in, 1)
	if err != nil {
		return err
	}
	if d.ps[0], err = c.psrcOf(in.Src[0]); err != nil {
		return err
	}
	return c.emitWarp(in, d, mask)
}

// votePred returns the second step of a vote with a predicate result. f gets the lanes whose
// predicate is true and the lanes that take part; all of them receive its answer.
func votePred(f func(pred, lanes uint32) bool) func(*exec, *inst, uint32) {
	return func(x *exec, in *inst, m uint32) {
		if in.pd[0] < 0 {
			return
		}
		v := uint32(0)
		if f(x.coll.pred, x.coll.lanes) {
			v = full
		}
		x.setPred(in.pd[0], v, m)
	}
}

// setLanes writes v to the lanes of m of the destination register. There is none if the result goes
// into the sink.
func (x *exec) setLanes(in *inst, m uint32, v uint64) {
	if in.d[0] >= 0 {
		fill(&x.regs[in.d[0]], m, v)
	}
}

// match decodes match.any and match.all, PTX ISA 9.7.13.10: which lanes hold equal values.
func (c *compiler) match(in *ir.Instr) error {
	finish := map[isa.Fn]func(*exec, *inst,
		uint32){isa.FnAny: finishMatchAny, isa.FnAll: finishMatchAll}[in.Fn]
	if finish == nil {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	return c.valueAndMask(in, finish)
}

// valueAndMask decodes an operation of a value and a member mask, the form of match, redux and
// their relatives. There is no older form without a mask.
func (c *compiler) valueAndMask(in *ir.Instr, finish func(*exec, *inst, uint32)) (err error) {
	d, _ := c.warpInst(in, finish)
	if len(in.Src) != 2 {
		return fmt.Errorf("%s: a value and a member mask expected", opcodeText(in))
	}
	if d.s[0], err = c.srcOf(in.Src[0], in.Type); err != nil {
		return err
	}
	return c.emitWarp(in, d, &in.Src[1])
}

// finishMatchAny gives each lane the mask of the lanes with its value, its own among them. At most
// 32 by 32 comparisons are cheaper than sorting.
func finishMatchAny(x *exec, in *inst, m uint32) {
	v := &x.coll.value
	if in.d[0] < 0 {
		return
	}
	d := &x.regs[in.d[0]]
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		same := uint64(0)
		for u := x.coll.lanes; u != 0; u &= u - 1 {
			if k := bits.TrailingZeros32(u) & 31; v[k] == v[l] {
				same |= 1 << k
			}
		}
		d[l] = same
	}
}

// finishMatchAll gives all lanes the mask of the participants if their values are equal, else 0.
// The predicate says which.
func finishMatchAll(x *exec, in *inst, m uint32) {
	same, _ := uniform(&x.coll.value, x.coll.lanes)
	if same == x.coll.lanes {
		x.setLanes(in, m, uint64(same))
		same = full
	} else {
		x.setLanes(in, m, 0)
		same = 0
	}
	if in.pd[0] >= 0 {
		x.setPred(in.pd[0], same, m)
	}
}

// redux decodes redux.sync, PTX ISA 9.7.13.12, a reduction over the participating lanes. Values
// have 32 bits.
func (c *compiler) redux(in *ir.Instr) error {
	signed := in.Type == isa.S32
	f := map[isa.Fn]func(a, b uint32) uint32{
		isa.FnAdd: func(a, b uint32) uint32 { return a + b },
		isa.FnAnd: func(a, b uint32) uint32 { return a & b },
		isa.FnOr:  func(a, b uint32) uint32 { return a | b },
		isa.FnXor: func(a, b uint32) uint32 { return a ^ b },
		isa.FnMin: func(a, b uint32) uint32 { return pick(a, b, signed, true) },
		isa.FnMax: func(a, b uint32) uint32 { return pick(a, b, signed, false) },
	}[in.Fn]
	if in.Type == isa.F32 {
		extreme := alu.ExtremeF32(in.Fn == isa.FnMin, in.Has(isa.Abs), in.Has(isa.NaNProp))
		f = func(a, b uint32) uint32 { return uint32(extreme(uint64(a), uint64(b))) }
	}
	if f == nil {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	return c.valueAndMask(in, func(x *exec, in *inst, m uint32) {
		// Fold in lane order; integer operations are associative, and min and max of f32 too.
		first := bits.TrailingZeros32(x.coll.lanes)
		r := uint32(x.coll.value[first&31])
		if in.ir.Type == isa.F32 { // .abs and canonical NaN apply to a single value too
			r = f(r, r)
		}
		for u := x.coll.lanes &^ (1 << first); u != 0; u &= u - 1 {
			r = f(r, uint32(x.coll.value[bits.TrailingZeros32(u)&31]))
		}
		x.setLanes(in, m, uint64(r))
	})
}

// pick returns the smaller or the larger of a and b, compared as signed or unsigned numbers.
func pick(a, b uint32, signed, smaller bool) uint32 {
	less := a < b
	if signed {
		less = int32(a) < int32(b)
	}
	if less == smaller {
		return a
	}
	return b
}

// elect decodes elect.sync, PTX ISA 9.7.13.14. The ISA leaves the choice of the leader open; here
// it is the lowest lane, as on current hardware. A kernel that depends on it is not detected.
func (c *compiler) elect(in *ir.Instr) error {
	d, _ := c.warpInst(in, func(x *exec, in *inst, m uint32) {
		leader := bits.TrailingZeros32(x.coll.lanes)
		x.setLanes(in, m, uint64(leader))
		if in.pd[0] >= 0 {
			x.setPred(in.pd[0], 1<<leader, m)
		}
	})
	if len(in.Src) != 1 {
		return fmt.Errorf("%s: a member mask expected", opcodeText(in))
	}
	return c.emitWarp(in, d, &in.Src[0])
}

// activemask is PTX ISA 9.7.13.11: the mask of the lanes that execute it. Which lanes have
// reconverged is not defined by the ISA, so the value is one of several legal ones.
func (c *compiler) activemask(in *ir.Instr) error {
	d, _ := c.warpInst(in, nil)
	d.warp = nil
	d.run = func(x *exec, in *inst) { x.setLanes(in, x.m, uint64(x.m)) }
	return c.emitPlain(in, d)
}

// emitPlain emits an operation that writes one register and waits for no lane. A predicate or the
// sink as destination is rejected.
func (c *compiler) emitPlain(in *ir.Instr, d inst) error {
	if len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register || c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: one destination register expected", opcodeText(in))
	}
	d.d[0] = c.fc.slots[in.Dst[0].Reg]
	c.emit(d)
	return nil
}

// runWarpOp executes a warp operation at once if all members are in the current fragment. Else the
// lanes wait for the others.
func runWarpOp(x *exec, in *inst) {
	op := in.warp
	if !op.sync {
		x.coll.lanes = 0
		x.collect(in, x.m)
		op.finish(x, in, x.m)
		x.setCollectedUnknown(in, x.m)
		return
	}
	// Lanes with different masks execute different operations.
	same, v := uniform(x.src(&op.members), x.m)
	members := uint32(v)
	// The ISA leaves this undefined (9.7.13.2).
	if outside := same &^ members; outside != 0 {
		l := bits.TrailingZeros32(outside)
		x.fail(in, BadBarrier, l, "lane %d executes %s with member mask %#08x, which excludes it", l,
			in.ir.Op(), members)
		return
	}
	// All members are in this fragment, which is the common case: no lane has to wait.
	if same == x.m && op.awaits(x.warp, members) == same {
		x.coll.lanes = 0
		x.collect(in, same)
		x.finishWarpOp(in, same)
		x.warpSynced(in, same, in.ir.Orders)
		return
	}
	x.isolate(in, same)
	g := x.frag
	x.suspend(wait{kind: atWarpSync, in: in, members: members})
	x.tryWarpSync(g)
	x.next()
}

// awaits returns the lanes that an operation waits for: the members that have not exited. An
// operation that all threads of the warp must execute waits for exited ones too, forever.
func (op *warpOp) awaits(w *warp, members uint32) uint32 {
	if op.key.at != nil || op.all {
		return members & w.lanes
	}
	return members & w.alive()
}

// warpSynced sends the event of a completed bar.warp.sync, and in a trace that of any operation for
// which the lanes have waited for each other.
func (x *exec) warpSynced(in *inst, lanes uint32, orders event.Orders) {
	meets := !in.ir.IsWarpBarrier()
	if meets && !x.prog.traced {
		return
	}
	x.wrote = x.wrote || !meets
	if x.sink != nil {
		x.evs.sync = event.WarpSync{Warp: x.warp.id, Site: x.site(in), Mask: lanes, Orders: orders,
			Meets: meets}
		x.sink.WarpSync(&x.evs.sync)
	}
}

// collect adds the inputs of the lanes of m to the operation.
func (x *exec) collect(in *inst, m uint32) {
	c := &x.coll
	if c.lanes == 0 { // lanes that do not participate contribute their register's current value
		c.value, c.pred, c.unknown = *x.src(&in.s[0]), 0, 0
	} else {
		copyLanes(&c.value, x.src(&in.s[0]), m)
	}
	c.lanes |= m
	c.pred |= x.psrc(in.ps[0]) & m
	if x.unk != nil {
		u, o := x.unk.ofSrc(&in.s[0])
		if p := x.unk.preds[in.ps[0].slot] & m; p != 0 {
			u, o = u|p, x.unk.predOrigin(in.ps[0])
		}
		if u &= m; u != 0 {
			c.unknown |= u
			c.origin = o
		}
	}
	if len(in.warp.more) > 0 {
		x.collectMore(in.warp, m)
	}
}

// finishWarpOp performs the second step in the current fragment.
func (x *exec) finishWarpOp(in *inst, m uint32) {
	in.warp.finish(x, in, m)
	x.setCollectedUnknown(in, m)
}

// setCollectedUnknown marks the results of an operation that depend on unknown values.
func (x *exec) setCollectedUnknown(in *inst, m uint32) {
	if x.unk != nil {
		x.unk.collected(x, in, m)
	}
}

// tryWarpSync performs the operation for which fragment g waits, with all fragments that wait for
// the same one, if all members have arrived. Their orders are combined: memory is ordered only if
// all of them order it.
func (x *exec) tryWarpSync(g *fragment) bool {
	w, key, members := x.warp, g.wait.in.warp.key, g.wait.members
	there := uint32(0)
	match := func(h *fragment) bool {
		return h.wait.kind == atWarpSync && h.wait.members == members && h.wait.in.warp.key == key
	}
	for _, h := range w.waiting {
		if match(h) {
			there |= h.mask
		}
	}
	if there != g.wait.in.warp.awaits(w, members) {
		return false
	}
	// Separate the fragments of this operation from those that wait for something else.
	group := x.take(w, match)
	// The members may be in different frames. Enter each to read its registers and to write them.
	frame := x.frame
	x.coll.lanes = 0
	for _, h := range group {
		x.enter(h.frame)
		x.collect(h.wait.in, h.mask)
	}
	for _, h := range group {
		x.enter(h.frame)
		x.finishWarpOp(h.wait.in, h.mask)
		h.wrote = true
	}
	x.enter(g.frame)
	orders := g.wait.in.ir.Orders
	for _, h := range group {
		orders = orders.Meet(h.wait.in.ir.Orders)
	}
	x.warpSynced(g.wait.in, there, orders)
	x.enter(frame)
	for _, h := range group {
		h.wait = wait{}
	}
	w.ready = append(w.ready, x.merge(group)...)
	return true
}

// exitedAtWarpSync re-examines the operations that waited for lanes which have now exited.
func (x *exec) exitedAtWarpSync(w *warp) {
	for again := true; again; {
		again = false
		for _, g := range w.waiting {
			if g.wait.kind == atWarpSync && x.tryWarpSync(g) {
				again = true
				break
			}
		}
	}
}

// finishShuffle follows the pseudocode of PTX ISA 9.7.9.6.
func finishShuffle(x *exec, in *inst, m uint32) {
	b, c := x.src(&in.s[1]), x.src(&in.s[2])
	pred := uint32(0)
	var out alu.Lanes
	for t := m; t != 0; t &= t - 1 {
		lane := bits.TrailingZeros32(t) & 31
		j, inRange := shuffleLane(in.warp.shfl, lane, int(b[lane]&31), uint32(c[lane]))
		if inRange {
			pred |= 1 << lane
		} else {
			j = lane
		}
		out[lane] = x.coll.value[j&31]
		x.from[lane] = uint8(j & 31)
	}
	if in.d[0] >= 0 {
		copyLanes(&x.regs[in.d[0]], &out, m)
	}
	if in.pd[0] >= 0 {
		x.setPred(in.pd[0], pred, m)
	}
}

// shuffleLane returns the source lane, and whether it is in range.
func shuffleLane(mode isa.Fn, lane, b int, c uint32) (int, bool) {
	// c holds the clamp value in bits 0 to 4 and the segment mask in bits 8 to 12.
	clamp, seg := int(c&31), int(c>>8&31)
	maxLane := lane&seg | clamp&^seg
	minLane := lane & seg
	switch mode {
	case isa.FnUp:
		return lane - b, lane-b >= maxLane
	case isa.FnDown:
		return lane + b, lane+b <= maxLane
	case isa.FnBfly:
		return lane ^ b, lane^b <= maxLane
	}
	j := minLane | b&^seg
	return j, j <= maxLane
}
