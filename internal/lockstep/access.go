package lockstep

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// memory executes loads, stores, atomics and asynchronous copies.
func (x *exec) memory(in *ir.Instr, st *state) {
	if in.IsPlainLoad() || in.Action() == isa.ActStore {
		if mem := x.memOperand(in); x.mem.IsArgument(mem) {
			x.accessArgument(in, mem, st)
			return
		}
	}
	if in.IsPlainLoad() && x.loadParam(in, st) {
		return
	}
	switch in.Action() {
	case isa.ActLoad, isa.ActStore, isa.ActAtomic, isa.ActReduce:
	case isa.ActCopyGroup:
		return
	case isa.ActCopy:
		x.copyAsync(in, st)
		return
	case isa.ActStoreRange:
		thread.Unsupported(in, "%s is not covered by proofs (heddle trace covers it)", in.Text())
	case isa.ActBulkCopy:
		if _, ok := in.Bulk(); ok {
			thread.Unsupported(in, "%s is not covered by proofs (heddle trace covers it)", in.Text())
		}
		fallthrough
	default:
		thread.Unsupported(in, "%s", in.Text())
	}
	mem := x.memOperand(in)
	space := in.Space
	if mem.Var != nil && space == event.Generic {
		space = mem.Var.Space
	}
	at := x.address(mem, st)
	addr := x.notes.Now(at)
	switch {
	case space == event.Local || mem.Var != nil && mem.Var.Space == event.Local:
		x.accessLocal(in, addr, st)
	case space == event.Const || space == event.Param:
		places := x.mem.Resolve(addr)
		x.own(in, places, st)
		x.results(in, func(i int, w int) smt.Term {
			return x.mem.LoadConst(x.load(in, places, i, st), addr)
		}, st)
	default:
		x.accessShared(in, at, x.mem.Resolve(addr), space, st)
	}
}

// accessShared executes an access to memory that threads share, in one of places. At is the
// address, with symbols for loads within annotations.
func (x *exec) accessShared(in *ir.Instr, at smt.Term, places []memory.Place, space event.Space,
	st *state) {
	x.mem.Leads(in, places)
	elem, n := in.Type.Size(), max(int(in.Vec), 1)
	kind, _ := in.AccessKind()
	before := len(x.th.Accesses)
	for _, p := range places {
		x.record(in, p, extent{space, elem * n, kind}, st)
	}
	if kind != event.Read {
		x.mem.StoreLocal(in, places, x.storedIf(in.Action() == isa.ActStore, in, st), &st.mem)
	}
	noted := false
	x.results(in, func(i int, w int) smt.Term {
		if in.Action() == isa.ActAtomic {
			v := x.Unknown("l", 8*min(elem, 8))
			x.noteAtomic(in, places, &v, st)
			noted = true
			if len(x.th.Accesses) == before+1 && n == 1 && elem <= 8 {
				a := &x.th.Accesses[before]
				a.Result, a.Last = v, x.lastIters()
				x.update(a, in, st)
			}
			return v
		}
		l := x.load(in, places, i, st)
		v, ok := x.loadLocal(l, st)
		if !ok {
			v = x.mem.Load(l, &st.mem)
		}
		if l.Annotation {
			if theirs, ok := x.notes.LoadOfOther(site{x, in, st}, at, i, elem); ok {
				return theirs
			}
			v = x.notes.Load(in, at, i, elem, v)
		} else if in.Order.Strong() && len(x.th.Accesses) == before+1 && n == 1 && elem <= 8 {
			a := &x.th.Accesses[before]
			a.Loaded, a.Last = v, x.lastIters()
		}
		return v
	}, st)
	if kind != event.Read && kind != event.Write && !noted {
		x.noteAtomic(in, places, nil, st)
		if len(x.th.Accesses) == before+1 && n == 1 && elem <= 8 {
			x.update(&x.th.Accesses[before], in, st)
		}
	}
	if kernel.IsStore(in) {
		st.notes.Stored()
		x.mem.Store(in, places, x.storedIf(in.Action() == isa.ActStore && !in.Order.Strong(), in, st),
			&st.mem)
	}
}

// lastIters returns the iterations in which the thread leaves the loops around, outermost first.
func (x *exec) lastIters() []smt.Term {
	var out []smt.Term
	for _, l := range x.around {
		out = append(out, x.loops.Of(l).Last())
	}
	return out
}

// update notes what an atomic on one word does.
func (x *exec) update(a *thread.Access, in *ir.Instr, st *state) {
	a.Update = update(in)
	for _, o := range in.Src[1:] {
		a.Operands = append(a.Operands, x.read(o, 8*in.Type.Size(), st))
	}
}

