package oracle

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Programs over mbarriers: threads that arrive, expect bytes, issue bulk copies, wait and access
// variables in shared memory. A copy is an agent of its own, which accesses memory and then counts
// its bytes at an mbarrier (PTX ISA 9.7.13.15, 9.7.9.25.4.1, 8.9.1.1).
//
// Phases explores every interleaving of threads and agents. It keeps for each command the set of
// commands that precede it, once in base causality order (C) and once in proxy-preserved base
// causality order (P, 8.9.5), as sets and not as clocks. It is meant to be obviously right, and is
// for a handful of commands only.

// PhaseOp is a command of a thread of a PhaseProgram.
type PhaseOp uint8

// The commands. Waits are blocking: a loop around mbarrier.try_wait.
const (
	PhaseRead         PhaseOp = iota // reads Var by the generic proxy
	PhaseWrite                       // writes Var by the generic proxy
	PhaseArrive                      // mbarrier.arrive with Count
	PhaseExpectArrive                // mbarrier.arrive.expect_tx of Bytes, which counts as 1
	PhaseExpect                      // mbarrier.expect_tx of Bytes
	PhaseCopy                        // bulk copy to Var that completes Bytes at Bar
	PhaseWait                        // waits by Parity
	PhaseWaitState                   // waits for the phase of the thread's last arrival at Bar
	PhaseFence                       // fence.proxy.async; of Own, its half fence.proxy.async::generic.release
	PhaseRelease                     // fence.release
	PhaseAcquire                     // fence.acquire
	PhaseSync                        // bar.sync of all threads
	PhaseDrop                        // mbarrier.arrive_drop with Count
	PhaseCompleteTx                  // mbarrier.complete_tx of Bytes
	PhaseCopies                      // cp.async.mbarrier.arrive, behind no copy
	PhaseCopiesNoInc                 // the same with .noinc
	PhaseBarSync                     // bar.sync of Count threads at the named barrier Bar
	PhaseBarArrive                   // bar.arrive there
	// PhaseClusterArrive and PhaseClusterWait are the barrier of the cluster, PhaseTouch is an access
	// to the shared memory of the other block. Only Deterministic knows them.
	PhaseClusterArrive
	PhaseClusterWait
	PhaseTouch
)

// PhaseCommand is one command. Only the fields that its Op names have a meaning.
type PhaseCommand struct {
	Op      PhaseOp
	Bar     int // the mbarrier, or the named barrier
	Count   int
	Bytes   int
	Parity  int
	Var     int
	Relaxed bool // of an arrival or a wait: .relaxed, and else .release or .acquire
	// Own restricts a fence to shared memory, a release to that of its own block (.sync_restrict). All
	// variables are there, in one block.
	Own bool
	// NoComplete is .noComplete of PhaseArrive: it is in error if it completes the phase.
	NoComplete bool
	// Apart says of PhaseCopy that it writes the shared memory of the other block than that of the
	// mbarrier, with which it forms a pair (.cta_group::2). Only Deterministic knows it.
	Apart bool
}

// String prints a command in the words of PTX.
func (c PhaseCommand) String() string {
	relaxed := ""
	if c.Relaxed {
		relaxed = ".relaxed"
	}
	switch c.Op {
	case PhaseRead:
		return fmt.Sprintf("read x%d", c.Var)
	case PhaseWrite:
		return fmt.Sprintf("write x%d", c.Var)
	case PhaseArrive:
		if c.NoComplete {
			return fmt.Sprintf("arrive.noComplete m%d, %d", c.Bar, c.Count)
		}
		return fmt.Sprintf("arrive%s m%d, %d", relaxed, c.Bar, c.Count)
	case PhaseExpectArrive:
		return fmt.Sprintf("arrive.expect_tx%s m%d, %d", relaxed, c.Bar, c.Bytes)
	case PhaseExpect:
		return fmt.Sprintf("expect_tx m%d, %d", c.Bar, c.Bytes)
	case PhaseCopy:
		if c.Apart {
			return fmt.Sprintf("copy to the other block, %d, m%d", c.Bytes, c.Bar)
		}
		return fmt.Sprintf("copy x%d, %d, m%d", c.Var, c.Bytes, c.Bar)
	case PhaseWait:
		return fmt.Sprintf("wait%s.parity m%d, %d", relaxed, c.Bar, c.Parity)
	case PhaseWaitState:
		return fmt.Sprintf("wait%s m%d", relaxed, c.Bar)
	case PhaseFence, PhaseRelease, PhaseAcquire:
		name := map[PhaseOp]string{PhaseFence: "fence.proxy.async", PhaseRelease: "fence.release",
			PhaseAcquire: "fence.acquire"}[c.Op]
		if c.Own {
			name += ".sync_restrict"
		}
		return name
	case PhaseDrop:
		return fmt.Sprintf("arrive_drop%s m%d, %d", relaxed, c.Bar, c.Count)
	case PhaseCompleteTx:
		return fmt.Sprintf("complete_tx m%d, %d", c.Bar, c.Bytes)
	case PhaseCopies:
		return fmt.Sprintf("cp.async.mbarrier.arrive m%d", c.Bar)
	case PhaseCopiesNoInc:
		return fmt.Sprintf("cp.async.mbarrier.arrive.noinc m%d", c.Bar)
	case PhaseBarSync:
		return fmt.Sprintf("bar.sync %d, %d", c.Bar, c.Count)
	case PhaseBarArrive:
		return fmt.Sprintf("bar.arrive %d, %d", c.Bar, c.Count)
	case PhaseClusterArrive:
		return "barrier.cluster.arrive"
	case PhaseClusterWait:
		return "barrier.cluster.wait"
	case PhaseTouch:
		return "touch"
	}
	return "bar.sync"
}

