package emu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/event"
)

// Deadlocks in which threads wait at mbarriers. A thread that waits there polls, so that they are
// runs in which every remaining thread only spins (spin.go) and no asynchronous operation is under
// way. Threads that wait at numbered barriers of the same blocks are part of the picture: the two
// kinds may wait for each other.

// PhaseWait are threads of a block that wait at one place for one phase of an mbarrier, or for a
// numbered barrier.
type PhaseWait struct {
	Site     event.Site
	Thread   event.Thread // the first of them
	Threads  int
	Numbered bool
	Text     string // what they wait for, and what it misses
	// Object is nil for barriers that are no mbarriers. Phase is the one that they wait for, Now the
	// one that the object is in, and Arrivals and Bytes are what that one misses. Bytes is negative
	// if bytes have arrived that nobody has announced.
	Object     *ObjectAt
	Phase, Now uint64
	Arrivals   int
	Bytes      int64
	// Holders are threads that arrived in the phase before and have not arrived in the one that
	// misses arrivals; a few of them.
	Holders []PhaseHolder
}

// PhaseHolder are threads on whose arrivals others wait, by the place where they arrived last.
type PhaseHolder struct {
	Site    event.Site
	Thread  event.Thread // the first of them
	Threads int
	Text    string // what they do now
}

// arrival is one by lanes of a warp, at an mbarrier.
type arrival struct {
	site event.Site
	w    *warp
	mask uint32
}

// maxHolders bounds PhaseWait.Holders.
const maxHolders = 4

// arrives records who arrives in the phase at hand.
func (m *mbarrier) arrives(site event.Site, w *warp, lane int) {
	if n := len(m.here); n > 0 && m.here[n-1].site == site && m.here[n-1].w == w {
		m.here[n-1].mask |= 1 << lane
		return
	}
	m.here = append(m.here, arrival{site, w, 1 << lane})
}

// holders lists the threads that arrived in the phase before and not in this one.
func (x *exec) holders(b *block, m *mbarrier, phase uint64) (out []PhaseHolder) {
	if phase != m.phase || m.pending == 0 {
		return nil
	}
next:
	for _, a := range m.before {
		mask := a.mask
		for _, h := range m.here {
			if h.w == a.w {
				mask &^= h.mask
			}
		}
		if mask == 0 {
			continue
		}
		text := x.doing(b, a.w, lowest(mask))
		for i := range out {
			if out[i].Site == a.site && out[i].Text == text {
				out[i].Threads += popcount(mask)
				continue next
			}
		}
		if len(out) < maxHolders {
			out = append(out, PhaseHolder{a.site, event.ThreadOf(a.w.id, lowest(mask)), popcount(mask),
				text})
		}
	}
	return out
}

// doing says what a lane of a block that makes no progress does.
func (x *exec) doing(b *block, w *warp, lane int) string {
	if w.exited>>lane&1 != 0 {
		return "has ended"
	}
	for _, g := range w.waiting {
		if g.mask>>lane&1 == 0 {
			continue
		}
		switch g.wait.kind {
		case atWarpSync:
			return "waits for lanes of its warp"
		case atPool:
			return "waits for registers"
		case atColumns:
			return "waits for columns of tensor memory"
		case atPair:
			return "waits for the other block of its pair"
		case atGroups:
			return "waits for matrix operations of its warpgroup"
		case atPhase:
			return fmt.Sprintf("waits for phase %d of %s", g.mwait.phase, x.barrierText(g.mwait.addr))
		}
		if g.wait.atCluster() {
			return "waits at the barrier of the cluster"
		}
		return fmt.Sprintf("waits at barrier %d", g.wait.bar)
	}
	for _, g := range w.ready {
		if g.mask>>lane&1 != 0 && g.mwait != nil && g.mwait.site == g.polledAt {
			return fmt.Sprintf("waits for phase %d of %s", g.mwait.phase, x.barrierText(g.mwait.addr))
		}
	}
	return "waits where its warp comes together"
}

// mbarrierWaits lists the threads of blocks that wait at mbarriers and numbered barriers.
// bytes says that at each of the mbarriers nothing but the number of bytes is wrong. The list is
// empty if no thread waits at an mbarrier, if some thread polls ordinary memory, which the host may
// change, or if a path of a warp is suspended until another one ends, as in the lock-step model.
func (s *scheduler) mbarrierWaits(blocks []*block) (list []PhaseWait, bytes bool) {
	bytes = true
	polls := false
	for _, b := range blocks {
		for i := range b.warps {
			w := &b.warps[i]
			if s.x.lockstep && len(w.ready) > 0 && (len(w.ready) > 1 || w.ready[0].mask != w.alive()) {
				return nil, false
			}
			for _, g := range w.ready {
				if g.mwait == nil || g.mwait.site != g.polledAt || b.mbars[g.mwait.addr] == nil {
					return nil, false
				}
				m := b.mbars[g.mwait.addr]
				polls = true
				bytes = bytes && m.pending == 0 && m.phase == g.mwait.phase
				list = addWait(list, w, g, g.polledAt, s.x.phaseWait(b, m, g.mwait.phase))
			}
			for _, g := range w.waiting {
				if g.wait.kind == atWarpSync {
					continue
				}
				if g.wait.kind == atPhase {
					m := b.mbars[g.mwait.addr]
					if m == nil {
						return nil, false
					}
					polls = true
					bytes = bytes && m.pending == 0 && m.phase == g.mwait.phase
					list = addWait(list, w, g, g.mwait.site, s.x.phaseWait(b, m, g.mwait.phase))
					continue
				}
				pw := PhaseWait{Numbered: true, Text: fmt.Sprintf("barrier %d", g.wait.bar)}
				switch {
				case g.wait.atCluster():
					polls, bytes = true, false
					pw.Text = "the barrier of the cluster" + missingAtCluster(b.ownCluster())
				case g.wait.kind == atColumns:
					polls, bytes = true, false
					pw.Text = fmt.Sprintf("%d free columns of tensor memory: %s", g.wait.count,
						b.tensorOf().text())
				case g.wait.kind == atPair:
					polls, bytes = true, false
					pw.Text = s.x.pairWait(w.pair)
				case g.wait.kind == atGroups:
					pw.Text = "the other warps of its warpgroup to commit matrix operations"
				}
				list = addWait(list, w, g, g.waitSite(), pw)
			}
		}
	}
	if !polls {
		return nil, false
	}
	s.addHolders(list)
	return list, bytes
}

