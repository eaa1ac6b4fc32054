package race

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// Random programs over mbarriers and named barriers: the check of one execution must accept exactly
// those whose phases are the same in all executions, which an enumeration decides. Every thread is
// a lane of a warp of its own, or all are lanes of one warp, which take different paths through the
// clocks.

// phasePlay executes a program under a random schedule and sends the events of mbarriers and
// barriers to a detector.
type phasePlay struct {
	p      *oracle.PhaseProgram
	d      *Detector
	apart  bool // each thread is in a warp of its own
	at     []int
	parked []int // 0: runs; -1: at bar.sync; n+1: at named barrier n
	state  [][]uint64
	bars   []playBar
	named  []int
	agents []playAgent
	id     uint64
	// of a cluster: threads that have arrived in the generation at hand and in the one before, and
	// those whose exit was told
	now, done, gone int
}

type playBar struct {
	phase             uint64
	pending, expected int
	tx                int
}

type playAgent struct {
	id     uint64
	thread int
	c      oracle.PhaseCommand
}

const noState = ^uint64(0)

func newPhasePlay(p *oracle.PhaseProgram, apart bool) *phasePlay {
	n := len(p.Threads)
	threads := uint32(32)
	if apart {
		threads *= uint32(n)
	}
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: threads, Y: 1, Z: 1}, Cluster: one}
	if p.Home != nil {
		g.Grid.X, g.Cluster.X = 2, 2
	}
	y := &phasePlay{p: p, apart: apart, at: make([]int, n), parked: make([]int, n),
		bars: make([]playBar, len(p.Counts)), named: make([]int, 2)}
	y.d = New(Options{Geometry: g, Static: true, Recycling: true, Execution: true})
	for range n {
		y.state = append(y.state, []uint64{noState, noState})
	}
	// The objects are made before the program begins.
	for i, c := range p.Counts {
		y.bars[i] = playBar{pending: c, expected: c}
		e := event.MBarrier{Mask: 1, Op: event.MBarrierInit, Addr: uint64(8 * i), Count: uint32(c)}
		if p.Home != nil {
			e.Warp = event.Warp(p.Home[i] * y.warps())
		}
		y.d.MBarrier(&e)
	}
	if p.Home != nil {
		y.begin()
	} else {
		y.whole()
	}
	return y
}

// lane returns where a thread is.
func (y *phasePlay) lane(t int) (event.Warp, uint32) {
	first := 0
	if y.p.Home != nil {
		first = y.p.Block[t] * y.warps()
	}
	if y.apart {
		return event.Warp(first + t), 1
	}
	return event.Warp(first), 1 << t
}

// warps is the number of warps of a block.
func (y *phasePlay) warps() int {
	if y.apart {
		return len(y.p.Threads)
	}
	return 1
}

// whole is a barrier of all threads of the block.
func (y *phasePlay) whole() {
	for w := range y.warps() {
		y.d.Arrive(&event.Arrive{Warp: event.Warp(w), Mask: ^uint32(0), Op: event.BarSync})
	}
	y.d.Complete(&event.Complete{})
}

// run executes the program, and reports whether it ends.
func (y *phasePlay) run(rnd *rand.Rand) bool {
	for {
		var ready []int
		ended := true
		for t, list := range y.p.Threads {
			if y.at[t] < len(list) {
				ended = false
				if y.parked[t] == 0 && y.can(t) {
					ready = append(ready, t)
				}
			}
		}
		n := len(ready) + len(y.agents)
		if n == 0 {
			if ended {
				y.exit()
			}
			return ended
		}
		k := rnd.IntN(n)
		ok := true
		if k < len(ready) {
			ok = y.step(ready[k])
		} else {
			ok = y.signal(k - len(ready))
		}
		if !ok || !y.exits() {
			return false
		}
	}
}

// can reports whether the next command of a thread is not a wait that blocks.
func (y *phasePlay) can(t int) bool {
	c := y.p.Threads[t][y.at[t]]
	m := &y.bars[c.Bar%len(y.bars)]
	switch c.Op {
	case oracle.PhaseWait:
		return int(m.phase&1) != c.Parity
	case oracle.PhaseWaitState:
		s := y.state[t][c.Bar]
		return s == noState || m.phase > s
	case oracle.PhaseClusterWait:
		return y.now>>t&1 == 0
	}
	return true
}

