package driver

import (
	"context"
	"errors"

	"heddle/internal/diag"
	"heddle/internal/lower"
)

// A run ends early if the user interrupts it or if its total time is used up. Whoever ends it gives
// the cause to its context. Everything that was not examined then has a verdict that says so: a
// missing line would look like a kernel that does not exist.

// Stopped returns why a run ends early, as a clause for a verdict; empty while it goes on.
func Stopped(ctx context.Context) string {
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return ""
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return "the run was interrupted"
	}
	return cause.Error()
}

// notExamined is the verdict on a kernel that a run which ended early did not begin to examine. An
// empty kernel stands for all kernels of the input.
func notExamined(kernel, why string) diag.Verdict {
	return diag.Verdict{Kind: diag.Unknown, Kernel: kernel, Reason: "not examined: " + why}
}

// unread records that the current input was not read.
func (d *Driver) unread(why string) {
	d.sum.Unread++
	d.verdict(notExamined("", why))
}

// unparsed records that the selected kernels of a module were not examined.
func (d *Driver) unparsed(low *lower.Result, why string) {
	for _, k := range low.Kernels {
		if d.selects(k) {
			d.examined++
			d.verdict(notExamined(k.Demangled, why))
		}
	}
}

// examine examines the kernel unless the run has ended. If it ends meanwhile, an Unknown verdict
// begins with the cause: the engine only knows that it had to stop.
func (j *Job) examine(ctx context.Context, examine func(context.Context, *Job)) {
	if why := Stopped(ctx); why != "" {
		v := notExamined(j.Kernel.Demangled, why)
		v.Span = KernelPlace(j.Kernel)
		j.AddVerdict(v)
		j.Checked(nil)
		return
	}
	examine(ctx, j)
	why := Stopped(ctx)
	for i := range j.sum.Verdicts {
		if v := &j.sum.Verdicts[i]; why != "" && v.Kind == diag.Unknown {
			v.Reason = why + ": " + v.Reason
		}
	}
}