// PhaseProgram is a block: the counts of its mbarriers, which are initialised before it begins, and
// one list of commands for each thread. All threads together have at most 64 commands.
type PhaseProgram struct {
	Counts  []int
	Threads [][]PhaseCommand
	// Of a cluster of two blocks: the block of each thread, and that of each mbarrier; else nil.
	Block, Home []int
}

// remote reports whether an mbarrier is in the other block than a thread.
func (p *PhaseProgram) remote(t, bar int) bool {
	return p.Home != nil && p.Home[bar] != p.Block[t]
}

// String prints the program, one thread a line.
func (p *PhaseProgram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "counts %v\n", p.Counts)
	if p.Home != nil {
		fmt.Fprintf(&b, "blocks %v, of mbarriers %v\n", p.Block, p.Home)
	}
	for i, t := range p.Threads {
		words := make([]string, len(t))
		for k, c := range t {
			words[k] = c.String()
		}
		fmt.Fprintf(&b, "T%d: %s\n", i, strings.Join(words, "; "))
	}
	return b.String()
}

// PhaseRace is two commands that race; A comes first in the text of the program. Proxy says that
// base causality orders them in the execution, so that only a proxy fence is missing.
type PhaseRace struct {
	A, B  Ref
	Proxy bool
}

// PhaseResult is what some execution of a program may do.
type PhaseResult struct {
	// Deadlock: some execution has threads that wait for ever. Ends: some has none.
	Deadlock, Ends bool
	// Excess: an arrival may find that its phase has no arrival left, or complete it with
	// .noComplete.
	Excess bool
	// Lap: a wait by state may find that the object is two phases ahead of the state, which the ISA
	// leaves undefined (9.7.13.15.16).
	Lap bool
	// Deterministic: no execution deadlocks, has an excess arrival or a lap, and in all of them each
	// command takes part in the same phase, or generation of a named barrier.
	Deterministic bool
	Races         map[PhaseRace]bool
	// States is the number of different states that were explored.
	States int
}

// Racy reports whether some execution has a data race.
func (r *PhaseResult) Racy() bool { return len(r.Races) > 0 }

// set is a set of commands, by number.
type set uint64

// phaseBar is the state of an mbarrier.
type phaseBar struct {
	phase, pending, tx int
	expected           int
	c, p               set   // what the current phase has joined
	copied             set   // the copies that have signalled, in this phase or before
	doneC, doneP       []set // of the complete phases
}

// phaseThread is the state of a thread.
type phaseThread struct {
	at   int
	c, p set
	// what the last release fence has made ready for relaxed arrivals, and what relaxed waits have
	// seen, for an acquire fence (PTX ISA 8.8)
	readyC, readyP, seenC, seenP set
	states                       []int // phase of the last arrival at each barrier; -1: none
	synced                       bool  // it waits at bar.sync
	named                        int   // the named barrier at which it waits, from 1; 0: none
}

// phaseNamed is the current generation of a named barrier.
type phaseNamed struct {
	gen, count int
	c, p       set
}

// happened is an access that was made: what precedes it, and through which proxy it was.
type happened struct {
	c, p  set
	made  bool
	async bool
}

// phaseState is a configuration.
type phaseState struct {
	threads []phaseThread
	bars    []phaseBar
	named   []phaseNamed
	agents  set // copies that are under way
	past    []happened
	phases  []int // of each command; -1: it has not executed
}

