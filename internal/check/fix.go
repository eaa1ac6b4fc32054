package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/repair"
	"heddle/internal/source"
)

// FixOptions are the choices of a repair.
type FixOptions struct {
	Atomic    bool          // offer atomic updates
	Redundant bool          // take redundant barriers away
	Source    bool          // also say in the source what is changed, if it is CUDA C++ or OpenCL C
	Budget    time.Duration // for each kernel; 0: DefaultFixBudget
	source    *sourceFixer
}

// DefaultFixBudget is the time that the repair of one kernel may take.
const DefaultFixBudget = 30 * time.Second

// proofTime bounds a proof of a repair, which needs several, if Options.Timeout does not.
const proofTime = 2 * time.Second

// fixSeeds is how many schedules each text is run under: which strong access observes which depends on it.
const fixSeeds = 3

// FixStatus says what became of a kernel.
type FixStatus uint8

const (
	NothingToFix FixStatus = iota
	Repaired
	NotRepaired
	NotChecked
)

var fixStatusNames = [...]string{"unchanged", "repaired", "not repaired", "not checked"}

// String names the status.
func (s FixStatus) String() string { return fixStatusNames[s] }

// Fix is the repair of one kernel.
type Fix struct {
	Kernel  string
	Name    string // in the PTX text
	Status  FixStatus
	Wrong   []diag.Diagnostic // what was wrong, each with its witness
	Changes []FixChange
	// Alternatives are other repairs, in the PTX, of the same cost and no lesser verdict.
	Alternatives [][]FixChange
	Redundant    []FixChange  // barriers that the kernel, as it is now, does not need
	Why          string       // why that is enough, or why the kernel cannot be repaired
	After        diag.Verdict // of the repaired kernel, or of one that needs no repair
	Source       diag.Verdict // of the patched source compiled again; without a Kernel if the repair is in PTX only
	PTXOnly      string       // why it is
	Edits        []edit.Edit  // of the source, for this kernel
	Notes        []string     // what else a user should know

	// CostBefore and CostAfter are what the barriers of a kernel cost that is repaired, by the model of package repair.
	CostBefore, CostAfter float64

	Judged   int // texts that were checked on the way
	Compiled int // forms in the source that were compiled
	Checks   time.Duration
	Compiles time.Duration
	Total    time.Duration
}

// Verdict names the verdict after the repair.
func (f *Fix) Verdict() string {
	return f.After.Kind.String()
}

// FixChange is a part of a repair.
type FixChange struct {
	Text string
	Span source.Span
}

// FixResult is what a repair of a file came to.
type FixResult struct {
	Fixes       []Fix
	PTX         []byte       // of the module with all repairs; what it was if there were none
	User        *source.File // the file that was given, if it is a source or PTX text
	Patched     []byte       // its text with the repairs that it can say
	Diff        string       // between the two
	Files       *source.Set
	InputErrors int
}

// FixFile repairs the kernels of a file with one module of PTX. Mistakes in the input go to sink.
func FixFile(ctx context.Context, opt Options, fix FixOptions, file Input, sink func(diag.Diagnostic)) (*FixResult, error) {
	opt.Limit, opt.Command = max(opt.Limit, 1), "run"
	if fix.Budget == 0 {
		fix.Budget = DefaultFixBudget
	}
	d, err := openDriver(opt, sink)
	if err != nil {
		return nil, err
	}
	defer d.solving.close()
	out := &FixResult{Files: d.files}
	defer func() { out.InputErrors = d.sum.InputErrors }()
	d.inputName = file.Name
	results := d.lower(ctx, file)
	if len(results) > 1 {
		return nil, fmt.Errorf("%s holds %d modules of PTX; heddle ptx --image N prints one, which can be repaired", file.Name, len(results))
	}
	if len(results) == 0 {
		return out, nil
	}
	in := d.parse(file, results[0])
	if in == nil {
		return out, nil
	}
	out.PTX = in.lowered.PTX
	d.several = len(defined(in)) > 1
	for _, f := range defined(in) {
		d.kernelsSeen = append(d.kernelsSeen, launch.BaseName(f.Demangled))
	}
	if fix.Source {
		if fix.source, err = d.newSourceFixer(ctx, file); err != nil {
			return nil, err
		}
	}
	for _, k := range d.kernels(in) {
		d.kernelsRun++
		f, text, err := d.fixKernel(ctx, fix, in, k, out.PTX)
		if err != nil {
			return nil, err
		}
		out.Fixes = append(out.Fixes, *f)
		out.PTX = text
	}
	if d.kernelsRun == 0 && d.sum.InputErrors == 0 {
		d.noKernel([]Input{file})
	}
	return out, d.patch(out, fix.source, file, in)
}

