package placement

import (
	"context"
	"errors"
	"math/bits"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/launch"
	placer "heddle/internal/place"
)

// The costs of alternative placements, for an evaluation of the cost model: how far the constants,
// and the counts of one run, agree with the barriers that a run with the placement executes.

// Cost is the cost of a placement: by the constants of the cost model, by the counts of one run
// with barriers everywhere, and as executed.
type Cost struct {
	Barriers         int
	Static, Measured float64
	Executions       float64 // of barriers, by a thread, in a run with this placement
}

// Costs returns the costs of placements of each kernel of a source: of all placements that satisfy
// the constraints of the static engine, are right in a run of the launch, and have at most one
// barrier more than the cheapest; of at most limit.
func Costs(ctx context.Context, opt Options, file driver.Input, limit int) ([][]Cost, error) {
	opt.Common.Files, opt.Run.Seeds, opt.Common.Limit, opt.BlockOnly = nil, 1, 1, true
	var mistake error
	s, err := open(opt, file, func(m diag.Diagnostic) {
		mistake = errors.New(file.Name + ": " + m.Message)
	})
	if err != nil {
		return nil, err
	}
	defer s.prover.Close()
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		return nil, errors.Join(err, mistake)
	}
	var out [][]Cost
	for f := range s.functions(in) {
		one, err := f.marked.costs(ctx, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, mistake
}

// costs is Costs for one kernel. It asks for all arguments first, and for those of the launch if
// there is no such placement, as a search does.
func (m *marked) costs(ctx context.Context, limit int) ([]Cost, error) {
	for _, scalars := range []launch.Origin{launch.FromProgram, launch.Default} {
		m.scalars = scalars
		oracle := &staticOracle{marked: m}
		best, err := placer.Synthesize(ctx, &m.tree, oracle, placer.Options{})
		if err != nil || !best.Found && scalars == launch.FromProgram {
			continue
		}
		asked, err := oracle.Check(ctx, placer.Placement{})
		if err != nil || !best.Found {
			return nil, err
		}
		candidates := placer.Alternatives(&m.tree, asked, len(m.places(best.Placement))+1, limit)
		return m.executed(ctx, candidates)
	}
	return nil, nil
}

// places are the places in the source of a placement. A function that is inlined at several calls
// has one place in the source.
func (m *marked) places(p placer.Placement) map[origin]bool {
	out := map[origin]bool{}
	for l, on := range p {
		if on {
			out[m.origins[l]] = true
		}
	}
	return out
}

// executed runs placements, and returns the costs of those that are right in the run. The counts of
// measure replace the constants in the tree, so the static costs are taken before it.
func (m *marked) executed(ctx context.Context, candidates []placer.Placement) ([]Cost, error) {
	var out []Cost
	var right []placer.Placement
	o := &dynamicOracle{m}
	for _, p := range candidates {
		kernels, err := m.placed(p)
		if err != nil {
			return nil, err
		}
		a := newAnswer(m, p)
		came, threads := uint64(0), uint64(0)
		for _, k := range kernels {
			cfg, errs := m.config(k)
			if len(errs) > 0 {
				return nil, errs[0]
			}
			threads += cfg.Geometry.Blocks() * cfg.Geometry.Block.Count()
			count := func(_ *emu.Machine, e *event.Arrive) {
				came += uint64(bits.OnesCount32(e.Mask))
			}
			err := o.watched(ctx, k, m.s.opt.Run.Seed, nil, a, count)
			if err != nil {
				return nil, err
			}
		}
		if !a.objection() && a.a.Unknown == "" {
			right = append(right, p)
			out = append(out, Cost{
				Barriers: len(m.places(p)), Static: placer.DefaultCost.Total(&m.tree, p),
				Executions: float64(came) / float64(threads),
			})
		}
	}
	if err := m.measure(ctx); err != nil {
		return nil, err
	}
	for i, p := range right {
		out[i].Measured = placer.DefaultCost.Total(&m.tree, p)
	}
	return out, nil
}
