// Package fix is heddle fix: it repairs races and barrier divergence in the kernels of one file.
//
// It asks engine/placement first, for barriers between the statements of the source (placed.go).
// What no placement repairs is left to package repair, which plans changes of the PTX; such a
// repair is then expressed in the source, compiled again and judged again (source.go, patch.go,
// rank.go). A judge here proves and runs each candidate (judge.go), so a repair is only shown if
// the launch that exposed the bug no longer reports it and nothing else is wrong, or, of a kernel
// that is repaired in part, if nothing is wrong that was not before (partly.go). In flow Options
// and a file; out flow the repairs with their verdicts, the new PTX, and a patch.
//
// The command line and the editor import it. It imports the driver and the engines.
package fix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/repair"
	"heddle/internal/repair/between"
	"heddle/internal/source"
)

// Options are the choices of a repair.
type Options struct {
	Common driver.Options
	Run    run.Options
	Prove  prove.Options

	Only      []Only          // the findings that are repaired; nil: all
	Atomic    bool            // offer atomic updates
	Between   []between.Means // those for races between blocks that may be the repair
	Redundant bool            // remove redundant barriers
	Source    bool            // also express the repair in the source, if it is CUDA C++ or OpenCL C
	Budget    time.Duration   // for each kernel; 0: only the texts that are checked are bounded
}

// mostTexts bounds the texts that are checked for the repair of one kernel. It is not a time, so
// that the result does not depend on how busy the machine is. It is shared by all searches for the
// kernel: in the PTX, in copies of functions, and in the source.
const mostTexts = 500

// proofSteps bounds a proof of a repair, which needs several, and kernelSteps all proofs of one
// kernel, if Prove.Timeout does not: about two seconds and eight, in steps of the solvers.
const (
	proofSteps  = 40_000_000
	kernelSteps = 4 * proofSteps
)

// mostRan bounds the runs of one kernel, in warp instructions: about five seconds.
const mostRan = 20_000_000

// fixSeeds is how many schedules each text is run under: which strong access observes which depends
// on it. More schedules find more bugs and cost a run each, for every candidate.
const fixSeeds = 3

// Status is the result of the repair of one kernel.
type Status uint8

const (
	// NothingToFix is a kernel that shows no bug, verified or not. Kernel.After says which.
	NothingToFix Status = iota
	// Repaired is a kernel with a repair that the judge accepts, at least in the PTX.
	Repaired
	// PartlyRepaired is a kernel of which some findings are repaired. Kernel.Remaining has the
	// others.
	PartlyRepaired
	// NotRepaired is a kernel with a bug for which no repair was found.
	NotRepaired
	// NotChecked is a kernel whose launch is unknown, or whose runs do not cover it.
	NotChecked
)

var statusNames = [...]string{"unchanged", "repaired", "partly repaired", "not repaired",
	"not checked"}

// String names the status.
func (s Status) String() string { return statusNames[s] }

// Kernel is the repair of one kernel.
type Kernel struct {
	Kernel  string
	Name    string // in the PTX text
	Status  Status
	Wrong   []diag.Diagnostic // what was wrong, each with its witness
	Changes []Change
	// Alternatives are other repairs, in the PTX, of the same cost and no lesser verdict.
	Alternatives [][]Change
	Remaining    []string     // of a kernel that is partly repaired: what is wrong still, and why
	Between      []Between    // of races between blocks: the means that are allowed, the cheapest first
	Redundant    []Change     // barriers that the kernel, as it is now, does not need
	Why          string       // why that is enough, or why the kernel cannot be repaired
	After        diag.Verdict // of the repaired kernel, or of one that needs no repair
	// of the patched source compiled again; without a Kernel if the repair is in PTX only
	Source  diag.Verdict
	PTXOnly string      // why it is
	Edits   []edit.Edit // of the source, for this kernel
	Notes   []string    // what else a user should know

	// CostBefore and CostAfter are what the barriers of a kernel cost that is repaired, by the model
	// of package repair.
	CostBefore, CostAfter float64

	Judged   int // texts that were checked on the way
	Compiled int // forms in the source that were compiled
	Checks   time.Duration
	Compiles time.Duration
	Total    time.Duration
}

// Verdict names the verdict after the repair.
func (f *Kernel) Verdict() string {
	return f.After.Kind.String()
}