// fixKernel repairs one kernel in text, in which others may have been repaired.
func (d *driver) fixKernel(ctx context.Context, fix FixOptions, in *input, k *ir.Func, text []byte) (*Fix, []byte, error) {
	began := time.Now()
	out := &Fix{Kernel: k.Demangled, Name: k.Name}
	if d.config(in, k) == nil {
		out.Status, out.Why = NotChecked, "its launch is not known"
		return out, text, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fix.Budget)
	defer cancel()
	p, err := parseKernel(in.lowered.Name, k.Name, text)
	if err != nil {
		return nil, nil, err
	}
	kernel := &repair.Kernel{File: p.file, Tree: p.tree, Func: p.kernel}
	r, j, err := d.repair(ctx, fix, in, kernel)
	defer func() { out.Checks, out.Total = j.spent, time.Since(began) }()
	var copied []repair.Copied
	if err == nil && r.Reason != "" {
		switch c, why := d.repairCalls(ctx, fix, in, p); {
		case c != nil && c.result.Patch == nil:
			r.Reason = c.result.Reason // which knows where in the function it is
		case c != nil:
			c.judge.spent += j.spent
			r, j, copied = c.result, c.judge, c.from
		case why != "":
			out.Notes = append(out.Notes, "no copies of the functions that it calls were repaired: "+why)
		}
	}
	switch {
	case ctx.Err() != nil:
		out.Status, out.Why = NotRepaired, fmt.Sprintf("the time of %v was used up", fix.Budget)
		if b := j.before; b == nil || b.Grade != repair.Buggy {
			out.Status = NotChecked
		}
		return out, text, nil
	case err != nil:
		return nil, nil, err
	}
	out.Judged = r.Judged
	switch {
	case r.Patch != nil:
		out.Status, text = Repaired, r.Patch.Text
		out.Wrong = d.wrong(ctx, in, k, j)
		out.Changes = changes(k, r.Changes, copied)
		for _, a := range r.Alternatives {
			other := changes(k, a.Changes, copied)
			if !slices.ContainsFunc(append(out.Alternatives, out.Changes), func(c []FixChange) bool { return slices.Equal(c, other) }) {
				out.Alternatives = append(out.Alternatives, other)
			}
		}
		out.After = verdictOf(k, r.After)
		d.say(ctx, fix, k, out, func(s *sourceFixer) (*SourceFix, error) {
			if copied != nil {
				return nil, notInSourcef("the change is in a function that is called, and for this kernel alone")
			}
			return s.inSource(ctx, k, kernel, r.Plan, j, r.After.Grade)
		})
		if j.guessed != nil {
			out.Notes = append(out.Notes, "the bug was shown by a launch that nobody gave: "+j.guessed.launch)
		}
		if out.After.Kind == diag.Clean && r.After.Reason != "" {
			out.Notes = append(out.Notes, "it is clean and not verified: "+r.After.Reason)
		}
		out.Why = "what showed the bug shows nothing any more; the repaired kernel is " + out.Verdict() + ": " + out.After.Text()
	case r.Reason != "" && j.guessed != nil: // who knows whether it is meant to run like that
		g := j.guessed
		if out.Notes = append(out.Notes, fmt.Sprintf("a launch that nobody gave shows a bug that is not repaired, because %s: %s", r.Reason, g.launch)); g.without.Grade == repair.Unknown {
			out.Status, out.Why = NotChecked, g.without.Reason
		}
		out.After = verdictOf(k, &g.without)
	case r.Reason != "":
		out.Status, out.Why = NotRepaired, r.Reason
		out.Wrong = d.wrong(ctx, in, k, j)
		out.After = verdictOf(k, r.Before)
	case r.Before.Grade == repair.Unknown:
		out.Status, out.Why = NotChecked, r.Before.Reason
		out.After = verdictOf(k, r.Before)
	default:
		out.After = verdictOf(k, r.Before)
	}
	if out.Status == NothingToFix {
		text, err = d.redundant(ctx, fix, k, kernel, j, text, out)
	}
	if err == nil && out.Status == Repaired {
		var q *parsed
		if q, err = parseKernel(in.lowered.Name, k.Name, text); err == nil {
			out.CostBefore, out.CostAfter = barrierCost(p), barrierCost(q)
		}
	}
	return out, text, err
}

// barrierCost is what the barriers of a kernel cost.
func barrierCost(p *parsed) float64 {
	return repair.New(&repair.Kernel{File: p.file, Tree: p.tree, Func: p.kernel}).BarrierCost(repair.DefaultCost)
}

// repair repairs a kernel for all arguments that no flag gives, if that can be proved. Else the scalar arguments that
// host code, a comment or a configuration gives count as given, as they do for heddle check: what goes wrong with others
// alone nobody may ever see, and is no reason to change a kernel. The judge is the one whose word counts.
func (d *driver) repair(ctx context.Context, fix FixOptions, in *input, k *repair.Kernel) (best *repair.Result, by *judge, err error) {
	var judges []*judge
	for _, from := range d.outlooks(in, k.Func) {
		j := d.newJudge(in, k.Func.Name, from)
		if by != nil {
			j.spent = by.spent
		}
		judges, by = append(judges, j), j
		before, err := j.Judge(ctx, k.File.Content, true)
		if err != nil {
			return nil, by, err
		}
		if best = (&repair.Result{Before: before, Judged: 1}); before.Grade == repair.Verified {
			return best, by, nil
		}
	}
	if best.Before.Grade != repair.Buggy {
		return best, by, nil
	}
	spent := by.spent
	best = nil
	for _, j := range judges {
		j.spent = spent
		r, err := repair.Repair(ctx, k, j, repair.Options{Atomic: fix.Atomic})
		if err != nil {
			return nil, j, err
		}
		if spent = j.spent; best == nil || r.Patch != nil && (best.Patch == nil || r.After.Grade > best.After.Grade) {
			best, by = r, j
		}
		if r.Patch != nil && r.After.Grade == repair.Verified {
			break
		}
	}
	by.spent = spent
	return best, by, nil
}

