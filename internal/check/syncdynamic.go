package check

import (
	"context"
	"fmt"

	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/launch"
	placer "heddle/internal/place"
	"heddle/internal/race"
	"heddle/internal/source"
)

// dynamicOracle runs the launch and looks at what the race detector says.
type dynamicOracle struct{ *marked }

// Name implements placer.Oracle.
func (o *dynamicOracle) Name() string { return "dynamic" }

// Check implements placer.Oracle: it names what runs of the launch with all seeds show.
func (o *dynamicOracle) Check(ctx context.Context, p placer.Placement) (*placer.Answer, error) {
	a := newAnswer(o.marked, p)
	kernels, err := o.placed(p)
	if err != nil {
		return nil, err
	}
	for _, k := range kernels {
		for i := range o.opt.Seeds {
			if err := o.run(ctx, k, o.opt.Seed+uint64(i), a); err != nil {
				return nil, err
			}
		}
	}
	return &a.a, nil
}

// run executes one kernel once.
func (o *dynamicOracle) run(ctx context.Context, k *ir.Func, seed uint64, a *answer) error {
	cfg, errs := launch.Resolve(k, o.opt.Launch, o.in.facts)
	if len(errs) > 0 {
		return errs[0]
	}
	m, err := emu.New(k, cfg)
	if err != nil {
		return &notJudgedError{cannotStart(k, err)}
	}
	r := &kernelRun{driver: o.driver, kernel: k, cfg: cfg, parts: ir.OrdersParts(k)}
	emuModel, raceModel, _ := warpModel(o.opt.Warp)
	tolerance, _ := benign(o.opt.Benign)
	det := r.detector(race.Options{Geometry: cfg.Geometry, Model: raceModel, Benign: tolerance, SharedBytes: uint32(m.SharedBytes())})
	j := judge{driver: o.driver}
	res, err := m.Run(ctx, emu.Options{Model: emuModel, Seed: seed, MaxSteps: j.steps(cfg), Workers: 1}, det)
	if err != nil {
		return err
	}
	rep := det.Report()
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
			a.shown[[2]source.Span{first.Span, second.Span}] = true
		}
		a.race(one, rc.Space)
	}
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if be.Kind != race.Divergence && be.Kind != race.Deadlock {
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
	switch res.Status {
	case emu.Stopped:
		a.a.Unknown = res.Stop.Message
	case emu.StepLimit:
		a.a.Unknown = "a run takes too long"
	}
	return nil
}

// bothOracle asks the dynamic engine, and if it has no objection the static one.
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

// oracle returns the oracle of that name.
func (m *marked) oracle(name string) (placer.Oracle, error) {
	switch name {
	case "", "static":
		return &staticOracle{marked: m}, nil
	case "dynamic":
		return &dynamicOracle{m}, nil
	case "both":
		return &bothOracle{dynamicOracle{m}, staticOracle{marked: m}}, nil
	}
	return nil, fmt.Errorf("oracle %q: expected static, dynamic or both", name)
}