// Change is a part of a repair.
type Change struct {
	Text string
	Span source.Span
	Why  []string // of a barrier: what it separates
}

// same reports whether two changes are one, whatever reasons they have.
func (c Change) same(d Change) bool { return c.Text == d.Text && c.Span == d.Span }

// Result is the result of a repair of a file. Patched and PTX may differ in what they repair: a
// repair without a form in the source is in PTX only.
type Result struct {
	Fixes       []Kernel
	PTX         []byte       // of the module with all repairs; what it was if there were none
	User        *source.File // the file that was given, if it is a source or PTX text
	Patched     []byte       // its text with the repairs that it can say
	Edits       []edit.Edit  // of the source, that make it
	Diff        string       // between the two
	Files       *source.Set
	InputErrors int
}

// File repairs the kernels of a file with one module of PTX. Mistakes in the input go to sink.
func File(ctx context.Context, opt Options, file driver.Input, sink func(diag.Diagnostic)) (
	*Result, error) {
	opt.Common.Limit, opt.Common.Command = max(opt.Common.Limit, 1), "run"
	d := driver.New(opt.Common, sink)
	prover, err := prove.Open(d.Options(), opt.Run, opt.Prove)
	if err != nil {
		return nil, err
	}
	defer prover.Close()
	f := &fixer{d: d, prover: prover, opt: opt, file: file}
	out := &Result{Files: d.Files()}
	defer func() { out.InputErrors = d.Summary().InputErrors }()
	d.Open(file.Name)
	results := d.Lower(ctx, file)
	if len(results) > 1 {
		return nil, fmt.Errorf("%s has %d modules of PTX; extract one with heddle ptx --image N "+
			"and repair that", file.Name, len(results))
	}
	if len(results) == 0 {
		return out, nil
	}
	if f.in = d.Parse(file, results[0]); f.in == nil {
		return out, nil
	}
	return out, f.run(ctx, out)
}

// fixer is the state of one repair of a file.
type fixer struct {
	d      *driver.Driver
	prover *prove.Engine
	opt    Options
	file   driver.Input
	in     *driver.Module
	source *sourceFixer // nil: the file is not a source
	// ptxOnly: the PTX has repairs that the source does not have.
	ptxOnly bool
	texts   int    // that were checked for the current kernel
	ran     uint64 // warp instructions, for it
	steps   int64  // that its proofs may still take
	// explored counts the partial executions of its small launches.
	explored int
}

// run repairs the selected kernels, one after the other, each in the text that the last one left.
func (f *fixer) run(ctx context.Context, out *Result) error {
	out.PTX = f.in.Lowered.PTX
	f.d.See(f.in)
	var err error
	if f.source, err = newSourceFixer(ctx, f); err != nil {
		return err
	}
	kernels := f.d.Select(f.in)
	f.d.Examine(len(kernels))
	for _, k := range kernels {
		f.texts, f.ran, f.steps, f.explored = 0, 0, kernelSteps, 0
		one := &kernelFix{fixer: f, k: k, text: out.PTX, out: &Kernel{Kernel: k.Demangled, Name: k.Name}}
		if err := one.run(ctx); err != nil {
			return err
		}
		out.Fixes = append(out.Fixes, *one.out)
		out.PTX = one.text
	}
	f.d.End([]driver.Input{f.file})
	return f.patch(out)
}

// kernelFix is the state of the repair of one kernel in a text, in which others may have been
// repaired.
type kernelFix struct {
	*fixer
	k      *ir.Func // of the user's text
	text   []byte   // replaced if the kernel is repaired
	out    *Kernel
	kernel *repair.Kernel // of text
	placed *placed        // nil: no placement of barriers is the result
	// between: the kernel is repaired by other means, and may have another name now
	between bool
	base    []edit.Edit // of the source, for the kernels before this one
	attempt
}

// attempt is the result of a search for a repair.
type attempt struct {
	result *repair.Result
	judge  *judge
	copied []repair.Copied // by number of the instruction, if the functions called were copied
}