// phaseSearch explores a program.
type phaseSearch struct {
	prog  *PhaseProgram
	refs  []Ref
	first []int // number of the first command of each thread
	seen  map[string]bool
	ends  map[string]bool
	erred bool // some command of the state at hand is in error
	res   PhaseResult
	text  []byte        // of the key at hand
	free  []*phaseState // whose memory the next copies take
}

// Phases explores all executions of a program. It gives up and returns false beyond limit states.
func Phases(p *PhaseProgram, limit int) (PhaseResult, bool) {
	s := &phaseSearch{prog: p, seen: make(map[string]bool), ends: make(map[string]bool)}
	s.res.Races = make(map[PhaseRace]bool)
	start := phaseState{}
	for _, n := range p.Counts {
		start.bars = append(start.bars, phaseBar{pending: n, expected: n})
	}
	start.named = make([]phaseNamed, p.named())
	for t, list := range p.Threads {
		th := phaseThread{states: make([]int, len(p.Counts))}
		for i := range th.states {
			th.states[i] = -1
		}
		start.threads = append(start.threads, th)
		s.first = append(s.first, len(s.refs))
		for k := range list {
			s.refs = append(s.refs, Ref{t, k})
		}
	}
	start.past = make([]happened, len(s.refs))
	for range s.refs {
		start.phases = append(start.phases, -1)
	}
	todo := []*phaseState{&start}
	for len(todo) > 0 {
		st := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.text = st.appendKey(s.text[:0]); !s.seen[string(s.text)] {
			s.seen[string(s.text)] = true
			if len(s.seen) > limit {
				return s.res, false
			}
			todo = s.next(st, todo)
		}
		s.free = append(s.free, st)
	}
	s.res.States = len(s.seen)
	s.res.Deterministic = !s.res.Deadlock && !s.res.Excess && !s.res.Lap && len(s.ends) == 1
	return s.res, true
}

