package memmodel

import (
	"encoding/binary"
	"math/bits"
)

// MaxEvents is the number of events that a graph may have. Relations are matrices of bits, so that
// it bounds time and memory, and nothing depends on its value.
const MaxEvents = 4096

// low is the number of events for which a Set needs no memory of its own.
const low = 128

// Set is a set of events, by their numbers: a value that can be copied and compared. The first
// events are in words, the others in a string, which is shared by copies and never ends in zeros.
type Set struct {
	first [low / 64]uint64
	rest  string // 8 bytes for 64 events, little-endian
}

// words returns how many words the set has.
func (s *Set) words() int { return len(s.first) + len(s.rest)/8 }

// word returns word i, which may be past the end.
func (s *Set) word(i int) uint64 {
	if i < len(s.first) {
		return s.first[i]
	}
	if i = 8 * (i - len(s.first)); i < len(s.rest) {
		var b [8]byte
		copy(b[:], s.rest[i:])
		return binary.LittleEndian.Uint64(b[:])
	}
	return 0
}

// combine returns f of the words of s and t; f of two zeros is 0.
func (s *Set) combine(t *Set, f func(a, b uint64) uint64) Set {
	n := max(s.words(), t.words())
	out := make([]uint64, n)
	for i := range out {
		out[i] = f(s.word(i), t.word(i))
	}
	return setOf(out)
}

// setOf returns the set with these words.
func setOf(words []uint64) (s Set) {
	n := len(words)
	for n > len(s.first) && words[n-1] == 0 {
		n--
	}
	copy(s.first[:], words)
	if n > len(s.first) {
		rest := make([]byte, 0, 8*(n-len(s.first)))
		for _, w := range words[len(s.first):n] {
			rest = binary.LittleEndian.AppendUint64(rest, w)
		}
		s.rest = string(rest)
	}
	return s
}

// Add puts event e into s.
func (s *Set) Add(e int) {
	if e < low {
		s.first[e/64] |= 1 << (e % 64)
		return
	}
	t := make([]uint64, e/64+1)
	t[e/64] = 1 << (e % 64)
	one := setOf(t)
	s.Union(one)
}

// Has reports whether event e is in s.
func (s Set) Has(e int) bool { return s.word(e/64)>>(e%64)&1 != 0 }

// Union puts all of t into s.
func (s *Set) Union(t Set) {
	if len(t.rest) > 0 {
		*s = s.combine(&t, func(a, b uint64) uint64 { return a | b })
		return
	}
	for i := range s.first {
		s.first[i] |= t.first[i]
	}
}

// And returns what is in both sets.
func (s Set) And(t Set) Set {
	if len(s.rest) > 0 && len(t.rest) > 0 {
		return s.combine(&t, func(a, b uint64) uint64 { return a & b })
	}
	for i := range s.first {
		s.first[i] &= t.first[i]
	}
	s.rest = ""
	return s
}

// Minus returns what is in s and not in t.
func (s Set) Minus(t Set) Set {
	if len(s.rest) > 0 && len(t.rest) > 0 {
		return s.combine(&t, func(a, b uint64) uint64 { return a &^ b })
	}
	for i := range s.first {
		s.first[i] &^= t.first[i]
	}
	return s
}

// Empty reports whether s has no event.
func (s Set) Empty() bool { return s == Set{} }

// All yields the events of s in ascending order.
func (s Set) All(yield func(int) bool) {
	for i := range s.words() {
		for w := s.word(i); w != 0; w &= w - 1 {
			if !yield(i*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// Row is a set of the events of one graph, as part of a relation: what an event is related to.
type Row []uint64

// Has reports whether event e is in r.
func (r Row) Has(e int) bool { return r[e/64]>>(e%64)&1 != 0 }

// Empty reports whether r has no event.
func (r Row) Empty() bool {
	for _, w := range r {
		if w != 0 {
			return false
		}
	}
	return true
}

// Within reports whether all events of r are in s.
func (r Row) Within(s Set) bool {
	for i, w := range r {
		if w&^s.word(i) != 0 {
			return false
		}
	}
	return true
}

// All yields the events of r in ascending order.
func (r Row) All(yield func(int) bool) {
	for i, w := range r {
		for ; w != 0; w &= w - 1 {
			if !yield(i*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// add puts an event into r.
func (r Row) add(e int) { r[e/64] |= 1 << (e % 64) }

// remove takes an event out of r.
func (r Row) remove(e int) { r[e/64] &^= 1 << (e % 64) }

// union puts all of t into r.
func (r Row) union(t Row) {
	for i, w := range t {
		r[i] |= w
	}
}

// unionSet puts all of a set into r.
func (r Row) unionSet(s *Set) {
	for i := range r {
		r[i] |= s.word(i)
	}
}

// unionBoth puts what is in both t and u into r.
func (r Row) unionBoth(t, u Row) {
	for i := range r {
		r[i] |= t[i] & u[i]
	}
}

// Rel is a relation between the events of a graph.
type Rel struct {
	n, words int // events, and words of a row
	bits     []uint64
}

// newRel returns the empty relation between n events.
func newRel(n int) Rel {
	w := (n + 63) / 64
	return Rel{n, w, make([]uint64, n*w)}
}

// Row returns what an event is related to. It is part of the relation.
func (r Rel) Row(e int) Row { return r.bits[e*r.words : (e+1)*r.words] }

// Add relates a to b.
func (r Rel) Add(a, b int) { r.bits[a*r.words+b/64] |= 1 << (b % 64) }

// Has reports whether a is related to b.
func (r Rel) Has(a, b int) bool { return r.bits[a*r.words+b/64]>>(b%64)&1 != 0 }

// clone returns a copy of r.
func (r Rel) clone() Rel { return Rel{r.n, r.words, append([]uint64(nil), r.bits...)} }

// join adds all pairs of s to r.
func (r Rel) join(s Rel) { Row(r.bits).union(s.bits) }

// close makes r transitive.
func (r Rel) close() {
	for k := range r.n {
		row := r.Row(k)
		if row.Empty() {
			continue
		}
		for i := range r.n {
			if r.Has(i, k) {
				r.Row(i).union(row)
			}
		}
	}
}

// then returns the pairs (a, c) with a related by r to some b that s relates to c.
func (r Rel) then(s Rel) Rel {
	out := newRel(r.n)
	for a := range r.n {
		for b := range r.Row(a).All {
			out.Row(a).union(s.Row(b))
		}
	}
	return out
}

// reflexive reports whether r relates an event to itself.
func (r Rel) reflexive() bool {
	for i := range r.n {
		if r.Has(i, i) {
			return true
		}
	}
	return false
}

// cyclic reports whether r has a cycle.
func (r Rel) cyclic() bool {
	c := r.clone()
	c.close()
	return c.reflexive()
}
