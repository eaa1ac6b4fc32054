package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Steps for a phase that never completes. What it misses is in the finding: bytes that have arrived
// and that nobody has announced, bytes that were announced and do not arrive, and arrivals.

const arrivalCost = 0.5 // of an arrival, relative to a block barrier

// newGuardCost is that of an arrival by lanes that the kernel does not tell apart itself.
const newGuardCost = 2 * arrivalCost

// bytes offers to announce as many bytes as there are: by another number in an announcement of the
// kernel, or by one in front of the copies.
func (r *repairer) bytes(f located) []action {
	if f.Bytes == 0 || f.a == nil {
		return nil
	}
	var out []action
	for _, o := range r.objects() {
		if o.use.Bytes < 0 || o.use.Kind == isa.BarrierComplete || o.use.Object != isa.MBarrier ||
			o.use.Bytes >= len(o.in.Src) {
			continue
		}
		in, at := o.in, &o.in.Src[o.use.Bytes]
		was, ok := r.number(at)
		if !ok {
			continue
		}
		n := int64(was) - f.Bytes
		if n <= 0 {
			continue
		}
		text := r.withOperand(in, at, fmt.Sprint(n))
		out = append(out, action{
			key: fmt.Sprint("bytes ", in.Index, n), cost: otherTextCost,
			add: changes(in, text, &Tracked{Kind: Announce, Op: in.Text(), Names: r.names(&o), Bytes: n,
				Arrives: o.use.Kind == isa.BarrierArrive}),
			what: Change{What: fmt.Sprintf("announces %d bytes", n), At: in, Old: true},
		})
	}
	if f.Bytes < 0 {
		out = append(out, r.announced(f.a, -f.Bytes, f.Arrivals > 0)...)
	}
	return out
}

// announced offers an announcement of bytes; with arrives, it is an arrival as well. It is in front
// of a copy to the object, by the threads that copy, or, since each block of a cluster announces
// what others copy to it, behind the initialization of the object and in front of the wait for it.
func (r *repairer) announced(wait *ir.Instr, bytes int64, arrives bool) []action {
	var out []action
	awaited, _ := r.objectOf(wait)
	add := func(o object, p Point, guard string) {
		out = append(out, r.announcement(o, p, guard, bytes, arrives))
	}
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			o, ok := r.objectOf(in)
			if !ok || !isAsync(in) {
				continue
			}
			p := Point{b.ID, i}
			if !o.remote {
				add(o, p, r.guardText(in))
			} else if r.known(awaited.reg, p) {
				add(awaited, p, r.guardText(in))
			}
		}
	}
	for _, o := range r.objects() {
		if o.use.Kind == isa.BarrierInit && o.use.Object == isa.MBarrier && o.key == awaited.key {
			p := r.x.where(o.in)
			add(o, Point{p.Block, p.Index + 1}, r.guardText(o.in))
		}
	}
	for _, p := range r.ahead(wait) {
		for _, guard := range r.guards(p) {
			if guard != "" && r.known(awaited.reg, p) {
				add(awaited, p, guard)
			}
		}
	}
	return out
}

// ahead are the places in front of the loop that repeats a test.
func (r *repairer) ahead(in *ir.Instr) []Point {
	l := r.x.flow.loops.Of[r.x.where(in).Block]
	if l == nil {
		return nil
	}
	var out []Point
	for _, pre := range r.x.k.Func.Block(l.Header).Preds {
		if !l.Contains(pre) {
			out = append(out, r.x.beforeEnd(pre))
		}
	}
	return out
}

func (r *repairer) announcement(o object, p Point, guard string, bytes int64, arrives bool) action {
	space := o.space
	if space == ".shared::cluster" || space == "" && o.reg == ir.NoReg {
		space = ".shared::cta"
	}
	what := fmt.Sprintf("mbarrier.arrive.expect_tx of %d bytes at %s", bytes, o.shown())
	text := fmt.Sprintf("%smbarrier.arrive.expect_tx%s.b64 \t_, %s, %d;", guard, space, o.text, bytes)
	if !arrives {
		what = fmt.Sprintf("mbarrier.expect_tx of %d bytes at %s", bytes, o.shown())
		text = fmt.Sprintf("%smbarrier.expect_tx.relaxed.cta%s.b64 \t%s, %d;", guard, space, o.text,
			bytes)
	}
	op, _, _ := strings.Cut(strings.TrimPrefix(text, guard), " ")
	return r.tracked(p, o.within(text), what, arrivalCost, &Tracked{Kind: Announce, Op: op,
		Names: r.names(&o), Bytes: bytes, Arrives: arrives, Guarded: guard != "",
		Guard: r.guardOf(guard)})
}