// appendKey appends an encoding of all of a state.
func (st *phaseState) appendKey(b []byte) []byte {
	num := func(n int) { b = binary.AppendVarint(b, int64(n)) }
	sets := func(list ...set) {
		for _, n := range list {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	nums := func(list []int) {
		for _, n := range list {
			num(n)
		}
	}
	for i := range st.threads {
		t := &st.threads[i]
		num(t.at)
		num(t.named<<1 | bit(t.synced))
		sets(t.c, t.p, t.readyC, t.readyP, t.seenC, t.seenP)
		nums(t.states)
	}
	for i := range st.bars {
		m := &st.bars[i]
		num(m.phase)
		num(m.pending)
		num(m.tx)
		num(m.expected)
		num(len(m.doneC))
		sets(m.c, m.p, m.copied)
		sets(m.doneC...)
		sets(m.doneP...)
	}
	for _, g := range st.named {
		num(g.gen)
		num(g.count)
		sets(g.c, g.p)
	}
	sets(st.agents)
	for i := range st.past {
		sets(st.past[i].c, st.past[i].p)
		num(bit(st.past[i].made))
	}
	nums(st.phases)
	return b
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// clone copies a state, into one that is no longer needed if there is any.
func (s *phaseSearch) clone(st *phaseState) *phaseState {
	n := new(phaseState)
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
	}
	if len(n.threads) < len(st.threads) || len(n.bars) < len(st.bars) {
		n.threads, n.bars = make([]phaseThread, len(st.threads)), make([]phaseBar, len(st.bars))
	}
	for i := range st.threads {
		states := n.threads[i].states
		n.threads[i] = st.threads[i]
		n.threads[i].states = append(states[:0], st.threads[i].states...)
	}
	for i := range st.bars {
		c, p := n.bars[i].doneC, n.bars[i].doneP
		n.bars[i] = st.bars[i]
		n.bars[i].doneC = append(c[:0], st.bars[i].doneC...)
		n.bars[i].doneP = append(p[:0], st.bars[i].doneP...)
	}
	n.agents = st.agents
	n.named = append(n.named[:0], st.named...)
	n.past, n.phases = append(n.past[:0], st.past...), append(n.phases[:0], st.phases...)
	return n
}

// next appends to a list the states after one step of a thread or an agent. If there are none, it
// notes how the execution ended.
func (s *phaseSearch) next(st *phaseState, list []*phaseState) []*phaseState {
	before := len(list)
	s.erred = false
	for t := range st.threads {
		if s.idle(st, t) {
			continue
		}
		if n := s.clone(st); s.step(n, t) {
			list = append(list, n)
		} else {
			s.free = append(s.free, n)
		}
	}
	for id := range s.refs {
		if st.agents>>id&1 != 0 {
			n := s.clone(st)
			s.completes(n, id)
			list = append(list, n)
		}
	}
	if len(list) == before {
		s.end(st)
	}
	return list
}

// idle reports whether a thread has no command to execute.
func (s *phaseSearch) idle(st *phaseState, t int) bool {
	th := &st.threads[t]
	return th.at == len(s.prog.Threads[t]) || th.synced || th.named != 0
}

// step executes the next command of a thread. It returns false if the thread has to wait, or if the
// command is in error, which ends the execution.
func (s *phaseSearch) step(st *phaseState, t int) bool {
	th := &st.threads[t]
	c := s.prog.Threads[t][th.at]
	id := s.first[t] + th.at
	switch c.Op {
	case PhaseRead, PhaseWrite:
		st.past[id] = happened{c: th.c, p: th.p, made: true}
		th.c |= 1 << id
	case PhaseFence:
		th.p = th.c
	case PhaseRelease:
		th.readyC, th.readyP = th.c, th.p
	case PhaseAcquire:
		th.c |= th.seenC
		th.p |= th.seenP
	case PhaseCopy:
		// The agent begins with what its thread knows. The thread learns nothing of it.
		st.past[id] = happened{c: th.c, p: th.p, made: true, async: true}
		st.agents |= 1 << id
	case PhaseExpect:
		st.bars[c.Bar].tx += c.Bytes
		st.phases[id] = st.bars[c.Bar].phase
	case PhaseCompleteTx:
		m := &st.bars[c.Bar]
		m.tx -= c.Bytes
		st.phases[id] = m.phase
		m.complete()
	case PhaseCopies, PhaseCopiesNoInc:
		// The phase of the command itself is that of the arrival, and that in which one more is
		// expected is the same unless the program is not deterministic.
		if c.Op == PhaseCopies {
			st.bars[c.Bar].pending++
			st.phases[id] = st.bars[c.Bar].phase << 8
		}
		st.agents |= 1 << id
	case PhaseBarSync, PhaseBarArrive:
		s.atNamed(st, t, c, id)
		return true
	case PhaseArrive, PhaseExpectArrive, PhaseDrop:
		if !s.arrives(st, th, c, id) {
			return false
		}
	case PhaseWait, PhaseWaitState:
		if !s.waits(st, th, c, id) {
			return false
		}
	case PhaseSync:
		th.synced = true
		s.together(st)
		return true
	}
	th.at++
	return true
}

// arrives executes an arrival. It returns false if the phase has no arrival left.
func (s *phaseSearch) arrives(st *phaseState, th *phaseThread, c PhaseCommand, id int) bool {
	m, n := &st.bars[c.Bar], c.Count
	if c.Op == PhaseExpectArrive {
		m.tx += c.Bytes
		n = 1
	}
	if n > m.pending || c.NoComplete && n == m.pending && m.tx == 0 {
		s.res.Excess, s.erred = true, true
		return false
	}
	st.phases[id], th.states[c.Bar] = m.phase, m.phase
	if c.Relaxed {
		m.c |= th.readyC
		m.p |= th.readyP
	} else {
		m.c |= th.c
		m.p |= th.p
	}
	m.pending -= n
	if c.Op == PhaseDrop {
		m.expected -= n
	}
	m.complete()
	return true
}

// named is the number of named barriers.
func (p *PhaseProgram) named() int {
	n := 0
	for _, list := range p.Threads {
		for _, c := range list {
			if c.Op == PhaseBarSync || c.Op == PhaseBarArrive {
				n = max(n, c.Bar+1)
			}
		}
	}
	return n
}

// atNamed registers a thread at a named barrier, whose generation ends with the last of Count
// threads. The command of a thread that waits ends then.
func (s *phaseSearch) atNamed(st *phaseState, t int, c PhaseCommand, id int) {
	g, th := &st.named[c.Bar], &st.threads[t]
	g.count++
	g.c |= th.c
	g.p |= th.p
	st.phases[id] = g.gen
	if c.Op == PhaseBarSync {
		th.named = c.Bar + 1
	} else {
		th.at++
	}
	if g.count < c.Count {
		return
	}
	for i := range st.threads {
		if u := &st.threads[i]; u.named == c.Bar+1 {
			u.named = 0
			u.c |= g.c
			u.p |= g.p
			u.at++
		}
	}
	*g = phaseNamed{gen: g.gen + 1}
}

// complete ends the phase if nothing is missing.
func (m *phaseBar) complete() {
	if m.pending != 0 || m.tx != 0 {
		return
	}
	m.doneC, m.doneP = append(m.doneC, m.c|m.copied), append(m.doneP, m.p|m.copied)
	m.phase++
	m.pending, m.c, m.p = m.expected, 0, 0
}

// waits executes a wait, and returns false if it has to go on waiting.
func (s *phaseSearch) waits(st *phaseState, th *phaseThread, c PhaseCommand, id int) bool {
	m := &st.bars[c.Bar]
	var phase int
	if c.Op == PhaseWait {
		if m.phase&1 == c.Parity {
			return false
		}
		phase = m.phase - 1 // -1 of a fresh object
	} else if phase = th.states[c.Bar]; m.phase <= phase {
		return false
	}
	s.res.Lap = s.res.Lap || c.Op == PhaseWaitState && phase >= 0 && m.phase > phase+1
	st.phases[id] = phase
	switch {
	case phase < 0:
	case c.Relaxed:
		th.seenC |= m.doneC[phase]
		th.seenP |= m.doneP[phase]
	default:
		th.c |= m.doneC[phase]
		th.p |= m.doneP[phase]
	}
	return true
}

// completes is the signal of a copy: its own accesses precede whoever acquires this phase or a later
// one (the operations on an mbarrier are read-modify-writes, which continue what the signal has
// begun: 8.9.2), and nothing that its thread did before does.
func (s *phaseSearch) completes(st *phaseState, id int) {
	r := s.refs[id]
	c := s.prog.Threads[r.Thread][r.At]
	m := &st.bars[c.Bar]
	st.agents &^= 1 << id
	if c.Op != PhaseCopy {
		s.arrivesLate(st, m, id)
		return
	}
	st.phases[id] = m.phase
	m.copied |= 1 << id
	m.tx -= c.Bytes
	m.complete()
}

// arrivesLate is the arrival of cp.async.mbarrier.arrive. It releases nothing.
func (s *phaseSearch) arrivesLate(st *phaseState, m *phaseBar, id int) {
	if m.pending == 0 {
		s.res.Excess = true
		st.agents = 0 // the execution ends
		for t := range st.threads {
			st.threads[t].at = len(s.prog.Threads[t])
			st.threads[t].synced, st.threads[t].named = false, 0
		}
		return
	}
	st.phases[id] = max(st.phases[id], 0) | m.phase
	m.pending--
	m.complete()
}

// together ends bar.sync once all threads have reached it.
func (s *phaseSearch) together(st *phaseState) {
	var c, p set
	for i := range st.threads {
		if !st.threads[i].synced {
			return
		}
		c |= st.threads[i].c
		p |= st.threads[i].p
	}
	for i := range st.threads {
		st.threads[i].c, st.threads[i].p, st.threads[i].synced = c, p, false
		st.threads[i].at++
	}
}

// end notes how an execution ended and which of its accesses race.
func (s *phaseSearch) end(st *phaseState) {
	stuck := false
	for t := range st.threads {
		stuck = stuck || st.threads[t].at < len(s.prog.Threads[t])
	}
	s.res.Deadlock = s.res.Deadlock || stuck && !s.erred
	s.res.Ends = s.res.Ends || !stuck
	if !stuck {
		s.ends[fmt.Sprint(st.phases)] = true
	}
	for a := range st.past {
		for b := range a {
			s.compare(st, b, a)
		}
	}
}

// compare tests two accesses of a finished execution.
func (s *phaseSearch) compare(st *phaseState, a, b int) {
	p, q := &st.past[a], &st.past[b]
	x, y := s.command(a), s.command(b)
	if !p.made || !q.made || x.Var != y.Var || x.Op == PhaseRead && y.Op == PhaseRead {
		return
	}
	if ordered(p, q, a) || ordered(q, p, b) {
		return
	}
	proxy := q.c>>a&1 != 0 || p.c>>b&1 != 0
	s.res.Races[PhaseRace{s.refs[a], s.refs[b], proxy}] = true
}

// ordered reports whether access number id, which is p, precedes q: an access through the generic
// proxy precedes one through the async proxy only with a proxy fence in between.
func ordered(p, q *happened, id int) bool {
	return q.c>>id&1 != 0 && (p.async || !q.async || q.p>>id&1 != 0)
}

func (s *phaseSearch) command(id int) PhaseCommand {
	return s.prog.Threads[s.refs[id].Thread][s.refs[id].At]
}

// RaceList returns the races in the order of the program.
func (r *PhaseResult) RaceList() []PhaseRace {
	return slices.SortedFunc(maps.Keys(r.Races), func(a, b PhaseRace) int {
		return slices.Compare([]int{a.A.Thread, a.A.At, a.B.Thread, a.B.At},
			[]int{b.A.Thread, b.A.At, b.B.Thread, b.B.At})
	})
}
