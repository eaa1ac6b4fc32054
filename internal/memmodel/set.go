package memmodel

import "math/bits"

// MaxEvents is the number of events that a graph may have. A larger one would need larger sets.
const MaxEvents = 128

const words = MaxEvents / 64

// Set is a set of events, by their numbers.
type Set [words]uint64

// Add puts event e into s.
func (s *Set) Add(e int) { s[e/64] |= 1 << (e % 64) }

// Has reports whether event e is in s.
func (s Set) Has(e int) bool { return s[e/64]>>(e%64)&1 != 0 }

// Union puts all of t into s.
func (s *Set) Union(t Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// And returns what is in both sets.
func (s Set) And(t Set) Set {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// Minus returns what is in s and not in t.
func (s Set) Minus(t Set) Set {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// Empty reports whether s has no event.
func (s Set) Empty() bool { return s == Set{} }

// All yields the events of s in ascending order.
func (s Set) All(yield func(int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// Rel is a relation between events: row e holds what e is related to.
type Rel []Set

// newRel returns the empty relation between n events.
func newRel(n int) Rel { return make(Rel, n) }

// Add relates a to b.
func (r Rel) Add(a, b int) { r[a].Add(b) }

// Has reports whether a is related to b.
func (r Rel) Has(a, b int) bool { return r[a].Has(b) }

// clone returns a copy of r.
func (r Rel) clone() Rel { return append(Rel(nil), r...) }

// join adds all pairs of s to r.
func (r Rel) join(s Rel) {
	for i := range r {
		r[i].Union(s[i])
	}
}

// close makes r transitive.
func (r Rel) close() {
	for k := range r {
		for i := range r {
			if r[i].Has(k) {
				r[i].Union(r[k])
			}
		}
	}
}

// then returns the pairs (a, c) with a related by r to some b that s relates to c.
func (r Rel) then(s Rel) Rel {
	out := newRel(len(r))
	for a := range r {
		for b := range r[a].All {
			out[a].Union(s[b])
		}
	}
	return out
}

// reflexive reports whether r relates an event to itself.
func (r Rel) reflexive() bool {
	for i := range r {
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