// step executes a command; false if it is in error.
func (y *phasePlay) step(t int) bool {
	c := y.p.Threads[t][y.at[t]]
	w, mask := y.lane(t)
	site := event.Site(100*t + y.at[t] + 1)
	e := event.MBarrier{Warp: w, Mask: mask, Site: site, Addr: uint64(8 * c.Bar)}
	m := &y.bars[c.Bar%len(y.bars)]
	e.Phase, e.Peer = m.phase, y.peer(t, c.Bar)
	if !y.reaches(t, c) {
		return false
	}
	switch c.Op {
	case oracle.PhaseArrive, oracle.PhaseExpectArrive, oracle.PhaseDrop:
		n := c.Count
		e.Op = event.MBarrierArrive
		if e.Drop = c.Op == oracle.PhaseDrop; c.Op == oracle.PhaseExpectArrive {
			n, e.Bytes = 1, int64(c.Bytes)
			m.tx += c.Bytes
		}
		e.NoComplete = c.NoComplete
		if n > m.pending || e.NoComplete && n == m.pending && m.tx == 0 {
			return false
		}
		e.Count = uint32(n)
		y.d.MBarrier(&e)
		y.state[t][c.Bar] = m.phase
		if m.pending -= n; e.Drop {
			m.expected -= n
		}
		y.complete(c.Bar)
	case oracle.PhaseExpect:
		e.Op, e.Bytes = event.MBarrierCount, int64(c.Bytes)
		y.d.MBarrier(&e)
		m.tx += c.Bytes
	case oracle.PhaseCompleteTx:
		e.Op, e.Bytes = event.MBarrierCount, -int64(c.Bytes)
		y.d.MBarrier(&e)
		m.tx -= c.Bytes
		y.complete(c.Bar)
	case oracle.PhaseCopy, oracle.PhaseCopies, oracle.PhaseCopiesNoInc:
		y.id++
		if c.Op == oracle.PhaseCopy {
			b := event.Bulk{ID: y.id, Warp: w, Mask: mask, Site: site, Addr: e.Addr,
				To: event.Range{Space: event.Shared, Peer: e.Peer}}
			if c.Apart {
				b.Barrier = event.PeerOf(uint32(y.p.Home[c.Bar]))
				b.To.Peer = event.PeerOf(uint32(1 - y.p.Home[c.Bar]))
			}
			y.d.Bulk(&b)
		} else {
			y.d.CopyArrive(&event.CopyArrive{ID: y.id, Warp: w, Mask: mask, Site: site, Addr: e.Addr,
				Pending: c.Op == oracle.PhaseCopies})
		}
		if c.Op == oracle.PhaseCopies {
			m.pending++
		}
		y.agents = append(y.agents, playAgent{y.id, t, c})
	case oracle.PhaseWait, oracle.PhaseWaitState:
		e.Op, e.Phase = event.MBarrierWait, m.phase-1
		if c.Op == oracle.PhaseWaitState {
			e.State, e.Phase = true, y.state[t][c.Bar]
			if e.Phase == noState {
				break
			}
			if m.phase > e.Phase+1 {
				return false
			}
		}
		y.d.MBarrier(&e)
	case oracle.PhaseTouch, oracle.PhaseClusterArrive, oracle.PhaseClusterWait:
		if !y.inCluster(t, c, site) {
			return false
		}
	case oracle.PhaseSync:
		y.parked[t] = -1
		y.together()
		return true
	case oracle.PhaseBarSync, oracle.PhaseBarArrive:
		y.atNamed(t, c, site)
		return true
	}
	y.at[t]++
	return true
}

// complete ends the phase of an object if nothing is missing.
func (y *phasePlay) complete(bar int) {
	m := &y.bars[bar]
	if m.pending != 0 || m.tx != 0 {
		return
	}
	e := event.MBarrier{Op: event.MBarrierComplete, Addr: uint64(8 * bar), Phase: m.phase}
	if y.p.Home != nil {
		e.Warp = event.Warp(y.p.Home[bar] * y.warps())
	}
	y.d.MBarrier(&e)
	m.phase++
	m.pending = m.expected
}

// signal is the end of an agent.
func (y *phasePlay) signal(i int) bool {
	a := y.agents[i]
	y.agents = append(y.agents[:i], y.agents[i+1:]...)
	w, _ := y.lane(a.thread)
	e := event.Signal{ID: a.id, Warp: w, Addr: uint64(8 * a.c.Bar), Peer: y.peer(a.thread, a.c.Bar)}
	if e.Peer != 0 && y.over(y.p.Home[a.c.Bar]) || a.c.Apart && y.over(1-y.p.Home[a.c.Bar]) {
		return false
	}
	m := &y.bars[a.c.Bar]
	if a.c.Op == oracle.PhaseCopy {
		e.Bytes = int64(a.c.Bytes)
		m.tx -= a.c.Bytes
	} else {
		e.Arrival = true
		if m.pending == 0 {
			return false
		}
		m.pending--
	}
	y.d.Signal(&e)
	y.complete(a.c.Bar)
	return true
}

