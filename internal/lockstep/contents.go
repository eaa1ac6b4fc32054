package lockstep

import (
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// What a thread sees of an array where it has no cell: at first what memory held at the last barrier; at the header of a loop
// that writes the array, a function of the iteration and of the address, which an axiom ties to what the iteration before
// left. That is right of any address, since nobody else writes what the thread reads between two barriers, up to the first race;
// and it lets an invariant speak of memory.

// memory is what an array holds for a thread at some point of its way.
type memory struct {
	// read is what is at an offset; it is false if that may be anything.
	read func(off smt.Term, size int) (smt.Term, bool)
}

// underneath is what the thread sees of an array where it has not written since the state's view began.
func (x *exec) underneath(o *Object, off smt.Term, size int, st *state) (smt.Term, bool) {
	if m := st.view.under[o]; m != nil {
		return m.read(off, size)
	}
	return x.atStart(o, off, size, st), true
}

// joinUnder merges what is underneath the views of states that meet.
func (x *exec) joinUnder(states []*state, ways []smt.Term) map[*Object]*memory {
	var out map[*Object]*memory
	for _, s := range states {
		for o := range s.view.under {
			if out[o] != nil {
				continue
			}
			if out == nil {
				out = map[*Object]*memory{}
			}
			out[o] = x.joinMemory(o, states, ways)
		}
	}
	return out
}

func (x *exec) joinMemory(o *Object, states []*state, ways []smt.Term) *memory {
	same := true
	for _, s := range states {
		same = same && s.view.under[o] == states[0].view.under[o]
	}
	if same {
		return states[0].view.under[o]
	}
	return &memory{func(off smt.Term, size int) (smt.Term, bool) {
		values := make(map[*state]smt.Term, len(states))
		for _, s := range states {
			v, ok := x.underneath(o, off, size, s)
			if !ok {
				return undef, false
			}
			values[s] = v
		}
		return x.merge(states, ways, func(s *state) smt.Term { return values[s] }, nil), true
	}}
}

// hole stands for an offset.
const hole = private + "hole"

// renamedMemory is m under a renaming of symbols, but for those of the offset.
func (x *exec) renamedMemory(m *memory, s *smt.Substitution) *memory {
	return &memory{func(off smt.Term, size int) (smt.Term, bool) {
		at := x.c.Var(hole, 64)
		v, ok := m.read(at, size)
		if !ok {
			return undef, false
		}
		put := x.c.Substitute()
		put.Replace(at, off)
		return put.Apply(s.Apply(v)), true
	}}
}

// keptView is what is known at the header of a loop at any iteration. Arrays that the loop does not write are as they were, if no
// barrier is in it; of others it is known what an iteration makes of them, but for writes that are not known, or come later.
func (x *exec) keptView(l *ir.Loop, at *view) view {
	out := at.clone()
	written, barrier := map[*Object]bool{}, false
	for _, b := range l.Blocks {
		for _, in := range x.f.Blocks[b].Instrs {
			switch {
			case isBlockBarrier(in) && in.Guard == ir.NoReg && x.ordersOf(in) == event.OrdersAll:
				barrier = true
			case x.tagged(in):
				out.lose(nil)
			case isStore(in):
				objects, known := x.target[in]
				if !known {
					out.lose(nil)
				}
				for _, o := range objects {
					written[o] = true
					if in.Op() == "cp.async" {
						out.lose(o)
					}
				}
			}
		}
	}
	if out.all {
		return out
	}
	if barrier {
		for _, k := range at.cells {
			written[k.object] = true
		}
		for o := range at.under {
			written[o] = true
		}
	}
	for o := range written {
		if out.lost[o] {
			out.lose(o)
			continue
		}
		out.forget(o)
		if x.dirty.anywhere(l.Header, o) {
			out.cover(o, x.atHead(l, o))
		}
	}
	return out
}

// forget drops what is known of an array.
func (v *view) forget(o *Object) {
	lost := v.lost[o]
	v.lose(o)
	delete(v.under, o)
	if !lost {
		delete(v.lost, o)
	}
}

func (v *view) cover(o *Object, m *memory) {
	if v.under == nil {
		v.under = map[*Object]*memory{}
	}
	v.under[o] = m
}

// loopMemory is a function that stands for what the thread sees of an array at the header of a loop.
type loopMemory struct {
	info *loopInfo
	o    *Object
	size int
}

// atHead is what the thread sees of an array at the header of a loop that execution enters, in iteration k.
func (x *exec) atHead(l *ir.Loop, o *Object) *memory {
	info := x.info[l]
	at := append(info.counters(), info.counter)
	return &memory{func(off smt.Term, size int) (smt.Term, bool) {
		return x.headRead(loopMemory{info, o, size}, at, off), true
	}}
}

// headRead applies the function to the counters and an offset.
func (x *exec) headRead(m loopMemory, counters []smt.Term, off smt.Term) smt.Term {
	name := fmt.Sprintf("%sv%d.%d:%d", private, m.o.index, m.info.index, 8*m.size)
	x.loopMemories[name] = m
	return x.atOffset(name, counters, off, m.size)
}

// memoryAxioms say of each function that stands for memory at the header of a loop: in iteration 0 it is what the thread saw when it
// came to the loop, else what the iteration before left.
func (x *exec) memoryAxioms(a *Axioms) {
	for more := true; more; { // what they are made of may need others
		more = false
		for _, name := range slices.Sorted(maps.Keys(x.loopMemories)) {
			m := x.loopMemories[name]
			if a.of[name] != nil {
				continue
			}
			more = true
			off := x.c.Var(hole, 64)
			counters := append(m.info.counters(), m.info.counter)
			h, params := x.headRead(m, counters, off), append(counters[:len(counters):len(counters)], off)
			first := x.c.Eq(m.info.counter, x.c.Const(0, 32))
			var body []smt.Term
			if v, ok := x.seen(m.o, off, m.size, m.info.start, nil); ok {
				body = append(body, x.c.Implies(first, x.c.Eq(h, v)))
			}
			if m.info.latch != nil {
				if v, ok := x.seen(m.o, off, m.size, m.info.latch, nil); ok {
					body = append(body, x.c.Or(first, x.c.Eq(h, x.before(m.info, v))))
				}
			}
			a.of[name], a.heads[name] = schema(x.c, params, body), m.info.counter
		}
	}
}
