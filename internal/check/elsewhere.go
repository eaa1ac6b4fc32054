package check

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"

	"heddle/internal/check/task"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/source"
)

// Kernels may be examined elsewhere: by workers of a cluster, or by an earlier run that has left its
// results in a cache. The report is the one that this process would print: kernels whose examination
// elsewhere fails, or needs what a task does not carry, are examined here.
//
// Files are read one after the other, which is too slow to keep a cluster busy. So a second pass
// runs ahead of the report, over several files at a time, and only starts their tasks. It decides
// nothing: the pass that reports makes the same tasks itself and finds them done or begun.

// Elsewhere performs tasks.
type Elsewhere interface {
	// Do returns the result of a task. here computes it in this process; Do may call it.
	Do(ctx context.Context, a *task.Task, here func(context.Context) ([]byte, error)) (
		[]byte, error)
	// Gone returns why no task is performed elsewhere any more; nil: they are.
	Gone() error
	// Most is how many tasks are under way at a time.
	Most() int
	// Failed is told of a kernel that is examined here because its task failed.
	Failed(kernel string, err error)
}

// elsewhere is the part of a run that is performed elsewhere.
type elsewhere struct {
	Elsewhere
	opt    *task.Options
	solver string
	slots  chan struct{} // of tasks that are under way
	here   chan struct{} // of those that are computed in this process

	mu      sync.Mutex
	started map[[sha256.Size]byte]*result
	ahead   sync.WaitGroup
}

// result is the result of a task that has been started.
type result struct {
	done chan struct{} // closed when the other fields are set
	out  []byte
	err  error
	used bool // out has been reported, and is not kept
}

// newElsewhere returns the state of a run, or nil if all kernels are examined here.
func (c *checker) newElsewhere() *elsewhere {
	if c.opt.Elsewhere == nil || c.opt.Mode != Check {
		return nil
	}
	opt := taskOptions(&c.opt)
	if task.Portable(opt) != nil {
		return nil
	}
	return &elsewhere{
		Elsewhere: c.opt.Elsewhere, opt: opt, solver: c.prover.Process(),
		slots:   make(chan struct{}, max(c.opt.Elsewhere.Most(), 1)),
		here:    make(chan struct{}, runtime.GOMAXPROCS(0)),
		started: map[[sha256.Size]byte]*result{},
	}
}

// taskOptions are the options of a run as those of its tasks.
func taskOptions(opt *Options) *task.Options {
	return &task.Options{Options: opt.Options, SkipProof: opt.SkipProof, Run: opt.Run,
		Prove: opt.Prove, Trace: opt.Trace}
}

// start begins a task, or returns the one that has begun. With wait, it returns only once the
// number of tasks that are under way allows another one.
func (e *elsewhere) start(ctx context.Context, a *task.Task, wait bool) *result {
	key := a.Key()
	e.mu.Lock()
	r, begun := e.started[key]
	if begun && r.used && !wait {
		begun = false // a kernel that the run has twice
	}
	if !begun {
		r = &result{done: make(chan struct{})}
		e.started[key] = r
	}
	e.mu.Unlock()
	if begun {
		return r
	}
	if wait {
		select {
		case e.slots <- struct{}{}:
		case <-ctx.Done():
			r.err = ctx.Err()
			close(r.done)
			return r
		}
	}
	e.ahead.Go(func() {
		defer close(r.done)
		if wait {
			defer func() { <-e.slots }()
		}
		r.out, r.err = e.Do(ctx, a, func(ctx context.Context) ([]byte, error) {
			e.here <- struct{}{}
			defer func() { <-e.here }()
			return Perform(ctx, a.Request, func(hash string) ([]byte, error) { return a.Texts[hash], nil })
		})
	})
	return r
}

