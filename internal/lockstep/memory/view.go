package memory

import (
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// A view is what a thread sees of shared and global memory that it has written itself since the
// last barrier. Up to the first race no other thread writes these places in the same barrier
// interval, except for the same value where that is tolerated. So a weak load of such a place
// yields what the thread stored last. Where all writes of the thread to an array since the barrier
// are known, places that it has not written are as they were at the barrier.
//
// Only weak stores count: two strong ones to one place are no race (PTX ISA 8.7), so another
// thread's store may lie between the thread's own store and its load.
type view struct {
	cells []cell
	// under is what is seen where there is no cell; absent: the contents at the last barrier.
	under map[*thread.Object]*contents
	lost  map[*thread.Object]bool // there may be writes other than those in cells and under
	all   bool                    // that is so of every array
}

// cell is a place that the thread has written.
type cell struct {
	object *thread.Object
	offset smt.Term // 64 bits
	size   int      // in bytes
	value  smt.Term // what the thread sees there now
}

// maxCells bounds how many places a view remembers.
const maxCells = 16

func (v *view) clone() view {
	return view{slices.Clone(v.cells), maps.Clone(v.under), maps.Clone(v.lost), v.all}
}

// lose forgets where an array has been written; nil stands for all arrays.
func (v *view) lose(o *thread.Object) {
	if o == nil {
		v.all, v.cells = true, nil
		return
	}
	v.cells = slices.DeleteFunc(v.cells, func(c cell) bool { return c.object == o })
	v.miss(o)
}

// miss notes that a write to an array is not remembered.
func (v *view) miss(o *thread.Object) {
	if v.lost == nil {
		v.lost = map[*thread.Object]bool{}
	}
	v.lost[o] = true
}

// drop forgets all that is known of an array, except that it is lost.
func (v *view) drop(o *thread.Object) {
	lost := v.lost[o]
	v.lose(o)
	delete(v.under, o)
	if !lost {
		delete(v.lost, o)
	}
}

// cover sets what is seen of an array where there is no cell.
func (v *view) cover(o *thread.Object, m *contents) {
	if v.under == nil {
		v.under = map[*thread.Object]*contents{}
	}
	v.under[o] = m
}

// overlap is how two ranges of bytes of one array may overlap.
type overlap uint8

const (
	disjoint overlap = iota
	equalOrDisjoint
	anyOverlap
	equal
)

// overlapOf compares n bytes from a with m bytes from b.
func overlapOf(c *smt.Context, a smt.Term, n int, b smt.Term, m int) overlap {
	if a == b && n == m {
		return equal
	}
	if d, ok := c.Value(c.Sub(b, a)); ok && (int64(d) >= int64(n) || -int64(d) >= int64(m)) {
		return disjoint
	}
	if thread.Aligned(c, a, n, b, m) {
		return equalOrDisjoint
	}
	return anyOverlap
}

// seen is what the thread sees of size bytes of an array. All is false if some part may be
// anything: then rest makes the value where it is not one of the cells, and without rest there is
// no value. In lock step other lanes of the warp may have written in between without a race, so
// nothing is known.
func (m *Model) seen(o *thread.Object, off smt.Term, size int, s *State,
	rest func() smt.Term) (v smt.Term, all bool) {
	if !m.owning() {
		if rest == nil {
			return join.Undefined, false
		}
		return rest(), false
	}
	all = !s.view.all && !s.view.lost[o]
	var at []cell
	for _, k := range s.view.cells {
		if k.object != o {
			continue
		}
		switch overlapOf(m.c, k.offset, k.size, off, size) {
		case equal:
			return k.value, true
		case equalOrDisjoint:
			at = append(at, k)
		case anyOverlap:
			all = false
		}
	}
	if all {
		v, all = m.underneath(o, off, size, s)
	}
	if !all {
		if rest == nil {
			return join.Undefined, false
		}
		v = rest()
	}
	for _, k := range at {
		v = m.c.Ite(m.c.Eq(k.offset, off), k.value, v)
	}
	return v, all
}

// Store notes what a store or atomic writes. Values are the elements of a weak store; nil for any
// other.
func (m *Model) Store(in *ir.Instr, places []Place, values []smt.Term, s *State) {
	if len(places) != 1 || places[0].Object == nil {
		for _, p := range places {
			s.view.lose(p.Object)
		}
		return
	}
	elem := in.Type.Size()
	for i := range max(int(in.Vec), 1) {
		v := join.Undefined
		if values != nil {
			v = values[i]
		}
		m.put(places[0].Object, m.c.AddConst(places[0].Offset, uint64(i*elem)), elem, v, s)
	}
}

// Lose notes that the thread may write an array at any time from here on; nil stands for all
// arrays.
func (m *Model) Lose(o *thread.Object, s *State) { s.view.lose(o) }

// put writes a value, or an unknown one, under the guard of the instruction.
func (m *Model) put(o *thread.Object, off smt.Term, size int, v smt.Term, s *State) {
	guard := m.env.Guard()
	if v != join.Undefined && guard != smt.True {
		before, all := m.seen(o, off, size, s, nil)
		if !all {
			v = join.Undefined
		} else {
			v = m.c.Ite(guard, v, before)
		}
	}
	kept := s.view.cells[:0]
	for _, k := range s.view.cells {
		if k.object == o {
			switch overlapOf(m.c, k.offset, k.size, off, size) {
			case equal:
				continue
			case anyOverlap:
				s.view.miss(o)
				continue
			case equalOrDisjoint:
				if v == join.Undefined {
					continue
				}
				k.value = m.c.Ite(m.c.And(guard, m.c.Eq(k.offset, off)), v, k.value)
			}
		}
		kept = append(kept, k)
	}
	s.view.cells = kept
	if v == join.Undefined || len(kept) == maxCells {
		s.view.miss(o)
		return
	}
	s.view.cells = append(s.view.cells, cell{o, off, size, v})
}

// Barrier notes a barrier that tags name: behind one of the block, the writes of other threads are
// seen. One of a warp lets lanes see some writes of other lanes, so nothing is known behind it.
func (m *Model) Barrier(in *ir.Instr, s *State) {
	v := &s.view
	by := m.k.Orders(in)
	ordered := func(o *thread.Object) bool { return kernel.OrdersSpace(by, o.Space) }
	switch {
	case !kernel.IsBlockBarrier(in) || in.Guard != ir.NoReg || by == event.OrdersNone:
		v.lose(nil)
	case by == event.OrdersAll:
		*v = view{}
	default:
		v.cells = slices.DeleteFunc(v.cells, func(k cell) bool { return ordered(k.object) })
		maps.DeleteFunc(v.under, func(o *thread.Object, _ *contents) bool { return ordered(o) })
		maps.DeleteFunc(v.lost, func(o *thread.Object, _ bool) bool { return ordered(o) })
	}
}

// joinView merges views: a place that one path has not written holds what that path sees of it.
func (m *Model) joinView(states []*State, paths []smt.Term) view {
	var out view
	for _, s := range states {
		out.all = out.all || s.view.all
		for o := range s.view.lost {
			out.miss(o)
		}
	}
	for _, s := range states {
		for _, k := range s.view.cells {
			if out.has(k) {
				continue
			}
			v, known := join.Undefined, len(out.cells) < maxCells
			if known {
				v, known = m.joinCell(k, states, paths)
			}
			if !known {
				out.miss(k.object)
				continue
			}
			k.value = v
			out.cells = append(out.cells, k)
		}
	}
	out.under = m.joinUnder(states, paths)
	return out
}

// has reports whether the view has a cell for the place of k.
func (v *view) has(k cell) bool {
	return slices.ContainsFunc(v.cells, func(c cell) bool {
		return c.object == k.object && c.offset == k.offset && c.size == k.size
	})
}

// joinCell is what is seen at the place of a cell where states meet, if that is known in each.
func (m *Model) joinCell(k cell, states []*State, paths []smt.Term) (smt.Term, bool) {
	values := make([]smt.Term, len(states))
	for i, s := range states {
		v, all := m.seen(k.object, k.offset, k.size, s, nil)
		if !all {
			return join.Undefined, false
		}
		values[i] = v
	}
	return join.Values(m.c, paths, func(p int) smt.Term { return values[p] }, nil), true
}

// renamedView is a view under a renaming of symbols.
func (m *Model) renamedView(v *view, by *smt.Substitution) view {
	out := v.clone()
	for i := range out.cells {
		out.cells[i].offset, out.cells[i].value = by.Apply(out.cells[i].offset),
			by.Apply(out.cells[i].value)
	}
	for o, c := range out.under {
		out.under[o] = m.renamedContents(c, by)
	}
	return out
}
