package memory

import (
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// What a thread sees of an array where its view has no cell: at first the contents at the last
// barrier; at the header of a loop that writes the array, a function of the iteration and of the
// offset, which an axiom ties to what the previous iteration left. That holds for every offset:
// between two barriers no other thread writes what this one reads, up to the first race. It lets
// invariants mention memory.

// contents is what an array holds for a thread at some program point.
type contents struct {
	// read returns the value at an offset; false if it may be anything.
	read func(off smt.Term, size int) (smt.Term, bool)
}

// unknown is contents of which nothing is known.
var unknown = &contents{func(smt.Term, int) (smt.Term, bool) { return join.Undefined, false }}

// readOr returns the value at an offset, or an unknown one of that kind.
func (m *Model) readOr(c *contents, off smt.Term, size int, kind string) smt.Term {
	if v, ok := c.read(off, size); ok {
		return v
	}
	return m.env.Unknown(kind, 8*size)
}

// underneath is what the thread sees of an array where its view has no cell.
func (m *Model) underneath(o *thread.Object, off smt.Term, size int, s *State) (smt.Term, bool) {
	if c := s.view.under[o]; c != nil {
		return c.read(off, size)
	}
	return m.atStart(o, off, size, s), true
}

// joinUnder merges what is underneath the views of states that meet.
func (m *Model) joinUnder(states []*State, paths []smt.Term) map[*thread.Object]*contents {
	var out map[*thread.Object]*contents
	for _, s := range states {
		for o := range s.view.under {
			if out[o] != nil {
				continue
			}
			if out == nil {
				out = map[*thread.Object]*contents{}
			}
			out[o] = m.joinArray(o, states, paths)
		}
	}
	return out
}

// joinArray merges what is underneath the views of one array.
func (m *Model) joinArray(o *thread.Object, states []*State, paths []smt.Term) *contents {
	first := states[0].view.under[o]
	if !slices.ContainsFunc(states, func(s *State) bool { return s.view.under[o] != first }) {
		return first
	}
	return m.choice(states, paths, func(s *State, off smt.Term, size int) (smt.Term, bool) {
		return m.underneath(o, off, size, s)
	})
}

// choice is the contents that read finds in the state of the path that is taken.
func (m *Model) choice(states []*State, paths []smt.Term,
	read func(*State, smt.Term, int) (smt.Term, bool)) *contents {
	return &contents{func(off smt.Term, size int) (smt.Term, bool) {
		values := make([]smt.Term, len(states))
		for i, s := range states {
			v, ok := read(s, off, size)
			if !ok {
				return join.Undefined, false
			}
			values[i] = v
		}
		return join.Values(m.c, paths, func(p int) smt.Term { return values[p] }, nil), true
	}}
}

// hole stands for an offset.
const hole = symbol.Private + "hole"

// renamedContents is c under a renaming of symbols, except for those of the offset.
func (m *Model) renamedContents(c *contents, by *smt.Substitution) *contents {
	return &contents{func(off smt.Term, size int) (smt.Term, bool) {
		at := m.c.Var(hole, 64)
		v, ok := c.read(at, size)
		if !ok {
			return join.Undefined, false
		}
		put := m.c.Substitute()
		put.Replace(at, off)
		return put.Apply(by.Apply(v)), true
	}}
}

// Overwrite notes that the thread writes unknown values to an array. The values are a function,
// called name, of the iteration and the offset.
func (m *Model) Overwrite(o *thread.Object, name string, s *State) {
	counters := m.env.Counters()
	s.view.drop(o)
	s.view.cover(o, &contents{func(off smt.Term, size int) (smt.Term, bool) {
		full := fmt.Sprintf("%s.%d:%d", name, o.Index, 8*size)
		return symbol.Apply(m.c, full, 8*size, append(slices.Clip(counters), off)...), true
	}})
}

// headerView is the view at the header of a loop in any iteration. Arrays that the loop does not
// write are as they were, if no barrier in it orders them; of others it is known what an iteration
// makes of them, unless writes are unknown or happen later.
func (m *Model) headerView(l Loop, at *view) view {
	out := at.clone()
	written, barriers := m.loopWrites(l, &out)
	for _, by := range barriers {
		for _, k := range at.cells {
			written[k.object] = written[k.object] || kernel.OrdersSpace(by, k.object.Space)
		}
		for o := range at.under {
			written[o] = written[o] || kernel.OrdersSpace(by, o.Space)
		}
	}
	for o, is := range written {
		if !is {
			continue
		}
		if out.all || out.lost[o] {
			out.lose(o)
			continue
		}
		out.drop(o)
		if m.dirty.dirtyAt(l.Header, o) {
			out.cover(o, m.atHeader(l, o))
		}
	}
	return out
}

// loopWrites returns the arrays that a loop writes, and what its barriers of the block order. It
// loses in v the arrays of which writes are unknown.
func (m *Model) loopWrites(l Loop, v *view) (written map[*thread.Object]bool,
	barriers []event.Orders) {
	written = map[*thread.Object]bool{}
	for _, b := range l.Blocks {
		for _, in := range m.k.Func().Blocks[b].Instrs {
			switch by := m.k.Orders(in); {
			case kernel.IsBlockBarrier(in) && in.Guard == ir.NoReg && by != event.OrdersNone:
				barriers = append(barriers, by)
			case m.k.Tagged(in):
				v.lose(nil)
			case kernel.IsStore(in):
				objects, known := m.targets.of[in]
				if !known {
					v.lose(nil)
				}
				for _, o := range objects {
					written[o] = true
					if in.Action() == isa.ActCopy {
						v.lose(o)
					}
				}
			}
		}
	}
	return written, barriers
}

// loopContents is a function that stands for what the thread sees of an array at the header of a
// loop.
type loopContents struct {
	loop   Loop
	object *thread.Object
	size   int
}

// atHeader is what the thread sees of an array at the header of a loop in an iteration.
func (m *Model) atHeader(l Loop, o *thread.Object) *contents {
	at := l.iteration()
	return &contents{func(off smt.Term, size int) (smt.Term, bool) {
		return m.headerRead(loopContents{l, o, size}, at, off), true
	}}
}

// headerRead applies the function to the counters and an offset.
func (m *Model) headerRead(c loopContents, counters []smt.Term, off smt.Term) smt.Term {
	name := fmt.Sprintf("%sv%d.%d:%d", symbol.Private, c.object.Index, c.loop.Index, 8*c.size)
	m.contents[name] = c
	return symbol.Apply(m.c, name, 8*c.size, append(slices.Clip(counters), off)...)
}

// Axioms defines the functions that stand for memory at the headers of loops: in iteration 0 they
// are what the thread saw at the entry of the loop, and otherwise what the previous iteration left.
// Ends returns these two states of a loop; the latter is nil if no iteration continues with
// another.
func (m *Model) Axioms(a *thread.Axioms, ends func(l *ir.Loop) (entry, latch *State)) {
	for more := true; more; { // an axiom may need further functions
		more = false
		for _, name := range slices.Sorted(maps.Keys(m.contents)) {
			if a.Defined(name) {
				continue
			}
			more = true
			c := m.contents[name]
			counters, off := c.loop.iteration(), m.c.Var(hole, 64)
			h := m.headerRead(c, counters, off)
			first := m.c.Eq(c.loop.Counter, m.c.Const(0, 32))
			entry, latch := ends(c.loop.Loop.Loop)
			var body []smt.Term
			if v, ok := m.seen(c.object, off, c.size, entry, nil); ok {
				body = append(body, m.c.Implies(first, m.c.Eq(h, v)))
			}
			if latch != nil {
				if v, ok := m.seen(c.object, off, c.size, latch, nil); ok {
					body = append(body, m.c.Or(first, m.c.Eq(h, symbol.Previous(m.c, c.loop.Counter, v))))
				}
			}
			a.DefineContents(name, c.loop.Counter, append(slices.Clip(counters), off), body...)
		}
	}
}
