package run

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
	"heddle/internal/source"
)

// add reports a finding unless an earlier run did, or the limit of printed findings of its severity
// is reached. Beyond the limit findings still count. rc is the race that was found, nil for another
// finding. make is called only for a new finding, since it formats.
func (r *Run) add(key Key, rc *race.Race, make func() diag.Diagnostic) {
	if r.Counts != nil && !r.Counts(key.code) {
		return
	}
	key.a, key.b = r.product(key.a), r.product(key.b)
	if r.Seen[key] {
		r.Repeated++
		return
	}
	r.Seen[key] = true
	g := make()
	if r.Mark != nil {
		r.Mark(&g)
	}
	// Recorded even if the finding does not count: the run ended there in any case.
	r.cut = r.cut || endsRun(key.code)
	if r.setAside(&g) {
		return
	}
	switch {
	case g.Severity == diag.Warning:
		r.Warnings++
		r.exceptFor(&g)
	case r.depends != nil && r.depends(key, rc, &g):
		r.Guessed++
	default:
		r.count(g)
		return
	}
	r.print(g, r.Guessed+r.Warnings)
}

// product returns the site that stands for a site of a matrix operation or of a vote of a block: the
// first one that was found at the same place in the source. The steps of one product are operations
// of one statement in a loop that compilers unroll, and heddle's own work-group functions of OpenCL
// C vote about each bit of a value. A mistake about one of them is a mistake about all.
func (r *Run) product(s event.Site) event.Site {
	in := r.Machine.Site(s).Instr
	if in == nil || in.Loc == nil || in.Action() != isa.ActMatrixAsync && !votes(in) {
		return s
	}
	if first, ok := r.products[in.Loc]; ok {
		return first
	}
	if r.products == nil {
		r.products = make(map[*source.Frame]event.Site)
	}
	r.products[in.Loc] = s
	return s
}

// votes reports whether an instruction is a barrier that combines a predicate of all threads.
func votes(in *ir.Instr) bool {
	u, ok := in.Barrier()
	return ok && u.Kind == isa.BarrierReduce
}

// count adds a bug.
func (r *Run) count(g diag.Diagnostic) {
	r.Bugs++
	r.print(g, r.Bugs)
}

// print reports a finding that counts, the nth of its severity, unless there are too many. Warnings
// do not count among errors: one error decides the verdict, and many warnings may come before it.
func (r *Run) print(g diag.Diagnostic, nth int) {
	if nth > r.Job.Options().Limit {
		r.hidden++
		return
	}
	r.Job.Report(g)
}

// exceptFor adds a warning to what the verdict does not cover, once for each place.
func (r *Run) exceptFor(g *diag.Diagnostic) {
	text := fmt.Sprintf("%s at %s (%s)", exceptions[g.Code], r.Job.Format(g.Span.Start), g.Code)
	if !slices.Contains(r.apart, text) {
		r.apart = append(r.apart, text)
	}
}

// exceptions are the warnings of a kernel that no verdict covers, as noun phrases.
var exceptions = map[diag.Code]string{
	diag.CodeRaceUnorderedStrong: "unordered strong accesses",
	diag.CodeBarrierSplit:        "threads that meet at different barriers",
	diag.CodeProxyFenceLate:      "a proxy fence by another thread than that of the access",
	diag.CodeTensorFence:         "a tcgen05.fence that is missing behind a wait",
	diag.CodeAsyncUnfinished:     "asynchronous operations that no thread waits for",
	diag.CodeEarlyAccess:         "accesses before the wait for earlier grids",
}

// setAside reports whether a finding is suppressed or known and so does not count. If the run ended
// at it, the rest of the kernel was not checked, and the verdict must not be clean.
func (r *Run) setAside(g *diag.Diagnostic) bool {
	if !r.Job.SetAside(&r.Aside, g) {
		return false
	}
	if endsRun(g.Code) && r.unchecked == "" {
		what := "a run ended at a suppressed or known finding (%s at %s); nothing after it was checked"
		if g.Code == diag.CodeOutOfBounds || g.Code == diag.CodeMisaligned {
			what = "a run has a suppressed or known finding (%s at %s), after which the values that " +
				"threads read are made up"
		}
		r.unchecked = fmt.Sprintf(what, g.Code, r.Job.Format(g.Span.Start))
	}
	return true
}

