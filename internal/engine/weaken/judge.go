package weaken

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/race"
	"heddle/internal/verify"
)

// How a text is judged: a proof of each kernel that the offers in it change, for each launch of the
// host code, at the level that the offers need; then runs of the same launches. A shape of the
// block that heddle guessed proves nothing here, since an offer may be right for that size only. A
// guessed grid is replaced by any grid. A kernel that is proved for all arguments stays so; one
// that is proved for the arguments of the host code only may change only in places that threads
// execute with these.

// mode selects an engine for proofs.
type mode struct {
	anyGrid     bool
	adversarial bool // loads of what the kernel writes return anything
}

// prover returns the engine of a mode.
func (w *weakener) prover(m mode) (*prove.Engine, error) {
	if p := w.provers[m]; p != nil {
		return p, nil
	}
	opt := w.opt.Prove
	opt.OnlyIntraBlock, opt.Unwind, opt.Ignore = false, 0, nil
	if m.anyGrid {
		opt.Any = lockstep.Any{Grid: [3]bool{true, true, true}}
	}
	if m.adversarial {
		opt.Abstraction = prove.Adversarial
	}
	p, err := prove.Open(w.base.d.Options(), run.Options{}, opt)
	if err == nil {
		w.provers[m] = p
	}
	return p, err
}

// proofSteps bounds one proof, in steps of the solvers: about five seconds.
const proofSteps = 100_000_000

// proofSeeds is how many schedules of a changed text run.
const proofSeeds = 3

// question is what is asked about the kernels of a text.
type question struct {
	level level
	// beyond restricts races within a block, as verify.Options.Beyond. The values that loads return
	// are not known then: see part.go.
	beyond uint32
	// given allows a proof for the scalar arguments that host code specifies, if there is none for
	// all.
	given bool
}

// proved is the answer: the scope of the proofs, or why there is none.
type proved struct {
	scope  string
	why    string // empty: proved
	given  bool   // for the scalar arguments that host code specifies only
	thread *thread.Thread
}

// launches returns the launches of a kernel, and why they are not good enough.
func (w *weakener) launches(c *compiled, k *ir.Func) (list []*launch.Config, why string) {
	req := c.d.Job(c.in, k).Launch
	req.AnyShared = true
	all, errs := launch.Launches(k, req, c.in.Facts)
	if len(errs) > 0 {
		return nil, errs[0].Msg
	}
	if all.Left > 0 {
		return nil, "the host code launches it with more shapes and arguments than are proved"
	}
	for _, cfg := range all.Configs {
		if cfg.Origins["block"].Guessed() {
			return nil, "its block size is unknown (specify --block)"
		}
		if cfg.Geometry.Cluster.Count() > 1 {
			return nil, "it is launched in clusters"
		}
	}
	return all.Configs, ""
}

// shapesText prints the blocks of launches, to compare those of two texts.
func shapesText(list []*launch.Config) string {
	var out []string
	for _, cfg := range list {
		out = append(out, fmt.Sprint(cfg.Geometry))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "; ")
}

// prove asks about one kernel of a text, for all of its launches.
func (w *weakener) prove(ctx context.Context, c *compiled, name string, q question) (proved,
	error) {
	k := c.in.IR.Kernel(name)
	if k == nil {
		return proved{why: "the changed file has no kernel " + name}, nil
	}
	configs, why := w.launches(c, k)
	if why != "" {
		return proved{why: why}, nil
	}
	undo := soften(k, q.level)
	defer undo.restore()
	var out proved
	for _, cfg := range configs {
		one, err := w.proveLaunch(ctx, c, k, cfg, q)
		if err != nil || one.why != "" {
			return one, err
		}
		if out.scope != "" && !strings.Contains(out.scope, one.scope) {
			one.scope = out.scope + "; " + one.scope
		}
		one.given = one.given || out.given
		out = one
	}
	return out, nil
}