// arrivals offers arrivals at the object that a thread waits for, and at those of other blocks,
// behind what threads do to shared memory. The lanes that arrive may be those of one of the last
// predicates.
func (r *repairer) arrivals(f located) []action {
	if f.Arrivals == 0 || f.a == nil {
		return nil
	}
	awaited, ok := r.objectOf(f.a)
	if !ok {
		return nil
	}
	var out []action
	if awaited.use.Parity {
		for _, o := range r.objects() { // an announcement that is no arrival
			if in := o.in; o.use.Kind == isa.BarrierExpect && o.use.Object == isa.MBarrier {
				out = append(out, r.arrivesToo(in, o))
			}
		}
	}
	out = append(out, r.stateArrival(f)...)
	for _, p := range r.releases() {
		apart := !r.known(awaited.reg, p) // the object has another name here, or none
		like := func(o *object) bool {
			return o.remote || o.key == awaited.key || apart && o.use.Kind == isa.BarrierInit
		}
		for _, o := range append(r.named(p, f.a, like), r.mapped(p)...) {
			if r.arrivesThere(&o, p) {
				continue
			}
			for _, guard := range r.guards(p) {
				out = append(out, r.arrival(o, p, guard, "_", 0))
				if f.Arrivals > 1 && guard != "" {
					out = append(out, r.arrival(o, p, guard, "_", f.Arrivals))
				}
			}
			if f.Arrivals <= mostWarps {
				out = append(out, r.arrivalOf(FirstLane, o, p))
			}
			if f.Arrivals == 1 {
				out = append(out, r.arrivalOf(FirstThread, o, p))
			}
		}
	}
	return out
}

// arrivesThere reports whether threads arrive at an object in the block of a place. A second
// arrival by the same threads would count in place of one by others, and nobody would wait for
// those.
func (r *repairer) arrivesThere(o *object, p Point) bool {
	return slices.ContainsFunc(r.x.k.Func.Block(p.Block).Instrs, func(in *ir.Instr) bool {
		x, ok := r.objectOf(in)
		arrives := x.use.Kind == isa.BarrierArrive || x.use.Kind == isa.BarrierDrop
		return ok && x.use.Object == isa.MBarrier && arrives && x.key == o.key
	})
}

// mapped are the addresses in the memory of other blocks that the kernel computes in front of a
// place, as objects.
func (r *repairer) mapped(p Point) []object {
	var out []object
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Action() != isa.ActMapAddress || len(in.Dst) == 0 || !r.known(in.Dst[0].Reg, p) ||
				in.Dst[0].Kind != ir.Register {
				continue
			}
			reg := in.Dst[0].Reg
			text := "[" + r.x.k.Func.Regs[reg].Name + "]"
			same := func(o object) bool { return o.text == text || o.key == text }
			if !slices.ContainsFunc(r.objects(), same) {
				out = append(out, object{text: text, key: text, reg: reg, space: ".shared::cluster", remote: true})
			}
		}
	}
	return out
}

// arrivesToo offers to make an announcement of bytes an arrival as well.
func (r *repairer) arrivesToo(in *ir.Instr, o object) action {
	text := fmt.Sprintf("%smbarrier.arrive.expect_tx%s.b64 \t_, %s, %s;", r.guardText(in), o.space,
		o.text, r.operand(&in.Src[o.use.Bytes]))
	return action{
		key: fmt.Sprint("arrives ", in.Index), cost: otherTextCost / 2,
		add: changes(in, text, &Tracked{Kind: Announce, Op: "mbarrier.arrive.expect_tx" + o.space + ".b64",
			Bytes: -1, Arrives: true}),
		what: Change{What: "becomes mbarrier.arrive.expect_tx", At: in, Old: true},
	}
}

// arrivalOp is the opcode of an arrival at an object: that of another one like it, if there is any.
func (r *repairer) arrivalOp(o object) string {
	for _, x := range r.objects() {
		if x.use.Kind == isa.BarrierArrive && x.use.Bytes < 0 && x.remote == o.remote &&
			(x.key == o.key || x.space == o.space) {
			return x.in.Text()
		}
	}
	op := "mbarrier.arrive" + o.space + ".b64"
	if o.remote && op == "mbarrier.arrive.shared::cluster.b64" {
		op = "mbarrier.arrive.release.cluster.shared::cluster.b64"
	}
	return op
}

// arrivalText is an arrival, and what a message calls it. A count of 0 is not written.
func arrivalText(o object, guard, op, state string, count int) (text, what string) {
	text = fmt.Sprintf("%s%s \t%s, %s", guard, op, state, o.text)
	what = "mbarrier.arrive at " + o.shown()
	if count > 0 {
		text += fmt.Sprintf(", %d", count)
		what += fmt.Sprintf(" with the count %d", count)
	}
	return text + ";", what
}

// arrival is the action that makes threads arrive at an object.
func (r *repairer) arrival(o object, p Point, guard, state string, count int) action {
	op := r.arrivalOp(o)
	text, what := arrivalText(o, guard, op, state, count)
	if guard != "" {
		what += " under the guard " + guard[:len(guard)-1]
	}
	if state != "_" {
		return r.insertion(p, o.within(text), what, arrivalCost)
	}
	return r.tracked(p, o.within(text), what, arrivalCost, &Tracked{Kind: ArriveAt, Op: op,
		Names: r.names(&o), Count: count, Guarded: guard != "", Guard: r.guardOf(guard)})
}