// update is what an atomic on one word does.
func update(in *ir.Instr) thread.Update {
	switch class := in.Type.Class(); {
	case in.Fn == isa.FnCAS:
		return thread.CompareAndSwap
	case in.Fn == isa.FnExch:
		return thread.Exchange
	case class != isa.Unsigned && class != isa.Signed, in.Type == isa.U16x2, in.Type == isa.S16x2:
	case in.Fn == isa.FnAdd:
		return thread.Add
	case in.Fn == isa.FnInc:
		return thread.Increment
	}
	return thread.OtherUpdate
}

// load is element i of a load.
func (x *exec) load(in *ir.Instr, places []memory.Place, i int, st *state) memory.Load {
	return memory.Load{Instr: in, Places: places, Index: i, Size: in.Type.Size(),
		Annotation: st.notes.Ghost() != smt.False}
}

// accessArgument executes ld.param and st.param of a call's argument or result.
func (x *exec) accessArgument(in *ir.Instr, mem *ir.Operand, st *state) {
	elem := in.Type.Size()
	if in.Action() != isa.ActStore {
		x.results(in, func(i, w int) smt.Term {
			return x.mem.LoadArgument(mem.Var, int(mem.Val)+i*elem, elem, &st.mem)
		}, st)
		return
	}
	for i, o := range elements(in.Src[1]) {
		off := int(mem.Val) + i*elem
		if elem > 8 {
			x.mem.ForgetArgument(mem.Var, off, elem, &st.mem)
			continue
		}
		x.mem.StoreArgument(mem.Var, off, elem, x.read(o, 8*elem, st), &st.mem)
	}
}

// loadParam executes a load of a parameter; it reports false if in is another instruction.
func (x *exec) loadParam(in *ir.Instr, st *state) bool {
	mem := x.memOperand(in)
	elem := in.Type.Size()
	if mem.Var != nil && mem.Var.Space == event.Param {
		x.results(in, func(i int, w int) smt.Term {
			return x.mem.Param(mem.Var, int(mem.Val)+i*elem, elem)
		}, st)
		return true
	}
	if in.Space != event.Param {
		return false
	}
	places := x.mem.Resolve(x.address(mem, st))
	x.results(in, func(i int, w int) smt.Term {
		v, ok := x.mem.LoadParam(places, i*elem, elem)
		if !ok {
			thread.Unsupported(in, "a parameter read at a computed address")
		}
		return v
	}, st)
	return true
}

// accessLocal executes a load or store of memory of the thread alone.
func (x *exec) accessLocal(in *ir.Instr, addr smt.Term, st *state) {
	places := x.mem.Resolve(addr)
	x.own(in, places, st)
	if kernel.IsLocalStore(in) {
		x.mem.Leads(in, places)
		x.mem.StoreLocal(in, places, x.storedIf(in.Action() == isa.ActStore, in, st), &st.mem)
	}
	x.results(in, func(i int, w int) smt.Term {
		if v, ok := x.loadLocal(x.load(in, places, i, st), st); ok {
			return v
		}
		return x.Unknown("l", w)
	}, st)
}

// loadLocal is what a load of memory of the thread alone finds there. Within an annotation, and
// where annotations are also about threads that do not reach them, it is a symbol with that value:
// what an annotation means elsewhere, or for other threads, must not be taken from here.
func (x *exec) loadLocal(l memory.Load, st *state) (smt.Term, bool) {
	v, ok := x.mem.LoadLocal(l, &st.mem)
	if !ok || !l.Annotation && !x.notes.Global() {
		return v, ok
	}
	sym := x.Unknown("l", 8*l.Size)
	x.notes.Know(site{x, l.Instr, st}, x.c.Eq(sym, v))
	return sym, true
}

// copyAsync executes cp.async.
func (x *exec) copyAsync(in *ir.Instr, st *state) {
	if len(in.Src) < 3 || in.Src[0].Kind != ir.Mem || in.Src[1].Kind != ir.Mem ||
		in.Src[2].Kind != ir.Imm {
		thread.Unsupported(in, "%s", in.Text())
	}
	size := int(in.Src[2].Val)
	to, from := x.mem.Resolve(x.address(&in.Src[0], st)), x.mem.Resolve(x.address(&in.Src[1], st))
	x.mem.Leads(in, to)
	st.notes.Stored()
	for _, p := range to {
		x.mem.Lose(p.Object, &st.mem)
	}
	for _, p := range to {
		x.record(in, p, extent{event.Shared, size, event.Write}, st)
	}
	for _, p := range from { // fewer bytes than size may be read
		x.record(in, p, extent{event.Global, size, event.Read}, st)
	}
}

// results writes what an instruction loads: value gives element i.
func (x *exec) results(in *ir.Instr, value func(i, w int) smt.Term, st *state) {
	if len(in.Dst) == 0 {
		return
	}
	elems := elements(in.Dst[0])
	vals := make([]smt.Term, len(elems))
	for i := range elems {
		vals[i] = value(i, 8*min(in.Type.Size(), 8))
	}
	for i, o := range elems {
		x.set(in, o, vals[i], in.Type.Signed(), st)
	}
}

// elements are the elements of a vector, or the one operand that is no vector.
func elements(o ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Elems
	}
	return []ir.Operand{o}
}

