package trace

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/slice"
)

// Which races of a trace are benign. A trace moves no data, so it cannot see that two threads write
// the same value. If it finds races between writes, it executes the block again with data, for a
// few sets of made-up inputs: each address of global memory has a number of its own, and arguments
// are small odd numbers. The trace has shown that the same pairs of instructions race for all
// inputs. A pair of writes that stored the same value in every one of these runs is called benign.
//
// The notion is that of the Weft paper, whose authors inspected the sources instead. It is an
// observation, not a proof: two writes may differ for other inputs. So a kernel with tolerated
// races is never verified. A race of a read and a write is never benign.

// randomRuns is the number of sets of made-up inputs by which a race is judged.
const randomRuns = 2

// sitePair identifies the races of two instructions across machines, which may number their sites
// differently. pairOf sorts the two by position.
type sitePair struct{ a, b *ir.Instr }

func pairOf(m *emu.Machine, rc *race.Race) sitePair {
	a, b := m.Site(rc.First.Site).Instr, m.Site(rc.Second.Site).Instr
	if a.Span.Start > b.Span.Start {
		a, b = b, a
	}
	return sitePair{a, b}
}

// classify examines the races of a trace again in runs with made-up inputs. It removes those that
// --benign tolerates from the report, marks the other benign ones in t.same, and moves those on a
// path that perhaps no input takes (maybe) to t.possible, unless a run shows them. If a run does
// not end, nothing is tolerated, and races on doubtful paths are only possible.
func (t *tracer) classify(ctx context.Context, rep *race.Report, maybe map[event.Site]bool,
	block uint32) {
	doubtful := func(rc *race.Race) bool { return maybe[rc.First.Site] || maybe[rc.Second.Site] }
	doubt, values := false, false
	for i := range rep.Races {
		doubt = doubt || doubtful(&rep.Races[i])
		values = values || writes(&rep.Races[i])
	}
	tolerance := t.job.Options().Benign
	racing := make(map[*ir.Instr]bool)
	for i := range rep.Races {
		at := pairOf(t.run.Machine, &rep.Races[i])
		racing[at.a], racing[at.b] = true, true
	}
	// The same runs under three tolerances. all: does a race on a doubtful path occur at all? kept:
	// does it remain under the tolerance of --benign? harmful: does it remain if all equal writes are
	// tolerated, so that it is not benign? Runs whose answer no race depends on are omitted (nil).
	runs := madeUp{t, block, racing}
	all := runs.races(ctx, event.BenignNone, doubt)
	kept := runs.races(ctx, tolerance, values && tolerance != event.BenignNone)
	harmful := kept
	if tolerance != event.BenignAll {
		wanted := values && (kept == nil || t.anyWrites(rep, kept))
		harmful = runs.races(ctx, event.BenignAll, wanted)
	}
	t.same = make(map[sitePair]bool)
	out := rep.Races[:0]
	for _, rc := range rep.Races {
		at := pairOf(t.run.Machine, &rc)
		switch {
		case doubtful(&rc) && !all[at]:
			t.possible = append(t.possible, rc)
		case writes(&rc) && kept != nil && !kept[at]:
			t.run.Tolerated += rc.Hazards
		default:
			t.same[at] = writes(&rc) && harmful != nil && !harmful[at]
			out = append(out, rc)
		}
	}
	rep.Races = out
}

// writes reports whether both sides of a race are plain writes; no other race can be benign. A late
// proxy fence is a race only if the user says so, and the runs with made-up inputs do not have it.
func writes(rc *race.Race) bool {
	return rc.Cause != race.LateProxyFence && rc.First.Kind == event.Write &&
		rc.Second.Kind == event.Write
}

// madeUp are the runs of one block with made-up inputs, for the races of a set of instructions.
type madeUp struct {
	t      *tracer
	block  uint32
	racing map[*ir.Instr]bool
}

// anyWrites reports whether the report has a race of two writes that --benign does not tolerate.
func (t *tracer) anyWrites(rep *race.Report, kept map[sitePair]bool) bool {
	for i := range rep.Races {
		rc := &rep.Races[i]
		if writes(rc) && kept[pairOf(t.run.Machine, rc)] {
			return true
		}
	}
	return false
}

