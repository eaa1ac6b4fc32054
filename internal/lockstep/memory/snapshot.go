package memory

import (
	"maps"

	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// __array_snapshot(to, from): for the annotations behind it, array to holds what from held at this
// point, as the thread saw it: with its own writes, and without those of other threads since the
// last barrier. Each thread has a snapshot of its own. The kernel itself sees nothing of it, since
// other compilers make no copy.

// Snapshot executes the call in: it copies an array from an offset on.
func (m *Model) Snapshot(in *ir.Instr, to, from Place, s *State) {
	if m.snapped[in] != to.Object {
		m.snapped[in], m.targets.moved = to.Object, true
	}
	then := s.Clone()
	c := &contents{func(off smt.Term, size int) (smt.Term, bool) {
		off = m.c.Add(m.c.Sub(off, to.Offset), from.Offset)
		if old := then.snaps[from.Object]; old != nil {
			return old.read(off, size)
		}
		if !m.Written(from.Object) {
			return m.always(from.Object, off, size), true
		}
		if !m.Viewing() {
			return join.Undefined, false
		}
		return m.seen(from.Object, off, size, &then, nil)
	}}
	if s.snaps = maps.Clone(s.snaps); s.snaps == nil {
		s.snaps = map[*thread.Object]*contents{}
	}
	s.snaps[to.Object] = c
}

// joinSnaps merges snapshots: one that some paths have not made holds anything.
func (m *Model) joinSnaps(states []*State, paths []smt.Term) map[*thread.Object]*contents {
	var out map[*thread.Object]*contents
	for _, s := range states {
		for o, c := range s.snaps {
			if out[o] != nil {
				continue
			}
			if out == nil {
				out = map[*thread.Object]*contents{}
			}
			out[o] = c
			for _, t := range states {
				if t.snaps[o] != c {
					out[o] = m.joinSnap(o, states, paths)
				}
			}
		}
	}
	return out
}

// joinSnap is the snapshot that the path which is taken has made.
func (m *Model) joinSnap(o *thread.Object, states []*State, paths []smt.Term) *contents {
	for _, s := range states {
		if s.snaps[o] == nil {
			return unknown
		}
	}
	return m.choice(states, paths, func(s *State, off smt.Term, size int) (smt.Term, bool) {
		return s.snaps[o].read(off, size)
	})
}

// headerSnaps are the snapshots at the header of a loop in any iteration: those that the loop does
// not make.
func (m *Model) headerSnaps(l *kernel.Loop,
	at map[*thread.Object]*contents) map[*thread.Object]*contents {
	out := maps.Clone(at)
	for _, b := range l.Blocks {
		for _, in := range m.k.Func().Blocks[b].Instrs {
			if !kernel.IsCallOf(in, kernel.SnapshotCall) {
				continue
			}
			if out == nil {
				out = map[*thread.Object]*contents{}
			}
			if o := m.snapped[in]; o != nil { // else this is the first pass
				out[o] = unknown
			}
		}
	}
	return out
}

// renamedSnaps are snapshots under a renaming of symbols.
func (m *Model) renamedSnaps(at map[*thread.Object]*contents,
	by *smt.Substitution) map[*thread.Object]*contents {
	out := maps.Clone(at)
	for o, c := range out {
		out[o] = m.renamedContents(c, by)
	}
	return out
}
