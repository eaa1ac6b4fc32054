package check

import (
	"fmt"
	"sync/atomic"
	"time"

	"heddle/internal/diag"
	"heddle/internal/ir"
)

// Decisions are how one kernel came to its verdict: the engines in the order in which they were asked.
type Decisions struct {
	Input, Kernel string
	Steps         []Step
	Verdict       diag.VerdictKind
	Decided       bool // there is a verdict; else the launch could not be resolved, or the kernel is skipped
	Time          time.Duration
}

// Step is one engine that examined a kernel, or one that did not and why.
type Step struct {
	Engine  string // "emulation", "trace", "proof"
	Why     string // it was asked, or not
	Outcome string // what it came to; empty: it was not asked
	Time    time.Duration
}

// asks begins a step; the function that it returns ends it with the outcome.
func (d *driver) asks(k *ir.Func, engine, why string) (end func(outcome string)) {
	d.tell(Progress{Kernel: k.Demangled, Engine: engine})
	start := time.Now()
	return func(outcome string) {
		if d.decisions != nil {
			d.decisions.Steps = append(d.decisions.Steps, Step{engine, why, outcome, time.Since(start)})
		}
	}
}

// spares records that an engine is not asked.
func (d *driver) spares(engine, why string) {
	if d.decisions != nil {
		d.decisions.Steps = append(d.decisions.Steps, Step{Engine: engine, Why: why})
	}
}

// outcome is a verdict in the log of decisions.
func outcome(v *diag.Verdict) string {
	if v.Reason != "" {
		return fmt.Sprintf("%s: %s", v.Kind, v.Reason)
	}
	return v.Kind.String()
}

// examined does what examine says to one kernel, counts it, and sends its decisions.
func (d *driver) examined(in *input, k *ir.Func, examine func(*driver)) {
	one := *d
	one.decisions = &Decisions{Input: d.inputName, Kernel: k.Demangled}
	start, from := time.Now(), len(d.sum.Verdicts)
	examine(&one)
	d.counts.kernelsDone.Add(1)
	log := one.decisions
	log.Time = time.Since(start)
	if n := len(d.sum.Verdicts); n > from {
		log.Verdict, log.Decided = d.sum.Verdicts[n-1].Kind, true
	}
	if d.opt.Decisions != nil && len(log.Steps) > 0 {
		d.turn()
		d.opt.Decisions(*log)
	}
}

// counts say how far a run is; kernels that are worked on side by side share them.
type counts struct {
	kernels, kernelsDone atomic.Int64 // of the files that were read so far
	files, filesDone     int
}

// tell says how far the run is.
func (d *driver) tell(p Progress) {
	if d.opt.Progress == nil {
		return
	}
	if c := d.counts; c != nil {
		p.Kernels, p.KernelsDone = int(c.kernels.Load()), int(c.kernelsDone.Load())
		p.Files, p.FilesDone = c.files, c.filesDone
	}
	d.opt.Progress(p)
}
