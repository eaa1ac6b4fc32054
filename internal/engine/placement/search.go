package placement

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	placer "heddle/internal/place"
	"heddle/internal/syntax"
)

// The search for one kernel. It asks first for a placement that is right for all arguments, and if
// there is none, for one that is right for the arguments of the launch, which the result then says
// (Given). A kernel that cannot be judged, or whose judgement ran out of time or steps, has no
// placement: that is never taken for "right".

// found is the search for one kernel, with its result.
type found struct {
	sync   Kernel
	marked *marked
	result *placer.Result
	// for a result that is kept: its file, else empty, and the functions that it depends on
	file      string
	functions []*syntax.Func
}

// kernel searches barriers for one kernel.
func (s *syncer) kernel(ctx context.Context, in *driver.Module, fn *syntax.Func,
	kernels []*ir.Func) (*found, error) {
	began := time.Now()
	name := kernels[0].Demangled
	f := &found{sync: Kernel{Kernel: name, Verdict: diag.Verdict{
		Kind: diag.Unknown, Kernel: name, Reason: "not judged",
	}}}
	defer func() { f.sync.Time = time.Since(began) }()
	for _, k := range kernels {
		if s.d.Job(in, k).Config() == nil {
			f.sync.Status = NotChecked
			f.sync.Stuck = []string{"its launch is unknown"}
			return f, nil
		}
	}
	if limit := s.opt.Prove.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	f.marked = newMarked(s, in, fn, kernels)
	if cfg, errs := f.marked.config(kernels[0]); len(errs) == 0 {
		for _, h := range f.marked.hosts[kernels[0].Name] {
			if h != 0 && h != cfg.Host {
				f.sync.hosts = append(f.sync.hosts, h)
			}
		}
	}
	oracle := f.marked.oracle(s.opt.Oracle)
	f.sync.Oracle = oracle.Name()
	if s.opt.Measured {
		if err := f.marked.measure(ctx); err != nil {
			return f, s.notJudged(ctx, f, err)
		}
	}
	cost := s.opt.Cost
	if cost == (placer.Cost{}) {
		cost = placer.DefaultCost
	}
	f.sync.Before = cost.Total(&f.marked.tree, f.marked.tree.Standing())
	var err error
	if f.file = f.path(); !f.restore(f.file) {
		err = s.search(ctx, f, oracle, cost)
	}
	switch {
	case err == nil:
		f.report()
	default:
		err = s.notJudged(ctx, f, err)
	}
	if err == nil && s.opt.Explain {
		f.explain(ctx)
	}
	return f, err
}

// searchSteps bounds the proofs of one search, in steps of the solvers: about half a minute. If the
// user gives a timeout, that is the bound of the last search.
const searchSteps = prove.VerifySteps / 2

// search asks for a placement that is right for all arguments; if there is none, for one that is
// right for those of the launch. The first search keeps its bound on steps where a second may
// follow, so the clock does not decide which of the two gives the result. Only the last one may
// leave races.
func (s *syncer) search(ctx context.Context, f *found, oracle placer.Oracle,
	cost placer.Cost) error {
	given := s.opt.Oracle != Dynamic && s.opt.From == 0 && f.marked.unfixed()
	last := int64(searchSteps)
	if s.opt.Prove.Timeout > 0 {
		last = math.MaxInt64
	}
	f.marked.steps = last
	whole := s.opt.Options
	if given { // another search follows, and which one decides must not depend on time
		f.marked.steps, f.marked.whole, whole.Partial = searchSteps, true, false
	}
	first, err := s.once(ctx, f, oracle, cost, whole)
	if err == nil && first.Found || !given || ctx.Err() != nil {
		f.result = first
		return err
	}
	f.marked.whole = false
	f.marked.scalars, f.marked.steps = launch.Default, last
	oracle = f.marked.oracle(s.opt.Oracle)
	second, again := s.once(ctx, f, oracle, cost, s.opt.Options)
	if again != nil || !second.Found {
		if errors.Is(err, errOtherBlocks) {
			f.marked.scalars, f.marked.steps = launch.FromProgram, last
			first, err = s.once(ctx, f, f.marked.oracle(s.opt.Oracle), cost, s.opt.Options)
		}
		f.result = first
		return err
	}
	f.result, f.sync.Given = second, true
	switch {
	case err == nil:
		f.sync.Elsewhere = f.stuckTexts(first)
		second.Calls += first.Calls
	case errors.Is(err, errOtherBlocks):
		f.sync.Elsewhere = []string{errOtherBlocks.Error()}
	}
	return nil
}

