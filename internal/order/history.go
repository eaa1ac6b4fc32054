package order

import (
	"cmp"
	"slices"
)

// Access is how an operation accesses a byte.
type Access uint8

// The accesses. Strong ones are atomic operations, and volatile or relaxed accesses, with a scope
// that includes other launches: two of them are no race (PTX ISA 8.7.1, morally strong).
const (
	Write Access = iota
	StrongWrite
	Read
	StrongRead
	accesses
)

// Conflict reports whether two accesses to one byte without an order are a race: one of them
// writes, and not both are strong.
func (a Access) Conflict(b Access) bool {
	writes := a == Write || b == Write || a == StrongWrite || b == StrongWrite
	strong := (a == StrongWrite || a == StrongRead) && (b == StrongWrite || b == StrongRead)
	return writes && !strong
}

// covers reports whether whatever conflicts with b conflicts with a as well.
func (a Access) covers(b Access) bool {
	switch a {
	case Write:
		return true
	case Read:
		return b == Read || b == StrongRead
	case StrongWrite:
		return b == StrongWrite || b == StrongRead
	}
	return b == StrongRead
}

// Range is the bytes from From up to To.
type Range struct{ From, To uint64 }

// Accesses are the bytes that an operation has accessed, by Access: each list ascends, and its
// ranges neither overlap nor touch.
type Accesses [accesses][]Range

// Work is an operation that has accessed memory.
type Work struct {
	Epoch    Epoch
	Accesses Accesses
	// Fenced says that the operation may have synchronized with another one through strong accesses,
	// by a fence, a release or an acquire.
	Fenced bool
	Info   any // the caller's
}

// Conflict is a race of two operations.
type Conflict struct {
	First, Second *Work
	// The kinds of the two accesses, the first bytes that are accessed so, and how many bytes are in
	// all.
	FirstAccess, SecondAccess Access
	Place                     Range
	Bytes                     uint64
}

// entry is an access that a later one may race with.
type entry struct {
	work   *Work
	access Access
}

// segment is bytes of a page with one history. The list is shared and never changed.
type segment struct {
	lo, hi uint16
	list   []entry
}

// pageBytes is the granularity of History's table.
const pageBytes = 4096

// History has the accesses that later ones may race with. Cost and memory grow with the ranges that
// are added, in pages, and not with the number of operations: an access that happened before
// another one which conflicts with the same is dropped (as in FastTrack, Flanagan and Freund 2009).
type History struct {
	pages map[uint64][]segment // by number; ascending
	found []Conflict           // of the current Add
	// the last list that was extended, by what and to what: neighbours mostly have one history
	from, to []entry
	by       entry
}

// Add compares the accesses of an operation with those of earlier ones that are not ordered before
// it, and remembers them. before is what happened before it. It returns the conflicts, one for each
// earlier operation.
func (h *History) Add(c *Clocks, w *Work, before Clock) []Conflict {
	if h.pages == nil {
		h.pages = make(map[uint64][]segment)
	}
	h.found = nil
	for a, list := range w.Accesses {
		h.from, h.to = nil, nil
		for _, r := range list {
			for at := r.From; at < r.To; {
				end := min(r.To, at/pageBytes*pageBytes+pageBytes)
				h.page(c, entry{w, Access(a)}, before, Range{at, end})
				at = end
			}
		}
	}
	return h.found
}

// page adds an access to bytes of one page.
func (h *History) page(c *Clocks, e entry, before Clock, r Range) {
	number := r.From / pageBytes
	base := number * pageBytes
	lo, hi := uint16(r.From-base), uint16(r.To-base)
	old := h.pages[number]
	var out []segment
	put := func(lo, hi uint16, list []entry) {
		if lo == hi || len(list) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].hi == lo && same(out[n-1].list, list) {
			out[n-1].hi = hi
			return
		}
		out = append(out, segment{lo, hi, list})
	}
	if len(old) == 1 && old[0].lo == lo && old[0].hi == hi {
		old[0].list = h.extend(c, old[0].list, e, before, r)
		return
	}
	at := lo // up to here the access has been added
	for _, s := range old {
		if from := min(s.lo, hi); from > at {
			put(at, from, h.extend(c, nil, e, before, Range{base + uint64(at), base + uint64(from)}))
			at = from
		}
		put(s.lo, min(s.hi, max(lo, s.lo)), s.list)
		if from, to := max(s.lo, lo), min(s.hi, hi); from < to {
			put(from, to, h.extend(c, s.list, e, before, Range{base + uint64(from), base + uint64(to)}))
			at = to
		}
		put(max(s.lo, min(hi, s.hi)), s.hi, s.list)
	}
	if at < hi {
		put(at, hi, h.extend(c, nil, e, before, Range{base + uint64(at), base + uint64(hi)}))
	}
	h.pages[number] = out
}