func (y *phasePlay) together() {
	for _, p := range y.parked {
		if p != -1 {
			return
		}
	}
	y.whole()
	for t := range y.parked {
		y.parked[t] = 0
		y.at[t]++
	}
}

// atNamed registers a thread at a named barrier.
func (y *phasePlay) atNamed(t int, c oracle.PhaseCommand, site event.Site) {
	w, mask := y.lane(t)
	e := event.Arrive{Warp: w, Mask: mask, Site: site, Barrier: uint8(c.Bar + 1),
		Count: uint32(c.Count)}
	if c.Op == oracle.PhaseBarArrive {
		e.Op = event.BarArrive
		y.at[t]++
	} else {
		y.parked[t] = c.Bar + 1
	}
	y.d.Arrive(&e)
	if y.named[c.Bar]++; y.named[c.Bar] < c.Count {
		return
	}
	y.named[c.Bar] = 0
	y.d.Complete(&event.Complete{Barrier: e.Barrier})
	for u := range y.parked {
		if y.parked[u] == c.Bar+1 {
			y.parked[u] = 0
			y.at[u]++
		}
	}
}

func (y *phasePlay) exit() {
	if y.p.Home != nil {
		return // exits told it
	}
	if y.apart {
		for t := range y.p.Threads {
			y.d.Exit(&event.Exit{Warp: event.Warp(t), Mask: ^uint32(0)})
		}
		return
	}
	y.d.Exit(&event.Exit{Mask: ^uint32(0)})
}

// phaseCounts are the results of a comparison.
type phaseCounts struct {
	programs, ended, accepted, rejected atomic.Int64
	kinds                               [PhasePromise + 1]atomic.Int64
	lives                               atomic.Int64 // programs with a finding about a life
}

// comparePhases draws programs and compares the check with the enumeration.
func comparePhases(t *testing.T, seed uint64, programs int, n *phaseCounts,
	draw func(*rand.Rand) *oracle.PhaseProgram) {
	rnd := rand.New(rand.NewPCG(seed, 99))
	for range programs {
		if t.Failed() {
			return
		}
		p := draw(rnd)
		yes, decided := oracle.Deterministic(p, 1<<16)
		if !decided {
			continue
		}
		n.programs.Add(1)
		y := newPhasePlay(p, rnd.IntN(2) == 0)
		if !y.run(rnd) {
			if yes {
				t.Errorf("an execution of a deterministic program does not end\n%s", p)
			}
			continue
		}
		n.ended.Add(1)
		rep := y.d.Report()
		rejected := len(rep.Phases)+len(rep.Lifetimes) > 0
		if len(rep.Lifetimes) > 0 {
			n.lives.Add(1)
		}
		for _, e := range rep.Barriers {
			rejected = rejected || e.Kind == Recycled || e.Kind == TooMany
		}
		for _, e := range rep.Phases {
			n.kinds[e.Kind].Add(1)
		}
		if rejected {
			n.rejected.Add(1)
		} else {
			n.accepted.Add(1)
		}
		if rejected == yes {
			t.Errorf("seed %d: deterministic %v, but the check finds %+v %+v %+v\n%s", seed, yes, rep.Phases,
				rep.Barriers, rep.Lifetimes, p)
		}
	}
}

// TestPhasesAgainstEnumeration compares the check of conditions D1 to D5 on one execution with all
// executions: HEDDLE_LONG=1 for 1,000,000 programs.
func TestPhasesAgainstEnumeration(t *testing.T) {
	chunks, programs := uint64(8), 1000
	if long.All() {
		chunks, programs = 1000, 1000
	}
	var n phaseCounts
	var wg sync.WaitGroup
	next := atomic.Uint64{}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1); seed <= chunks; seed = next.Add(1) {
				comparePhases(t, seed, programs, &n, oracle.RandomSync)
			}
		})
	}
	wg.Wait()
	t.Logf("%d programs, %d with an execution that ends: %d accepted, %d rejected; findings by kind:",
		n.programs.Load(), n.ended.Load(), n.accepted.Load(), n.rejected.Load())
	for k := range n.kinds {
		t.Log(k, n.kinds[k].Load())
		if k := PhaseKind(k); n.kinds[k].Load() == 0 && k != PhaseNoObject && k != PhaseEnds &&
			k != PhaseAllocates && k != PhasePermit {
			t.Errorf("no program has a finding of kind %d", k)
		}
	}
	if 10*n.accepted.Load() < n.programs.Load() {
		t.Error("the programs show too little")
	}
}
