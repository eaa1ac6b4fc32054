package emu

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Branches of a trace that depend on an unknown value, and behind which nothing waits for other
// threads: the trace takes one path and then the other, with the same lanes, and goes on where they
// meet. What may have been written on either is unknown from there on. So the trace has every
// access that some input makes; one that it makes only there is in Result.Maybe, since it may be
// that no input makes it.

// exploreOp is the region of such a branch.
type exploreOp struct {
	join  int32   // pc where the paths meet
	regs  []int32 // registers written in it
	preds []int32
}

// exploration is one visit of a region; its join is where the paths meet.
type exploration struct {
	op     *exploreOp
	next   int32 // pc of the path that is still to be taken; noPC: none
	origin uint32
	branch *inst
	first  map[uint64]lanesOfByte // accesses of the first path to shared memory; lock step only

	// As they were before the first path.
	regs    []alu.Lanes
	unk     []uint32
	preds   []uint32
	predUnk []uint32
}

// exploreRegion prepares the branch at the end of the current block.
func (c *compiler) exploreRegion(pc int32) {
	if c.slice == nil || !c.slice.Track {
		return
	}
	r, ok := c.slice.Explore(c.fn, c.block)
	if !ok {
		return
	}
	op := &exploreOp{}
	for _, reg := range r.Regs {
		slot := c.fc.slots[reg]
		switch c.fn.Regs[reg].Type {
		case isa.Pred:
			op.preds = append(op.preds, slot)
		case isa.B128:
			op.regs = append(op.regs, slot, slot+1)
		default:
			op.regs = append(op.regs, slot)
		}
	}
	c.fc.code[pc].explore = op
	c.explored = append(c.explored, exploredAt{pc, r.Join})
}

// exploredAt is a region whose join has no pc yet.
type exploredAt struct {
	pc   int32
	join ir.BlockID
}

// joinsOfRegions marks the blocks where explored paths meet, so that they begin with a join.
func (c *compiler) joinsOfRegions() {
	if c.slice == nil || !c.slice.Track {
		return
	}
	for _, b := range c.fn.Blocks {
		if t := b.Terminator(); t != nil && t.Action() == isa.ActBranch && c.splits(b) {
			if r, ok := c.slice.Explore(c.fn, b.ID); ok {
				c.joined[r.Join] = true
			}
		}
	}
}

// exploreBranch takes both paths of the branch in, one after the other.
func (x *exec) exploreBranch(in *inst, origin uint32) {
	op := in.explore
	j := x.newJoin(op.join, x.frame, x.mask)
	j.explore = &exploration{op: op, next: x.pc, origin: origin, branch: in}
	if x.lockstep {
		j.explore.first = make(map[uint64]lanesOfByte)
	}
	j.maybe = true
	j.explore.save(x)
	x.join = j
	if in.target == op.join {
		j.explore.next = noPC
	} else {
		x.pc = in.target
	}
	if x.pc == op.join { // the fall-through is empty: then the first path is all there is
		x.arrive(j)
		return
	}
	if j.explore.next == op.join {
		j.explore.next = noPC
	}
}

func (e *exploration) save(x *exec) {
	for _, r := range e.op.regs {
		e.regs = append(e.regs, x.regs[r])
		e.unk = append(e.unk, x.unk.regs[r])
	}
	for _, p := range e.op.preds {
		e.preds = append(e.preds, x.preds[p])
		e.predUnk = append(e.predUnk, x.unk.preds[p])
	}
}

// restore makes the registers of the lanes of m what they were before the first path.
func (e *exploration) restore(x *exec, m uint32) {
	for i, r := range e.op.regs {
		copyLanes((*[event.WarpSize]uint64)(&x.regs[r]), &e.regs[i], m)
		x.unk.regs[r] = x.unk.regs[r]&^m | e.unk[i]&m
	}
	for i, p := range e.op.preds {
		x.preds[p] = x.preds[p]&^m | e.preds[i]&m
		x.unk.preds[p] = x.unk.preds[p]&^m | e.predUnk[i]&m
	}
}

// explored is called when all lanes have come to the join. It reports whether they go another way
// now.
func (x *exec) explored(j *join) bool {
	e := j.explore
	if e.next != noPC {
		e.restore(x, j.live)
		x.mask, x.join, x.pc = j.live, j, e.next
		e.next, j.arrived = noPC, 0
		x.converge()
		return true
	}
	for _, r := range e.op.regs {
		x.unk.set(r, full, e.origin, j.live)
	}
	for _, p := range e.op.preds {
		x.unk.preds[p] |= j.live
		x.unk.origin[x.unk.lanes+p] = e.origin
	}
	return false
}

