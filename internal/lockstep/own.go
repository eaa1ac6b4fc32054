package lockstep

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// Memory of the thread alone (.local, PTX ISA 5.1.5): what was stored last is there, over barriers too. Nothing is known of the
// other bytes of an array that was stored to: to forget a store is always right. Memory that threads share: see view.go.

// ownStore is one store, of one element.
type ownStore struct {
	o     *Object
	when  smt.Term // it was executed, as far as the ways tell that are joined here
	off   smt.Term // 64 bits, from the start of o
	value smt.Term
}

// maxOwn bounds how many stores are remembered: the oldest are forgotten first.
const maxOwn = 48

// remember notes what a store does, and forgets what it may have changed.
func (x *exec) remember(in *ir.Instr, places []place, st *state) {
	if in.Op() != "st" {
		x.forget(places, in.Space, st)
		return
	}
	elems, elem := x.stored(in, st), in.Type.Size()
	for _, p := range places {
		if p.object == nil || elems == nil {
			x.forget([]place{p}, in.Space, st)
			continue
		}
		if p.object.Space != event.Local {
			continue
		}
		for i, v := range elems {
			st.own = append(slices.Clip(st.own), &ownStore{p.object, x.c.And(x.guard, p.cond), x.c.AddConst(p.offset, uint64(i*elem)), v})
		}
	}
	st.own = st.own[max(0, len(st.own)-maxOwn):]
}

// forget drops what is known of the arrays of places, of which one that is not known may be any in a space.
func (x *exec) forget(places []place, space event.Space, st *state) {
	for _, p := range places {
		st.own = without(st.own, func(e *ownStore) bool {
			if p.object != nil {
				return e.o == p.object
			}
			return e.o.Space == space || space == event.Generic || space == event.NoSpace
		})
	}
}

// without is a list without some of its elements; the list that it was stays.
func without(list []*ownStore, drop func(*ownStore) bool) []*ownStore {
	if !slices.ContainsFunc(list, drop) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// ownValue is what a load of size bytes at off finds; ok is false if the thread has stored nothing to the array.
func (x *exec) ownValue(o *Object, off smt.Term, size int, st *state) (v smt.Term, ok bool) {
	c := x.c
	v = undef
	for _, e := range st.own { // the latest decides
		if e.o != o {
			continue
		}
		if v == undef {
			v = x.fresh("l", 8*size)
		}
		n := c.Width(e.value) / 8
		d, fixed := c.Value(c.Sub(off, e.off))
		switch {
		case fixed && int64(d) <= -int64(size) || fixed && int64(d) >= int64(n): // apart
		case fixed && int64(d) >= 0 && int64(d)+int64(size) <= int64(n): // within
			v = c.Ite(e.when, c.Extract(e.value, 8*int(d), 8*size), v)
		case !fixed && n == size: // aligned to their size: the same bytes or none
			v = c.Ite(c.And(e.when, c.Eq(off, e.off)), e.value, v)
		default:
			v = c.Ite(e.when, x.fresh("l", 8*size), v)
		}
	}
	return v, v != undef
}

// own is what element i of a load finds, if the thread itself stored to the array. Within an annotation, and where
// annotations speak of threads that do not come to them, it is a symbol of which that is known: what an annotation means elsewhere,
// or for others, must not be taken from here.
func (x *exec) own(in *ir.Instr, places []place, i, elem int, st *state) (smt.Term, bool) {
	if len(places) != 1 || places[0].object == nil || elem > 8 || in.Op() != "ld" {
		return 0, false
	}
	o := places[0].object
	if o.Space != event.Local {
		return 0, false
	}
	v, ok := x.ownValue(o, x.c.AddConst(places[0].offset, uint64(i*elem)), elem, st)
	if !ok || st.ghost == smt.False && !x.global {
		return v, ok
	}
	sym := x.fresh("l", 8*elem)
	x.know(x.c.Eq(sym, v), st)
	return sym, true
}

// localAccess executes a load or store of memory of the thread alone.
func (x *exec) localAccess(in *ir.Instr, addr smt.Term, st *state) {
	places := x.resolve(addr)
	if isLocalStore(in) {
		x.aim(in, places)
		x.remember(in, places, st)
	}
	x.results(in, func(i int, w int) smt.Term {
		if v, ok := x.own(in, places, i, in.Type.Size(), st); ok {
			return v
		}
		return x.fresh("l", w)
	}, st)
}

func isLocalStore(in *ir.Instr) bool {
	return in.Row.Effect != isa.Reads && in.Row.Effect != isa.NoEffect
}

// joinOwn merges what is remembered in the states that meet: what all of them did in common, then what each did by itself,
// where it is the one.
func (x *exec) joinOwn(states []*state, ways []smt.Term) []*ownStore {
	common := 0
	for ; ; common++ {
		if slices.ContainsFunc(states, func(s *state) bool { return len(s.own) <= common || s.own[common] != states[0].own[common] }) {
			break
		}
	}
	out := slices.Clone(states[0].own[:common])
	none := smt.True // of the states before
	for i, s := range states {
		this := none
		if i < len(states)-1 {
			this = x.c.And(none, ways[i])
			none = x.c.And(none, x.c.Not(ways[i]))
		}
		for _, e := range s.own[common:] {
			out = append(out, &ownStore{e.o, x.c.And(this, e.when), e.off, e.value})
		}
	}
	return out[max(0, len(out)-maxOwn):]
}

// keptOwn is what is remembered at the header of a loop at any iteration: stores to arrays that the loop does not store to.
func (x *exec) keptOwn(l *ir.Loop, st *state) {
	for _, b := range l.Blocks {
		for _, in := range x.f.Blocks[b].Instrs {
			switch {
			case in.Op() == "call":
				st.own = nil
			case (in.Row.Category == isa.Memory || in.Row.Category == isa.Async) && isLocalStore(in):
				objects, known := x.target[in]
				if !known {
					x.forget([]place{{}}, in.Space, st)
				}
				for _, o := range objects {
					x.forget([]place{{object: o}}, in.Space, st)
				}
			}
		}
	}
}

// renamed is what is remembered under a renaming of symbols.
func renamed(list []*ownStore, s *smt.Substitution) []*ownStore {
	out := make([]*ownStore, len(list))
	for i, e := range list {
		out[i] = &ownStore{e.o, s.Apply(e.when), s.Apply(e.off), s.Apply(e.value)}
	}
	return out
}
