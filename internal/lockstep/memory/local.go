package memory

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Memory of the thread alone (.local, PTX ISA 5.1.5): it holds what was stored last, across
// barriers too. Nothing is known of the other bytes of an array that was stored to, so forgetting a
// store is always sound. view.go is about memory that threads share.

// localStore is one store, of one element.
type localStore struct {
	object *thread.Object
	when   smt.Term // it was executed, on the paths that are merged here
	off    smt.Term // 64 bits, from the start of the array
	value  smt.Term
}

// maxLocal bounds how many stores are remembered: the oldest are forgotten first.
const maxLocal = 48

// StoreLocal notes what a store or atomic does to memory of the thread alone. Values are the
// elements of a store; nil if they are unknown.
func (m *Model) StoreLocal(in *ir.Instr, places []Place, values []smt.Term, s *State) {
	if in.Action() != isa.ActStore {
		m.forgetLocal(places, in.Space, s)
		return
	}
	elem := in.Type.Size()
	for _, p := range places {
		if p.Object == nil || values == nil {
			m.forgetLocal([]Place{p}, in.Space, s)
			continue
		}
		if p.Object.Space != event.Local {
			continue
		}
		for i, v := range values {
			when, off := m.c.And(m.env.Guard(), p.Cond), m.c.AddConst(p.Offset, uint64(i*elem))
			s.local = append(slices.Clip(s.local), &localStore{p.Object, when, off, v})
		}
	}
	s.local = s.local[max(0, len(s.local)-maxLocal):]
}

// ForgetLocal drops all that is known of memory of the thread alone.
func (m *Model) ForgetLocal(s *State) { s.local = nil }

// forgetLocal drops what is known of the arrays of places; an unknown place may be any array in a
// space.
func (m *Model) forgetLocal(places []Place, space event.Space, s *State) {
	for _, p := range places {
		s.local = without(s.local, func(e *localStore) bool {
			if p.Object != nil {
				return e.object == p.Object
			}
			return e.object.Space == space || space == event.Generic || space == event.NoSpace
		})
	}
}

// without is a list without some of its elements; the list itself is shared, and is kept.
func without(list []*localStore, drop func(*localStore) bool) []*localStore {
	if !slices.ContainsFunc(list, drop) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// LoadLocal returns what a load of memory of the thread alone finds; ok is false if the load may
// lead elsewhere, or the thread has stored nothing to the array.
func (m *Model) LoadLocal(l Load, s *State) (v smt.Term, ok bool) {
	o := l.only()
	if !l.Instr.IsPlainLoad() || o == nil || o.Space != event.Local {
		return 0, false
	}
	c, off, size := m.c, l.offset(m.c), l.Size
	v = join.Undefined
	for _, e := range s.local { // the latest decides
		if e.object != o {
			continue
		}
		if v == join.Undefined {
			v = m.env.Unknown("l", 8*size)
		}
		n := c.Width(e.value) / 8
		d, fixed := c.Value(c.Sub(off, e.off))
		switch {
		case fixed && int64(d) <= -int64(size) || fixed && int64(d) >= int64(n): // disjoint
		case fixed && int64(d) >= 0 && int64(d)+int64(size) <= int64(n): // within
			v = c.Ite(e.when, c.Extract(e.value, 8*int(d), 8*size), v)
		case !fixed && n == size: // aligned to their size: the same bytes or none
			v = c.Ite(c.And(e.when, c.Eq(off, e.off)), e.value, v)
		default:
			v = c.Ite(e.when, m.env.Unknown("l", 8*size), v)
		}
	}
	return v, v != join.Undefined
}

// joinLocal merges stores: first those that all states have in common, then those of each state,
// where its path is taken.
func (m *Model) joinLocal(states []*State, paths []smt.Term) []*localStore {
	common := 0
	for !slices.ContainsFunc(states, func(s *State) bool {
		return len(s.local) <= common || s.local[common] != states[0].local[common]
	}) {
		common++
	}
	out := slices.Clone(states[0].local[:common])
	none := smt.True // of the paths before
	for i, s := range states {
		this := none
		if i < len(states)-1 {
			this = m.c.And(none, paths[i])
			none = m.c.And(none, m.c.Not(paths[i]))
		}
		for _, e := range s.local[common:] {
			out = append(out, &localStore{e.object, m.c.And(this, e.when), e.off, e.value})
		}
	}
	return out[max(0, len(out)-maxLocal):]
}

// headerLocal keeps at the header of a loop the stores to arrays that the loop does not store to.
func (m *Model) headerLocal(l *kernel.Loop, s *State) {
	for _, b := range l.Blocks {
		for _, in := range m.k.Func().Blocks[b].Instrs {
			switch {
			case in.IsCall():
				s.local = nil
			case (in.Row.Category == isa.Memory || in.Row.Category == isa.Async) && kernel.IsLocalStore(in):
				objects, known := m.targets.of[in]
				if !known {
					m.forgetLocal([]Place{{}}, in.Space, s)
				}
				for _, o := range objects {
					m.forgetLocal([]Place{{Object: o}}, in.Space, s)
				}
			}
		}
	}
}

// renamedLocal are stores under a renaming of symbols.
func renamedLocal(list []*localStore, by *smt.Substitution) []*localStore {
	out := make([]*localStore, len(list))
	for i, e := range list {
		out[i] = &localStore{e.object, by.Apply(e.when), by.Apply(e.off), by.Apply(e.value)}
	}
	return out
}
