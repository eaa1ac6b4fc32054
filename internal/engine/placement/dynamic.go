package placement

import (
	"context"
	"fmt"
	"math/bits"

	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	placer "heddle/internal/place"
	"heddle/internal/race"
	"heddle/internal/source"
)

// The dynamic oracle. It calls a placement right if runs of the launch under all seeds show no race
// and no divergence, so it can miss what other inputs and schedules show. Races of asynchronous
// copies and other proxies are left out: a barrier does not order them.

// dynamicOracle judges a placement by runs of the launch, watched by the race detector.
type dynamicOracle struct{ *marked }

// Name implements placer.Oracle.
func (o *dynamicOracle) Name() string { return "dynamic" }

// Check implements placer.Oracle: it names what runs of the launch under all seeds show.
func (o *dynamicOracle) Check(ctx context.Context, p placer.Placement) (*placer.Answer, error) {
	a := newAnswer(o.marked, p)
	kernels, err := o.placed(p)
	if err != nil {
		return nil, err
	}
	err = o.each(kernels, func(k *ir.Func) error {
		for i := range o.s.opt.Run.Seeds {
			if err := o.run(ctx, k, o.s.opt.Run.Seed+uint64(i), nil, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &a.a, nil
}

// run executes some blocks of one kernel once; nil: all. The error is a notJudgedError if the
// kernel cannot start.
func (o *dynamicOracle) run(ctx context.Context, k *ir.Func, seed uint64, blocks []uint32,
	a *answer) error {
	return o.watched(ctx, k, seed, blocks, a, nil)
}

// watched is run, with a function that counts arrivals at barriers; nil: they are not counted.
func (o *dynamicOracle) watched(ctx context.Context, k *ir.Func, seed uint64, blocks []uint32,
	a *answer, count func(*emu.Machine, *event.Arrive)) error {
	cfg, errs := o.config(k)
	if len(errs) > 0 {
		return errs[0]
	}
	m, err := emu.New(k, cfg)
	if err != nil {
		return &notJudgedError{run.CannotStart(k, err)}
	}
	if m.LaunchesGrids() {
		return &notJudgedError{launchesGrids(k)}
	}
	common := o.s.d.Options()
	det := run.Watch(common, k, cfg, m, false)
	opt := emu.Options{
		Model: common.Warp, Seed: seed, MaxSteps: run.QuickSteps(common, cfg, blocks), Workers: 1,
		Blocks:      blocks,
		StopAtFault: true, Memory: common.Memory,
	}
	res, err := m.Run(ctx, opt, &arrivals{det, m, count})
	if err != nil {
		return err
	}
	rep := det.Report()
	rep.Races = append(rep.Races, run.Mistakes(k, m, rep)...)
	if err := o.reported(m, rep, a); err != nil {
		return err
	}
	switch res.Status {
	case emu.Stopped:
		a.a.Unknown = res.Stop.Message
	case emu.StepLimit:
		a.a.Unknown = "a run reached its step limit"
	}
	return nil
}

// reported adds what the detector reports of a run. Of the misuses of barriers only divergence and
// hangs count, which another placement can repair.
func (o *dynamicOracle) reported(m *emu.Machine, rep *race.Report, a *answer) error {
	for i := range rep.Races {
		rc := &rep.Races[i]
		if rc.Cause != race.Unordered {
			continue
		}
		first, second := m.Site(rc.First.Site).Instr, m.Site(rc.Second.Site).Instr
		one, err := o.race(first, second, rc.Level == race.InterBlock, nil)
		if err != nil {
			return err
		}
		if !one.OtherBlock {
			at := [2]source.Span{first.Span, second.Span}
			warps := rc.First.Thread.Warp() != rc.Second.Thread.Warp()
			a.shown[at] = a.shown[at] || warps
		}
		a.race(one, rc.Space)
	}
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if be.Kind != race.Divergence && be.Kind != race.Deadlock && be.Kind != race.WarpSyncHang {
			continue
		}
		var at [2]*ir.Instr
		for g := range be.Groups {
			in := m.Site(be.Groups[g].Site).Instr
			switch {
			case at[0] == nil:
				at[0] = in
			case in != at[0]:
				at[1] = in
			}
		}
		if err := a.diverge(at[0], at[1]); err != nil {
			return err
		}
	}
	return nil
}

// arrivals passes events on, and reports arrivals at barriers. Counting must not change what the
// detector sees, so it forwards every event.
type arrivals struct {
	run.Detector
	m     *emu.Machine
	count func(*emu.Machine, *event.Arrive)
}

// Arrive implements event.Sink.
func (s *arrivals) Arrive(e *event.Arrive) {
	if s.count != nil {
		s.count(s.m, e)
	}
	s.Detector.Arrive(e)
}

// measure counts in a run of the launch how often a thread reaches each label, for the cost of a
// barrier there. The run has barriers at all labels but those that diverge, whose cost does not
// matter.
func (m *marked) measure(ctx context.Context) error {
	p := placer.Placement{}
	for l := range m.tree.Labels {
		if n := &m.tree.Labels[l]; l > 0 && (n.Barrier || !n.Closed) {
			p[placer.Label(l)] = true
		}
	}
	o := &dynamicOracle{m}
	for {
		kernels, err := m.placed(p)
		if err != nil {
			return err
		}
		a := newAnswer(m, p)
		came, threads := map[placer.Label]uint64{}, uint64(0)
		for _, k := range kernels {
			cfg, errs := o.config(k)
			if len(errs) > 0 {
				return errs[0]
			}
			threads += cfg.Geometry.Blocks() * cfg.Geometry.Block.Count()
			err := o.watched(ctx, k, o.s.opt.Run.Seed, nil, a, func(machine *emu.Machine, e *event.Arrive) {
				if l, ok := m.barriers[machine.Site(e.Site).Instr.Span]; ok {
					came[l] += uint64(bits.OnesCount32(e.Mask))
				}
			})
			if err != nil {
				return err
			}
		}
		// Barriers that diverge are removed until none does. Each round removes at least one, so this
		// ends.
		if len(a.a.Divergences) == 0 {
			for l := range p { // one that no thread reaches costs little, not nothing
				m.tree.Labels[l].Trips = max(float64(came[l]), 0.5) / float64(threads)
				if w, ok := m.warp[l]; ok {
					m.tree.Labels[w].Trips = m.tree.Labels[l].Trips
				}
			}
			return nil
		}
		for _, l := range a.a.Divergences {
			delete(p, l)
		}
	}
}

// bothOracle asks the dynamic engine, and if that has no objection, the static one. Runs are
// cheaper than proofs and reject most wrong placements.
type bothOracle struct {
	dynamic dynamicOracle
	static  staticOracle
}

// Name implements placer.Oracle: what it passes is proved.
func (o *bothOracle) Name() string { return "static, after dynamic" }

// Check implements placer.Oracle.
func (o *bothOracle) Check(ctx context.Context, p placer.Placement) (*placer.Answer, error) {
	a, err := o.dynamic.Check(ctx, p)
	if err != nil || len(a.Divergences) > 0 {
		return a, err
	}
	for _, r := range a.Races {
		if !r.OtherBlock {
			return a, nil
		}
	}
	return o.static.Check(ctx, p)
}

// Oracle says how placements are judged.
type Oracle uint8

const (
	Static  Oracle = iota // proofs for all inputs of the launch shape
	Dynamic               // runs of the launch
	Both                  // runs first, and proofs of what they pass
)

// ParseOracle reads the name of an oracle; the empty word is Static.
func ParseOracle(word string) (Oracle, error) {
	switch word {
	case "", "static":
		return Static, nil
	case "dynamic":
		return Dynamic, nil
	case "both":
		return Both, nil
	}
	return 0, fmt.Errorf("oracle %q: expected static, dynamic or both", word)
}

// oracle returns the oracle that judges placements in m.
func (m *marked) oracle(o Oracle) placer.Oracle {
	switch o {
	case Dynamic:
		return &dynamicOracle{m}
	case Both:
		return &bothOracle{dynamicOracle{m}, staticOracle{marked: m}}
	}
	return &staticOracle{marked: m}
}