// storedIf returns the elements that a store writes; nil if they are not wanted, or too large.
func (x *exec) storedIf(wanted bool, in *ir.Instr, st *state) []smt.Term {
	if !wanted {
		return nil
	}
	elems, size := elements(in.Src[1]), in.Type.Size()
	if size > 8 || len(elems) != max(int(in.Vec), 1) {
		return nil
	}
	vals := make([]smt.Term, len(elems))
	for i, o := range elems {
		vals[i] = x.read(o, 8*size, st)
	}
	return vals
}

// access describes an access of an instruction here, except for its guard, offset, size and kind.
func (x *exec) access(in *ir.Instr, o *Object, space event.Space, st *state) thread.Access {
	return thread.Access{
		Instr: in, Object: o, Space: space, Start: x.mem.SpaceTag(&st.mem, space),
		Warp: x.mem.WarpTag(&st.mem),
		Grid: x.mem.GridTag(&st.mem), Together: x.together(st), Once: x.k.Convergent(x.at),
		Iters: x.Counters(), Place: x.Place(in),
	}
}

// together is the condition under which the thread executes the current instruction together with
// all lanes of its warp that execute it in the same iterations; false if that is not known.
func (x *exec) together(st *state) smt.Term {
	if !x.opt.Lockstep || !x.k.Convergent(x.at) {
		return smt.False
	}
	return x.bare(st, smt.True)
}

// extent is what an instruction accesses at a place, as far as its text says.
type extent struct {
	space event.Space
	size  int // in bytes
	kind  event.Kind
}

// record notes an access to a place.
func (x *exec) record(in *ir.Instr, p memory.Place, e extent, st *state) {
	space := e.space
	if p.Object != nil {
		space = p.Object.Space
		// not shared, or never written
		if space == event.Local || space == event.Param || space == event.Const {
			x.th.WritesConst = x.th.WritesConst || x.final && space != event.Local && e.kind.Writes() &&
				x.c.And(x.here(st), x.guard, p.Cond) != smt.False
			if space != event.Param {
				x.own(in, []memory.Place{p}, st)
			}
			return
		}
	}
	if !x.final {
		return
	}
	// either, each with its own interval
	if x.k.SplitParts() && space != event.Shared && space != event.Global {
		x.record(in, p, extent{event.Shared, e.size, e.kind}, st)
		x.record(in, p, extent{event.Global, e.size, e.kind}, st)
		return
	}
	ghost := st.notes.Ghost()
	if kernel.IsStore(in) { // the loads of a condition are no accesses; it stores nothing
		ghost = smt.False
	}
	guard := x.c.And(x.here(st), x.c.Not(ghost), x.guard, p.Cond)
	a := x.access(in, p.Object, space, st)
	a.Guard, a.Offset, a.Size, a.Kind = guard, p.Offset, e.size, e.kind
	a.Order, a.Scope = in.Order, in.Scope
	a.Async, a.Unsettled, a.Pending = in.Action() == isa.ActCopy, x.k.Unsettled(in), x.k.Pending(in)
	a.Values = x.storedIf(in.Action() == isa.ActStore, in, st)
	if a.Kind != event.Write && a.Kind != event.Read &&
		(in.Vec > 1 || in.Type == isa.F16x2 || in.Type == isa.BF16x2) {
		// Several operations, one for each element (PTX ISA 9.7.13.5): as one of the whole size it would
		// be morally strong with another of that size, which it is not. Weak is on the safe side.
		a.Order, a.Scope = event.Weak, event.NoScope
	}
	if a.Guard != smt.False {
		x.Record(a)
	}
}

// memOperand returns the address operand.
func (x *exec) memOperand(in *ir.Instr) *ir.Operand {
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			return &in.Src[i]
		}
	}
	thread.Unsupported(in, "%s without an address", in.Text())
	return nil
}

func (x *exec) address(o *ir.Operand, st *state) smt.Term {
	return x.mem.Address(o, func(r ir.RegID) smt.Term { return x.reg(r, st) })
}

// noncoherent looks for loads through the texture proxy (ld.global.nc, ldu) of an array that the
// kernel also writes. They are ordered with no write of the kernel, whatever barriers there are and
// whichever thread writes (PTX ISA 8.6, 8.9.5), so barrier intervals do not describe them, and
// there is no proof. Arrays are not divided further.
func noncoherent(th *Thread) error {
	for i := range th.Accesses {
		load := &th.Accesses[i]
		if load.Kind != event.Read || !load.Instr.NonCoherent() {
			continue
		}
		for k := range th.Accesses {
			w := &th.Accesses[k]
			same := w.Object == nil || load.Object == nil || w.Object == load.Object
			if w.Kind.Writes() && w.Space != event.Shared && same {
				return &UnsupportedError{Instr: load.Instr,
					What: load.Instr.Text() + " of an array that the kernel also writes"}
			}
		}
	}
	return nil
}
