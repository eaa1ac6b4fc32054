package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Steps for the end of an allocation of tensor memory. It comes behind all operations on what it
// frees, in one warp, before the block ends (PTX ISA 9.7.16.7.1): it is moved behind a barrier that
// exists or a new one, together with the waits of the warps for their own loads and stores, or it is
// added at the end of the kernel.

const (
	movedCost = 0.3 // of an instruction at another place
	freedCost = 0.5 // of a tcgen05.dealloc
)

// mostBarriers bounds the barriers behind which an instruction is moved.
const mostBarriers = 4

// frees reports whether an instruction is tcgen05.dealloc.
func frees(in *ir.Instr) bool {
	if in == nil || in.Action() != isa.ActTensorAllocate {
		return false
	}
	ends, _ := in.TensorFreed()
	return ends
}

// allocates reports whether an instruction is tcgen05.alloc.
func allocates(in *ir.Instr) bool {
	if in == nil || in.Action() != isa.ActTensorAllocate {
		return false
	}
	ends, gives := in.TensorFreed()
	return !ends && !gives
}

// instrs returns the instructions of the kernel that satisfy a predicate.
func (r *repairer) instrs(like func(*ir.Instr) bool) (out []*ir.Instr) {
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if like(in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// same reports whether a register has the same value at a place as anywhere behind the instruction
// that writes it.
func (r *repairer) same(reg ir.RegID, p Point) bool {
	if reg == ir.NoReg {
		return true
	}
	r.writerOf(reg)
	return r.written[reg] == 1 && r.known(reg, p)
}

// guardAt returns the guard under which an instruction at another place is executed by the threads
// that execute in: its own, or the predicate of the one branch that decides.
func (r *repairer) guardAt(in *ir.Instr, p Point) (string, bool) {
	block := r.x.blockOf(in)
	controls := r.x.flow.controls[block]
	if in.Guard != ir.NoReg {
		return r.guardText(in), r.same(in.Guard, p) && (len(controls) == 0 || block == p.Block)
	}
	if len(controls) == 0 || block == p.Block {
		return "", true
	}
	branch := r.x.k.Func.Block(controls[0])
	t := branch.Terminator()
	if len(controls) != 1 || t == nil || t.Guard == ir.NoReg || len(branch.Succs) != 2 ||
		!r.same(t.Guard, p) {
		return "", false
	}
	taken := branch.Succs[0] == block || r.x.flow.dom.Dominates(branch.Succs[0], block)
	name := r.x.k.Func.Regs[t.Guard].Name
	if taken != t.Neg {
		return "@" + name + " ", true
	}
	return "@!" + name + " ", true
}

// at returns the text of an instruction for another place; empty if its operands mean something
// else there, or nothing.
func (r *repairer) at(in *ir.Instr, p Point) string {
	for i := range in.Src {
		ok := true
		in.Src[i].EachReg(func(reg ir.RegID) { ok = ok && r.same(reg, p) })
		if !ok {
			return ""
		}
	}
	guard, ok := r.guardAt(in, p)
	f := r.x.k.File
	start, ok1 := f.Offset(in.Span.Start)
	end, ok2 := f.Offset(in.Span.End)
	if !ok || !ok1 || !ok2 {
		return ""
	}
	text := string(f.Content[start:end])
	if i := strings.Index(text, in.Text()); i >= 0 {
		return guard + text[i:]
	}
	return ""
}

// order is what is in front of the end of an allocation at its new place.
type order uint8

const (
	orderNone    order = iota
	orderBarrier       // a barrier of the block, or of the cluster for a pair
	orderWaits         // waits for the loads and stores of all warps, and a barrier
)

// text is the order as instructions.
func (o order) text(pair bool) string {
	barrier := "bar.sync \t0;"
	if pair {
		barrier = clusterBoth
	}
	switch o {
	case orderBarrier:
		return barrier + "\n\t"
	case orderWaits:
		return tensorLoaded + "\n\t" + tensorStored + "\n\t" + tensorBefore + "\n\t" + barrier +
			"\n\t" + tensorAfter + "\n\t"
	}
	return ""
}

// String is the order for people.
func (o order) String() string {
	return [...]string{"", " behind a barrier", " behind waits for tensor memory and a barrier"}[o]
}

// moved is the action that moves an instruction to a place; false if it has no such text.
func (r *repairer) moved(in *ir.Instr, p Point, o order) (action, bool) {
	text := r.at(in, p)
	if text == "" || p == r.x.where(in) {
		return action{}, false
	}
	a := r.x.barrierAction(r.opt.Cost, p)
	a.key = fmt.Sprint("move ", in.Index, " ", o, " ", a.key)
	a.cost = movedCost*r.x.aloneCost(r.opt.Cost, p) + float64(o)
	a.what.What, a.what.Cut = in.Op()+" is moved here"+o.String(), false
	if a.what.After { // behind the last instruction of a block
		a.what.What = in.Op() + " is moved behind it" + o.String()
	}
	pair := in.TensorGroup() == 2
	a.add = func(pl *Plan) {
		pl.Texts[in.Index] = ""
		if o == orderBarrier && !pair { // which has a form in the source
			pl.Bare = append(pl.Bare, p)
			pl.Inserts = append(pl.Inserts, Insert{At: p, Text: text, Moved: in})
			return
		}
		moved := in
		if o != orderNone {
			moved = nil
		}
		pl.Inserts = append(pl.Inserts, Insert{At: p, Text: o.text(pair) + text, Moved: moved})
	}
	return a, true
}

// barriersBehind are the places behind the barriers of the block, or the cluster, that come behind
// an instruction and not in front of it.
func (r *repairer) barriersBehind(in *ir.Instr) (out []Point) {
	for _, b := range r.instrs(func(b *ir.Instr) bool {
		bar, ok := b.Barrier()
		return isBarrier(b) || ok && bar.Object == isa.ClusterBarrier && bar.Kind == isa.BarrierWait
	}) {
		if r.before(in, b) && !r.before(b, in) && len(out) < mostBarriers {
			p := r.x.where(b)
			out = append(out, Point{p.Block, p.Index + 1})
		}
	}
	return out
}

// freedBehind offers to move the end of an allocation that races behind a barrier that exists.
func (r *repairer) freedBehind(f located) (out []action) {
	end, _ := endOf(f)
	if end == nil {
		return nil
	}
	for _, p := range r.barriersBehind(end) {
		if a, ok := r.moved(end, p, orderNone); ok {
			out = append(out, a)
		}
	}
	return out
}

// endOf returns the end of an allocation that races, and the other instruction; nil if there is none.
func endOf(f located) (end, other *ir.Instr) {
	switch {
	case frees(f.b):
		return f.b, f.a
	case frees(f.a):
		return f.a, f.b
	}
	return nil, nil
}

// freedApart offers a barrier in front of the end of an allocation that races, of the block or, for
// a pair, of the cluster. It offers each alone and together with a wait for the other operation:
// neither of the two is enough where both are missing.
func (r *repairer) freedApart(f located) (out []action) {
	end, other := endOf(f)
	if end == nil {
		return nil
	}
	at, pair := r.x.where(end), end.TensorGroup() == 2
	if pair {
		out = r.missingHalves()
	}
	for _, p := range r.x.near(end) {
		switch {
		case p.Block == at.Block && p.Index > at.Index:
		case !pair:
			out = append(out, r.x.barrierAction(r.opt.Cost, p))
		case r.x.flow.uniform[p.Block]:
			out = append(out, r.clusterBarrier(p))
		}
	}
	slices.SortStableFunc(out, byCost)
	if !onTensor(other) || other.Action() != isa.ActTensorAccess {
		return out
	}
	wait := tensorLoaded
	if other.TensorStores() {
		wait = tensorStored
	}
	place := r.x.where(other)
	w := r.insertion(Point{place.Block, place.Index + 1}, r.guardText(other)+wait, wait[:len(wait)-1],
		groupWaitCost)
	for _, b := range out {
		both := b
		both.key, both.cost = w.key+b.key, w.cost+b.cost
		both.what.What = w.what.What + " behind " + other.Op() + ", and " + b.what.What
		both.add = func(pl *Plan) { w.add(pl); b.add(pl) }
		out = append(out, both)
	}
	return out
}

// freedLater offers to move the ends of allocations behind an operation that comes too late: behind
// the barriers that follow it, and to the end of the kernel.
func (r *repairer) freedLater(f located) (out []action) {
	if f.a == nil {
		return nil
	}
	ends := r.instrs(frees)
	for _, end := range ends {
		for _, p := range r.barriersBehind(f.a) {
			if a, ok := r.moved(end, p, orderNone); ok {
				out = append(out, a)
			}
		}
	}
	for _, o := range []order{orderNone, orderBarrier, orderWaits} {
		for _, end := range ends {
			for _, p := range r.exits() {
				if a, ok := r.moved(end, p, o); ok {
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// permitLater offers to give up the right to allocate behind an allocation: directly behind it,
// behind the barriers that follow, and at the end of the kernel.
func (r *repairer) permitLater(f located) (out []action) {
	if f.a == nil {
		return nil
	}
	at := r.x.where(f.a)
	places := slices.Concat([]Point{{at.Block, at.Index + 1}}, r.barriersBehind(f.a), r.exits())
	for _, in := range r.instrs(func(in *ir.Instr) bool {
		if in.Action() != isa.ActTensorAllocate {
			return false
		}
		_, gives := in.TensorFreed()
		return gives
	}) {
		for _, p := range places {
			if a, ok := r.moved(in, p, orderNone); ok {
				out = append(out, a)
			}
		}
	}
	return out
}

// freedOnce offers what makes the end of an allocation that of one: the guard of the allocation, its
// number of columns, and nothing at all where it has been freed before.
func (r *repairer) freedOnce(f located) (out []action) {
	if !frees(f.a) {
		return nil
	}
	in := f.a
	change := func(text, what string, cost float64) {
		out = append(out, action{
			key: fmt.Sprint("free ", in.Index, " ", text), cost: cost * r.x.aloneCost(r.opt.Cost, r.x.where(in)),
			add:  func(pl *Plan) { pl.Texts[in.Index] = text },
			what: Change{What: what, At: in, Old: true},
		})
	}
	p := r.x.where(in)
	for _, a := range r.instrs(allocates) {
		if guard, ok := r.guardAt(a, p); ok && guard != "" && in.Guard == ir.NoReg {
			change(guard+r.respell(in, in.Text()), "is executed under the guard "+guard[:len(guard)-1],
				otherTextCost)
		}
		was, now := r.operand(&in.Src[1]), r.operand(&a.Src[1])
		if now != "" && now != was && (a.Src[1].Kind == ir.Imm || r.same(a.Src[1].Reg, p)) {
			change(r.withOperand(in, &in.Src[1], now), "frees "+now+" columns", otherTextCost)
		}
	}
	if len(r.instrs(frees)) > 1 {
		change("", "is removed", otherTextCost)
	}
	return out
}

// freedAtExits offers the end of an allocation at the exits of the kernel, in the threads that
// allocate: alone, behind a barrier, and behind a barrier and the waits of all warps.
func (r *repairer) freedAtExits(f located) (out []action) {
	if !allocates(f.a) || len(f.a.Src) != 2 {
		return nil
	}
	pair := f.a.TensorGroup() == 2
	exits := r.exits()
	for _, o := range []order{orderNone, orderBarrier, orderWaits} {
		var each []action
		for _, p := range exits {
			text := r.end(f.a, p)
			if text == "" {
				continue
			}
			each = append(each, r.insertion(p, o.text(pair)+text, "tcgen05.dealloc"+o.String(), freedCost+
				float64(o)))
		}
		out = append(out, each...)
		if len(each) < 2 {
			continue
		}
		all := each[0]
		all.key = "exits " + all.key
		all.what.What += ", and at the other exits"
		all.add = func(pl *Plan) {
			for _, a := range each {
				a.add(pl)
			}
		}
		out = append(out, all)
	}
	return out
}

// end is the tcgen05.dealloc of an allocation at a place; empty if something that it needs has no
// name there.
func (r *repairer) end(in *ir.Instr, p Point) string {
	guard, ok := r.guardAt(in, p)
	columns := r.operand(&in.Src[1])
	if !ok || columns == "" || in.Src[1].Kind == ir.Register && !r.same(in.Src[1].Reg, p) {
		return ""
	}
	free := func(address string) string {
		return fmt.Sprintf("%stcgen05.dealloc.cta_group::%d.sync.aligned.b32 \t%s, %s;", guard,
			in.TensorGroup(), address, columns)
	}
	o, ok := r.addressed(object{in: in}, &in.Src[0])
	if !ok {
		return ""
	}
	for _, load := range r.instrs((*ir.Instr).IsPlainLoad) {
		if len(load.Src) == 0 || len(load.Dst) != 1 || load.Dst[0].Kind != ir.Register {
			continue
		}
		from, ok := r.addressed(object{in: load}, &load.Src[0])
		if ok && from.key == o.key && r.same(load.Dst[0].Reg, p) {
			return free(r.x.k.Func.Regs[load.Dst[0].Reg].Name)
		}
	}
	if o, ok = r.here(o, p); !ok {
		return ""
	}
	address := "%" + freePrefix(string(r.x.k.File.Content)) + "address"
	return fmt.Sprintf("{\n\t.reg .b32 \t%s;\n\t%s\n\t%s\n\t}", address,
		o.within(fmt.Sprintf("ld%s.b32 \t%s, %s;", o.space, address, o.text)), free(address))
}