// lookAhead starts the tasks of all inputs, several files at a time. It returns a function that
// ends this and waits for what it has started.
func (c *checker) lookAhead(ctx context.Context, e *elsewhere, files *source.Set,
	inputs []driver.Input) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	opt := c.opt.Options
	opt.Progress, opt.Decisions, opt.Verdict, opt.Known, opt.Workers = nil, nil, nil, nil, 1
	next := make(chan driver.Input)
	files = files.Clone() // with the configuration, to which settings refer, and no more
	for range runtime.GOMAXPROCS(0) {
		e.ahead.Go(func() {
			for in := range next {
				opt := opt
				opt.Files = files.Clone()
				d := driver.New(opt, func(diag.Diagnostic) {})
				d.Run(ctx, []driver.Input{in}, func(ctx context.Context, job *driver.Job) {
					if a, err := task.New(job, e.opt, e.solver); err == nil && ctx.Err() == nil {
						e.start(ctx, a, true)
					}
				})
			}
		})
	}
	e.ahead.Go(func() {
		defer close(next)
		for _, in := range inputs {
			if e.Gone() != nil {
				return
			}
			select {
			case next <- in:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		e.ahead.Wait()
	}
}

// examineElsewhere is examine by a task. It returns false if the kernel must be examined here.
func (c *checker) examineElsewhere(ctx context.Context, e *elsewhere, job *driver.Job) bool {
	if e == nil || e.Gone() != nil {
		return false
	}
	a, err := task.New(job, e.opt, e.solver)
	if err != nil {
		return false
	}
	r := e.start(ctx, a, false)
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	var failure error
	select {
	case <-r.done:
		failure = r.err
	default:
		failure = ctx.Err()
	}
	// A task that the end of the run has ended has not failed, and is not begun again here.
	if failure != nil && ctx.Err() != nil {
		job.AddVerdict(diag.Verdict{Kind: diag.Unknown, Kernel: job.Kernel.Demangled,
			Reason: "its examination elsewhere had not ended", Span: driver.KernelPlace(job.Kernel)})
		job.Checked(nil)
		return true
	}
	if failure != nil {
		e.Failed(job.Kernel.Demangled, failure)
		return false
	}
	effects, err := a.Read(r.out, job)
	e.mu.Lock()
	r.out, r.used = nil, true
	e.mu.Unlock()
	if err != nil {
		e.Failed(job.Kernel.Demangled, err)
		return false
	}
	// Which findings of a baseline are known depends on those before: this process counts them.
	if effects.AskedKnown && c.opt.Known != nil {
		return false
	}
	job.Replay(effects)
	return true
}

// UnfitError says that this machine lacks what a request needs.
type UnfitError struct{ Why string }

// Error implements error.
func (e *UnfitError) Error() string { return e.Why }

// Perform performs the request of a task, of which read returns a text by its SHA-256. It fails
// with an *UnfitError if this machine cannot perform any request of its run.
func Perform(ctx context.Context, request []byte, read func(hash string) ([]byte, error)) (
	[]byte, error) {
	return task.Perform(request, read, func(opt *task.Options, solver string, d *driver.Driver,
		record func(func(*driver.Job))) error {
		c := &checker{opt: Options{Options: *d.Options(), Mode: Check, SkipProof: opt.SkipProof,
			Run: opt.Run, Prove: opt.Prove, Trace: opt.Trace}}
		c.opt.Prove.OfLaunch = !opt.SkipProof
		var err error
		if c.prover, err = prove.Open(d.Options(), opt.Run, c.opt.Prove); err != nil {
			return &UnfitError{err.Error()}
		}
		defer c.prover.Close()
		if has := c.prover.Process(); has != solver {
			return &UnfitError{fmt.Sprintf("proofs of this run use %s, and the worker has %s; install "+
				"the same version there, or use --solver embedded", orNone(solver), orNone(has))}
		}
		record(func(job *driver.Job) { c.examine(ctx, job) })
		return nil
	})
}

// orNone names a solver.
func orNone(solver string) string {
	if solver == "" {
		return "no solver process"
	}
	return solver
}