func (x *kernelFix) run(ctx context.Context) error {
	began := time.Now()
	if x.d.Job(x.in, x.k).Config() == nil {
		x.out.Status, x.out.Why = NotChecked, "its launch is unknown"
		return nil
	}
	if x.opt.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.opt.Budget)
		defer cancel()
	}
	p, err := parseKernel(x.in.Lowered.Name, x.k.Name, x.text)
	if err != nil {
		return err
	}
	x.kernel = p.repairable()
	if x.source != nil {
		x.base = slices.Clone(x.source.edits)
	}
	was := x.text
	err = x.search(ctx, p)
	if err == nil && ctx.Err() == nil {
		err = x.conclude(ctx)
	}
	defer func() { x.out.Checks, x.out.Total = x.judge.spent, time.Since(began) }()
	switch {
	case ctx.Err() != nil: // whatever was found until then
		x.text = was
		x.gaveUp()
		return nil
	case err != nil:
		return err
	}
	if !x.between && (x.out.Status == Repaired || x.out.Status == PartlyRepaired) {
		q, err := parseKernel(x.in.Lowered.Name, x.k.Name, x.text)
		if err != nil {
			return err
		}
		x.out.CostBefore, x.out.CostAfter = barrierCost(p), barrierCost(q)
	}
	return nil
}

// conclude records the result of a search. Only a kernel that needs no repair is searched for
// redundant barriers: a repair is not changed once the judge has accepted it.
func (x *kernelFix) conclude(ctx context.Context) error {
	x.out.Judged = x.result.Judged
	switch {
	case x.placed != nil:
		x.synchronized(ctx)
	case x.result.Patch != nil:
		x.repaired(ctx)
	default:
		x.unrepaired(ctx)
	}
	switch x.out.Status {
	case NothingToFix:
		return x.redundant(ctx)
	case NotRepaired, PartlyRepaired, NotChecked:
		return x.betweenBlocks(ctx)
	}
	return nil
}

// gaveUp records that the time was up, or that the user ended the command. Whatever was found
// before is dropped, so a result does not depend on how far a search came. Without a known bug the
// kernel is "not checked", never "not repaired".
func (x *kernelFix) gaveUp() {
	why := "the command was ended"
	if x.opt.Budget > 0 {
		why = fmt.Sprintf("the time limit of %v was reached; try a longer --timeout", x.opt.Budget)
	}
	*x.out = Kernel{Kernel: x.k.Demangled, Name: x.k.Name, Status: NotRepaired, Why: why}
	if b := x.judge.before; b == nil || b.Grade != repair.Buggy {
		x.out.Status = NotChecked
	}
}

// repaired records a repair that was found, and expresses it in the source.
func (x *kernelFix) repaired(ctx context.Context) {
	x.out.Status = Repaired
	x.out.Wrong = x.wrong(ctx)
	x.describe()
	x.say(func(s *sourceFixer) (*sourceForm, error) {
		if x.copied != nil {
			return nil, notInSourcef("the change is in a called function and applies to this kernel only")
		}
		form, err := x.simplest(ctx, s)
		s.dropEqual(x.k, x.result)
		x.describe()
		switch {
		case form == nil:
		case len(form.rewritten) == 0: // the repair of another kernel serves this one
			x.out.Changes, x.out.Alternatives = s.changesOfOthers(x.k), nil
		default:
			x.out.Changes = s.changesOf(form, x.result.Changes, x.out.Changes)
		}
		return form, err
	})
	x.explain(x.result.After)
}

// describe records the result of package repair: the text, the changes and the alternatives.
func (x *kernelFix) describe() {
	out, r := x.out, x.result
	x.text = r.Patch.Text
	out.Changes, out.Alternatives = x.changes(r.Changes), nil
	known := [][]Change{out.Changes}
	for _, a := range r.Alternatives {
		other := x.changes(a.Changes)
		same := func(c []Change) bool { return sameChanges(c, other) }
		if !slices.ContainsFunc(known, same) {
			known = append(known, other)
			out.Alternatives = append(out.Alternatives, other)
		}
	}
	out.After = verdictOf(x.k, r.After)
}

// sameChanges reports whether two repairs have the same changes, in whatever order.
func sameChanges(a, b []Change) bool {
	in := func(list []Change) func(Change) bool {
		return func(c Change) bool { return !slices.ContainsFunc(list, c.same) }
	}
	return !slices.ContainsFunc(a, in(b)) && !slices.ContainsFunc(b, in(a))
}