// races returns the races between instructions of u.racing that a detector with the given tolerance
// finds in any of the runs; nil if they are not wanted, or if a run did not end.
func (u madeUp) races(ctx context.Context, tolerance event.Benign, wanted bool) map[sitePair]bool {
	if !wanted {
		return nil
	}
	// Each run has a slice, a machine and a detector of its own, so they need no lock.
	var each [randomRuns]map[sitePair]bool
	var wg sync.WaitGroup
	var crash atomic.Pointer[string]
	for seed := range uint64(randomRuns) {
		wg.Go(func() {
			defer func() { // the caller can recover a panic, and nobody else
				if v := recover(); v != nil {
					text := fmt.Sprintf("%v\n%s", v, debug.Stack())
					crash.CompareAndSwap(nil, &text)
				}
			}()
			each[seed] = u.run(ctx, seed, tolerance)
		})
	}
	wg.Wait()
	if text := crash.Load(); text != nil {
		panic(*text)
	}
	seen := make(map[sitePair]bool)
	for _, one := range each {
		if one == nil {
			return nil
		}
		maps.Copy(seen, one)
	}
	return seen
}

// run returns the races of one run with made-up inputs; nil if it did not end.
func (u madeUp) run(ctx context.Context, seed uint64, tolerance event.Benign) map[sitePair]bool {
	t := u.t
	opt := t.slice.Options()
	opt.Data, opt.Seed = true, seed
	m, err := emu.NewTrace(t.job.Kernel, t.randomInputs(seed), slice.Of(t.job.Kernel, opt))
	if err != nil {
		return nil
	}
	det := t.detectors(race.Options{
		Geometry: t.run.Config.Geometry, Model: t.model, Benign: tolerance,
		SharedBytes: uint32(m.SharedBytes()), Only: t.only, Static: true,
	})
	sink := &someSites{traceSink{Split: det}, sitesOf(m, u.racing)}
	res, err := m.Run(ctx, t.running([]uint32{u.block}, 0), sink)
	if err != nil || res.Status != emu.Completed && res.Status != emu.Stalled {
		return nil
	}
	seen := make(map[sitePair]bool)
	rep := det.Report()
	for i := range rep.Races {
		seen[pairOf(m, &rep.Races[i])] = true
	}
	return seen
}

// someSites passes on the accesses of some sites only, which saves most of the detector's time.
// That is sound because accesses order nothing: a race does not depend on other accesses.
type someSites struct {
	traceSink
	sites []bool
}

func (s *someSites) Access(e *event.Access) {
	if s.sites[e.Site] {
		s.traceSink.Access(e)
	}
}

// sitesOf marks the sites of a machine that belong to the instructions of a set.
func sitesOf(m *emu.Machine, set map[*ir.Instr]bool) []bool {
	out := make([]bool, m.NumSites())
	for i := range out {
		out[i] = set[m.Site(event.Site(i)).Instr]
	}
	return out
}

// randomInputs is the launch with a value for every argument that the trace takes as unknown: the
// guessed buffer for a pointer, a small number for an integer. The seed changes the numbers.
func (t *tracer) randomInputs(seed uint64) *launch.Config {
	c := *t.guessed
	c.Geometry = t.run.Config.Geometry
	c.Args = append([]launch.Arg(nil), t.guessed.Args...)
	for i := range c.Args {
		a := &c.Args[i]
		if !t.run.Config.Args[i].Unknown {
			continue
		}
		a.Unknown = false
		if a.Buffer != nil {
			continue
		}
		n := 1025 + 2*((seed*7919+uint64(i)*104729)%1021) // odd, so that strides keep addresses apart
		if !a.Float && len(a.Bits) <= 8 && len(a.Bits) > 0 {
			a.Bits = append([]byte(nil), a.Bits...)
			for k := range a.Bits {
				a.Bits[k] = byte(n >> (8 * k))
			}
		}
	}
	return &c
}

// word marks a race as benign in its message and says on what evidence.
func (t *tracer) word(rc *race.Race, d *diag.Diagnostic) {
	if !t.same[pairOf(t.run.Machine, rc)] {
		return
	}
	d.Message = "benign " + d.Message
	d.Notes = append(d.Notes, fmt.Sprintf("benign: both threads stored the same value in each of "+
		"%d runs with made-up inputs", randomRuns))
}