// lanesOfByte are the lanes that read, write and atomically change a byte on the first path.
type lanesOfByte struct{ read, write, atomic uint32 }

// crosses compares an access to shared memory on an explored path with those on the other one. In
// lock step the order of lanes on two paths of a branch is open (Barracuda §3.3.1), but the trace
// takes both with all lanes, one after the other, as if they were ordered. So two lanes that can
// meet there end the trace.
func (x *exec) crosses(in *inst, m uint32) {
	for j := x.join; j != nil && j.maybe; j = j.parent {
		if e := j.explore; e != nil && e.first != nil && !x.noted(e, in, m) {
			x.dependsOn(e.branch, bits.TrailingZeros32(m),
				"the branch, whose paths access the same shared memory in lanes of one warp,", e.origin)
			return
		}
	}
}

// noted notes an access on the first path. It reports whether one on the second path conflicts with
// no other lane's on the first.
func (x *exec) noted(e *exploration, in *inst, m uint32) bool {
	kind := in.mem.kind
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for a := x.addr[l]; a < x.addr[l]+in.mem.wide; a++ {
			o := e.first[a]
			if e.next == noPC {
				others := o.write
				if kind != event.Read {
					others |= o.read
				}
				if !kind.RMW() {
					others |= o.atomic
				}
				if others&^(1<<l) != 0 {
					return false
				}
				continue
			}
			switch {
			case kind == event.Read:
				o.read |= 1 << l
			case kind.RMW():
				o.atomic |= 1 << l
			default:
				o.write |= 1 << l
			}
			e.first[a] = o
		}
	}
	return true
}

// onMaybe reports whether the current fragment is on a path that perhaps no input takes.
func (x *exec) onMaybe() bool { return x.join != nil && x.join.maybe }

// guarded handles an instruction whose guard is unknown in the lanes of u: what it would write is
// unknown there, and an access to shared memory may be one. It returns the lanes that are to
// execute it, and false if the trace cannot go on.
func (x *exec) guarded(in *inst, u, known uint32) (uint32, bool) {
	origin := x.unk.predOrigin(in.guard)
	switch {
	case in.mem != nil && in.mem.space != event.Const && in.mem.space != event.Param:
		x.doubtful, x.doubtOrigin = u, origin
		return known | u, true
	case in.bar != nil, in.warp != nil, in.call != nil,
		in.ir.Row != nil && in.ir.Row.Category == isa.WarpOp,
		in.misc != nil && in.misc.targets != nil, in.d[0] < 0 && in.pd[0] < 0 && (in.misc == nil ||
			!in.misc.unknown):
		return 0, false
	}
	x.unk.results(in, u, origin, u)
	if in.ir.Has(isa.CC) {
		x.frame.ccUnk |= u
	}
	if in.mem != nil {
		for _, d := range in.mem.dst {
			if d >= 0 {
				x.unk.set(d, u, origin, u)
			}
		}
	}
	if in.misc != nil {
		for _, d := range in.misc.vecDst {
			if d >= 0 {
				x.unk.set(d, u, origin, u)
			}
		}
		for _, p := range in.misc.predDst {
			x.unk.preds[p] |= u
		}
	}
	return known, true
}

// uncertain reports whether the current instruction of lane l may not be executed at all.
func (x *exec) uncertain(l int) bool { return x.doubtful>>l&1 != 0 || x.onMaybe() }

// settle makes what an access under doubt has read or written unknown.
func (x *exec) settle(in *inst) {
	u, origin := x.doubtful, x.doubtOrigin
	x.doubtful = 0
	for _, d := range in.mem.dst {
		if d >= 0 {
			x.unk.set(d, u, origin, u)
		}
	}
}

// traceGuard goes on with a trace although the guard of in is unknown in the lanes of u. It reports
// false if that is not possible.
func (x *exec) traceGuard(in *inst, u uint32) bool {
	if in.explore != nil {
		x.exploreBranch(in, x.unk.predOrigin(in.guard))
		return true
	}
	known := x.mask & (x.preds[in.guard.slot] ^ in.guard.xor) &^ u
	m, ok := x.guarded(in, u, known)
	if !ok {
		return false
	}
	if m != 0 {
		x.m = m
		in.run(x, in)
	}
	if x.doubtful != 0 {
		x.settle(in)
	}
	return true
}
