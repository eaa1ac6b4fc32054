package explore

import "heddle/internal/memmodel"

// Threads that wait with an old value. A thread in a loop of one strong load, or of one
// compare-and-swap that fails, whose last iteration read a write that another follows in coherence
// order, does not stay there: a later iteration reads another write (explorer.stale). What the
// other threads do until then, they do as well in the executions in which the thread waits without
// that iteration, and those are explored. So the state is left out. This is the blocking of await
// loops in GenMC (Kokologiannakis, Ren, Vafeiadis, "Dynamic Partial Order Reductions for
// Spinloops", FMCAD 2021), extended to loops that a value ends later.
//
// What the iteration itself could show is a data race of its read. It has none if it is morally
// strong with every write to its location. That is checked against all writes that any execution
// has: if there is another one, the exploration begins anew and leaves nothing out; so
// Options.Restart is needed.

// look is a read of iterations that were left out.
type look struct{ thread, loc int }

// stale reports whether a state is left out, and takes note of the read for which it is.
func (x *explorer) stale(st *state, d *memmodel.Derived) bool {
	if x.opt.guide != nil || x.opt.Restart == nil || x.keepStale || x.opt.keepStale {
		return false
	}
	for i := range st.threads {
		t := &st.threads[i]
		if t.status != spinning || !t.polls {
			continue
		}
		r := first(t.spin)
		ev := &st.graph.Events[r]
		if ev.Op == memmodel.Read && ev.Strong() && st.superseded(d, r) &&
			x.noteLook(look{i, ev.Loc}, ev) {
			return true
		}
	}
	return false
}

// superseded reports whether a write that is no idle one follows, in coherence order, the one that
// a read reads from.
func (st *state) superseded(d *memmodel.Derived, r int) bool {
	for w := range d.CO.Row(st.graph.RF[r]).All {
		if st.graph.Events[w].Op == memmodel.Write {
			return true
		}
		old, ok := st.eval(readBy(w))
		written, ok2 := st.eval(st.written[w])
		if ok && ok2 && old != written {
			return true
		}
	}
	return false
}

// noteLook takes note of a read of an iteration, and of its images; false if an image is not known.
func (x *explorer) noteLook(l look, ev *memmodel.Event) bool {
	if x.looks[l] != nil {
		return true
	}
	seen := map[look]bool{l: true}
	for list := []look{l}; x.group != nil && len(list) > 0; {
		l := list[len(list)-1]
		list = list[:len(list)-1]
		for _, s := range x.group.generators {
			c := &x.cells[l.loc]
			to, ok := s.loc[place{c.Area, c.Addr, c.Size}]
			if !ok {
				return false
			}
			image := look{s.to[l.thread], -1}
			for _, n := range x.index[granule{to.area, to.addr / 8}] {
				if x.cells[n].Addr == to.addr && x.cells[n].Size == to.size {
					image.loc = n
				}
			}
			if image.loc < 0 {
				return false
			}
			if !seen[image] {
				seen[image] = true
				list = append(list, image)
			}
		}
	}
	for l := range seen {
		e := *ev
		e.Thread, e.Loc = l.thread, l.loc
		x.looks[l] = &e
	}
	return true
}

// looked checks the writes of an execution against the reads of iterations that were left out.
func (x *explorer) looked(st *state) {
	g := &st.graph
	for l, read := range x.looks {
		for w := range g.Events {
			e := &g.Events[w]
			if e.Op.Writes() && e.Loc == l.loc && e.Thread != l.thread && e.Thread != memmodel.Initial &&
				!g.Strongly(read, e) {
				x.keepStale, x.void = true, true
				return
			}
		}
	}
}
