package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// Arguments and results of calls are variables in .param space that belong to the function (PTX ISA
// 7.1). Their addresses do not escape unless taken, so each range of bytes holds what was stored to
// it last.

// slot is a range of bytes of such a variable.
type slot struct {
	v         *ir.Var
	off, size int
}

func (s slot) overlaps(t slot) bool {
	return s.v == t.v && t.off < s.off+s.size && s.off < t.off+t.size
}

// IsArgument reports whether an operand names a call's argument or result.
func (m *Model) IsArgument(o *ir.Operand) bool {
	return o != nil && o.Var != nil && o.Var.Space == event.Param && !m.k.IsParam(o.Var)
}

// StoreArgument stores v to size bytes of an argument or result, under the guard of the
// instruction.
func (m *Model) StoreArgument(to *ir.Var, off, size int, v smt.Term, s *State) {
	at := slot{to, off, size}
	if guard := m.env.Guard(); guard != smt.True {
		v = m.c.Ite(guard, v, m.take(at, s))
	}
	m.overwrite(at, v, s)
}

// SetArgument stores v to size bytes of an argument or result, whatever the guard.
func (m *Model) SetArgument(to *ir.Var, off, size int, v smt.Term, s *State) {
	m.overwrite(slot{to, off, size}, v, s)
}

// ForgetArgument makes bytes of an argument or result unknown, and with them whatever was stored to
// them and their neighbours at once.
func (m *Model) ForgetArgument(to *ir.Var, off, size int, s *State) {
	s.forget(slot{to, off, size})
}

// LoadArgument reads size bytes of an argument or result.
func (m *Model) LoadArgument(from *ir.Var, off, size int, s *State) smt.Term {
	return m.take(slot{from, off, size}, s)
}

// overwrite stores v, of 8 bits for each byte of at.
func (m *Model) overwrite(at slot, v smt.Term, s *State) {
	s.forget(at)
	if s.scratch == nil {
		s.scratch = map[slot]smt.Term{}
	}
	s.scratch[at] = v
}

func (s *State) forget(at slot) {
	for t := range s.scratch {
		if t.overlaps(at) {
			delete(s.scratch, t)
		}
	}
}

// take reads bytes: as they were stored, or a part of that, or assembled from smaller parts.
func (m *Model) take(at slot, s *State) smt.Term {
	w := 8 * min(at.size, 8)
	// also stored to by its address
	if o := m.byKey[key{at.v, Itself}]; o != nil && m.writtenKnown(o) {
		return m.env.Unknown("a", w)
	}
	if v, ok := s.scratch[at]; ok {
		return v
	}
	for t, v := range s.scratch {
		if t.v == at.v && t.off <= at.off && at.off+at.size <= t.off+t.size {
			return m.c.Extract(v, 8*(at.off-t.off), w)
		}
	}
	if at.size > 1 && at.size <= 8 && at.size%2 == 0 {
		low, high := slot{at.v, at.off, at.size / 2}, slot{at.v, at.off + at.size/2, at.size / 2}
		if s.knows(low) && s.knows(high) {
			return m.c.Concat(m.take(high, s), m.take(low, s))
		}
	}
	return m.env.Unknown("a", w)
}

// knows reports whether something is known of the bytes.
func (s *State) knows(at slot) bool {
	for t := range s.scratch {
		if t.overlaps(at) {
			return true
		}
	}
	return false
}

// joinScratch merges what is known in the states that reach block b. What is unknown in one of them
// may be anything there, like a register that nothing wrote.
func (m *Model) joinScratch(b ir.BlockID, states []*State, paths []smt.Term) map[slot]smt.Term {
	all := map[slot]bool{}
	for _, s := range states {
		for at := range s.scratch {
			all[at] = true
		}
	}
	keys := slices.Collect(maps.Keys(all))
	slices.SortFunc(keys, func(a, b slot) int { // terms are made in the same order in every run
		return cmp.Or(cmp.Compare(a.v.Name, b.v.Name), cmp.Compare(a.v.Offset, b.v.Offset),
			cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size))
	})
	out := map[slot]smt.Term{}
	for _, at := range keys {
		if slices.ContainsFunc(states, func(s *State) bool {
			_,
				ok := s.scratch[at]
			return !ok && s.knows(at)
		}) {
			continue // known in other ranges
		}
		out[at] = join.Values(m.c, paths, func(p int) smt.Term {
			if v, ok := states[p].scratch[at]; ok {
				return v
			}
			name := fmt.Sprintf("%sjs%d.%d.%s.%d.%d", symbol.Private, b, at.v.Offset, at.v.Name, at.off,
				at.size)
			return symbol.Apply(m.c, name, 8*at.size, m.env.Counters()...)
		}, nil)
	}
	return out
}

// headerScratch is what is known at the header of a loop in any iteration: of variables that the
// loop does not write.
func (m *Model) headerScratch(l *kernel.Loop, at map[slot]smt.Term) map[slot]smt.Term {
	if len(at) == 0 {
		return nil
	}
	out := maps.Clone(at)
	lose := func(o *ir.Operand) {
		if m.IsArgument(o) {
			maps.DeleteFunc(out, func(s slot, _ smt.Term) bool { return s.v == o.Var })
		}
	}
	for _, b := range l.Blocks {
		for _, in := range m.k.Func().Blocks[b].Instrs {
			if in.IsCall() {
				for i := range in.Dst {
					lose(&in.Dst[i])
				}
			}
			if in.Row.Category == isa.Memory && in.Row.Effect != isa.Reads && len(in.Src) > 0 {
				lose(&in.Src[0])
			}
		}
	}
	return out
}