// outlooks are the origins from which scalar arguments are taken as given, those that say less first.
func (d *driver) outlooks(in *input, k *ir.Func) []launch.Origin {
	out := []launch.Origin{launch.FromFlag}
	cfg, errs := launch.Resolve(k, d.opt.Launch, in.facts)
	if len(errs) > 0 {
		return out
	}
	p := proof{driver: d, in: in, kernel: k, cfg: cfg}
	if len(p.scalars(launch.FromHost)) > len(p.scalars(launch.FromFlag)) {
		out = append(out, launch.FromHost)
	}
	return out
}

// redundant looks for barriers that a kernel does not need, and takes them away if it is asked to and they are proved
// redundant.
func (d *driver) redundant(ctx context.Context, fix FixOptions, k *ir.Func, kernel *repair.Kernel, j *judge, text []byte, out *Fix) ([]byte, error) {
	list, patch, err := repair.FindRedundant(ctx, kernel, j, repair.Options{})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	byIndex := instructions(k)
	for _, r := range list {
		word := "redundant: the kernel stays verified without it"
		if !r.Proved {
			word = "redundant in the runs tried, which is no proof"
		}
		in := byIndex[r.Barrier.Index]
		ch := FixChange{opText(in) + " is " + word, spanOf(in)}
		if !slices.Contains(out.Redundant, ch) { // once for what the compiler copied
			out.Redundant = append(out.Redundant, ch)
		}
	}
	if patch != nil && fix.Redundant {
		out.Status, text = Repaired, patch.Text
		for _, r := range list {
			if in := byIndex[r.Barrier.Index]; r.Proved {
				out.Changes = append(out.Changes, FixChange{"without " + opText(in), spanOf(in)})
			}
		}
		d.say(ctx, fix, k, out, func(s *sourceFixer) (*SourceFix, error) { return s.withoutRedundant(ctx, k, list, j) })
		out.Why = "each barrier that was taken away is redundant: the kernel is verified without it"
	}
	return text, nil
}

// instructions are those of a kernel by number.
func instructions(k *ir.Func) map[int]*ir.Instr {
	byIndex := map[int]*ir.Instr{}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			byIndex[in.Index] = in
		}
	}
	return byIndex
}

// verdictOf words a judgement.
func verdictOf(k *ir.Func, j *repair.Judgement) diag.Verdict {
	v := diag.Verdict{Kernel: k.Demangled, Scope: j.Scope}
	switch j.Grade {
	case repair.Verified:
		v.Kind = diag.Verified
	case repair.Clean:
		v.Kind = diag.Clean
	case repair.Unknown:
		v.Kind, v.Reason = diag.Unknown, j.Reason
	default:
		v.Kind = diag.Bug
	}
	return v
}

// wrong runs the launch that showed the bug once more, for its findings with their witnesses.
func (d *driver) wrong(ctx context.Context, in *input, k *ir.Func, j *judge) []diag.Diagnostic {
	began := time.Now()
	defer func() { j.spent += time.Since(began) }()
	var out []diag.Diagnostic
	run := *d
	run.sink = func(g diag.Diagnostic) { out = append(out, g) }
	for _, t := range j.launches {
		cfg, errs := launch.Resolve(k, t.req, in.facts)
		if len(errs) > 0 {
			continue
		}
		r := &kernelRun{driver: &run, in: in, kernel: k, cfg: cfg, seen: map[findingKey]bool{}, parts: ir.OrdersParts(k), only: synchronization}
		var err error
		if r.machine, err = emu.New(k, cfg); err != nil {
			continue
		}
		r.run(ctx, t.seed)
		if len(out) > 0 {
			break
		}
	}
	return out
}

// changes words what a repair does.
func changes(k *ir.Func, list []repair.Change, copied []repair.Copied) []FixChange {
	byIndex := instructions(k)
	var out []FixChange
	for _, c := range list {
		f := FixChange{Text: c.What}
		if c.At != nil {
			n, within := c.At.Index, ""
			if n < len(copied) {
				n, within = copied[n].At, copied[n].Func
			}
			in := byIndex[n] // the same in the text as the user knows it
			f.Span = spanOf(in)
			op := opText(in)
			if within != "" {
				op = fmt.Sprintf("%s in a copy of %s for this call", opText(c.At), within)
			}
			if c.Old {
				f.Text += ": " + op
			} else {
				f.Text += " before " + op
			}
		}
		if c.Cut {
			f.Text += "; the control flow now brings all threads of the block there"
		}
		out = append(out, f)
	}
	return out
}
