package isa

import (
	"slices"

	"heddle/internal/event"
)

// mbarrierRows are barriers that are objects in memory: PTX ISA 9.7.13.15.
var mbarrierRows = []Row{
	{Opcode: "mbarrier.init", Barrier: BarrierInit, Action: ActMBarrier, src: countTypes, Category: Barrier, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.13.15.9", Executable: true, forms: objectForms(0)},
	{Opcode: "mbarrier.inval", Barrier: BarrierInvalid, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr}, Effect: Writes, Section: "9.7.13.15.10", Executable: true, forms: objectForms(0)},
	{Opcode: "mbarrier.expect_tx", Barrier: BarrierExpect, Action: ActMBarrier, src: countTypes, Category: Barrier, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.13.15.11", Executable: true, forms: objectForms(0, event.Relaxed)},
	{Opcode: "mbarrier.complete_tx", Barrier: BarrierComplete, Action: ActMBarrier, src: countTypes, Category: Barrier, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.13.15.12", Executable: true, forms: objectForms(0, event.Relaxed)},
	{Opcode: "mbarrier.arrive", Barrier: BarrierArrive, Action: ActMBarrier, dst: all(b64Type), src: countTypes, narrow: arrivalRoles, Category: Barrier, Roles: []Role{Dst, Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.15.13", Executable: true, forms: arrivalForms()},
	{Opcode: "mbarrier.arrive_drop", Barrier: BarrierDrop, Action: ActMBarrier, dst: all(b64Type), src: countTypes, narrow: arrivalRoles, Category: Barrier, Roles: []Role{Dst, Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.15.14", Executable: true, forms: arrivalForms()},
	{Opcode: "cp.async.mbarrier.arrive", Barrier: BarrierCopies, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr}, Effect: ReadsWrites, Section: "9.7.13.15.15", Executable: true, forms: objectForms(markNoInc)},
	{Opcode: "mbarrier.test_wait", Barrier: BarrierTest, Action: ActMBarrier, dst: all(predType), src: waitTypes, Category: Barrier, Roles: []Role{Dst, Addr, Src}, Effect: Reads, Section: "9.7.13.15.16", Executable: true, forms: objectForms(markParity, event.Acquire, event.Relaxed)},
	{Opcode: "mbarrier.try_wait", Barrier: BarrierTest, Action: ActMBarrier, dst: all(predType), src: waitTypes, Category: Barrier, Roles: []Role{Dst, Addr, Src, SrcOpt}, Effect: Reads, Section: "9.7.13.15.16", Executable: true, forms: objectForms(markParity, event.Acquire, event.Relaxed)},
	{Opcode: "mbarrier.pending_count", Barrier: BarrierCount, Action: ActMBarrier, dst: all(u32Type), src: all(b64Type), Category: Barrier, Roles: []Role{Dst, Src}, Section: "9.7.13.15.17", Executable: true, forms: []form{{types: of(B64)}}},
}

// The operands of operations on an mbarrier: its address, then a count of arrivals or bytes, or the
// phase that a wait is for.
var (
	countTypes = types(anyType, u32Type)
	waitTypes  = types(anyType, phaseType, u32Type)
)

// objectForms are the forms of an operation on an mbarrier: without an order and a scope, or with
// both, if it may have one of orders.
func objectForms(marks mark, orders ...event.Order) []form {
	plain := form{types: of(B64), spaces: opt | of(event.Shared), marks: marks}
	if len(orders) == 0 {
		return []form{plain}
	}
	ordered := plain
	ordered.orders, ordered.scopes = order(orders...), of(event.CTA, event.Cluster)
	return []form{plain, ordered}
}

// arrivalForms are those of arrive and arrive_drop. .noComplete is always .release.cta.
func arrivalForms() []form {
	out := objectForms(0, event.Release, event.Relaxed)
	for _, f := range objectForms(0, event.Release, event.Relaxed) {
		f.mustMarks = markExpect
		out = append(out, f)
	}
	for i, f := range objectForms(0, event.Release) {
		f.mustMarks = markNoComplete
		if i > 0 {
			f.scopes = of(event.CTA)
		}
		out = append(out, f)
	}
	return out
}

// arrivalRoles: .expect_tx needs the bytes and .noComplete a count, which is optional elsewhere.
func arrivalRoles(d *Desc) []Role {
	if slices.Contains(d.Mods, "expect_tx") || slices.Contains(d.Mods, "noComplete") {
		return lastOptional(d.Row.Roles, true, Src)
	}
	return d.Row.Roles
}
