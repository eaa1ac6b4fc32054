package race

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// Random programs of two blocks of a cluster (phases_test.go): remote operations on mbarriers, the
// barrier of the cluster, accesses to the memory of the other block, and threads that end early.

// begin ends the lanes that are no threads of the program, and lets the others pass the barrier of
// the cluster behind the initialization.
func (y *phasePlay) begin() {
	all := make(map[event.Warp]uint32)
	for t := range y.p.Threads {
		w, mask := y.lane(t)
		all[w] |= mask
	}
	for w := range event.Warp(2 * y.warps()) {
		y.d.Cluster(&event.ClusterBarrier{Warp: w, Mask: ^uint32(0), Op: event.ClusterArrive})
	}
	y.d.Cluster(&event.ClusterBarrier{Op: event.ClusterComplete})
	for w := range event.Warp(2 * y.warps()) {
		y.d.Cluster(&event.ClusterBarrier{Warp: w, Mask: ^uint32(0), Op: event.ClusterWait})
	}
	for w := range event.Warp(2 * y.warps()) {
		if other := ^all[w]; other != 0 {
			y.d.Exit(&event.Exit{Warp: w, Mask: other})
		}
	}
}

// peer returns the block of an mbarrier for a thread.
func (y *phasePlay) peer(t, bar int) event.Peer {
	if y.p.Home == nil || bar >= len(y.p.Home) || y.p.Home[bar] == y.p.Block[t] {
		return 0
	}
	return event.PeerOf(uint32(y.p.Home[bar]))
}

// over reports whether all threads of a block have ended.
func (y *phasePlay) over(block int) bool {
	for t, list := range y.p.Threads {
		if y.p.Block[t] == block && y.at[t] < len(list) {
			return false
		}
	}
	return true
}

// reaches reports whether the block is there that a command accesses.
func (y *phasePlay) reaches(t int, c oracle.PhaseCommand) bool {
	switch {
	case y.p.Home == nil:
	case c.Op == oracle.PhaseTouch:
		return !y.over(1 - y.p.Block[t])
	case c.Op == oracle.PhaseClusterArrive, c.Op == oracle.PhaseClusterWait:
	case c.Apart && y.over(1-y.p.Home[c.Bar]):
		return false
	case y.peer(t, c.Bar) != 0:
		return !y.over(y.p.Home[c.Bar])
	}
	return true
}

// inCluster executes a command about the cluster.
func (y *phasePlay) inCluster(t int, c oracle.PhaseCommand, site event.Site) bool {
	w, mask := y.lane(t)
	e := event.ClusterBarrier{Warp: w, Mask: mask, Site: site}
	switch c.Op {
	case oracle.PhaseTouch:
		y.d.Access(&event.Access{Warp: w, Mask: mask, Site: site, Space: event.Shared, Size: 4,
			Peer: event.PeerOf(uint32(1 - y.p.Block[t])), Addr: new([event.WarpSize]uint64)})
		return true
	case oracle.PhaseClusterArrive:
		if (y.now|y.done)>>t&1 != 0 {
			return false
		}
		y.now |= 1 << t
		e.Op = event.ClusterArrive
	default:
		if y.done>>t&1 == 0 {
			return false
		}
		y.done &^= 1 << t
		e.Op = event.ClusterWait
	}
	y.d.Cluster(&e)
	return true
}

// exits tells the detector which threads have ended since the last step, and completes the barrier
// of the cluster if that is due. The operations that a block has issued signal before its last
// thread ends, as in the emulator.
func (y *phasePlay) exits() bool {
	if y.p.Home == nil {
		return true
	}
	for t, list := range y.p.Threads {
		if y.gone>>t&1 != 0 || y.at[t] < len(list) {
			continue
		}
		for i := 0; y.over(y.p.Block[t]) && i < len(y.agents); {
			if y.p.Block[y.agents[i].thread] != y.p.Block[t] {
				i++
			} else if !y.signal(i) {
				return false
			}
		}
		y.gone |= 1 << t
		w, mask := y.lane(t)
		y.d.Exit(&event.Exit{Warp: w, Mask: mask})
	}
	for t := range y.p.Threads {
		if (y.now|y.gone)>>t&1 == 0 {
			return true
		}
	}
	if y.now != 0 {
		y.d.Cluster(&event.ClusterBarrier{Op: event.ClusterComplete})
		y.done, y.now = y.done|y.now, 0
	}
	return true
}

// TestClusterPhasesAgainstEnumeration compares the check on one execution, of phases and of the
// lives of blocks, with all executions: HEDDLE_LONG=1 for 100,000 programs.
func TestClusterPhasesAgainstEnumeration(t *testing.T) {
	chunks := uint64(4)
	if long.All() {
		chunks = 100
	}
	var n phaseCounts
	for seed := range chunks {
		comparePhases(t, 1000+seed, 1000, &n, oracle.RandomCluster)
	}
	t.Logf("%d programs, %d with an execution that ends: %d accepted, %d rejected, %d because of the "+
		"life of a block", n.programs.Load(), n.ended.Load(), n.accepted.Load(), n.rejected.Load(),
		n.lives.Load())
	if 10*n.accepted.Load() < n.programs.Load() || 20*n.lives.Load() < n.programs.Load() {
		t.Error("the programs show too little")
	}
}