// addHolders adds to each wait who holds the phase.
func (s *scheduler) addHolders(list []PhaseWait) {
	for i := range list {
		for _, b := range s.resident {
			for _, addr := range b.liveMBarriers() {
				m := b.mbars[addr]
				if !list[i].Numbered && s.x.missing(b, m, m.phase) == list[i].Text {
					list[i].Holders = s.x.holders(b, m, m.phase)
				}
			}
		}
	}
}

// addWait adds the threads of a fragment to those that wait at the same place for the same.
func addWait(list []PhaseWait, w *warp, g *fragment, site event.Site, pw PhaseWait) []PhaseWait {
	for i := range list {
		if list[i].Site == site && list[i].Text == pw.Text {
			list[i].Threads += popcount(g.mask)
			return list
		}
	}
	if len(list) == maxSpins {
		return list
	}
	pw.Site, pw.Thread, pw.Threads = site, event.ThreadOf(w.id, lowest(g.mask)), popcount(g.mask)
	return append(list, pw)
}

// phaseWait describes a wait for a phase of an object of block b, without the threads.
func (x *exec) phaseWait(b *block, m *mbarrier, phase uint64) PhaseWait {
	return PhaseWait{Text: x.missing(b, m, phase), Object: &ObjectAt{b.id, m.addr}, Phase: phase,
		Now: m.phase, Arrivals: int(m.pending), Bytes: m.tx}
}

// missing names a phase for which threads wait, and says what it lacks.
func (x *exec) missing(b *block, m *mbarrier, phase uint64) string {
	text := fmt.Sprintf("phase %d of %s", phase, x.barrierText(m.addr))
	if phase != m.phase {
		return fmt.Sprintf("%s, which is in phase %d", text, m.phase)
	}
	var lacks []string
	if m.pending > 0 {
		lacks = append(lacks, fmt.Sprintf("%d of %s", m.pending,
			countOf(int(m.pending+m.arrived), "arrival", "arrivals")))
	}
	switch {
	case m.tx > 0:
		lacks = append(lacks, countOf(int(m.tx), "byte", "bytes"))
	case m.tx < 0:
		lacks = append(lacks, fmt.Sprintf("the announcement of %s arrived",
			countOf(int(-m.tx), "byte that has", "bytes that have")))
	}
	text += ", which misses " + strings.Join(lacks, " and ")
	gone := 0
	for i := range b.warps {
		gone += popcount(b.warps[i].exited)
	}
	if gone > 0 && m.pending > 0 {
		text += fmt.Sprintf("; %s, and an exit is no arrival", countOf(gone,
			"thread of the block has left", "threads of the block have left"))
	}
	return text
}

// deadlocked returns the stop of a run whose threads wait at mbarriers for ever.
func (s *scheduler) deadlocked(list []PhaseWait, bytes bool) *Stop {
	kind, what := Deadlock, "deadlock"
	if bytes {
		kind, what = BytesMismatch, "the bytes of a phase do not match what it expects"
	}
	parts := make([]string, len(list))
	first := 0
	for i, w := range list {
		if !w.Numbered {
			first = i
			break
		}
	}
	for i, w := range list {
		parts[i] = fmt.Sprintf("%s for %s", countOf(w.Threads, "thread waits", "threads wait"), w.Text)
	}
	stop := s.x.stopFor(list[first].Site, list[first].Thread, kind, "%s: %s", what,
		strings.Join(parts, "; "))
	return &stop
}

// missingAtCluster says how many threads have not arrived at the barrier of a cluster.
func missingAtCluster(c *cluster) string {
	n := 0
	for _, b := range c.blocks {
		for i := range b.warps {
			n += popcount(b.warps[i].alive() &^ b.warps[i].clusterNow)
		}
	}
	return fmt.Sprintf(", at which %s not arrived", countOf(n, "thread has", "threads have"))
}

// ObjectName names an mbarrier of the block for people.
func (m *Machine) ObjectName(addr uint64) string {
	return fmt.Sprintf("the mbarrier %s (shared address %#x)", m.prog.nearShared(addr, 8).text, addr)
}

// ObjectShort names an mbarrier of the block in little room: full[1], or ring+256 for a part of a
// variable with another type.
func (m *Machine) ObjectShort(addr uint64) string {
	best := -1
	vars := m.prog.shared.vars
	for i, v := range vars {
		if uint64(v.At) <= addr && (best < 0 || v.At >= vars[best].At) {
			best = i
		}
	}
	if best < 0 {
		return fmt.Sprintf("%#x", addr)
	}
	v := vars[best]
	off := addr - uint64(v.At)
	if text, ok := v.Shape.Element(v.Shown(), off, 8); ok {
		return text
	}
	if off == 0 {
		return v.Shown()
	}
	return fmt.Sprintf("%s+%d", v.Shown(), off)
}

// liveMBarriers returns the addresses of the objects of a block, in order.
func (b *block) liveMBarriers() []uint64 { return slices.Sorted(maps.Keys(b.mbars)) }
