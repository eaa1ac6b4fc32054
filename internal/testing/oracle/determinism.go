package oracle

import "math/rand/v2"

// Determinism explores the executions of a PhaseProgram as Phases does, but looks at phases alone
// and stops at the first execution that differs from the others. It keeps one phase for each
// command, and of a state only what decides its future, so that it is for millions of programs.

// detState is a configuration without the past: positions, objects, agents.
type detState struct {
	at     [4]uint8
	parked [4]uint8 // 0: runs, 1: waits at bar.sync 0, n+2: waits at named barrier n
	bars   [2]detBar
	named  [2]uint8 // arrivals of the current generation
	gen    [2]uint8
	agents uint32
	// threads that have arrived at the barrier of the cluster, in the generation at hand and in the
	// one before, and have not waited for that
	now, done uint8
	cluster   uint8 // complete generations
}

// detBar is an mbarrier.
type detBar struct {
	phase             uint8
	pending, expected int8
	tx                int16
}

// detSearch explores a program.
type detSearch struct {
	prog  *PhaseProgram
	first [4]int
	refs  []Ref
	phase []int // of each command; unset before its first execution
	bad   bool
	seen  map[detState]bool
	todo  []detState
}

const unset = -2

// Deterministic reports whether no execution of the program deadlocks, has an excess arrival or a
// lap, and each command takes part in the same phase or generation in all of them. A program has at
// most 4 threads, 2 mbarriers, 2 named barriers and 32 commands. decided is false beyond limit
// states. In a cluster it also reports that no access to the memory of a block comes when all of
// its threads may have ended, and that each thread arrives at the barrier of the cluster once in
// each generation and waits for that.
func Deterministic(p *PhaseProgram, limit int) (yes, decided bool) {
	s := &detSearch{prog: p, seen: make(map[detState]bool)}
	var start detState
	for i, n := range p.Counts {
		start.bars[i] = detBar{pending: int8(n), expected: int8(n)}
	}
	for t, list := range p.Threads {
		s.first[t] = len(s.refs)
		for k := range list {
			s.refs = append(s.refs, Ref{t, k})
			s.phase = append(s.phase, unset, unset)
		}
	}
	s.push(start)
	for len(s.todo) > 0 && !s.bad {
		st := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if len(s.seen) > limit {
			return false, false
		}
		s.expand(&st)
	}
	return !s.bad, true
}

func (s *detSearch) push(st detState) {
	if !s.seen[st] {
		s.seen[st] = true
		s.todo = append(s.todo, st)
	}
}

// note records the phase of a command, or of its agent (part 1).
func (s *detSearch) note(id, part, phase int) {
	if was := &s.phase[2*id+part]; *was == unset {
		*was = phase
	} else if *was != phase {
		s.bad = true
	}
}

// expand executes each possible step of a state.
func (s *detSearch) expand(st *detState) {
	steps, ended := 0, true
	for t, list := range s.prog.Threads {
		if int(st.at[t]) == len(list) {
			continue
		}
		ended = false
		if st.parked[t] != 0 {
			continue
		}
		n := *st
		if s.reaches(&n, t, list[st.at[t]]); s.bad {
			return
		}
		if s.step(&n, t, list[st.at[t]], s.first[t]+int(st.at[t])) {
			s.complete(&n)
			steps++
			s.push(n)
		}
		if s.bad {
			return
		}
	}
	for id := range s.refs {
		if st.agents>>id&1 != 0 {
			n := *st
			r := s.refs[id]
			if c := s.prog.Threads[r.Thread][r.At]; s.ends(&n, c.Bar, r.Thread) || s.apart(&n, c) {
				s.bad = true
				return
			}
			s.signal(&n, id)
			steps++
			s.push(n)
		}
	}
	s.bad = s.bad || steps == 0 && !ended
}

// step executes a command of a thread, and reports whether that is possible.
func (s *detSearch) step(st *detState, t int, c PhaseCommand, id int) bool {
	m := &st.bars[c.Bar&1]
	switch c.Op {
	case PhaseArrive, PhaseExpectArrive, PhaseDrop:
		n := int8(c.Count)
		if c.Op == PhaseExpectArrive {
			n = 1
			m.tx += int16(c.Bytes)
		}
		if n > m.pending || c.NoComplete && n == m.pending && m.tx == 0 {
			s.bad = true
			return false
		}
		s.note(id, 0, int(m.phase))
		m.pending -= n
		if c.Op == PhaseDrop {
			m.expected -= n
		}
		m.complete()
	case PhaseExpect:
		s.note(id, 0, int(m.phase))
		m.tx += int16(c.Bytes)
	case PhaseCompleteTx:
		s.note(id, 0, int(m.phase))
		m.tx -= int16(c.Bytes)
		m.complete()
	case PhaseCopy, PhaseCopiesNoInc:
		st.agents |= 1 << id
	case PhaseCopies:
		s.note(id, 0, int(m.phase))
		m.pending++
		st.agents |= 1 << id
	case PhaseWait:
		if int(m.phase&1) == c.Parity {
			return false
		}
		s.note(id, 0, int(m.phase)-1)
	case PhaseWaitState:
		state := s.state(t, int(st.at[t]), c.Bar)
		if int(m.phase) <= state {
			return false
		}
		s.bad = s.bad || state >= 0 && int(m.phase) > state+1
	case PhaseSync:
		st.parked[t] = 1
		s.together(st)
		return true
	case PhaseBarSync, PhaseBarArrive:
		s.atNamed(st, t, c, id)
		return true
	case PhaseClusterArrive:
		s.note(id, 0, int(st.cluster))
		s.bad = s.bad || (st.now|st.done)>>t&1 != 0
		st.now |= 1 << t
	case PhaseClusterWait:
		if s.bad = s.bad || (st.now|st.done)>>t&1 == 0; st.done>>t&1 == 0 {
			return false
		}
		st.done &^= 1 << t
	}
	st.at[t]++
	return true
}

