package explore

import (
	"fmt"

	"heddle/internal/memmodel"
)

// grow executes threads as far as the sources of their reads are known, and completes barriers
// where there is nothing to choose.
func (x *explorer) grow(st *state) {
	for changed := true; changed; {
		changed = x.settle(st)
		for t := range st.threads {
			for st.threads[t].status == running && x.step(st, t) {
				changed = true
			}
		}
		if x.release(st) || x.gather(st) {
			changed = true
		}
	}
}

// settle decides compare-and-swaps whose result is known.
func (x *explorer) settle(st *state) (changed bool) {
	for e := range st.maybe.All {
		in := x.inst(st, e)
		args := st.written[e].from.args // compared, new
		read, ok := st.eval(readBy(e))
		if !ok {
			continue
		}
		compared, ok := st.eval(args[0])
		if !ok {
			continue
		}
		st.maybe = st.maybe.Minus(one(e))
		changed = true
		if read != compared {
			st.written[e] = value{}
			continue
		}
		st.written[e] = args[1]
		st.graph.Events[e].Op = memmodel.Atomic
		if in.Reduce {
			st.graph.Events[e].Op = memmodel.Reduce
		}
	}
	return changed
}

// one returns the set of one event.
func one(e int) (s memmodel.Set) {
	s.Add(e)
	return s
}

// inst returns the instruction of an event of a thread.
func (x *explorer) inst(st *state, e int) *Inst {
	return &x.prog.Threads[st.graph.Events[e].Thread].Code[st.sites[e]]
}

// step executes one instruction of a thread, and reports whether it did: a branch needs its
// condition, and an access its address.
func (x *explorer) step(st *state, i int) bool {
	t := &st.threads[i]
	code := x.prog.Threads[i].Code
	if t.pc == len(code) {
		t.status = ended
		return true
	}
	in := &code[t.pc]
	switch in.Kind {
	case Compute:
		t.regs[in.Dst] = st.compute(t, in)
	case Branch:
		return x.branch(st, i, in)
	case Barrier:
		return x.arrive(st, i, in)
	case Exchange:
		return x.exchange(st, i, in)
	case Fail:
		t.fail(in.Why)
		return true
	default:
		if !x.access(st, i, in) {
			return false
		}
	}
	t.pc++
	x.enter(st, i)
	return true
}

// access adds the event of a memory operation or a fence, once its address is known.
func (x *explorer) access(st *state, i int, in *Inst) bool {
	t := &st.threads[i]
	loc, deps, ok := x.locate(st, i, in)
	if !ok {
		return false
	}
	t.done.add(t.pc)
	x.writer(st, i, in, loc)
	x.constant(st, in, loc)
	if in.Kind != Fence && st.private(loc) {
		x.accessOwn(st, i, in, loc, deps)
		return true
	}
	e := memmodel.Event{Thread: i, Order: in.Order, Scope: in.Scope, Loc: loc, Deps: deps}
	if in.Element == 1 {
		t.vector++
	}
	if in.Element > 0 {
		e.Vector = t.vector
	}
	switch in.Kind {
	case Fence:
		e.Op = memmodel.Fence
		st.add(e, t.pc, value{})
	case Store:
		e.Op = memmodel.Write
		st.add(e, t.pc, t.operand(in.Args[0]))
	case Load:
		t.regs[in.Dst] = readBy(st.add(e, t.pc, value{}))
	case Update:
		x.update(st, i, in, e)
	}
	return true
}

// update adds the event of an atomic operation. A compare-and-swap is a read until its success is
// known.
func (x *explorer) update(st *state, i int, in *Inst, e memmodel.Event) {
	t := &st.threads[i]
	st.room()
	n := len(st.graph.Events)
	old := readBy(n)
	e.Op = memmodel.Atomic
	if in.Reduce {
		e.Op = memmodel.Reduce
	}
	var v value
	switch in.Update {
	case Modify:
		v = st.compute(t, in, old)
	case Swap:
		e.Blind = true
		v = t.operand(in.Args[0])
	case CompareAndSwap:
		e.Op = memmodel.Read
		compared, fresh := t.operand(in.Args[0]), t.operand(in.Args[1])
		v = value{from: &node{read: -1, args: []value{compared, fresh}}}
		v.deps.Union(compared.deps)
		v.deps.Union(fresh.deps)
		st.maybe.Add(n)
	}
	v.deps = v.deps.Minus(one(n)) // that an update depends on its own read is stated by Blind
	st.add(e, t.pc, v)
	if in.Dst >= 0 {
		t.regs[in.Dst] = old
	}
}