// releases are the places behind what threads do to shared memory: at the end of each block with
// such an access or with a wait, and directly behind the last access, each in front of a branch.
func (r *repairer) releases() []Point {
	var out []Point
	for _, b := range r.x.k.Func.Blocks {
		last := -1
		for i, in := range b.Instrs {
			space := in.Space == event.Shared || in.Space == event.Generic
			if in.Row.Category == isa.Memory && space || isAsync(in) || in.Action() == isa.ActMatrixGroup ||
				in.Action() == isa.ActProxyFence || in.IsWarpBarrier() && last >= 0 {
				last = i
			}
		}
		if last < 0 {
			continue
		}
		for _, p := range []Point{{b.ID, last + 1}, r.x.beforeEnd(b.ID)} {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// mostWarps is how many warps a block may have: who misses more arrivals misses those of other
// lanes than the first ones of warps.
const mostWarps = 32

// arrivalOf is the arrival of lanes for which the kernel has no predicate: it is computed in place.
func (r *repairer) arrivalOf(lanes Lanes, o object, p Point) action {
	prefix := "%" + freePrefix(string(r.x.k.File.Content))
	lane, only := prefix+"lane", prefix+"only"
	steps := []string{".reg .pred \t" + only + ";", ".reg .b32 \t" + lane + ";"}
	if lanes == FirstLane {
		steps = append(steps, "mov.u32 \t"+lane+", %laneid;")
	} else {
		y := prefix + "y"
		steps = append(steps, ".reg .b32 \t"+y+";", "mov.u32 \t"+lane+", %tid.x;")
		for _, dim := range []string{"y", "z"} {
			steps = append(steps, "mov.u32 \t"+y+", %tid."+dim+";", "or.b32 \t"+lane+", "+lane+", "+y+";")
		}
	}
	o.before = append(slices.Clone(o.before), append(steps, "setp.eq.u32 \t"+only+", "+lane+", 0;")...)
	op := r.arrivalOp(o)
	text, what := arrivalText(o, "@"+only+" ", op, "_", 0)
	return r.tracked(p, o.within(text), what+", "+lanes.String(), newGuardCost,
		&Tracked{Kind: ArriveAt, Op: op, Names: r.names(&o), Guarded: true, Lanes: lanes})
}

// mostGuards bounds the predicates that are tried at one place.
const mostGuards = 4

// guards are none, and those by the predicates that the kernel has written last before a place.
func (r *repairer) guards(p Point) []string {
	out := []string{""}
	var regs []ir.RegID
	for b := p.Block; b != ir.NoBlock; b = r.x.flow.dom.IDom(b) {
		list := r.x.k.Func.Block(b).Instrs
		if b == p.Block {
			list = list[:min(p.Index, len(list))]
		}
		for _, in := range slices.Backward(list) {
			for i := range in.Dst {
				reg := in.Dst[i].Reg
				if in.Dst[i].Kind != ir.Register || reg == ir.NoReg || slices.Contains(regs, reg) ||
					r.x.k.Func.Regs[reg].Type != isa.Pred || tracks(in) {
					continue
				}
				if regs = append(regs, reg); len(regs) <= mostGuards {
					out = append(out, "@"+r.x.k.Func.Regs[reg].Name+" ")
				}
			}
		}
	}
	return out
}

// guardOf returns the instruction that writes the predicate of a guard; nil if there is no guard, or
// more than one such instruction.
func (r *repairer) guardOf(guard string) *ir.Instr {
	name := strings.TrimLeft(strings.TrimSpace(guard), "@!")
	for i := range r.x.k.Func.Regs {
		if name != "" && r.x.k.Func.Regs[i].Name == name {
			return r.predicate(ir.RegID(i))
		}
	}
	return nil
}

// predicate returns the instruction that writes a predicate, if there is one alone.
func (r *repairer) predicate(reg ir.RegID) (found *ir.Instr) {
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if writes(in, reg) {
				if found != nil {
					return nil
				}
				found = in
			}
		}
	}
	return found
}

// stateArrival offers the arrival whose state a wait asks for, in front of the loop of the wait.
func (r *repairer) stateArrival(f located) []action {
	if f.a == nil {
		return nil
	}
	o, ok := r.objectOf(f.a)
	if !ok || o.use.Kind != isa.BarrierTest || o.use.Parity || o.use.State < 0 {
		return nil
	}
	state := r.operand(&f.a.Src[o.use.State])
	if state == "" {
		return nil
	}
	var out []action
	for _, p := range r.ahead(f.a) {
		if !r.arrivesThere(&o, p) {
			out = append(out, r.arrival(o, p, "", state, 0))
		}
	}
	return out
}
