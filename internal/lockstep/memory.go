package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// memory executes loads, stores and atomics.
func (x *exec) memory(in *ir.Instr, st *state) {
	if op := in.Op(); op == "ld" || op == "st" {
		if mem := x.memOperand(in); x.isScratch(mem) {
			x.scratchAccess(in, mem, st)
			return
		}
	}
	if in.Op() == "ld" && x.loadParam(in, st) {
		return
	}
	switch in.Op() {
	case "ld", "ldu", "st", "atom", "red":
	case "prefetch", "prefetchu", "applypriority", "cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all":
		return
	case "cp.async":
		x.copyAsync(in, st)
		return
	default:
		x.unsupported(in, "%s", in.Text())
	}
	mem := x.memOperand(in)
	space := in.Space
	if mem.Var != nil && (space == event.Generic || space == event.NoSpace) {
		space = mem.Var.Space
	}
	at := x.address(mem, st)
	addr := x.now(at)
	if space == event.Local || mem.Var != nil && mem.Var.Space == event.Local {
		x.localAccess(in, addr, st)
		return
	}
	elem, n := in.Type.Size(), max(int(in.Vec), 1)
	if space == event.Const || space == event.Param {
		places := x.resolve(addr)
		x.results(in, func(i int, w int) smt.Term {
			if v, ok := x.table(places, i*elem, elem); ok {
				return v
			}
			return x.pure("const", 8*min(elem, 8), x.c.AddConst(addr, uint64(i*elem)))
		}, st)
		return
	}
	places := x.resolve(addr)
	x.aim(in, places)
	kind := kindOf(in)
	before := len(x.th.Accesses)
	for _, p := range places {
		x.record(in, p, space, elem*n, kind, st)
	}
	if kind != event.Read {
		x.remember(in, places, st)
	}
	noted := len(x.atomics)
	x.results(in, func(i int, w int) smt.Term {
		v := x.loaded(in, places, i, elem, st)
		if in.Op() == "atom" && len(x.th.Accesses) == before+1 && n == 1 && elem <= 8 {
			x.th.Accesses[before].Result = v
		}
		if st.ghost != smt.False && in.Op() != "atom" {
			v = x.ghostRead(in, at, i, elem, v)
		}
		return v
	}, st)
	if kind != event.Read && kind != event.Write && len(x.atomics) == noted {
		x.atomic(in, places, undef, st)
	}
	if isStore(in) {
		x.wrote(in, places, st)
	}
}

// results writes what an instruction loads: value gives element i.
func (x *exec) results(in *ir.Instr, value func(i, w int) smt.Term, st *state) {
	if len(in.Dst) == 0 {
		return
	}
	elems := []ir.Operand{in.Dst[0]}
	if in.Dst[0].Kind == ir.Vector {
		elems = in.Dst[0].Elems
	}
	vals := make([]smt.Term, len(elems))
	for i := range elems {
		vals[i] = value(i, 8*min(in.Type.Size(), 8))
	}
	for i, o := range elems {
		x.set(in, o, vals[i], in.Type.Signed(), st)
	}
}

// loaded is the value of element i of a load. Up to the first race all threads of a block see the memory of
// the start of the interval, if the thread itself has not changed it since.
func (x *exec) loaded(in *ir.Instr, places []place, i, elem int, st *state) smt.Term {
	w := 8 * min(elem, 8)
	if in.Op() == "atom" {
		v := x.fresh("l", w)
		x.atomic(in, places, v, st)
		return v
	}
	if v, ok := x.own(in, places, i, elem, st); ok {
		return v
	}
	if in.Order.Strong() || len(places) != 1 || places[0].object == nil || elem > 8 || places[0].object.Space == event.Local {
		return x.fresh("l", w)
	}
	o := places[0].object
	if m := st.snaps[o]; m != nil && st.ghost != smt.False {
		return x.readOr(m, x.c.AddConst(places[0].offset, uint64(i*elem)), elem, "l")
	}
	fixed := !x.dirty.written[o] && !x.dirty.any[o.Space]
	anything := func() smt.Term { return x.fresh("l", w) }
	off := x.c.AddConst(places[0].offset, uint64(i*elem))
	if !fixed && x.dirty.at[in] {
		if o.Field == itself || !x.viewing() {
			return anything()
		}
		v, _ := x.seen(o, off, elem, st, anything)
		return v
	}
	if o.Field == itself {
		return x.paramAt(o, off, elem)
	}
	if v, ok := x.table(places, i*elem, elem); ok {
		return v
	}
	if fixed {
		return x.ever(o, off, elem)
	}
	if x.opt.Adversarial {
		return anything()
	}
	return x.atStart(o, off, elem, st)
}

