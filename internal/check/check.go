// Package check decides which engine examines a kernel, and sums up what they find.
//
// heddle check first runs each kernel once for its launch (engine/run): a race that a run shows is
// a bug whatever a proof says, and its report has a launch that shows it again. A launch that a
// short run does not finish, but some of whose blocks have ended, is given to the static engine
// before it is run to its end: that proof is usually the cheaper of the two. If the kernel uses
// named barriers or mbarriers and the run showed no bug, a trace (engine/trace) looks at shared
// memory and barriers for all inputs. If it is clean after that, it runs with other contents of the
// arrays that nobody specified; if it is still clean, the static engine (engine/prove) tries to prove
// it for all inputs of the launch shape, which makes it verified; a counterexample that a replay
// confirms makes it a bug; and if neither succeeds, the kernel stays clean and the verdict names
// the reason. heddle run, verify and trace ask one engine, and so does a configuration for a
// kernel.
//
// Verdicts are summed up by three rules. A bug outweighs everything. A limit of heddle never makes
// a kernel clean: a run that was cut off, an unsupported construct and findings that depend on
// guessed launch values make it unknown or unsupported. A counterexample is a bug only after its
// replay.
//
// In flow Options and inputs; out flow findings (to a sink, in the order of the kernels) and a
// Summary. Only the command line, other front ends and tests import this package; the commands that
// change kernels (command/fix, engine/placement) ask the engines themselves.
package check