// synchronized records a repair by a placement of barriers.
func (x *kernelFix) synchronized(ctx context.Context) {
	out, form := x.out, &x.placed.form
	out.Status, x.text = Repaired, form.ptx
	if out.Remaining = x.placed.remaining; len(out.Remaining) > 0 {
		out.Status = PartlyRepaired
	}
	out.Wrong, out.Changes = x.wrong(ctx), x.placed.changes
	out.After = verdictOf(x.k, form.after)
	out.Judged++
	if x.source != nil {
		x.accept(form)
	}
	if out.Status == PartlyRepaired {
		out.Why = "each barrier separates accesses that raced; the findings that remain need another repair"
		return
	}
	x.explain(form.after)
}

// explain records why a repair is enough, and what it rests on.
func (x *kernelFix) explain(after *repair.Judgement) {
	out := x.out
	if x.judge.guessed != nil {
		out.Notes = append(out.Notes,
			"the bug occurs with a launch that heddle guessed: "+x.judge.guessed.launch)
	}
	if after.Grade == repair.Explored {
		out.Notes = append(out.Notes, fmt.Sprintf("all executions that the PTX memory model allows for "+
			"%s were explored, without a race or an endless wait; that launch is %s",
			x.judge.small.scope, x.judge.small.chosen))
	}
	if out.After.Kind == diag.Clean && after.Grade != repair.Traced && after.Reason != "" {
		out.Notes = append(out.Notes, "the repaired kernel is clean but not verified: "+after.Reason)
	}
	out.Why = "the launch that exposed the bug no longer reports it; the repaired kernel is " +
		out.Verdict()
	if out.After.Kind == diag.Verified || after.Grade == repair.Traced {
		out.Why += ": " + out.After.Scope
	}
}

// unrepaired records why there is no repair, or that none is needed. A bug that only a guessed
// launch exposes does not make a kernel "not repaired": it becomes a note, and the verdict is the
// one without that launch.
func (x *kernelFix) unrepaired(ctx context.Context) {
	out, r := x.out, x.result
	switch g := x.judge.guessed; {
	case r.Reason != "" && g != nil: // the kernel may not be meant to run like that
		out.Notes = append(out.Notes, fmt.Sprintf("a launch that heddle guessed (%s) exposes a bug "+
			"that is not repaired, because %s", g.launch, r.Reason))
		if g.without.Grade == repair.Unknown {
			out.Status, out.Why = NotChecked, g.without.Reason
		}
		out.After = verdictOf(x.k, &g.without)
		return
	case r.Reason != "":
		out.Status, out.Why = NotRepaired, r.Reason
		out.Wrong = x.wrong(ctx)
	case r.Before.Grade == repair.Unknown:
		out.Status, out.Why = NotChecked, r.Before.Reason
	}
	out.After = verdictOf(x.k, r.Before)
}

// barrierCost is the cost of the barriers of a kernel.
func barrierCost(p *parsed) float64 {
	return repair.New(p.repairable()).BarrierCost(repair.DefaultCost)
}

// redundant looks for barriers that a kernel does not need, and removes them if it is asked to and
// they are proved redundant. "Redundant" without a proof is a hint for the user and never an edit.
func (x *kernelFix) redundant(ctx context.Context) error {
	out := x.out
	x.judge.whether = x.result.Before.Grade == repair.Verified
	// A list that a limit cut short is still true of the barriers in it.
	list, patch, err := repair.FindRedundant(ctx, x.kernel, x.judge, repair.Options{})
	if err != nil && ctx.Err() == nil && !errors.Is(err, errLimit) {
		return err
	}
	byIndex := instructions(x.k)
	for _, r := range list {
		word := "redundant: the kernel stays verified without it"
		if !r.Proved {
			word = "redundant in the runs tried; this is not a proof"
		}
		in := byIndex[r.Barrier.Index]
		ch := Change{Text: "this barrier is " + word, Span: driver.Place(in)}
		if !slices.ContainsFunc(out.Redundant, ch.same) { // once for what the compiler copied
			out.Redundant = append(out.Redundant, ch)
		}
	}
	if patch == nil || !x.opt.Redundant {
		return nil
	}
	out.Status, x.text = Repaired, patch.Text
	for _, r := range list {
		if in := byIndex[r.Barrier.Index]; r.Proved {
			removed := Change{Text: "the barrier is removed", Span: driver.Place(in)}
			out.Changes = append(out.Changes, removed)
		}
	}
	x.say(func(s *sourceFixer) (*sourceForm, error) {
		return s.withoutRedundant(ctx, x.k, list, x.judge)
	})
	out.Why = "each removed barrier is redundant: the kernel is verified without it"
	return nil
}

