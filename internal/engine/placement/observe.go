package placement

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/source"
)

// observation is what runs of kernels show.
type observation struct {
	pairs   map[string]*Pair // races within a block, by their accesses
	order   []string         // of pairs
	errors  map[errorKey]string
	waiting map[source.Pos]bool // barriers of errors
	blocks  string              // as BarrierUse.Blocks
	ended   string              // why a run ended early; empty: none did
	reached map[*group]map[uint64]uint64
	launch  []launched // by kernel
}

// launched is how much of a launch ran.
type launched struct {
	blocks, threads uint64 // threads of a block
}

// errorKey identifies a barrier error, for a comparison of runs of different kernels.
type errorKey struct {
	kind race.BarrierKind
	at   source.Pos
}

// observe runs the launch of kernels once each, and counts how often threads reach barriers.
func (m *marked) observe(ctx context.Context, kernels []*ir.Func, groups []*group) (
	*observation, error) {
	o := &observation{pairs: map[string]*Pair{}, errors: map[errorKey]string{},
		waiting: map[source.Pos]bool{}, reached: map[*group]map[uint64]uint64{}}
	for i, k := range kernels {
		if err := m.observeOne(ctx, o, uint64(i), k, groups); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// observeOne runs one kernel. A pair that races within a block and between blocks is shown between
// blocks; what it does within one is then seen in a run of one.
func (m *marked) observeOne(ctx context.Context, o *observation, number uint64, k *ir.Func,
	groups []*group) error {
	cfg, errs := m.config(k)
	if len(errs) > 0 {
		return errs[0]
	}
	r := run.New(m.job(k), &run.Options{}, cfg)
	if err := r.Start(); err != nil {
		return &notJudgedError{run.CannotStart(k, err)}
	}
	if r.Machine.LaunchesGrids() {
		return &notJudgedError{launchesGrids(k)}
	}
	r.Blocks, r.MaxSteps = sample(k, r.Job.Options(), cfg)
	c := &counter{machine: r.Machine, geometry: cfg.Geometry, kernel: number, groups: groups,
		reached: o.reached}
	rep, res, err := r.Observe(ctx, m.s.opt.Run.Seed, c.watch)
	if err != nil {
		return err
	}
	o.ran(r, res)
	far := m.racing(o, r, rep)
	m.failing(o, r, rep)
	if !far || cfg.Geometry.Blocks() == 1 {
		return nil
	}
	r.Blocks = []uint32{0}
	if rep, _, err = r.Observe(ctx, m.s.opt.Run.Seed, nil); err == nil {
		m.racing(o, r, rep)
	}
	return err
}

// launchesGrids is the verdict on a kernel whose barriers may be for grids that it launches.
func launchesGrids(k *ir.Func) diag.Verdict {
	return diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Span: driver.KernelPlace(k),
		Reason: "it launches grids (dynamic parallelism), for which barriers are not placed"}
}

// A run has at least sampleSteps warp instructions, and of a large launch that many warps: a
// barrier is in the same place in every block, and each barrier has a run of its own.
const (
	sampleSteps = 2_000_000
	sampleWarps = 16
)

// sample returns the blocks that a run executes, nil for all, and its limit of steps.
func sample(k *ir.Func, opt *driver.Options, cfg *launch.Config) (blocks []uint32, steps uint64) {
	blocks = run.Sample(k, cfg.Geometry)
	if n := max(2, sampleWarps/cfg.Geometry.WarpsPerBlock()); len(blocks) > n {
		blocks = blocks[:n]
	}
	if steps = run.QuickSteps(opt, cfg, blocks); opt.MaxSteps == 0 {
		steps = max(steps, sampleSteps)
	}
	return blocks, steps
}

// ran notes how much of the launch a run covers.
func (o *observation) ran(r *run.Run, res *emu.Result) {
	g := r.Config.Geometry
	blocks := g.Blocks()
	if n := uint64(len(r.Blocks)); n > 0 {
		if o.blocks = fmt.Sprintf("blocks 0 to %d of %d", n-1, blocks); n == 2 {
			o.blocks = fmt.Sprintf("blocks 0 and 1 of %d", blocks)
		}
		blocks = n
	}
	o.launch = append(o.launch, launched{blocks, uint64(g.ThreadsPerBlock())})
	switch res.Status {
	case emu.Stopped:
		o.ended = cmp.Or(o.ended, res.Stop.Message)
	case emu.StepLimit:
		o.ended = cmp.Or(o.ended, "a run reached its step limit")
	}
}

// racing adds the races within blocks, and reports whether there are some between blocks.
func (m *marked) racing(o *observation, r *run.Run, rep *race.Report) (far bool) {
	add := func(list []race.Race, strong bool) {
		for i := range list {
			rc := &list[i]
			switch level := run.Shown(rc); {
			case rc.Cause != race.Unordered || level == race.SameThread: // no barrier orders these
			case level == race.InterBlock:
				far = true
			default:
				o.add(m.pairOf(r, rc, strong))
			}
		}
	}
	add(rep.Races, false)
	add(run.Mistakes(r.Job.Kernel, r.Machine, rep), true)
	return far
}

// add adds a pair. An example of two warps replaces one of one warp.
func (o *observation) add(p *Pair) {
	key := p.Text()
	old := o.pairs[key]
	switch {
	case old == nil:
		o.order = append(o.order, key)
		o.pairs[key] = p
	case old.OneWarp && !p.OneWarp:
		o.pairs[key] = p
	}
}

// pairOf describes a race by its example.
func (m *marked) pairOf(r *run.Run, rc *race.Race, strong bool) *Pair {
	ex := r.Example(rc)
	side := func(s *run.Side) PairAccess {
		a := m.pairAccess(s.Access)
		a.Kind, a.Thread, a.Iteration = s.Kind, s.Thread, s.When
		return a
	}
	lanes := ex.Level == race.IntraWarp || ex.Level == race.BranchOrdering
	p := &Pair{First: side(&ex.First), Second: side(&ex.Second), Element: ex.Element,
		Memory: ex.Memory, Block: ex.Block, Strong: strong,
		OneWarp: lanes && r.Config.Geometry.WarpsPerBlock() > 1}
	if a, b := callOf(ex.First.Access), callOf(ex.Second.Access); a != b && a != 0 && b != 0 {
		p.First.Call = fmt.Sprintf("%d:%d", a.Line(), a.Col())
		p.Second.Call = fmt.Sprintf("%d:%d", b.Line(), b.Col())
	}
	p.sort()
	return p
}

// callOf is where the function of an access is called; 0: it is not inlined.
func callOf(in *ir.Instr) source.Pos {
	if in.Loc == nil || in.Loc.Parent == nil {
		return 0
	}
	return in.Loc.Parent.Pos
}

// sort orders the accesses by their places. The schedule decides which comes first in a run.
func (p *Pair) sort() {
	if c := cmp.Compare(p.First.at, p.Second.at); c > 0 || c == 0 && p.Second.Text < p.First.Text {
		p.First, p.Second = p.Second, p.First
	}
}

// pairAccess names an access.
func (m *marked) pairAccess(in *ir.Instr) PairAccess {
	return PairAccess{Text: m.access(in), at: driver.Place(in).Start}
}

// failing adds the barriers of the block at which threads of a run wait in vain.
func (m *marked) failing(o *observation, r *run.Run, rep *race.Report) {
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if len(be.Groups) == 0 || be.Kind == race.SplitBarrier {
			continue
		}
		for _, g := range be.Groups {
			o.waiting[driver.Place(r.Machine.Site(g.Site).Instr).Start] = true
		}
		at := driver.Place(r.Machine.Site(be.Groups[0].Site).Instr).Start
		key := errorKey{be.Kind, at}
		if o.errors[key] == "" {
			o.errors[key] = fmt.Sprintf("%s, at %s", r.BarrierMessage(be), r.Job.Format(at))
		}
	}
}

// beyond returns the pairs and barrier errors that another observation does not have.
func (o *observation) beyond(base *observation) (pairs []Pair, errors []string) {
	for _, key := range o.order {
		if base.pairs[key] == nil {
			pairs = append(pairs, *o.pairs[key])
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.First.at, b.First.at), cmp.Compare(a.Second.at, b.Second.at))
	})
	for key, text := range o.errors {
		if base.errors[key] == "" {
			errors = append(errors, text)
		}
	}
	slices.Sort(errors)
	return pairs, errors
}