// same reports whether two lists are one.
func same(a, b []entry) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// extend returns a list with an access, and without what the access makes needless. It notes the
// conflicts of the access with the list, which is that of the bytes r.
func (h *History) extend(c *Clocks, list []entry, e entry, before Clock, r Range) []entry {
	for _, o := range list {
		if o.work != e.work && o.access.Conflict(e.access) && !o.work.Epoch.before(before) {
			h.note(o, e, r)
		}
	}
	if h.to != nil && h.by == e && same(list, h.from) {
		return h.to
	}
	h.from, h.by, h.to = list, e, nil
	for _, o := range list {
		if o.work == e.work && o.access.covers(e.access) {
			h.to = list // the operation itself has an access that conflicts with all the same
			return list
		}
	}
	for _, o := range list {
		if !c.Ended(o.work.Epoch) &&
			!(e.access.covers(o.access) && (o.work == e.work || o.work.Epoch.before(before))) {
			h.to = append(h.to, o)
		}
	}
	h.to = append(h.to, e)
	return h.to
}

// note adds bytes to the conflict with an earlier operation.
func (h *History) note(first, second entry, r Range) {
	i := slices.IndexFunc(h.found, func(c Conflict) bool { return c.First == first.work })
	if i < 0 {
		if h.synchronized(first.work, second.work) {
			return
		}
		i = len(h.found)
		h.found = append(h.found, Conflict{First: first.work, Second: second.work,
			FirstAccess: first.access, SecondAccess: second.access, Place: r})
	}
	f := &h.found[i]
	if f.FirstAccess != first.access || f.SecondAccess != second.access {
		return
	}
	f.Bytes += r.To - r.From
	if f.Place.To == r.From {
		f.Place.To = r.To
	}
}

// synchronized reports whether two operations may have ordered their accesses by themselves:
// through a flag that both access by strong accesses, with fences (PTX ISA 8.9). What they did with
// it is not known, so that nothing is reported about them.
func (h *History) synchronized(a, b *Work) bool {
	if !a.Fenced || !b.Fenced {
		return false
	}
	read := [2][]Range{b.Accesses[StrongRead], b.Accesses[StrongWrite]}
	return Overlap(a.Accesses[StrongWrite], read[0]) || Overlap(a.Accesses[StrongWrite], read[1])
}

// Overlap reports whether two ascending lists have a byte in common.
func Overlap(a, b []Range) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].To <= b[0].From:
			a = a[1:]
		case b[0].To <= a[0].From:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// Union returns the bytes that some of the lists have, each of which ascends, as Accesses are.
func Union(lists ...[]Range) []Range {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && r.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Clear forgets everything: the host has waited for all operations.
func (h *History) Clear() { clear(h.pages) }

// Forget forgets the accesses to memory that no longer exists.
func (h *History) Forget(r Range) {
	if uint64(len(h.pages)) < (r.To-r.From)/pageBytes {
		for n := range h.pages {
			if n*pageBytes < r.To && r.From < (n+1)*pageBytes {
				h.cut(n, r)
			}
		}
		return
	}
	for n := r.From / pageBytes; n*pageBytes < r.To; n++ {
		h.cut(n, r)
	}
}

// cut removes the bytes of a range from a page.
func (h *History) cut(number uint64, r Range) {
	base := number * pageBytes
	lo, hi := uint64(0), uint64(pageBytes)
	if r.From > base {
		lo = r.From - base
	}
	if r.To < base+pageBytes {
		hi = r.To - base
	}
	var out []segment
	for _, s := range h.pages[number] {
		if from, to := uint64(s.lo), min(uint64(s.hi), lo); from < to {
			out = append(out, segment{uint16(from), uint16(to), s.list})
		}
		if from, to := max(uint64(s.lo), hi), uint64(s.hi); from < to {
			out = append(out, segment{uint16(from), uint16(to), s.list})
		}
	}
	if len(out) == 0 {
		delete(h.pages, number)
		return
	}
	h.pages[number] = out
}