// instructions are those of a kernel by number. A kernel that is parsed again has the same numbers,
// so they lead from a plan to the text as the user knows it.
func instructions(k *ir.Func) map[int]*ir.Instr {
	byIndex := map[int]*ir.Instr{}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			byIndex[in.Index] = in
		}
	}
	return byIndex
}

// verdictOf is the verdict of a judgement. A Clean grade has no reason here: the scope says which
// runs it is about.
func verdictOf(k *ir.Func, j *repair.Judgement) diag.Verdict {
	v := diag.Verdict{Kernel: k.Demangled, Scope: j.Scope}
	switch j.Grade {
	case repair.Verified:
		v.Kind = diag.Verified
	case repair.Clean, repair.Explored, repair.Traced:
		v.Kind = diag.Clean
	case repair.Unknown:
		v.Kind, v.Reason = diag.Unknown, j.Reason
	default:
		v.Kind = diag.Bug
	}
	return v
}

// wrong runs the launch that showed the bug once more, for its findings with their witnesses: those
// of a judgement are offsets without one. The first launch that exposes the bug is enough.
func (x *kernelFix) wrong(ctx context.Context) []diag.Diagnostic {
	began := time.Now()
	defer func() { x.judge.spent += time.Since(began) }()
	var out []diag.Diagnostic
	job := x.d.Job(x.in, x.k).Into(func(g diag.Diagnostic) { out = append(out, g) })
	for _, t := range x.judge.witnesses {
		cfg, errs := launch.Resolve(x.k, t.Launch, x.in.Facts)
		if len(errs) > 0 {
			continue
		}
		r := run.New(job, &x.opt.Run, cfg)
		if t.Blocks == nil {
			t.Blocks = run.Sample(x.k, cfg.Geometry)
		}
		r.Blocks, r.MaxSteps = t.Blocks, run.QuickSteps(x.d.Options(), cfg, t.Blocks)
		r.Counts = aboutOrder
		if err := r.Start(); err != nil {
			continue
		}
		r.Once(ctx, t.Seed)
		if len(out) > 0 {
			return out
		}
	}
	if out = x.wrongTraced(ctx); len(out) > 0 {
		return out
	}
	return x.wrongExplored()
}

// inLanguage names what a repair adds as the language of the file does; in PTX, as it is.
func (x *kernelFix) inLanguage(what string) string {
	if !x.in.CUDA() && !x.in.OpenCL() {
		return what
	}
	what = strings.Replace(what, "a block barrier", "`"+x.in.BarrierName(false)+"`", 1)
	what = strings.Replace(what, "a warp barrier", "`"+x.in.BarrierName(true)+"`", 1)
	switch what {
	case "fence.acq_rel.gpu", "fence.sc.gpu", "membar.gl":
		return "`" + x.in.FenceName(what, true) + "`"
	case "fence.acq_rel.cta", "fence.sc.cta", "membar.cta":
		return "`" + x.in.FenceName(what, false) + "`"
	}
	return what
}

// changes describes what a repair does. Positions are those of the user's text. An instruction of a
// copied function is shown at the call that was replaced.
func (x *kernelFix) changes(list []repair.Change) []Change {
	byIndex, copied := instructions(x.k), x.copied
	var out []Change
	for _, c := range list {
		f := Change{Text: x.inLanguage(c.What)}
		if c.At != nil {
			n, within := c.At.Index, ""
			if n < len(copied) {
				n, within = copied[n].At, copied[n].Func
			}
			in := byIndex[n] // the same in the text as the user knows it
			f.Span = driver.Place(in)
			op := driver.OpText(in)
			if within != "" {
				op = fmt.Sprintf("%s in a copy of %s for this call", driver.OpText(c.At), within)
			}
			if _, barrier := c.At.BlockBarrier(); c.Old && !barrier {
				f.Text += ": " + op
			} else if where := "before"; !c.Old {
				if c.After {
					where = "after"
				}
				if within == "" && x.in.Lowered.Lang != lower.PTX {
					op = "this"
				}
				f.Text += " " + where + " " + op
			}
		}
		if c.Cut {
			f.Text += "; the control flow is changed so that all threads of the block reach it"
		}
		out = append(out, f)
	}
	return out
}
