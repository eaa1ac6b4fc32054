package check

import (
	"context"
	"fmt"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/slice"
)

// Which races of a trace are benign. A trace moves no data, so that it cannot see that two threads write one
// value. When it has found races between writes, what is stored is traced as well, for a few sets of made-up
// inputs: each address of global memory has a number of its own, and arguments are small odd numbers. Then
// which threads race with which at what place is the same in all of them (that is what the trace has shown),
// and a pair of writes that stored the same value in every run is called benign. That is an observation, as
// in the Weft paper, whose authors read the sources; no proof. A read and a write are never benign.

// randomRuns is how many sets of inputs a race is judged by.
const randomRuns = 2

// sitePair names a group of races across machines, whose sites may be numbered differently.
type sitePair struct{ a, b *ir.Instr }

func pairOf(m *emu.Machine, rc *race.Race) sitePair {
	a, b := m.Site(rc.First.Site).Instr, m.Site(rc.Second.Site).Instr
	if a.Span.Start > b.Span.Start {
		a, b = b, a
	}
	return sitePair{a, b}
}

// classify removes from the report the races that --benign tolerates, and notes the other benign ones.
func (t *tracer) classify(ctx context.Context, rep *race.Report, block uint32) {
	writes := false
	for i := range rep.Races {
		writes = writes || rep.Races[i].First.Kind == event.Write && rep.Races[i].Second.Kind == event.Write
	}
	if !writes {
		return
	}
	tolerance, _ := benign(t.opt.Benign)
	kept, harmful := make(map[sitePair]bool), make(map[sitePair]bool)
	for i := range randomRuns {
		if !t.randomRun(ctx, block, uint64(i), tolerance, kept, harmful) {
			return // nothing is known about values
		}
	}
	t.sameValue = make(map[sitePair]bool)
	out := rep.Races[:0]
	for _, rc := range rep.Races {
		at := pairOf(t.machine, &rc)
		if rc.First.Kind == event.Write && rc.Second.Kind == event.Write && !harmful[at] {
			if !kept[at] {
				t.tolerated += rc.Hazards
				continue
			}
			t.sameValue[at] = true
		}
		out = append(out, rc)
	}
	rep.Races = out
}

// randomRun traces the kernel with its data for one set of made-up inputs, and adds the races that --benign does not
// tolerate to kept, and those that are not benign to harmful. It reports whether the run came to its end.
func (t *tracer) randomRun(ctx context.Context, block uint32, seed uint64, tolerance race.Benign, kept, harmful map[sitePair]bool) bool {
	opt0 := t.slice.Options()
	opt0.Data, opt0.Seed = true, seed
	m, err := emu.NewTrace(t.kernel, t.randomInputs(seed), slice.Of(t.kernel, opt0))
	if err != nil {
		return false
	}
	opt := race.Options{Geometry: t.cfg.Geometry, Model: t.model, Benign: tolerance, SharedBytes: uint32(m.SharedBytes()), Static: true}
	some := race.New(opt)
	opt.Benign = race.BenignAll
	all := race.New(opt)
	res, err := m.Run(ctx, emu.Options{Model: t.emuModel, MaxSteps: t.opt.MaxSteps, Workers: 1, Block: &block}, bothSinks{some, all})
	if err != nil || res.Status != emu.Completed && res.Status != emu.Stalled {
		return false
	}
	for i := range some.Report().Races {
		kept[pairOf(m, &some.Report().Races[i])] = true
	}
	for i := range all.Report().Races {
		harmful[pairOf(m, &all.Report().Races[i])] = true
	}
	return true
}

// randomInputs gives every argument that nobody gave a small number or a buffer.
func (t *tracer) randomInputs(seed uint64) *launch.Config {
	c := *t.whole
	c.Geometry = t.cfg.Geometry
	c.Args = append([]launch.Arg(nil), t.whole.Args...)
	for i := range c.Args {
		a := &c.Args[i]
		if !t.cfg.Args[i].Unknown {
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

// bothSinks sends the events of shared memory and of synchronization to two detectors.
type bothSinks struct{ a, b *race.Detector }

func (s bothSinks) Access(e *event.Access) {
	if e.Space == event.Shared {
		weaken(e)
		s.a.Access(e)
		s.b.Access(e)
	}
}
func (s bothSinks) Fence(*event.Fence)         {}
func (s bothSinks) Arrive(e *event.Arrive)     { s.a.Arrive(e); s.b.Arrive(e) }
func (s bothSinks) Complete(e *event.Complete) { s.a.Complete(e); s.b.Complete(e) }
func (s bothSinks) WarpSync(e *event.WarpSync) { s.a.WarpSync(e); s.b.WarpSync(e) }
func (s bothSinks) Converge(e *event.Converge) { s.a.Converge(e); s.b.Converge(e) }
func (s bothSinks) Exit(e *event.Exit)         { s.a.Exit(e); s.b.Exit(e) }
func (s bothSinks) Stall(e *event.Stall)       { s.a.Stall(e); s.b.Stall(e) }

// sameValueNote says what is known about the values of a benign race.
func sameValueNote() string {
	return fmt.Sprintf("benign: both threads stored the same value in each of %d runs with made-up inputs", randomRuns)
}
