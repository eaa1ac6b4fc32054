package lockstep

import (
	"cmp"
	"maps"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// What a thread itself wrote since the last barrier it reads back: another thread that wrote there too would race with the
// load, unless that is strong, and up to the first race none does. Where lanes of a warp are in lock step, their writes may
// come in between without a race, and nothing is kept.

// word is a range of bytes of an array.
type word struct {
	object *Object
	offset smt.Term
	size   int
}

func compareWords(a, b word) int {
	return cmp.Or(cmp.Compare(a.object.index, b.object.index), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
}

// maxOwn bounds the words that are kept at a time.
const maxOwn = 32

// wrote notes a store to places, of elements of size bytes each; values is nil if they are not known, or not certainly stored.
func (x *exec) wrote(places []place, values []smt.Term, size, total int, st *state) {
	if x.opt.Lockstep || x.opt.Adversarial {
		return
	}
	for _, p := range places {
		if p.object == nil {
			st.own = nil
			return
		}
		at := word{p.object, p.offset, total}
		for w := range st.own {
			if !x.disjoint(w, at) {
				delete(st.own, w)
			}
		}
	}
	if len(places) != 1 || len(values) == 0 || len(st.own)+len(values) > maxOwn {
		return
	}
	if st.own == nil {
		st.own = map[word]smt.Term{}
	}
	for i, v := range values {
		st.own[word{places[0].object, x.c.AddConst(places[0].offset, uint64(i*size)), size}] = v
	}
}

// disjoint reports whether two words certainly have no byte in common.
func (x *exec) disjoint(a, b word) bool {
	if a.object != b.object {
		return true
	}
	d, ok := x.c.Value(x.c.Sub(a.offset, b.offset)) // b.size <= d <= -a.size
	return ok && d >= uint64(b.size) && d <= -uint64(a.size)
}

// changes lets an instruction that is no store, but may write to memory or wait for others, end what is known of the thread's own
// writes.
func (x *exec) changes(st *state) { st.own = nil }

// certainly returns the elements of a store that is made whenever the thread comes to it.
func (x *exec) certainly(in *ir.Instr, places []place, st *state) []smt.Term {
	if in.Guard != ir.NoReg || st.ghost != smt.False || len(places) != 1 || places[0].cond != smt.True {
		return nil
	}
	return x.stored(in, st)
}

// meetOwn keeps of the own writes of several states what is known in all of them.
func (x *exec) meetOwn(states []*state, ways []smt.Term) map[word]smt.Term {
	if slices.ContainsFunc(states, func(s *state) bool { return len(s.own) == 0 }) {
		return nil
	}
	out := maps.Clone(states[0].own)
	maps.DeleteFunc(out, func(w word, _ smt.Term) bool {
		return slices.ContainsFunc(states, func(s *state) bool { _, ok := s.own[w]; return !ok })
	})
	for _, w := range slices.SortedFunc(maps.Keys(out), compareWords) { // terms come in the same order in every run
		out[w] = x.merge(states, ways, func(s *state) smt.Term { return s.own[w] }, nil)
	}
	return out
}