// branch follows a branch whose condition is known.
func (x *explorer) branch(st *state, i int, in *Inst) bool {
	t := &st.threads[i]
	taken := len(in.Args) == 0
	if !taken {
		v := st.compute(t, in)
		n, ok := st.eval(v)
		if !ok {
			return false
		}
		t.ctrl.Union(v.deps)
		taken = n != 0
	}
	if taken {
		t.pc = in.Target
	} else {
		t.pc++
	}
	x.enter(st, i)
	return true
}

// enter is called when a thread reaches an instruction. At the head of a loop it ends iterations
// that change nothing, and bounds the number of others.
func (x *explorer) enter(st *state, i int) {
	t := &st.threads[i]
	if !x.facts[i].head[t.pc] {
		return
	}
	var v *visit
	for j := range t.loops {
		if t.loops[j].pc == t.pc {
			v = &t.loops[j]
		}
	}
	if v == nil {
		t.loops = append(t.loops, visit{pc: t.pc})
		v = &t.loops[len(t.loops)-1]
	} else if x.idle(st, i, v) {
		t.status = spinning
		n := 0
		for e := v.events; e < len(st.graph.Events); e++ {
			if st.graph.Events[e].Thread == i {
				n++
				if st.graph.Events[e].Op.Reads() {
					t.spin.Add(e)
				}
			}
		}
		t.polls = n == 1 && !t.spin.Empty() && t.private == v.private
		return
	}
	x.count(st, i, v)
	v.events, v.ctrl, v.stored, v.private = len(st.graph.Events), t.ctrl, t.stored, t.private
	v.regs = append([]value(nil), t.regs...)
}

// maxTrips bounds loops that no read decides, which otherwise end as the program says.
const maxTrips = 100_000

// count counts an iteration, and ends the thread if a loop that depends on what was read has had
// enough.
func (x *explorer) count(st *state, i int, v *visit) {
	t := &st.threads[i]
	if v.trips++; v.trips > maxTrips {
		panic(limitError(fmt.Sprintf("%s: a loop of more than %d iterations",
			x.prog.Threads[i].Code[t.pc].At, maxTrips)))
	}
	if v.trips == 1 || v.ctrl != t.ctrl {
		v.times++
	}
	if v.times > x.opt.Unroll+1 {
		t.status = truncated
	}
}

// idle reports whether the iteration since v changed nothing that matters later: it only read,
// executed fences and wrote back what it had read with atomic operations, and the registers that
// are used have their old values. An execution with such an iteration before others allows no final
// state that it does not allow without; docs/theory/memory-model.md has the reason, and what it
// needs (mixed).
func (x *explorer) idle(st *state, i int, v *visit) bool {
	t := &st.threads[i]
	if t.stored != v.stored {
		return false
	}
	for e := v.events; e < len(st.graph.Events); e++ {
		ev := &st.graph.Events[e]
		if ev.Thread == i && (st.maybe.Has(e) || ev.Op != memmodel.Fence && !st.keeps(e)) {
			return false
		}
	}
	for r, live := range x.facts[i].live[t.pc] {
		if !live || t.regs[r].from != nil && t.regs[r].from == v.regs[r].from {
			continue // not used, or the same value, whatever it is
		}
		now, ok := st.eval(t.regs[r])
		before, ok2 := st.eval(v.regs[r])
		if !ok || !ok2 || now != before {
			return false
		}
	}
	return !x.opt.repeat
}

// keeps reports whether an event reads, and leaves memory as it was.
func (st *state) keeps(e int) bool {
	op := st.graph.Events[e].Op
	if op == memmodel.Read || !op.Reads() {
		return op == memmodel.Read
	}
	old, ok := st.eval(readBy(e))
	written, ok2 := st.eval(st.written[e])
	return ok && ok2 && old == written
}

// mixed takes note of what iterations with atomic operations need to be left out: that all writes
// to the location are morally strong with them. If some execution has another one, what was left
// out counts as cut off.
func (x *explorer) mixed(st *state) {
	for e := range st.graph.Events {
		ev := &st.graph.Events[e]
		if !ev.Op.Reads() || !ev.Op.Writes() {
			continue
		}
		if st.threads[ev.Thread].spin.Has(e) {
			x.idled[ev.Loc]++
		}
		for w := range st.graph.Events {
			other := &st.graph.Events[w]
			if other.Op.Writes() && other.Loc == ev.Loc && other.Thread != memmodel.Initial && w != e &&
				!st.graph.MorallyStrong(e, w) {
				x.foreign[ev.Loc] = true
			}
		}
	}
}