// state is the phase of the thread's last arrival at an object before a command; -1: none.
func (s *detSearch) state(t, before, bar int) int {
	for k := before - 1; k >= 0; k-- {
		switch c := s.prog.Threads[t][k]; c.Op {
		case PhaseArrive, PhaseExpectArrive, PhaseDrop:
			if c.Bar == bar {
				return s.phase[2*(s.first[t]+k)]
			}
		}
	}
	return -1
}

func (m *detBar) complete() {
	if m.pending == 0 && m.tx == 0 {
		m.phase++
		m.pending = m.expected
	}
}

// signal is the end of an agent.
func (s *detSearch) signal(st *detState, id int) {
	r := s.refs[id]
	c := s.prog.Threads[r.Thread][r.At]
	m := &st.bars[c.Bar]
	st.agents &^= 1 << id
	s.note(id, 1, int(m.phase))
	if c.Op == PhaseCopy {
		m.tx -= int16(c.Bytes)
	} else if m.pending == 0 {
		s.bad = true
	} else {
		m.pending--
	}
	m.complete()
}

// together ends bar.sync of all threads once they have reached it.
func (s *detSearch) together(st *detState) {
	for t := range s.prog.Threads {
		if st.parked[t] != 1 {
			return
		}
	}
	for t := range s.prog.Threads {
		st.parked[t] = 0
		st.at[t]++
	}
}

// atNamed registers a thread at a named barrier.
func (s *detSearch) atNamed(st *detState, t int, c PhaseCommand, id int) {
	s.note(id, 0, int(st.gen[c.Bar]))
	st.named[c.Bar]++
	if c.Op == PhaseBarSync {
		st.parked[t] = uint8(c.Bar) + 2
	} else {
		st.at[t]++
	}
	if int(st.named[c.Bar]) < c.Count {
		return
	}
	for u := range s.prog.Threads {
		if st.parked[u] == uint8(c.Bar)+2 {
			st.parked[u] = 0
			st.at[u]++
		}
	}
	st.named[c.Bar] = 0
	st.gen[c.Bar]++
}

// RandomSync returns a random program without accesses, of 2 to 4 threads over 1 or 2 mbarriers and
// named barriers. A quarter are arbitrary; the others are written phase by phase, so that most of
// them end, and then spoiled, or not.
func RandomSync(rnd *rand.Rand) *PhaseProgram {
	p := &PhaseProgram{Threads: make([][]PhaseCommand, 2+rnd.IntN(3))}
	for range 1 + rnd.IntN(2) {
		p.Counts = append(p.Counts, 1+rnd.IntN(3))
	}
	if rnd.IntN(4) == 0 {
		for t := range p.Threads {
			for range 1 + rnd.IntN(4) {
				p.Threads[t] = append(p.Threads[t], randomSync(rnd, p))
			}
		}
		return p
	}
	w := &syncWriter{rnd: rnd, p: p, expected: append([]int(nil), p.Counts...),
		phase: make([]int, len(p.Counts))}
	for range 1 + rnd.IntN(5) {
		w.round()
	}
	for range rnd.IntN(3) {
		w.spoil()
	}
	return p
}

// randomSync is an arbitrary command.
func randomSync(rnd *rand.Rand, p *PhaseProgram) PhaseCommand {
	ops := [...]PhaseOp{PhaseArrive, PhaseArrive, PhaseExpectArrive, PhaseExpect, PhaseCopy, PhaseWait,
		PhaseWait, PhaseWaitState, PhaseDrop, PhaseCompleteTx, PhaseCopies, PhaseCopiesNoInc}
	c := PhaseCommand{Op: ops[rnd.IntN(len(ops))], Bar: rnd.IntN(len(p.Counts)), Count: 1,
		Bytes: 16 * (1 + rnd.IntN(2)), Parity: rnd.IntN(2), Relaxed: rnd.IntN(4) == 0}
	if c.Op == PhaseArrive && rnd.IntN(4) == 0 {
		c.Count = 2
	}
	return c
}