import (
	"context"
	"fmt"
	"io"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/engine/trace"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// Mode says which engines are asked.
type Mode uint8

const (
	// Check asks them one after the other, as the package comment describes.
	Check Mode = iota
	// Run asks the dynamic engine alone.
	Run
	// Verify asks the static engine alone.
	Verify
	// Trace asks the tracing engine alone.
	Trace
)

var modeNames = [...]string{"check", "run", "verify", "trace"}

// String is the name of the subcommand of heddle.
func (m Mode) String() string { return modeNames[m] }

// Options are the choices of one run.
type Options struct {
	driver.Options
	Mode      Mode
	SkipProof bool // of mode Check: no proof follows a clean run, and no finding is a guess
	Run       run.Options
	Prove     prove.Options
	Trace     trace.Options
	Elsewhere Elsewhere // performs examinations of mode Check elsewhere; nil: all are here
	Kept      Kept      // has results of earlier runs of mode Check; nil: none

	// Form is a form of each kernel that is printed to FormTo instead of examining anything.
	Form   Form
	FormTo io.Writer
}

// Summary is the result of a run.
type Summary struct {
	driver.Summary
	Files   *source.Set
	Queries verify.Stats  // of all proofs
	Terms   time.Duration // from modules to the accesses of one thread, of all proofs
	Printed int           // kernels of which a form was printed
}

// checker is the state of one run.
type checker struct {
	opt     Options
	prover  *prove.Engine
	printed int
	formErr error // of writing to FormTo
}

// Files is Inputs for files that are given by name.
func Files(ctx context.Context, opt Options, files []string, sink func(diag.Diagnostic)) (
	*Summary, error) {
	inputs := make([]driver.Input, len(files))
	for i, name := range files {
		inputs[i].Name = name
	}
	return Inputs(ctx, opt, inputs, sink)
}

// Inputs checks every kernel that opt selects, and sends each finding to sink as soon as it is
// known. Mistakes in the input are findings too, counted by Summary.InputErrors; an error is
// returned only if the run as a whole fails. If ctx ends, everything found so far has been sent,
// and kernels that were not finished have an Unknown verdict with the cause (driver.Stopped).
func Inputs(ctx context.Context, opt Options, inputs []driver.Input, sink func(diag.Diagnostic)) (
	*Summary, error) {
	opt.Command = opt.Mode.String()
	opt.Prove.OfLaunch = opt.Mode == Check && !opt.SkipProof
	if opt.Mode == Trace || opt.Form != NoForm {
		opt.Workers = 1 // blocks are printed as they are traced, forms in the order of the kernels
	}
	if opt.Form != NoForm {
		opt.Settings = nil
	}
	d := driver.New(opt.Options, sink)
	c := &checker{opt: opt}
	var err error
	if c.prover, err = prove.Open(d.Options(), opt.Run, opt.Prove); err != nil {
		return nil, err
	}
	defer c.prover.Close()
	e := c.newElsewhere()
	if e != nil {
		defer c.lookAhead(ctx, e, d.Files(), inputs)()
	}
	d.Run(ctx, inputs, func(ctx context.Context, job *driver.Job) {
		if !c.examineElsewhere(ctx, e, job) && !c.examineKept(ctx, job) {
			c.examine(ctx, job)
		}
	})
	if c.formErr != nil {
		return nil, fmt.Errorf("writing the printed form: %w", c.formErr)
	}
	return &Summary{
		Summary: *d.Summary(), Files: d.Files(), Printed: c.printed,
		Queries: c.prover.Queries(), Terms: c.prover.Terms(),
	}, c.prover.Failure()
}

// examine asks the engine that the options name for one kernel, or else a configuration, about each
// of its launches.
func (c *checker) examine(ctx context.Context, job *driver.Job) {
	if c.opt.Form != NoForm {
		c.printForm(job)
		return
	}
	earlier := new(prove.Earlier)
	// A proof launches nothing, and its verdict says if no GPU could.
	job.Launch.AnyShared = c.engine(job) == driver.Proof
	job.EachLaunch(func(job *driver.Job) {
		switch c.engine(job) {
		case driver.Proof:
			c.prover.Kernel(ctx, job)
		case driver.Trace:
			trace.Kernel(ctx, job, &c.opt.Trace)
		default:
			c.emulate(ctx, job, earlier)
		}
	})
}

// engine is the one that is asked first.
func (c *checker) engine(job *driver.Job) driver.Engine {
	switch {
	case c.opt.Mode == Verify, c.opt.Mode == Check && job.Engine == driver.Proof:
		return driver.Proof
	case c.opt.Mode == Trace, c.opt.Mode == Check && job.Engine == driver.Trace:
		return driver.Trace
	}
	return driver.Emulation
}

// emulate runs a kernel, and asks the other engines about what the run leaves open. earlier has the
// proofs for other launches.
func (c *checker) emulate(ctx context.Context, job *driver.Job, earlier *prove.Earlier) {
	cfg := job.Resolve()
	if cfg == nil {
		return
	}
	prove := c.opt.Mode == Check && !c.opt.SkipProof && job.Engine != driver.Emulation
	r := run.New(job, &c.opt.Run, cfg)
	if prove {
		r.Guess = run.NewGuesses(job, cfg, c.opt.Run.Seed)
	}
	if err := r.Start(); err != nil {
		job.Checked(nil)
		job.AddVerdict(run.CannotStart(job.Kernel, err))
		return
	}
	attempt := c.prover.Attempt(earlier)
	short := prove && job.Options().MaxSteps == 0
	if short {
		r.MaxSteps = max(job.Share(firstSteps), fewSteps)
	}
	v := c.runs(ctx, r, "every kernel runs once for its launch")
	if short && r.Alone(ctx, aloneSteps) {
		v = r.Verdict()
		r.Job.AddFindings(r.Bugs, r.Guessed)
	}
	if short && r.TooLarge() {
		v = attempt.After(ctx, r, v)
	}
	if v.Kind == diag.Unknown && r.Again() {
		v = c.runs(ctx, r, "the first run ended at its limit and a proof did not decide")
	}
	if v.Kind != diag.Verified && c.opt.Mode != Run {
		v = trace.After(ctx, &c.opt.Trace, r, v)
	}
	if v.Kind != diag.Verified && prove {
		v = r.Refill(ctx, v)
		v = attempt.After(ctx, r, v)
	}
	if why := driver.Stopped(ctx); why != "" && v.Kind == diag.Clean && v.Reason == "" {
		v.Reason = why
	}
	if prove && v.Kind == diag.Clean && job.Kernel.HasStrong() {
		v.Next = "try heddle explore"
	}
	job.AddVerdict(v)
	if r.Complete() {
		job.Checked(func(diag.Code) bool { return true })
	} else {
		job.Checked(nil)
	}
}

// firstSteps bounds the first runs of a kernel that a proof may follow, in warp instructions: about
// a second. Its launches share them, but have fewSteps each. Most launches end within that. Of one
// that does not, a proof usually takes less time than the rest of the run.
const (
	firstSteps = 3_000_000
	fewSteps   = 500_000
)

// aloneSteps bounds the run of one block after such a run in which none has ended. A full run, of
// up to 50 million warp instructions for eight blocks at a time, seldom gets any of them further.
const aloneSteps = 6_000_000

// runs executes the schedules of a kernel, and returns what they show.
func (c *checker) runs(ctx context.Context, r *run.Run, why string) diag.Verdict {
	end := r.Job.Asks(driver.Emulation, why)
	r.All(ctx)
	if c.opt.Mode == Check {
		r.PartialWarps(ctx)
	}
	v := r.Verdict()
	end(&v)
	r.Job.AddFindings(r.Bugs, r.Guessed)
	return v
}
