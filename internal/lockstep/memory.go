package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// array identifies an Object: a variable, what the pointer at an offset of a parameter points to, or a
// parameter itself.
type array struct {
	v     *ir.Var
	field int
}

// itself is the field that stands for the memory of a parameter.
const itself = -1

// object returns the array of a variable, or the one that the pointer at an offset of a parameter points to.
// All shared arrays without bound are one: they start at one address (ir.Layout).
func (x *exec) object(v *ir.Var, field int) *Object {
	key := array{v, field}
	if v.Space == event.Shared && v.Unsized {
		key = array{}
	}
	o := x.objects[key]
	if o == nil {
		name := v.Shown()
		if field > 0 {
			name = fmt.Sprintf("%s+%d", name, field)
		}
		o = &Object{Name: name, Space: v.Space, Var: v, Field: field, index: len(x.objects)}
		if v.Space == event.Param && field != itself {
			if o.Space = v.PtrSpace; o.Space == event.NoSpace || o.Space == event.Generic {
				o.Space = event.Global
			}
		}
		x.objects[key] = o
	}
	return o
}

// baseOf returns the address at which an object starts.
func (x *exec) baseOf(o *Object) smt.Term {
	t := x.c.Var(fmt.Sprintf("%s%d:%s", base, o.index, o.Var.Name), 64)
	x.bases[t] = o
	return t
}

// place is where an access goes under a condition.
type place struct {
	cond   smt.Term
	object *Object
	offset smt.Term
}

// maxPlaces bounds how often a pointer chosen among several arrays is split by cases.
const maxPlaces = 8

// resolve splits an address into objects and offsets: an address is the base of one object plus an offset, or
// a choice of such.
func (x *exec) resolve(addr smt.Term) []place {
	if out := x.split(smt.True, addr, nil); len(out) <= maxPlaces {
		return out
	}
	return []place{x.anywhere(smt.True, addr)}
}

// split appends to out the places to which addr may lead under cond. It stops beyond maxPlaces.
func (x *exec) split(cond, addr smt.Term, out []place) []place {
	if len(out) > maxPlaces || cond == smt.False {
		return out
	}
	if o, off, ok := x.baseAndOffset(addr); ok {
		return append(out, place{cond, o, off})
	}
	choice, a, b, ok := x.splitChoice(addr)
	if !ok {
		return append(out, x.anywhere(cond, addr))
	}
	x.pause()
	out = x.split(x.c.And(cond, choice), a, out)
	return x.split(x.c.And(cond, x.c.Not(choice)), b, out)
}

// anywhere is the place of an address of which no array is known.
func (x *exec) anywhere(cond, addr smt.Term) place {
	return place{cond, nil, x.resize(addr, 64, false)}
}

// baseAndOffset finds the one base that an address contains, with coefficient 1. A 32-bit address holds the
// lower half of the base.
func (x *exec) baseAndOffset(addr smt.Term) (*Object, smt.Term, bool) {
	c := x.c
	args, coef := []smt.Term{addr}, []uint64{1}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
		_, coef = c.SumParts(addr)
	}
	var found *Object
	var b smt.Term
	for i, a := range args {
		whole := a
		if c.Op(a) == smt.OpExtract && c.ExtractLow(a) == 0 {
			whole = c.Args(a)[0]
		}
		if o := x.bases[whole]; o != nil && coef[i] == 1 {
			if found != nil {
				return nil, 0, false
			}
			found, b = o, a
		}
	}
	if found == nil {
		return nil, 0, false
	}
	off := c.Sub(addr, b)
	if x.hasBase(off) {
		return nil, 0, false
	}
	return found, x.resize(off, 64, true), true
}

func (x *exec) hasBase(t smt.Term) bool {
	has := false
	x.c.Visit([]smt.Term{t}, func(u smt.Term) { has = has || x.bases[u] != nil })
	return has
}

// splitChoice takes the first choice among pointers in an address apart.
func (x *exec) splitChoice(addr smt.Term) (cond, a, b smt.Term, ok bool) {
	c := x.c
	args := []smt.Term{addr}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
	}
	for _, t := range args {
		if c.Op(t) != smt.OpIte || !x.hasBase(t) {
			continue
		}
		parts := c.Args(t)
		then, other := c.Substitute(), c.Substitute()
		then.Replace(t, parts[1])
		other.Replace(t, parts[2])
		return parts[0], then.Apply(addr), other.Apply(addr), true
	}
	return 0, 0, 0, false
}

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
	addr := x.address(mem, st)
	if space == event.Local || mem.Var != nil && mem.Var.Space == event.Local {
		x.results(in, func(i int, w int) smt.Term { return x.fresh("l", w) }, st)
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
	for _, p := range places {
		x.record(in, p, space, elem*n, kind, st)
	}
	noted := len(x.atomics)
	x.results(in, func(i int, w int) smt.Term {
		v := x.loaded(in, places, i, elem, st)
		if st.ghost != smt.False {
			x.ghostLoads[v] = true
		}
		return v
	}, st)
	if kind != event.Read && kind != event.Write && len(x.atomics) == noted {
		x.atomic(in, places, undef, st)
	}
}