// once is one search with one oracle.
func (s *syncer) once(ctx context.Context, f *found, oracle placer.Oracle,
	cost placer.Cost, opt placer.Options) (*placer.Result, error) {
	if s.opt.VerifyOnly {
		return judge(ctx, &f.marked.tree, oracle, cost, f.marked.tree.Standing())
	}
	t := &f.marked.tree
	r, err := placer.Synthesize(ctx, t, oracle, opt)
	gone := func(l placer.Label) bool { return !r.Placement[l] }
	if err != nil || !r.Found || !slices.ContainsFunc(t.Standing().Labels(), gone) {
		return r, err
	}
	strong := slices.ContainsFunc(f.marked.kernels, decides) || f.marked.unfollowed()
	if !strong && len(r.OtherBlocks) == 0 {
		return r, nil
	}
	// A barrier that no race needs may decide what strong accesses read (see repair.FindRedundant),
	// or be part of what orders blocks, as in a barrier of the grid.
	if was, err := judge(ctx, t, oracle, cost, t.Standing()); err == nil && was.Found {
		was.Calls += r.Calls
		return was, nil
	}
	if !strong {
		return r, nil
	}
	both := maps.Clone(r.Placement)
	maps.Copy(both, t.Standing())
	if all, err := judge(ctx, t, oracle, cost, both); err == nil && all.Found {
		all.Calls, all.Reasons = all.Calls+r.Calls, r.Reasons
		return all, nil
	}
	return r, nil
}

// unfollowed reports whether a kernel may be launched in ways that are not known, with blocks of
// other sizes. A barrier that no race needs with the known ones may be needed then.
func (m *marked) unfollowed() bool {
	file := m.s.d.Files().Named(m.s.file.Name)
	return m.in.CUDA() && file != nil && slices.ContainsFunc(m.kernels, func(k *ir.Func) bool {
		all, errs := launch.Launches(k, m.job(k).Launch, m.in.Facts)
		return len(errs) > 0 || all.Left+len(all.Failed) > 0 ||
			launch.Unfollowed(k, file, m.in.Facts).IsValid()
	})
}

// decides reports whether barriers of a kernel may decide what accesses read although no race shows
// it: it has strong accesses, or fences beyond the block or waits for another grid, by which code
// outside the kernel takes part.
func decides(k *ir.Func) bool {
	return k.HasStrong() || k.Contains(func(in *ir.Instr) bool {
		return in.Action() == isa.ActFence && in.Scope > event.CTA ||
			in.Action() == isa.ActGridDependency
	})
}

// notJudged handles the error of an oracle: a kernel that cannot be judged is a result, not a
// failure. A cause that the user can act on is named with what to do.
func (s *syncer) notJudged(ctx context.Context, f *found, err error) error {
	var no *notJudgedError
	var lost *ir.LostBarrierError
	var where *unlocatedError
	var other *undecidedBarrierError
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		f.sync.Stuck = []string{"out of time"}
	case errors.Is(err, errSteps):
		f.sync.Stuck = []string{errSteps.Error()}
	case errors.As(err, &no):
		f.sync.Verdict = no.verdict
		f.sync.Stuck = []string{no.verdict.Kind.String() + ": " + no.verdict.Reason}
		if no.verdict.Kind == diag.Unsupported && f.sync.Oracle != "dynamic" {
			f.sync.Stuck[0] += " (try --oracle dynamic, which judges by runs)"
		}
		if no.verdict.Span.IsValid() {
			f.sync.Stuck[0] += " at " + s.d.Files().Format(no.verdict.Span.Start)
		}
	case errors.As(err, &lost), errors.As(err, &where), errors.As(err, &other):
		f.sync.Stuck = []string{err.Error()}
	default:
		return err
	}
	f.sync.Status = NotChecked
	return nil
}

// judge asks the oracle about a placement. No place is searched, so each race is stuck with the
// cause Useless.
func judge(ctx context.Context, t *placer.Tree, oracle placer.Oracle, cost placer.Cost,
	p placer.Placement) (*placer.Result, error) {
	a, err := oracle.Check(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &placer.Result{
		Placement: p, Calls: 1, Cost: cost.Total(t, p),
		Verified: a.Verified, Unknown: a.Unknown, Found: true,
	}
	for i := range a.Races {
		if a.Races[i].OtherBlock {
			r.OtherBlocks = append(r.OtherBlocks, a.Races[i])
			continue
		}
		r.Found = false
		r.Stuck = append(r.Stuck, placer.Stuck{
			Race: &a.Races[i], Loop: placer.None, Cause: placer.Useless,
		})
	}
	for _, l := range a.Divergences {
		if p[l] {
			r.Found, r.GaveUp = false, "not all threads of the block reach one of its barriers"
		}
	}
	return r, nil
}
