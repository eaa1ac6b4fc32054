package lockstep

import (
	"maps"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// __array_snapshot(to, from): for the annotations behind it, the array to holds what from held when the thread came by, as the thread
// saw it: with what it had written itself, and without what other threads had written since the last barrier. Each thread has a
// snapshot of its own; the kernel itself finds nothing of it in the array, since another compiler makes no copy.

// snapshot executes it.
func (x *exec) snapshot(in *ir.Instr, st *state) {
	to, toOff, ok := x.baseAndOffset(x.now(x.argument(in, 0, 64, st)))
	from, fromOff, known := x.baseAndOffset(x.now(x.argument(in, 1, 64, st)))
	switch {
	case x.settling && !(ok && known):
		return
	case !ok || !known:
		x.unsupported(in, "__array_snapshot of a pointer of which the array is not known")
	case !x.settling && (x.dirty.written[to] || x.dirty.any[to.Space]):
		x.unsupported(in, "__array_snapshot to an array that the kernel writes")
	case x.guard != smt.True:
		x.unsupported(in, "__array_snapshot under a condition of its own instruction")
	}
	if x.snapped[in] != to {
		x.snapped[in], x.changed = to, true
	}
	then := st.clone()
	m := &memory{func(off smt.Term, size int) (smt.Term, bool) {
		off = x.c.Add(x.c.Sub(off, toOff), fromOff)
		if old := then.snaps[from]; old != nil {
			return old.read(off, size)
		}
		if !x.dirty.written[from] && !x.dirty.any[from.Space] {
			return x.ever(from, off, size), true
		}
		if !x.viewing() {
			return undef, false
		}
		return x.seen(from, off, size, then, nil)
	}}
	if st.snaps = maps.Clone(st.snaps); st.snaps == nil {
		st.snaps = map[*Object]*memory{}
	}
	st.snaps[to] = m
}

// readOr is what memory holds at an offset, or anything.
func (x *exec) readOr(m *memory, off smt.Term, size int, name string) smt.Term {
	if v, ok := m.read(off, size); ok {
		return v
	}
	return x.fresh(name, 8*size)
}

// anyMemory is a memory of which nothing is known.
var anyMemory = &memory{func(smt.Term, int) (smt.Term, bool) { return undef, false }}

// joinSnaps merges snapshots: one that some ways have not made holds anything.
func (x *exec) joinSnaps(states []*state, ways []smt.Term) map[*Object]*memory {
	var out map[*Object]*memory
	for _, s := range states {
		for o, m := range s.snaps {
			if out[o] != nil {
				continue
			}
			if out == nil {
				out = map[*Object]*memory{}
			}
			out[o] = m
			for _, t := range states {
				if t.snaps[o] != m {
					out[o] = x.chosen(o, states, ways)
				}
			}
		}
	}
	return out
}

// chosen is the snapshot that the way has made.
func (x *exec) chosen(o *Object, states []*state, ways []smt.Term) *memory {
	for _, s := range states {
		if s.snaps[o] == nil {
			return anyMemory
		}
	}
	return &memory{func(off smt.Term, size int) (smt.Term, bool) {
		values := make(map[*state]smt.Term, len(states))
		for _, s := range states {
			v, ok := s.snaps[o].read(off, size)
			if !ok {
				return undef, false
			}
			values[s] = v
		}
		return x.merge(states, ways, func(s *state) smt.Term { return values[s] }, nil), true
	}}
}

// keptSnaps are those that a loop does not make.
func (x *exec) keptSnaps(l *ir.Loop, at map[*Object]*memory) map[*Object]*memory {
	out := maps.Clone(at)
	for _, b := range l.Blocks {
		for _, in := range x.f.Blocks[b].Instrs {
			if !isCallOf(in, annotationPrefix+"snapshot") {
				continue
			}
			if out == nil {
				out = map[*Object]*memory{}
			}
			if o := x.snapped[in]; o != nil { // else this is the first pass
				out[o] = anyMemory
			}
		}
	}
	return out
}

// snapsAt are snapshots at another iteration of a loop.
func (x *exec) snapsAt(at map[*Object]*memory, s *smt.Substitution) map[*Object]*memory {
	out := maps.Clone(at)
	for o, m := range out {
		out[o] = x.renamedMemory(m, s)
	}
	return out
}
