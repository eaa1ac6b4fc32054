package explore

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// group are the symmetries of a program that are used, and what they say about its accesses.
type group struct {
	generators []*symmetry
	perms      [][]int // all permutations that they generate, the identity first
	closed     map[access]bool
	seen       map[[16]byte]bool // the states of this attempt
}

// newGroup returns the group that symmetries generate: of those in order, as many as keep it small.
func newGroup(threads int, symmetries []*symmetry) *group {
	identity := make([]int, threads)
	for i := range identity {
		identity[i] = i
	}
	g := &group{perms: [][]int{identity}, closed: map[access]bool{}}
	for _, s := range symmetries {
		list := append(slices.Clone(g.generators), s)
		if perms := generate(identity, list); perms != nil {
			if len(perms) > len(g.perms) {
				g.perms = perms
			}
			g.generators = list
		}
	}
	return g
}

// generate returns the permutations that generators generate; nil if they are too many.
func generate(identity []int, generators []*symmetry) [][]int {
	perms := [][]int{identity}
	have := map[string]bool{key(identity): true}
	for i := 0; i < len(perms); i++ {
		for _, s := range generators {
			q := make([]int, len(identity))
			for t := range q {
				q[t] = s.to[perms[i][t]]
			}
			if k := key(q); !have[k] {
				have[k] = true
				perms = append(perms, q)
			}
		}
		if len(perms) > maxGroup {
			return nil
		}
	}
	return perms
}

// key is a permutation as a key.
func key(perm []int) string {
	b := make([]byte, len(perm))
	for i, v := range perm {
		b[i] = byte(v)
	}
	return string(b)
}

// without returns the group without generators for which drop holds.
func (g *group) without(threads int, drop map[*symmetry]bool) *group {
	var rest []*symmetry
	for _, s := range g.generators {
		if !drop[s] {
			rest = append(rest, s)
		}
	}
	return newGroup(threads, rest)
}

// mirror takes note of an access and of its images: where they write, and which locations are the
// images of which. A symmetry that an access contradicts is dropped, and the exploration begins
// anew.
func (x *explorer) mirror(st *state, i int, addr int64) {
	g := x.group
	first := access{i, st.threads[i].pc, addr}
	if g == nil || g.closed[first] {
		return
	}
	drop := map[*symmetry]bool{}
	g.closed[first] = true
	for list := []access{first}; len(list) > 0; {
		a := list[len(list)-1]
		list = list[:len(list)-1]
		in := &x.prog.Threads[a.thread].Code[a.pc]
		from, err := x.prog.Locate(a.thread, in, a.addr+in.Offset)
		if err != nil {
			continue
		}
		for _, s := range g.generators {
			image := access{s.to[a.thread], a.pc, a.addr}
			fixed, isKnown := s.addrs[a]
			if isKnown {
				image.addr = fixed
			}
			to, err := x.prog.Locate(image.thread, in, image.addr+in.Offset)
			p, ok := s.relate(from, to)
			if err != nil || !ok || !isKnown && (s.mixed[p] || from.Value != to.Value) {
				drop[s] = true
				continue
			}
			if g.closed[image] {
				continue
			}
			g.closed[image] = true
			list = append(list, image)
			n := x.number(in, to)
			if (in.Kind == Store || in.Kind == Update) && x.addWriter(writer{image.thread, image.pc}, n) {
				x.void = x.void || x.shared[n] // as in writer
			}
		}
	}
	if len(drop) > 0 {
		x.group, x.void = g.without(len(x.prog.Threads), drop), true
	}
}

// share makes the accesses to a location, and to its images, events.
func (x *explorer) share(loc int) {
	x.shared[loc] = true
	if x.group == nil {
		return
	}
	for list := []int{loc}; len(list) > 0; {
		l := &x.cells[list[len(list)-1]]
		list = list[:len(list)-1]
		for _, s := range x.group.generators {
			to, ok := s.loc[place{l.Area, l.Addr, l.Size}]
			if !ok {
				continue
			}
			for _, n := range x.index[granule{to.area, to.addr / 8}] {
				if c := &x.cells[n]; c.Addr == to.addr && c.Size == to.size && !x.shared[n] {
					x.shared[n] = true
					list = append(list, n)
				}
			}
		}
	}
}

// visited reports whether a state is the image of one that was visited, and takes note of it. What
// remains to be explored of a state depends on what is in its key: how far each thread is, what its
// reads read from or do not, and the orders that were decided. Values and locations follow.
func (x *explorer) visited(st *state, d *memmodel.Derived) bool {
	if x.group == nil || len(x.group.perms) == 1 {
		return false
	}
	events := st.graph.Events
	byThread, index := make([][]int, len(st.threads)), make([]int, len(events))
	for e := range events {
		if t := events[e].Thread; t >= 0 {
			index[e] = len(byThread[t])
			byThread[t] = append(byThread[t], e)
		}
	}
	later := make([]memmodel.Set, len(events))
	for i := range st.arrivals {
		later[st.arrivals[i].event] = st.arrivals[i].later
	}
	var least [16]byte
	var buf []byte
	inverse := make([]int, len(st.threads))
	for k, perm := range x.group.perms {
		for t, u := range perm {
			inverse[u] = t
		}
		name := func(e int) uint32 { // an initial write is that of the location of its reader
			if events[e].Thread < 0 {
				return 1
			}
			return 2 + uint32(perm[events[e].Thread])<<16 + uint32(index[e])
		}
		set := func(each func(func(int) bool)) {
			var names []uint32
			for e := range each {
				names = append(names, name(e))
			}
			slices.Sort(names)
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(names)))
			for _, n := range names {
				buf = binary.LittleEndian.AppendUint32(buf, n)
			}
		}
		if buf = append(buf[:0], 0); d != nil {
			buf[0] = 1
		}
		for _, t := range inverse {
			buf = append(buf, byte(st.threads[t].status))
			buf = binary.LittleEndian.AppendUint32(buf, uint32(st.threads[t].pc))
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(byThread[t])))
			for _, e := range byThread[t] {
				source := uint32(0)
				if w := st.graph.RF[e]; w != memmodel.Open {
					source = name(w)
				}
				buf = binary.LittleEndian.AppendUint32(buf, source)
				set(st.not[e].All)
				set(later[e].All)
				if gen := events[e].Generation; gen > 0 {
					set(func(yield func(int) bool) {
						for o := range events {
							if events[o].Generation == gen && !yield(o) {
								return
							}
						}
					})
				}
				if d != nil {
					set(func(yield func(int) bool) { x.decided(st, d, e, yield) })
				}
			}
		}
		sum := sha256.Sum256(buf)
		if h := [16]byte(sum[:16]); k == 0 || slices.Compare(h[:], least[:]) < 0 {
			least = h
		}
	}
	if x.group.seen[least] {
		x.stats.Symmetric++
		return true
	}
	x.group.seen[least] = true
	return false
}

// decided yields the events that follow one in coherence order, or in Fence-SC order.
func (x *explorer) decided(st *state, d *memmodel.Derived, e int, yield func(int) bool) {
	events := st.graph.Events
	row := d.CO.Row(e)
	fence := events[e].Order == event.SeqCst
	if fence {
		row = d.Base.Row(e)
	}
	for o := range row.All {
		if events[o].Thread >= 0 && (!fence || events[o].Order == event.SeqCst) && !yield(o) {
			return
		}
	}
}
