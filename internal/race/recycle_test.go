package race

import (
	"cmp"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/testing/oracle"
)

// Random thread programs: the detector, on one execution, must agree with figure 4 of the Weft
// paper on the full relation, and both with Definition 6 on all executions. Every thread is
// represented by a full warp, or by one lane of a warp, which take different paths through the
// clocks.

const testBarriers = 3

// placement maps threads of a program to lanes.
type placement struct {
	block uint32 // threads of the block; 0: those of the program
	lanes func(thread int) (event.Warp, uint32)
	unit  uint32 // threads of the block for each thread of the program
}

var placements = []placement{
	{block: 5 * 32, unit: 32, lanes: func(t int) (event.Warp,
		uint32) {
		return event.Warp(t), ^uint32(0)
	}},
	// A barrier of all threads has no count: "if no thread count is specified, all threads in the CTA
	// participate" (PTX ISA 9.7.13.1).
	{unit: 32, lanes: func(t int) (event.Warp, uint32) { return event.Warp(t), ^uint32(0) }},
	{block: 64, unit: 1,
		lanes: func(t int) (event.Warp, uint32) { return event.Warp(t % 2), 1 << (t / 2) }},
	{block: 96, unit: 16,
		lanes: func(t int) (event.Warp, uint32) { return event.Warp(t / 2), 0xffff << (16 * (t % 2)) }},
}

// drawPrograms derives programs from a sequence of dynamic barriers, so that most of them complete,
// and then spoils some.
func drawPrograms(t *rapid.T) oracle.Programs {
	n := rapid.IntRange(2, 4).Draw(t, "threads")
	p := make(oracle.Programs, n)
	access := func() {
		if i := rapid.IntRange(0, n-1).Draw(t, "thread"); rapid.Bool().Draw(t, "access") {
			p[i] = append(p[i], oracle.Command{Op: oracle.Op(rapid.IntRange(0, 1).Draw(t, "op")),
				Var: rapid.IntRange(0, 1).Draw(t, "var")})
		}
	}
	for range rapid.IntRange(1, 5).Draw(t, "generations") {
		bar := rapid.IntRange(0, testBarriers-1).Draw(t, "barrier")
		members := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 2, n, rapid.ID[int]).Draw(t, "members")
		for _, m := range members {
			op := oracle.SyncCmd
			if rapid.IntRange(0, 2).Draw(t, "role") == 0 {
				op = oracle.ArriveCmd
			}
			p[m] = append(p[m], oracle.Command{Op: op, Bar: bar, Count: len(members)})
			access()
		}
		access()
	}
	if rapid.IntRange(0, 3).Draw(t, "spoil") == 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "spoiled thread")
		if len(p[i]) > 0 {
			j := rapid.IntRange(0, len(p[i])-1).Draw(t, "spoiled command")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				p[i] = append(p[i][:j], p[i][j+1:]...)
			case 1:
				p[i][j].Bar = rapid.IntRange(0, testBarriers-1).Draw(t, "other barrier")
			case 2:
				p[i][j].Op = oracle.Op(rapid.IntRange(0, 3).Draw(t, "other op"))
				p[i][j].Count = max(p[i][j].Count, 2)
			}
		}
	}
	return p
}

