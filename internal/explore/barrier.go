package explore

import (
	"fmt"
	"slices"

	"heddle/internal/memmodel"
)

// maxThreads is the number of threads of the largest CTA.
const maxThreads = 1024

// arrive adds the arrival of a thread at a barrier, once its operands are known.
func (x *explorer) arrive(st *state, i int, in *Inst) bool {
	t := &st.threads[i]
	a := arrival{thread: i, peers: in.Peers}
	var deps memmodel.Set
	for k, o := range in.operands() {
		v := t.operand(o)
		n, ok := st.eval(v)
		if !ok {
			return false
		}
		deps.Union(v.deps)
		if k < len(a.name) {
			a.name[k] = n
			continue
		}
		if a.count = int(n); n < 1 || n > maxThreads {
			panic(limitError(fmt.Sprintf("%s: a barrier for %d threads; a CTA has at least 1 and at "+
				"most %d", x.prog.Threads[i].Name, n, maxThreads)))
		}
	}
	for _, b := range st.arrivals {
		if b.name == a.name && x.mates(b.thread, i) && (b.thread == i || b.count != a.count) {
			panic(limitError(fmt.Sprintf("%s: threads arrive at one barrier with different counts, or "+
				"twice before it completes, which is unpredictable (PTX ISA 9.7.13.1)",
				x.prog.Threads[i].Name)))
		}
	}
	t.ctrl.Union(deps)
	t.done.add(t.pc)
	e := memmodel.Event{Thread: i, Op: memmodel.Sync}
	if in.Arrive {
		e.Op = memmodel.Arrive
	}
	a.event = st.add(e, t.pc, value{})
	st.arrivals = append(st.arrivals, a)
	t.pc++
	if !in.Arrive {
		t.status = waiting
	} else {
		x.enter(st, i)
	}
	return true
}

// mates reports whether two threads are of one CTA.
func (x *explorer) mates(a, b int) bool {
	p, q := x.prog.Threads[a].Position, x.prog.Threads[b].Position
	return p.GPU == q.GPU && p.CTA == q.CTA
}

// at returns the arrivals at the barrier of arrival a, by index into st.arrivals, a among them.
func (x *explorer) at(st *state, a *arrival) []int {
	var out []int
	for i := range st.arrivals {
		if b := &st.arrivals[i]; b.name == a.name && x.mates(a.thread, b.thread) {
			out = append(out, i)
		}
	}
	return out
}

// comes reports whether a thread of the CTA that has not arrived at the barrier of a may do so.
func (x *explorer) comes(st *state, a *arrival, here []int) bool {
	for i := range st.threads {
		if !x.mates(i, a.thread) || st.threads[i].status == ended {
			continue
		}
		arrived := false
		for _, j := range here {
			arrived = arrived || st.arrivals[j].thread == i
		}
		if !arrived && x.mayArrive(st, i, a.name) {
			return true
		}
	}
	return false
}

// mayArrive reports whether the rest of a thread has a barrier that may have this name.
func (x *explorer) mayArrive(st *state, i int, name [2]int64) bool {
	code := x.prog.Threads[i].Code
	for _, pc := range x.facts[i].barriers[st.threads[i].pc] {
		may := true
		for k, o := range code[pc].Name {
			may = may && (o.IsReg || o.Value == name[k])
		}
		if may {
			return true
		}
	}
	return false
}

// release completes a barrier whose threads have all arrived, and reports whether there was one:
// those of the CTA that can still arrive, or as many as it counts if no other can. PTX ISA
// 9.7.13.1.
func (x *explorer) release(st *state) bool {
	for i := range st.arrivals {
		a := &st.arrivals[i]
		here := x.at(st, a)
		if a.count != 0 && len(here) != a.count-st.ended(a) || x.comes(st, a, here) ||
			!x.permitted(st, here, st.events(here)) {
			continue
		}
		x.finish(st, here)
		return true
	}
	return false
}

// ended returns how many of the lanes that the mask of a barrier of a warp names have exited: they
// are not waited for, as the CUDA C++ Programming Guide has it ("all non-exited threads named in
// mask"); PTX ISA 9.7.13.2 is silent.
func (st *state) ended(a *arrival) (n int) {
	for lane, peer := range a.peers {
		if a.name[0]>>lane&1 != 0 && st.threads[peer].status == ended {
			n++
		}
	}
	return n
}

// finish completes a generation.
func (x *explorer) finish(st *state, members []int) {
	st.complete++
	var ctrl memmodel.Set // what decided who takes part
	for i := range st.threads {
		if x.mates(i, st.arrivals[members[0]].thread) {
			ctrl.Union(st.threads[i].ctrl)
		}
	}
	gone := map[int]bool{}
	var continuing []int
	for _, m := range members {
		a := &st.arrivals[m]
		gone[m] = true
		st.graph.Events[a.event].Generation = st.complete
		if st.graph.Events[a.event].Op == memmodel.Sync {
			st.threads[a.thread].status = running
			st.threads[a.thread].ctrl.Union(ctrl)
			continuing = append(continuing, a.thread)
		}
	}
	rest := st.arrivals[:0:0]
	for i, a := range st.arrivals {
		if !gone[i] {
			rest = append(rest, a)
		}
	}
	st.arrivals = rest
	for _, t := range continuing {
		x.enter(st, t)
	}
}

// barrierChoice returns the states that follow if the first arrival whose generation is open to
// choice gets one: with each set of those that are here, or with one that is still to arrive. nil
// means that nothing is to be chosen.
func (x *explorer) barrierChoice(st *state) []*state {
	for i := range st.arrivals {
		a := &st.arrivals[i]
		if a.count == 0 {
			continue
		}
		here := x.at(st, a)
		events := st.events(here)
		if len(here) < a.count || events.Minus(a.later).Empty() {
			continue
		}
		var out []*state
		subsets(here, a.count, func(members []int) {
			if slices.Contains(members, i) && x.permitted(st, members, st.events(members)) {
				c := st.clone()
				x.finish(c, members)
				out = append(out, c)
			}
		})
		c := st.clone()
		c.arrivals[i].later = events
		return append(out, c)
	}
	return nil
}

// overdue reports whether enough threads wait at a barrier for it to have completed.
func (x *explorer) overdue(st *state) bool {
	for i := range st.arrivals {
		if a := &st.arrivals[i]; a.count > 0 && len(x.at(st, a)) >= a.count {
			return true
		}
	}
	return false
}

// events returns the events of arrivals.
func (st *state) events(arrivals []int) (out memmodel.Set) {
	for _, i := range arrivals {
		out.Add(st.arrivals[i].event)
	}
	return out
}

// permitted reports whether each member may have just these companions.
func (x *explorer) permitted(st *state, members []int, of memmodel.Set) bool {
	for _, m := range members {
		if later := st.arrivals[m].later; !later.Empty() && of.Minus(later).Empty() {
			return false
		}
	}
	return true
}

// subsets calls f with each subset of n elements, in order.
func subsets(of []int, n int, f func([]int)) {
	var pick func(from int, have []int)
	pick = func(from int, have []int) {
		if len(have) == n {
			f(have)
			return
		}
		for i := from; i < len(of); i++ {
			pick(i+1, append(have[:len(have):len(have)], of[i]))
		}
	}
	pick(0, nil)
}
