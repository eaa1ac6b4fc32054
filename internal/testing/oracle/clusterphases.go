package oracle

import "math/rand/v2"

// Clusters of two blocks, for Deterministic.

// over reports whether all threads of a block have ended.
func (s *detSearch) over(st *detState, block int) bool {
	for t, list := range s.prog.Threads {
		if s.prog.Block[t] == block && int(st.at[t]) < len(list) {
			return false
		}
	}
	return true
}

// ends reports whether the block of an mbarrier is not that of a thread, and is over.
func (s *detSearch) ends(st *detState, bar, t int) bool {
	return s.prog.remote(t, bar) && s.over(st, s.prog.Home[bar])
}

// apart reports whether the block is over that a copy writes, if that is not the one of its mbarrier.
func (s *detSearch) apart(st *detState, c PhaseCommand) bool {
	return c.Apart && s.over(st, 1-s.prog.Home[c.Bar])
}

// reaches looks at the life of the block that a command accesses.
func (s *detSearch) reaches(st *detState, t int, c PhaseCommand) {
	switch c.Op {
	case PhaseTouch:
		s.bad = s.bad || s.over(st, 1-s.prog.Block[t])
	case PhaseArrive, PhaseExpectArrive, PhaseExpect, PhaseDrop, PhaseCompleteTx, PhaseCopy:
		s.bad = s.bad || s.ends(st, c.Bar, t) || s.apart(st, c)
	}
}

// complete ends the generation of the barrier of the cluster if all threads have arrived or ended.
func (s *detSearch) complete(st *detState) {
	for t, list := range s.prog.Threads {
		if int(st.at[t]) < len(list) && st.now>>t&1 == 0 {
			return
		}
	}
	if st.now != 0 {
		st.done, st.now = st.done|st.now, 0
		st.cluster++
	}
}

// RandomCluster returns a random program as RandomSync does, of two blocks of a cluster. Waits, and
// arrivals behind copies, are at objects of the block of their thread (PTX ISA 9.7.13.15.15, .16).
// Some copies write the other block than that of their mbarrier (9.7.9.27.1.2).
func RandomCluster(rnd *rand.Rand) *PhaseProgram {
	p := &PhaseProgram{Threads: make([][]PhaseCommand, 2+rnd.IntN(3))}
	for t := range p.Threads {
		p.Block = append(p.Block, min(t, 1))
		if t > 1 {
			p.Block[t] = rnd.IntN(2)
		}
	}
	for range 1 + rnd.IntN(2) {
		p.Counts, p.Home = append(p.Counts, 1+rnd.IntN(3)), append(p.Home, rnd.IntN(2))
	}
	w := &syncWriter{rnd: rnd, p: p, expected: append([]int(nil), p.Counts...),
		phase: make([]int, len(p.Counts))}
	if rnd.IntN(6) == 0 {
		for t := range p.Threads {
			for range 1 + rnd.IntN(4) {
				p.Threads[t] = append(p.Threads[t], randomSync(rnd, p))
			}
		}
	} else {
		for range 1 + rnd.IntN(4) {
			if rnd.IntN(3) == 0 {
				w.clusterRound()
			}
			w.round()
		}
	}
	if rnd.IntN(3) > 0 {
		w.clusterRound()
	}
	for range rnd.IntN(3) {
		w.spoil()
	}
	for t := range p.Threads {
		for k := range p.Threads[t] {
			p.Threads[t][k] = w.legal(t, p.Threads[t][k])
		}
	}
	return p
}

// clusterRound writes a generation of the barrier of the cluster, sometimes with an access to the
// other block before it or between an arrival and its wait.
func (w *syncWriter) clusterRound() {
	touch := func(t int) {
		if w.rnd.IntN(4) == 0 {
			w.put(t, PhaseCommand{Op: PhaseTouch})
		}
	}
	for t := range w.p.Threads {
		if len(w.p.Threads[t])+2 > maxSync || w.rnd.IntN(24) == 0 {
			continue // it ends before, or stays away
		}
		touch(t)
		w.put(t, PhaseCommand{Op: PhaseClusterArrive})
		if len(w.p.Threads[t])+2 <= maxSync {
			touch(t)
		}
		w.put(t, PhaseCommand{Op: PhaseClusterWait})
	}
}

// legal replaces a command that reaches no object of another block by one that does, and a named
// barrier, whose members may be in several blocks, by an access.
func (w *syncWriter) legal(t int, c PhaseCommand) PhaseCommand {
	switch c.Op {
	case PhaseWait, PhaseWaitState, PhaseCopies, PhaseCopiesNoInc:
		if w.p.remote(t, c.Bar) {
			return PhaseCommand{Op: PhaseTouch}
		}
	case PhaseBarSync, PhaseBarArrive, PhaseSync:
		return PhaseCommand{Op: PhaseTouch}
	case PhaseCopy:
		c.Apart = w.rnd.IntN(4) == 0
	}
	return c
}