// proveLaunch is prove for one launch: for all arguments, or else for those that host code
// specifies.
func (w *weakener) proveLaunch(ctx context.Context, c *compiled, k *ir.Func, cfg *launch.Config,
	q question) (proved, error) {
	// One block cannot show how blocks depend on each other, and may be what a test launches.
	anyGrid := cfg.Origins["grid"].Guessed() ||
		cfg.Geometry.Blocks() == 1 && w.kernels[k.Name].talks()
	p, err := w.prover(mode{anyGrid, q.beyond > 0})
	if err != nil {
		return proved{}, err
	}
	pr := p.Proof(c.d.Job(c.in, k), cfg)
	pr.Exists, pr.Beyond = true, q.beyond
	why := ""
	for i, from := range []launch.Origin{launch.FromProgram, launch.FromHost} {
		fixed := pr.Scalars(from)
		if i > 0 && (!q.given || len(fixed) == len(pr.Fixed)) {
			break
		}
		pr.Fixed, pr.Steps = fixed, proofSteps
		r, v := pr.Verify(ctx, 1)
		switch {
		case ctx.Err() != nil:
			return proved{}, ctx.Err()
		case r == nil:
			return proved{why: fmt.Sprintf("%s: %s", v.Kind, v.Reason)}, nil
		case !r.Verified():
			why = openText(c.d, &r.Findings[0])
			continue
		}
		out := w.holds(k, r, q, pr.Scope(r))
		out.given = i > 0
		return out, nil
	}
	return proved{why: why}, nil
}

// holds is the answer of a proof, unless its level asks for more.
func (w *weakener) holds(k *ir.Func, r *verify.Result, q question, scope string) proved {
	switch {
	case q.level == alone && !oneCounter(k, r.Thread):
		return proved{why: "atomic operations whose results are used have several locations"}
	case q.beyond > 0 && len(r.Thread.Assertions) > 0:
		return proved{why: "the kernel has assertions"}
	}
	return proved{scope: scope, thread: r.Thread}
}

// openText describes what a proof leaves open.
func openText(d *driver.Driver, f *verify.Finding) string {
	place := func(in *ir.Instr) string {
		if in == nil {
			return "the end of the kernel"
		}
		return fmt.Sprintf("line %d", driver.Place(in).Start.Line())
	}
	kind := "a race of"
	switch f.Kind {
	case verify.Race, verify.Unordered:
	case verify.Divergence:
		kind = "divergence between"
	case verify.Lanes:
		return fmt.Sprintf("a lane may not reach the operation of the warp in %s", place(f.A))
	default:
		return fmt.Sprintf("%s cannot be proved", place(f.A))
	}
	text := fmt.Sprintf("%s %s and %s cannot be excluded", kind, place(f.A), place(f.B))
	if f.A == f.B {
		text = fmt.Sprintf("%s %s with itself cannot be excluded", kind, place(f.A))
	}
	if f.OtherBlock {
		text += ", in different blocks"
	}
	return text
}

// runs executes the launches of a kernel under several seeds, and returns what they show. A proof
// came before: this is to catch its mistakes, and the one look at the numbered barriers of a text.
func (w *weakener) runs(ctx context.Context, c *compiled, name string) (string, error) {
	k := c.in.IR.Kernel(name)
	configs, why := w.launches(c, k)
	if why != "" {
		return why, nil
	}
	for _, cfg := range configs {
		for seed := range uint64(proofSeeds) {
			rep, err := w.once(ctx, c, k, cfg, seed, event.Discard{})
			switch {
			case err != nil:
				return "", err
			case rep == nil:
				return "a run of it cannot start", nil
			case len(rep.Races) > 0:
				return "a run of it shows a race", nil
			}
			for i := range rep.Barriers {
				if rep.Barriers[i].Kind != race.SplitBarrier {
					return "a run of it misuses a barrier", nil
				}
			}
		}
	}
	return "", nil
}

// once runs some blocks of a launch, watched by the race detector and by another sink; nil if the
// launch cannot start.
func (w *weakener) once(ctx context.Context, c *compiled, k *ir.Func, cfg *launch.Config,
	seed uint64, also event.Sink) (*race.Report, error) {
	m, err := emu.New(k, cfg)
	if err != nil {
		return nil, nil
	}
	common := c.d.Options()
	det := run.Watch(common, k, cfg, m, true)
	blocks := run.Sample(k, cfg.Geometry)
	var sink event.Sink = det
	if t, ok := also.(*tally); ok {
		t.m, t.Detector = m, det
		sink = t
	}
	_, err = m.Run(ctx, emu.Options{
		Model: common.Warp, Seed: seed, MaxSteps: run.QuickSteps(common, cfg, blocks), Workers: 1,
		StopAtFault: true, Memory: common.Memory, Blocks: blocks,
	}, sink)
	if err != nil {
		return nil, err
	}
	return det.Report(), nil
}

// verdictOf is the verdict of a proof.
func verdictOf(kernel string, p proved) diag.Verdict {
	if p.why != "" {
		return diag.Verdict{Kind: diag.Unknown, Kernel: kernel, Reason: p.why}
	}
	return diag.Verdict{Kind: diag.Verified, Kernel: kernel, Scope: p.scope}
}
