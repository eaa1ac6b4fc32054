package emu

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/slice"
)

// Branches of a trace that depend on an unknown value, and after which no thread waits for others
// before the paths merge. The trace takes one path and then the other, with the same lanes, and
// continues at the merge point, where everything that either path may have written is unknown. So
// the trace contains every access that some input makes. An access that it makes only on such a
// path is in Result.Maybe, since perhaps no input makes it: a race with it is not confirmed.

// exploreOp is the region of such a branch, as the slice found it: the blocks from which control
// can leave only through the merge point.
type exploreOp struct {
	join  int32   // pc of the merge point
	regs  []int32 // registers written in it
	preds []int32
}

// exploration is one visit of a region. It belongs to the join at the merge point, which all lanes
// reach twice: once for each path.
type exploration struct {
	op     *exploreOp
	next   int32 // pc of the remaining path; noPC: none
	origin uint32
	branch *inst
	first  map[uint64]lanesOfByte // accesses of the first path to shared memory; lock step only

	// State before the first path.
	regs    []alu.Lanes
	unk     []uint32
	preds   []uint32
	predUnk []uint32
}

// exploreRegion attaches the region of the branch at pc, if the slice allows both of its paths to
// be explored. The slots of the registers that the region writes are listed, since they are unknown
// after it.
func (c *compiler) exploreRegion(pc int32) {
	if c.slice == nil || !c.slice.Track {
		return
	}
	c.fc.code[pc].token = c.slice.TokenBranch(c.fn, c.block)
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

// joinsOfRegions marks the merge points of explored paths, so that their blocks begin with a join.
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

// exploreBranch starts the first of the two paths of the branch in.
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
	// An if without else: one of the two paths is empty.
	if in.target == op.join {
		j.explore.next = noPC
	} else {
		x.pc = in.target
	}
	if x.pc == op.join { // the fall-through is empty: only the first path has code
		x.arrive(j)
		return
	}
	if j.explore.next == op.join {
		j.explore.next = noPC
	}
}

// save records the registers and predicates that the region writes, for all lanes, before the first
// path changes them.
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

// restore resets the registers of the lanes of m to their values before the first path.
func (e *exploration) restore(x *exec, m uint32) {
	for i, r := range e.op.regs {
		copyLanes((*[event.WarpSize]uint64)(&x.regs[r]), &e.regs[i], m)
		x.unk.regs[r] = x.unk.regs[r]&^m | e.unk[i]&m
		// what is unknown is no more what the first path has left there
		x.unk.origin[r], x.unk.bits[r] = x.unk.plain(x.unk.origin[r]), ^uint64(0)
	}
	for i, p := range e.op.preds {
		x.preds[p] = x.preds[p]&^m | e.preds[i]&m
		x.unk.preds[p] = x.unk.preds[p]&^m | e.predUnk[i]&m
	}
}

// explored is called when all lanes have reached the join. It reports whether they take the second
// path now.
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

// lanesOfByte contains the lanes that read, write and atomically change a byte on the first path.
type lanesOfByte struct{ read, write, atomic uint32 }

// crosses compares an access to shared memory on an explored path with those on the other path. In
// lock step the order of lanes on two paths of a branch is undefined (Barracuda §3.3.1), but the
// trace takes both paths with all lanes, one after the other, as if they were ordered. So the trace
// ends if two lanes conflict there.
func (x *exec) crosses(in *inst, m uint32) {
	for j := x.join; j != nil && j.maybe; j = j.parent {
		if e := j.explore; e != nil && e.first != nil && !x.noted(e, in, m) {
			x.dependsOn(e.branch, bits.TrailingZeros32(m),
				"the branch, whose paths access the same shared memory in lanes of one warp,", e.origin)
			return
		}
	}
}

// noted records an access on the first path. For one on the second path it reports whether no other
// lane's access on the first conflicts with it.
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

// onMaybe reports whether the current fragment is on a path that perhaps no input takes. Its
// accesses can be part of a possible race, not of a confirmed one.
func (x *exec) onMaybe() bool { return x.join != nil && x.join.maybe }

// guarded handles an instruction whose guard is unknown in the lanes of u: the results are unknown
// there, and an access to shared memory may happen. It returns the lanes that execute it, and false
// if the trace cannot continue.
func (x *exec) guarded(in *inst, u, known uint32) (uint32, bool) {
	origin := x.unk.predOrigin(in.guard)
	switch {
	case in.mem != nil && in.mem.space != event.Const && in.mem.space != event.Param:
		x.doubtful, x.doubtOrigin = u, origin
		return known | u, true
	case in.bar != nil, in.warp != nil, in.call != nil, in.misc != nil && (in.misc.mbar != nil ||
		in.misc.bulk != nil || in.misc.copy != nil || in.misc.tmap != nil),
		in.ir.Row != nil && in.ir.Row.Category == isa.WarpOp,
		in.misc != nil && in.misc.targets != nil, in.d[0] < 0 && in.pd[0] < 0 && (in.misc == nil ||
			!in.misc.unknown):
		return 0, false
	}
	x.unk.results(in, u, origin, u)
	if in.ir.Has(isa.CC) {
		x.frame.ccUnk |= u
		x.frame.ccFrom = origin
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

// uncertain reports whether lane l may not execute the current instruction at all.
func (x *exec) uncertain(l int) bool { return x.doubtful>>l&1 != 0 || x.onMaybe() }

// settle marks as unknown what an uncertain access has read.
func (x *exec) settle(in *inst) {
	u, origin := x.doubtful, x.doubtOrigin
	x.doubtful = 0
	for _, d := range in.mem.dst {
		if d >= 0 {
			x.unk.set(d, u, origin, u)
		}
	}
}

// traceGuard continues a trace although the guard of in is unknown in the lanes of u. It reports
// false if that is not possible.
func (x *exec) traceGuard(in *inst, u uint32) bool {
	if in.token != slice.NoToken && x.passToken(in, u) {
		return true
	}
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