// memOperand returns the address operand.
func (x *exec) memOperand(in *ir.Instr) *ir.Operand {
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			return &in.Src[i]
		}
	}
	x.unsupported(in, "%s without an address", in.Text())
	return nil
}

func (x *exec) address(o *ir.Operand, st *state) smt.Term {
	c := x.c
	switch {
	case o.Var != nil && o.Var.Space != event.Local:
		return c.AddConst(x.baseOf(x.object(o.Var, 0)), o.Val)
	case o.Reg != ir.NoReg && o.Var == nil:
		return c.AddConst(x.reg(o.Reg, st), o.Val)
	}
	return c.Const(o.Val, 64)
}

// loadParam executes ld.param; it reports false if in is none.
func (x *exec) loadParam(in *ir.Instr, st *state) bool {
	mem := x.memOperand(in)
	elem := in.Type.Size()
	if mem.Var != nil && mem.Var.Space == event.Param {
		x.results(in, func(i int, w int) smt.Term {
			return x.param(mem.Var, int(mem.Val)+i*elem, elem)
		}, st)
		return true
	}
	if in.Space != event.Param {
		return false
	}
	places := x.resolve(x.address(mem, st))
	if len(places) != 1 || places[0].object == nil || places[0].object.Field != itself {
		x.unsupported(in, "a parameter that is read at an address that is computed")
	}
	x.results(in, func(i int, w int) smt.Term {
		return x.paramAt(places[0].object.Var, x.c.AddConst(places[0].offset, uint64(i*elem)), elem)
	}, st)
	return true
}

// paramAt is what a parameter holds at an offset, the same for all threads; at one that is not constant, nothing else
// is known of it.
func (x *exec) paramAt(v *ir.Var, off smt.Term, size int) smt.Term {
	if k, ok := x.c.Value(off); ok && k < uint64(v.Size) {
		return x.param(v, int(k), size)
	}
	return x.pure("param:"+v.Name, 8*min(size, 8), off)
}

func (x *exec) param(v *ir.Var, off, size int) smt.Term {
	if size == 8 {
		isPointer := off == 0 && v.Pointer
		for _, f := range v.PtrFields {
			isPointer = isPointer || f == off
		}
		if isPointer {
			return x.baseOf(x.object(v, off))
		}
	}
	w := 8 * min(size, 8)
	if k, ok := x.given[ParamName(v, off, w)]; ok {
		return k
	}
	for i, p := range x.f.Params {
		if p == v && off == 0 && size == v.Size {
			if k, ok := x.opt.Args[i]; ok {
				return x.c.Const(k, w)
			}
		}
	}
	return x.c.Var(ParamName(v, off, w), w)
}

// paramPrefix begins the names of the values of parameters.
const paramPrefix = inGrid + "param:"

// ParamName is the name of the variable for the w bits at an offset of a parameter: a model gives them by it.
func ParamName(v *ir.Var, off, w int) string {
	return fmt.Sprintf("%s%s+%d:%d", paramPrefix, v.Name, off, w)
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
	if in.Order.Strong() || len(places) != 1 || places[0].object == nil || elem > 8 || places[0].object.Space == event.Local {
		return x.fresh("l", w)
	}
	o := places[0].object
	fixed := !x.dirty.written[o] && !x.dirty.any[o.Space]
	if !fixed && x.dirty.at[in] {
		return x.fresh("l", w)
	}
	off := x.c.AddConst(places[0].offset, uint64(i*elem))
	if o.Field == itself {
		return x.paramAt(o.Var, off, elem)
	}
	if v, ok := x.table(places, i*elem, elem); ok {
		return v
	}
	name := fmt.Sprintf("%d:%d", o.index, w)
	if fixed {
		return x.c.Apply(x.c.Declare(inGrid+"m:"+name, w, 64), off)
	}
	args, widths := []smt.Term{off}, []int{64}
	for _, t := range x.tag(st, orders(o.Space)).Terms() {
		args, widths = append(args, t), append(widths, tagWidth)
	}
	return x.c.Apply(x.c.Declare(inBlock+"m:"+name, w, widths...), args...)
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
	if x.parts == numParts && space != event.Shared && space != event.Global { // one of either, each with its own interval
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
		Space: space, Kind: kind, Order: in.Order, Scope: in.Scope, Start: x.tag(st, orders(space)), Warp: x.warpTag(st), Iters: x.counters(), Place: x.place(in),
		Async: in.Op() == "cp.async", Pending: x.pending[in],
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
	return in.Op() == "cp.async" || in.Row.Category == isa.Memory && (in.Row.Effect == isa.Writes || in.Row.Effect == isa.ReadsWrites) &&
		in.Space != event.Local && in.Space != event.Param
}
