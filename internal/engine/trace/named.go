package trace

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// After adds to the verdict v of the runs r what a trace shows about a kernel with named barriers,
// mbarriers or bulk copies.
// A trace does not examine global memory, so it never improves the kind of the verdict. It may turn
// it into a bug, and it extends its scope. A trace that is unsupported or undecided leaves the kind
// as it is.
func After(ctx context.Context, opt *Options, r *run.Run, v diag.Verdict) diag.Verdict {
	job := r.Job
	what := decides(job.Kernel, r.Config.Geometry)
	if ctx.Err() != nil || what == "" {
		return v
	}
	if v.Kind == diag.Bug || r.Guessed > 0 {
		job.Spares(driver.Trace, fmt.Sprintf("the verdict is already %s", v.Kind))
		return v
	}
	end := job.Asks(driver.Trace, "the kernel has "+what)
	t := newTracer(job, opt, r.Config)
	t.beside, t.run.Aside, t.run.Command = true, r.Aside, "trace"
	traced := t.trace(ctx)
	end(&traced)
	job.AddFindings(t.run.Bugs, 0)
	for _, w := range []*diag.Verdict{&v, &traced} {
		w.Suppressed, w.Known = t.run.Aside.Suppressed, t.run.Aside.Known
	}
	switch traced.Kind {
	case diag.Bug:
		return traced
	case diag.Verified:
		proved := "verified by a trace: " + traced.Scope
		if v.Kind == diag.Clean {
			v.Scope += "; " + proved
		} else {
			v.Reason = run.JoinReasons(v.Reason, proved)
		}
	case diag.Clean:
		if t.run.Aside.Any() {
			v.Reason = "suppressed or known findings prevent one by a trace"
		}
	case diag.Unsupported, diag.Unknown:
		if v.Kind == diag.Clean {
			v.Reason = "a trace does not decide: " + traced.Reason
		}
	}
	return v
}

// decides names what a kernel synchronizes with besides block-wide barriers: mbarriers, bulk
// copies, bar.arrive, a barrier other than 0, or a count other than the size of the block. It is
// empty for other kernels, to whose proof a trace would add nothing.
func decides(k *ir.Func, g event.Geometry) string {
	named := ""
	for _, f := range ir.ReachableFuncs(k) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				switch in.Action() {
				case isa.ActMBarrier:
					return "mbarriers"
				case isa.ActBulkCopy:
					return "bulk copies"
				case isa.ActClusterBarrier:
					return "barriers of a cluster"
				}
				if b, ok := in.NumberedBarrier(); ok && isNamed(b, g) {
					named = "named barriers"
				}
			}
		}
	}
	return named
}

// isNamed decides for one barrier instruction. A number or count in a register may be any.
func isNamed(b ir.Barrier, g event.Geometry) bool {
	if b.Kind == isa.BarrierArrive || b.ID == nil || b.ID.Kind != ir.Imm || b.ID.Val != 0 {
		return true
	}
	all := uint64(g.WarpsPerBlock() * event.WarpSize)
	return b.Count != nil && (b.Count.Kind != ir.Imm || b.Count.Val != all)
}