// endsRun reports whether nothing more of the kernel or block is executed after such a finding, or
// only with values that are made up.
func endsRun(code diag.Code) bool {
	switch code {
	case diag.CodeOutOfBounds, diag.CodeMisaligned, diag.CodeTrap, diag.CodeAssertFailed,
		diag.CodeBadBarrier, diag.CodeStackOverflow,
		diag.CodeBarrierDeadlock, diag.CodeWarpSyncHang, diag.CodeBarrierTooMany,
		diag.CodeMBarrierUninitialized, diag.CodeMBarrierReinit, diag.CodeMBarrierOverwritten,
		diag.CodeMBarrierInvalEarly, diag.CodeMBarrierExcess, diag.CodeMBarrierRange,
		diag.CodeMBarrierBytes, diag.CodeMBarrierState, diag.CodeBulkAlignment,
		diag.CodeMBarrierRemote, diag.CodePeerExited,
		diag.CodeWarpgroupRegister, diag.CodeWarpgroupFence, diag.CodeWarpgroupDivergence,
		diag.CodeTensorAllocation, diag.CodeTensorBounds, diag.CodeTensorOperand,
		diag.CodeCancelAfterFailure, diag.CodeRegisterPool:
		return true
	}
	return false
}

// open says why the runs did not cover the launch; empty if they did.
func (r *Run) open() string { return cmp.Or(r.inconclusive, r.unchecked) }

// Complete reports whether every run executed its launch to the end. Only then is a heddle:ignore
// comment that matched nothing reported as unused.
func (r *Run) Complete() bool {
	return r.Unsupported == nil && r.assumptions == nil && r.open() == "" &&
		r.Runs > 0 && !r.cut
}

// Verdict sums up all schedules. The order of the cases decides: a bug outweighs everything, then
// come findings that depend on guesses, then limits of heddle. Only a run without any of these is
// clean.
func (r *Run) Verdict() diag.Verdict {
	v := diag.Verdict{Kernel: r.Job.Kernel.Demangled, Span: driver.KernelPlace(r.Job.Kernel)}
	switch {
	case r.Bugs > 0:
		v.Kind = diag.Bug
		v.Reason = JoinReasons(r.unprinted(), r.open())
		if r.Unsupported != nil {
			v.Reason = JoinReasons(v.Reason, "the run ended early: "+r.Unsupported.Reason)
		}
	case r.Guessed > 0:
		v.Kind, v.Reason = diag.Unknown, r.Guess.Reason()
	case r.Unsupported != nil:
		v = *r.Unsupported
	case r.assumptions != nil:
		v = *r.assumptions
	case r.open() != "":
		v.Kind, v.Reason = diag.Unknown, r.open()
	case r.Runs == 0:
		v.Kind, v.Reason = diag.Unknown, "the kernel was not run"
	default:
		v.Kind, v.Scope, v.Details, v.Apart = diag.Clean, r.scope(), r.details(), r.apart
	}
	v.Suppressed, v.Known = r.Aside.Suppressed, r.Aside.Known
	return v
}

// unprinted says how many findings are beyond the limit; empty if none is.
func (r *Run) unprinted() string {
	if r.hidden == 0 {
		return ""
	}
	return fmt.Sprintf("%s not shown (--limit is %d)",
		count(r.hidden, "more finding is", "more findings are"), r.Job.Options().Limit)
}

// JoinReasons appends one reason of a verdict to another. Either may be empty.
func JoinReasons(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// scope says what a clean result covers: the number of schedules and the shape of the launch.
func (r *Run) scope() string {
	runs := "1 run"
	if r.Runs > 1 {
		runs = fmt.Sprintf("%d runs", r.Runs)
	}
	return runs + " with " + r.Config.Shape()
}

// details complete scope: the seeds, the complete launch, and what was tolerated.
func (r *Run) details() []string {
	seeds := fmt.Sprintf("seed %d", r.opt.Seed)
	if r.Runs > 1 {
		seeds = fmt.Sprintf("seeds %d to %d", r.opt.Seed, r.opt.Seed+uint64(r.Runs)-1)
	}
	out := []string{seeds, "this launch: " + r.Config.Describe()}
	if r.Tolerated > 0 {
		out = append(out, fmt.Sprintf("%d conflicting writes of the same value were tolerated "+
			"(--benign none reports them)", r.Tolerated))
	}
	if r.WithoutFence > 0 {
		out = append(out, fmt.Sprintf("%d reads without a proxy fence before an asynchronous write were "+
			"ignored (--proxy-war error reports them)", r.WithoutFence))
	}
	return out
}

// reproduce is the command line that shows a finding of this run again.
func (r *Run) reproduce(seed uint64) string {
	if r.line != nil {
		return *r.line
	}
	return r.Job.Reproduce(r.Command, seed, r.Config)
}
