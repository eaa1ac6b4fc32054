package lockstep

import (
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// What a thread sees of memory that it has written itself since the last barrier. Up to the first race nobody else writes
// there in the same barrier interval, but for the same value where that is tolerated; so a weak load of such a place gives
// what the thread stored last. Where all writes of the thread to an array since the barrier are known, what it has not
// written is as it was at the barrier.
//
// Only weak stores count: two strong ones to one place are no race (PTX ISA 8.7), so that another thread may have come in between.

// cell is a place that the thread has written.
type cell struct {
	object *Object
	offset smt.Term // 64 bits
	size   int
	value  smt.Term // what the thread sees there now
}

// view is what is known of the thread's own writes since the last barrier that orders the array.
type view struct {
	cells []cell
	under map[*Object]*memory // what is seen where there is no cell; absent: what memory held at the last barrier
	lost  map[*Object]bool    // there may be writes beside those in cells and under
	all   bool                // that is so of every array
}

// maxCells bounds how many places a view remembers.
const maxCells = 16

func (v *view) clone() view {
	return view{slices.Clone(v.cells), maps.Clone(v.under), maps.Clone(v.lost), v.all}
}

// lose forgets where an array has been written; nil stands for all arrays.
func (v *view) lose(o *Object) {
	if o == nil {
		v.all, v.cells = true, nil
		return
	}
	v.cells = slices.DeleteFunc(v.cells, func(c cell) bool { return c.object == o })
	v.miss(o)
}

// miss notes that a write to an array is not remembered.
func (v *view) miss(o *Object) {
	if v.lost == nil {
		v.lost = map[*Object]bool{}
	}
	v.lost[o] = true
}

// meeting is how two accesses to one array may lie to each other.
type meeting uint8

const (
	never   meeting = iota
	whole           // at one place, or apart
	partial         // anyhow
	exactly         // at one place
)

// meeting compares two ranges of bytes.
func (x *exec) meeting(a smt.Term, n int, b smt.Term, m int) meeting {
	if a == b && n == m {
		return exactly
	}
	if d, ok := x.c.Value(x.c.Sub(b, a)); ok && (int64(d) >= int64(n) || -int64(d) >= int64(m)) {
		return never
	}
	if Aligned(x.c, a, n, b, m) {
		return whole
	}
	return partial
}

// Aligned reports whether n bytes from a and m bytes from b are at one place or apart: accesses are aligned to their size (PTX
// ISA 5.1), so that two of one size do not overlap in part. One that is known not to be aligned is taken as it stands.
func Aligned(c *smt.Context, a smt.Term, n int, b smt.Term, m int) bool {
	_, onesA := c.KnownBits(a)
	_, onesB := c.KnownBits(b)
	return n == m && n&(n-1) == 0 && (onesA|onesB)&uint64(n-1) == 0
}

// seen is what the thread sees of size bytes of an array. It is false if part of that may be anything: then the value
// is only known where it is one of the cells, and rest stands for the others; there is no value without rest. In lock step
// other lanes of the warp may have written in between without a race, so that nothing is known.
func (x *exec) seen(o *Object, off smt.Term, size int, st *state, rest func() smt.Term) (v smt.Term, all bool) {
	if x.opt.Lockstep || x.groupCopies {
		if rest == nil {
			return undef, false
		}
		return rest(), false
	}
	all = !st.view.all && !st.view.lost[o]
	var at []cell
	for _, k := range st.view.cells {
		if k.object != o {
			continue
		}
		switch x.meeting(k.offset, k.size, off, size) {
		case exactly:
			return k.value, true
		case whole:
			at = append(at, k)
		case partial:
			all = false
		}
	}
	switch {
	case all:
		if v, all = x.underneath(o, off, size, st); !all {
			if rest == nil {
				return undef, false
			}
			v = rest()
		}
	case rest == nil:
		return undef, false
	default:
		v = rest()
	}
	for _, k := range at {
		v = x.c.Ite(x.c.Eq(k.offset, off), k.value, v)
	}
	return v, all
}

// atStart is what memory held at the last barrier that orders an array.
func (x *exec) atStart(o *Object, off smt.Term, size int, st *state) smt.Term {
	args, widths := []smt.Term{off}, []int{64}
	for _, t := range x.tag(st, orders(o.Space)).Terms() {
		args, widths = append(args, t), append(widths, tagWidth)
	}
	w := 8 * size
	return x.c.Apply(x.c.Declare(fmt.Sprintf("%sm:%d:%d", inBlock, o.index, w), w, widths...), args...)
}

// viewing reports whether views are used. Lanes in lock step with their warp may write one place one after the other, which is no
// race; nothing says then what a thread reads after its own write. Nor does anything where copies of a group are made: a copy that the
// thread makes here may be another thread's, and so may what a wait for it shows.
func (x *exec) viewing() bool { return !x.opt.Adversarial && !x.opt.Lockstep && !x.groupCopies }

// wrote notes what an instruction writes.
func (x *exec) wrote(in *ir.Instr, places []place, st *state) {
	st.pending = nil
	if len(places) != 1 || places[0].object == nil {
		for _, p := range places {
			st.view.lose(p.object)
		}
		return
	}
	o := places[0].object
	var values []smt.Term
	if in.Op() == "st" && !in.Order.Strong() {
		values = x.stored(in, st)
	}
	elem := in.Type.Size()
	for i := range max(int(in.Vec), 1) {
		v := undef
		if values != nil {
			v = values[i]
		}
		x.put(o, x.c.AddConst(places[0].offset, uint64(i*elem)), elem, v, st)
	}
}

// put writes a value, or an unknown one, under the guard of the instruction.
func (x *exec) put(o *Object, off smt.Term, size int, v smt.Term, st *state) {
	if v != undef && x.guard != smt.True {
		before, all := x.seen(o, off, size, st, nil)
		if !all {
			v = undef
		} else {
			v = x.c.Ite(x.guard, v, before)
		}
	}
	kept := st.view.cells[:0]
	for _, k := range st.view.cells {
		if k.object == o {
			switch x.meeting(k.offset, k.size, off, size) {
			case exactly:
				continue
			case partial:
				st.view.miss(o)
				continue
			case whole:
				if v == undef {
					continue
				}
				k.value = x.c.Ite(x.c.And(x.guard, x.c.Eq(k.offset, off)), v, k.value)
			}
		}
		kept = append(kept, k)
	}
	st.view.cells = kept
	if v == undef || len(kept) == maxCells {
		st.view.miss(o)
		return
	}
	st.view.cells = append(st.view.cells, cell{o, off, size, v})
}

// ordered takes note of a barrier: behind it other threads' writes are seen.
func (x *exec) ordered(in *ir.Instr, whole bool, st *state) {
	v := &st.view
	by := x.ordersOf(in)
	switch {
	case !whole || in.Guard != ir.NoReg || by == event.OrdersNone:
		v.lose(nil)
	case by == event.OrdersAll:
		*v = view{}
	default:
		v.cells = slices.DeleteFunc(v.cells, func(k cell) bool { return ordersPart(by, partOf(k.object.Space)) })
		maps.DeleteFunc(v.under, func(o *Object, _ *memory) bool { return ordersPart(by, partOf(o.Space)) })
		maps.DeleteFunc(v.lost, func(o *Object, _ bool) bool { return ordersPart(by, partOf(o.Space)) })
	}
}

// joinView merges views: a place that one way has not written holds there what it held at the barrier.
func (x *exec) joinView(states []*state, ways []smt.Term) view {
	var out view
	for _, st := range states {
		out.all = out.all || st.view.all
		for o := range st.view.lost {
			out.miss(o)
		}
	}
	have := func(k cell) bool {
		return slices.ContainsFunc(out.cells, func(c cell) bool { return c.object == k.object && c.offset == k.offset && c.size == k.size })
	}
	for _, st := range states {
		for _, k := range st.view.cells {
			if have(k) {
				continue
			}
			known := len(out.cells) < maxCells
			values := make(map[*state]smt.Term, len(states))
			for _, s := range states {
				v, all := x.seen(k.object, k.offset, k.size, s, nil)
				if known = known && all; !known {
					break
				}
				values[s] = v
			}
			if !known {
				out.miss(k.object)
				continue
			}
			k.value = x.merge(states, ways, func(s *state) smt.Term { return values[s] }, nil)
			out.cells = append(out.cells, k)
		}
	}
	out.under = x.joinUnder(states, ways)
	return out
}

// viewAt is a view at another iteration of a loop.
func (x *exec) viewAt(v *view, s *smt.Substitution) view {
	out := v.clone()
	for i := range out.cells {
		out.cells[i].offset, out.cells[i].value = s.Apply(out.cells[i].offset), s.Apply(out.cells[i].value)
	}
	for o, m := range out.under {
		out.under[o] = x.renamedMemory(m, s)
	}
	return out
}