// play executes the programs under a random schedule and sends the events to a detector. It returns
// the generations of the commands.
func play(t *rapid.T, p oracle.Programs, at placement, d *Detector) (oracle.Outcome,
	map[oracle.Ref]int) {
	s := oracle.NewState(p, testBarriers)
	gen := make(map[oracle.Ref]int)
	pos := make([]int, len(p))
	for {
		ready := s.Ready(p)
		if len(ready) == 0 {
			break
		}
		i := rapid.SampledFrom(ready).Draw(t, "next")
		c := p[i][pos[i]]
		w, mask := at.lanes(i)
		ref := oracle.Ref{Thread: i, At: pos[i]}
		site := event.Site(i*100 + pos[i])
		pos[i]++
		g, recycled, err := s.Step(p, i)
		if err {
			return oracle.Erred, nil
		}
		if !c.Synchronizes() {
			e := event.Access{Warp: w, Site: site, Mask: mask & -mask, Active: mask, Space: event.Shared,
				Size: 4, Addr: new([event.WarpSize]uint64)}
			if c.Op == oracle.WriteCmd {
				e.Kind, e.Stored = event.Write, e.Mask
			}
			for l := range e.Addr {
				e.Addr[l] = uint64(4 * c.Var)
			}
			d.Access(&e)
			continue
		}
		gen[ref] = g
		a := event.Arrive{Warp: w, Site: site, Mask: mask, Active: mask, Barrier: uint8(c.Bar),
			Count: uint32(c.Count) * at.unit}
		if c.Op == oracle.ArriveCmd {
			a.Op = event.BarArrive
		} else if at.block == 0 && c.Count == len(p) {
			a.Count = 0
		}
		d.Arrive(&a)
		if recycled >= 0 {
			d.Complete(&event.Complete{Barrier: uint8(recycled)})
		}
	}
	if !s.Done(p) {
		return oracle.Deadlocked, nil
	}
	return oracle.Done, gen
}

func TestRecyclingAgreesWithFigure4(t *testing.T) {
	var counts struct{ done, well, racy, arrivesOnly int }
	rapid.Check(t, func(t *rapid.T) {
		p := drawPrograms(t)
		at := placements[rapid.IntRange(0, len(placements)-1).Draw(t, "placement")]
		g := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
			Block: event.Dim3{X: cmp.Or(at.block, uint32(len(p))*at.unit), Y: 1, Z: 1}}
		d := New(Options{Geometry: g, SharedBytes: 64, Recycling: true, Static: true,
			Benign: event.BenignNone})
		well := oracle.WellSynchronized(p, testBarriers)
		outcome, gen := play(t, p, at, d)
		if outcome != oracle.Done {
			if well {
				t.Fatalf("well synchronized, and an execution ends with outcome %d: %v", outcome, p)
			}
			return
		}
		counts.done++
		for w := range event.Warp(g.WarpsPerBlock()) {
			d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
		}
		unsafe, alone := false, false
		for _, e := range d.Report().Barriers {
			unsafe = unsafe || e.Kind == Recycled || e.Kind == TooMany
			alone = alone || e.Kind == NoWaiter
		}
		f := oracle.NewFigure4(p, gen)
		if f.WellSync() != well {
			t.Fatalf("figure 4 says %v, all executions say %v: %v", !well, well, p)
		}
		if unsafe == well {
			t.Fatalf("the detector finds unsafe recycling: %v; well synchronized: %v: %v", unsafe, well, p)
		}
		if alone {
			counts.arrivesOnly++
		}
		if !well {
			return
		}
		counts.well++
		races := f.Races()
		want, got := make(map[uint64]bool), make(map[uint64]bool) // places with a race
		for _, r := range races {
			want[uint64(4*p[r[0].Thread][r[0].At].Var)] = true
		}
		for _, r := range d.Report().Races {
			got[r.Second.Addr] = true
		}
		if !maps.Equal(got, want) {
			t.Fatalf("figure 4 finds the races %v, the detector %v: %v", races, d.Report().Races, p)
		}
		if len(races) > 0 {
			counts.racy++
		}
	})
	t.Logf("%+v", counts)
	if testing.Short() { // too few programs to contain each kind every time
		return
	}
	if counts.well == 0 || counts.well == counts.done || counts.racy == 0 ||
		counts.racy == counts.well || counts.arrivesOnly == 0 {
		t.Errorf("the programs are one-sided: %+v", counts)
	}
}

// The epochs of lanes are those of each lane, whether all are in one epoch or not.
func TestEpochOf(t *testing.T) {
	w := &warp{even: true}
	for l := range w.own {
		w.own[l] = 7
	}
	for range 2 {
		e := w.epochOf(0xff0)
		for l := 4; l < 12; l++ {
			if e.of(l) != w.own[l] {
				t.Errorf("even %v: lane %d is in epoch %d, want %d", w.even, l, e.of(l), w.own[l])
			}
		}
		w.even, w.own[9] = false, 8
	}
}