// ever is what an array that nobody writes holds.
func (x *exec) ever(o *Object, off smt.Term, size int) smt.Term {
	memory := inGrid + "m"
	if o.Space == event.Shared { // never initialised: blocks need not find the same in it
		memory = inBlock + "ever" // not "m": an array that nobody writes may be found to be written in a later pass
	}
	return x.c.Apply(x.c.Declare(fmt.Sprintf("%s:%d:%d", memory, o.index, 8*size), 8*size, 64), off)
}

// record notes an access.
func (x *exec) record(in *ir.Instr, p place, space event.Space, size int, kind event.Kind, st *state) {
	if p.object != nil {
		space = p.object.Space
		if space == event.Local || space == event.Param || space == event.Const { // no other thread gets there, or nobody writes
			return
		}
	}
	if !x.final {
		return
	}
	if x.partial && space != event.Shared && space != event.Global { // one of either, each with its own interval
		x.record(in, p, event.Shared, size, kind, st)
		x.record(in, p, event.Global, size, kind, st)
		return
	}
	ghost := st.ghost
	if isStore(in) { // what a condition reads is no access; it writes nothing
		ghost = smt.False
	}
	a := Access{
		Instr: in, Guard: x.c.And(x.here(st), x.c.Not(ghost), x.guard, p.cond), Object: p.object, Offset: p.offset, Size: size,
		Space: space, Kind: kind, Order: in.Order, Scope: in.Scope, Start: x.tag(st, orders(space)), Warp: x.warpTag(st), Grid: x.gridTag(st), Together: x.together(st), Iters: x.counters(), Place: x.place(in),
		Async: in.Op() == "cp.async", Unsettled: x.unsettled[in], Pending: x.pending[in],
	}
	if in.Op() == "st" {
		a.Values = x.stored(in, st)
	}
	if a.Kind != event.Write && a.Kind != event.Read && (in.Vec > 1 || in.Type == isa.F16x2 || in.Type == isa.BF16x2) {
		// Several operations, one for each element (PTX ISA 9.7.13.5): as one of the whole size it would be morally
		// strong with another of that size, which it is not. Weak is on the safe side.
		a.Order, a.Scope = event.Weak, event.NoScope
	}
	if a.Guard == smt.False {
		return
	}
	x.th.Accesses = append(x.th.Accesses, a)
}

// kindOf is what a load, a store or an atomic does.
func kindOf(in *ir.Instr) event.Kind {
	switch in.Op() {
	case "st":
		return event.Write
	case "atom":
		return event.Atomic
	case "red":
		return event.Reduce
	}
	return event.Read
}

// stored returns the elements that a store writes.
func (x *exec) stored(in *ir.Instr, st *state) []smt.Term {
	elems := []ir.Operand{in.Src[1]}
	if in.Src[1].Kind == ir.Vector {
		elems = in.Src[1].Elems
	}
	size := in.Type.Size()
	if size > 8 || len(elems) != max(int(in.Vec), 1) {
		return nil
	}
	vals := make([]smt.Term, len(elems))
	for i, o := range elems {
		vals[i] = x.read(o, 8*size, st)
	}
	return vals
}

// isStore reports whether an instruction may change shared or global memory.
func isStore(in *ir.Instr) bool {
	return isCallOf(in, annotationPrefix+"writes_to") || in.Op() == "cp.async" || in.Row.Category == isa.Memory && (in.Row.Effect == isa.Writes || in.Row.Effect == isa.ReadsWrites) &&
		in.Space != event.Local && in.Space != event.Param
}
