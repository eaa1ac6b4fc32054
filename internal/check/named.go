package check

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// withTrace adds to the verdict of emulated runs what a trace says about a kernel with named barriers. A
// trace knows nothing of global memory, so that the verdict is no better than that of the runs; it may be
// worse, and its scope says more.
func (r *kernelRun) withTrace(ctx context.Context, v diag.Verdict) diag.Verdict {
	if r.opt.Command == "run" || ctx.Err() != nil || !namedBarriers(r.kernel, r.cfg.Geometry) {
		return v
	}
	if v.Kind == diag.Bug || r.guessed > 0 {
		r.spares("trace", fmt.Sprintf("the verdict is %s already", v.Kind))
		return v
	}
	end := r.asks(r.kernel, "trace", "it has named barriers")
	d := *r.driver
	d.opt.Command = "trace"
	t := &kernelRun{driver: &d, in: r.in, kernel: r.kernel, cfg: r.cfg, seen: make(map[findingKey]bool), aside: r.aside}
	traced := t.trace(ctx)
	end(outcome(&traced))
	r.sum.Bugs += t.bugs
	for _, w := range []*diag.Verdict{&v, &traced} {
		w.Suppressed, w.Known = t.aside.suppressed, t.aside.known
	}
	switch traced.Kind {
	case diag.Bug:
		return traced
	case diag.Verified:
		said := "verified by a trace: " + traced.Scope
		if v.Kind == diag.Clean {
			v.Scope += "; " + said
		} else {
			v.Reason = joinReasons(v.Reason, said)
		}
	case diag.Clean:
		if t.aside.any() {
			v.Scope += "; no proof by a trace beside findings that are not counted"
		}
	case diag.Unsupported, diag.Unknown:
		if v.Kind == diag.Clean {
			v.Scope += "; no trace for all inputs: " + traced.Reason
		}
	}
	return v
}

// namedBarriers reports whether a kernel synchronizes by more than barriers of the whole block: with
// bar.arrive, with another barrier than 0, or with a count other than the size of the block.
func namedBarriers(k *ir.Func, g event.Geometry) bool {
	for _, f := range ir.ReachableFuncs(k) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if _, ok := in.NumberedBarrier(); ok && named(in, g) {
					return true
				}
			}
		}
	}
	return false
}

func named(in *ir.Instr, g event.Geometry) bool {
	if in.Fn == isa.FnArrive || len(in.Src) == 0 {
		return true
	}
	if id := in.Src[0]; id.Kind != ir.Imm || id.Val != 0 {
		return true
	}
	n := len(in.Src)
	if in.Fn != isa.FnSync {
		n-- // the predicate of a reduction
	}
	return n > 1 && (in.Src[1].Kind != ir.Imm || in.Src[1].Val != uint64(g.WarpsPerBlock()*event.WarpSize))
}