// syncWriter writes a program phase by phase.
type syncWriter struct {
	rnd             *rand.Rand
	p               *PhaseProgram
	expected, phase []int
	named           [2]int // counts of the named barriers; 0: not used so far
}

const maxSync = 7 // commands of a thread

func (w *syncWriter) put(t int, c PhaseCommand) {
	if len(w.p.Threads[t]) < maxSync {
		w.p.Threads[t] = append(w.p.Threads[t], c)
	}
}

func (w *syncWriter) thread() int { return w.rnd.IntN(len(w.p.Threads)) }

// round writes a phase of an mbarrier or a generation of a named barrier: who takes part in it, and
// who waits for it.
func (w *syncWriter) round() {
	n := len(w.p.Threads)
	if w.p.Home == nil && w.rnd.IntN(5) == 0 {
		bar, waits := w.rnd.IntN(2), false
		if w.named[bar] == 0 {
			w.named[bar] = 2 + w.rnd.IntN(n-1)
		}
		members := w.rnd.Perm(n)[:w.named[bar]]
		for i, t := range members {
			op := PhaseBarSync
			if w.rnd.IntN(3) == 0 && (waits || i+1 < len(members)) {
				op = PhaseBarArrive
			}
			waits = waits || op == PhaseBarSync
			w.put(t, PhaseCommand{Op: op, Bar: bar, Count: len(members)})
		}
		return
	}
	bar := w.rnd.IntN(len(w.p.Counts))
	if w.expected[bar] <= 0 {
		return
	}
	relaxed := w.rnd.IntN(4) == 0
	one := PhaseCommand{Op: PhaseArrive, Bar: bar, Count: 1, Relaxed: relaxed}
	bytes := 0
	if w.rnd.IntN(2) == 0 {
		bytes = 16 * (1 + w.rnd.IntN(3))
	}
	w.before(bar, bytes)
	arrived := make(map[int]bool)
	left := w.expected[bar]
	for first := true; left > 0; first = false {
		t, c := w.thread(), one
		arrived[t] = true
		switch k := w.rnd.IntN(12); {
		case first && bytes > 0 && k < 8:
			c.Op, c.Bytes = PhaseExpectArrive, bytes
		case first && bytes > 0:
			w.put(t, PhaseCommand{Op: PhaseExpect, Bar: bar, Bytes: bytes})
		case k == 0 && left > 1:
			c.Count = 2
		case k == 1:
			c.Op = PhaseDrop
			w.expected[bar]--
		case k == 2 && !w.p.remote(t, bar):
			c = PhaseCommand{Op: PhaseCopiesNoInc, Bar: bar}
		case k == 3 && !w.p.remote(t, bar):
			w.put(t, PhaseCommand{Op: PhaseCopies, Bar: bar})
		case k == 4 && !relaxed && !w.p.remote(t, bar):
			c.NoComplete = true
		}
		left -= max(c.Count, 1)
		w.put(t, c)
	}
	for ; bytes > 0; bytes -= 16 {
		c := PhaseCommand{Op: PhaseCopy, Bar: bar, Bytes: 16}
		if bytes > 16 && w.rnd.IntN(2) == 0 {
			c.Bytes = 32
			bytes -= 16
		}
		if w.rnd.IntN(6) == 0 {
			c.Op = PhaseCompleteTx
		}
		w.put(w.thread(), c)
	}
	for t := range n {
		switch {
		case w.p.remote(t, bar) || w.rnd.IntN(2) == 0:
		case arrived[t] && w.rnd.IntN(3) == 0:
			w.put(t, PhaseCommand{Op: PhaseWaitState, Bar: bar})
		default:
			w.put(t, PhaseCommand{Op: PhaseWait, Bar: bar, Parity: w.phase[bar] & 1, Relaxed: relaxed})
		}
	}
	w.phase[bar]++
}

// before writes, sometimes, an expect-tx and its complete-tx ahead of the arrivals.
func (w *syncWriter) before(bar, bytes int) {
	if bytes == 0 || w.rnd.IntN(6) > 0 {
		return
	}
	n := 16 * (1 + w.rnd.IntN(2))
	w.put(w.thread(), PhaseCommand{Op: PhaseExpect, Bar: bar, Bytes: n})
	w.put(w.thread(), PhaseCommand{Op: PhaseCopy, Bar: bar, Bytes: n})
}

// spoil leaves a command out, exchanges it with the next one, or changes it.
func (w *syncWriter) spoil() {
	t := w.thread()
	list := w.p.Threads[t]
	if len(list) < 2 {
		return
	}
	i := w.rnd.IntN(len(list) - 1)
	switch w.rnd.IntN(5) {
	case 0:
		w.p.Threads[t] = append(list[:i], list[i+1:]...)
	case 1:
		list[i], list[i+1] = list[i+1], list[i]
	case 2:
		list[i].Parity ^= 1
	case 3:
		if list[i].Bytes > 0 {
			list[i].Bytes = 48 - min(list[i].Bytes, 32)
		}
	default:
		list[i] = randomSync(w.rnd, w.p)
	}
}
