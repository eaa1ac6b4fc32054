package driver

import (
	"fmt"
	"time"

	"heddle/internal/diag"
)

// Decisions describe how one kernel reached its verdict: the engines in the order in which they
// were asked.
type Decisions struct {
	Input, Kernel string
	Steps         []Step
	Verdict       diag.VerdictKind
	Decided       bool // false: the launch is unresolved, or the kernel is skipped
	Time          time.Duration
}

// Step is one engine that examined a kernel, or that did not, with the reason.
type Step struct {
	Engine  Engine
	Why     string // the reason for which it was asked, or was not
	Outcome string // the result; empty: the engine was not asked
	Time    time.Duration
	// Elsewhere says that another process has made the step, in a time that is not known.
	Elsewhere bool
	Earlier   bool // an earlier run has made it
}

// Progress says how far the current run is. Emulations report it often, other engines once when
// they start.
type Progress struct {
	Kernel                    string
	Engine                    Engine // the one that examines the kernel
	Steps, BlocksDone, Blocks uint64 // of an emulation; Blocks is 0 before it begins
	Kernels, KernelsDone      int    // of the files that were read so far; 0: unknown
	Files, FilesDone          int
}

// Asks records that an engine examines the kernel. The function that it returns ends this step with
// its outcome.
func (j *Job) Asks(engine Engine, why string) (end func(*diag.Verdict)) {
	j.Tell(Progress{Kernel: j.Kernel.Demangled, Engine: engine})
	start := time.Now()
	return func(v *diag.Verdict) {
		if j.log != nil {
			j.log.Steps = append(j.log.Steps, Step{Engine: engine, Why: why,
				Outcome: outcome(v), Time: time.Since(start)})
		}
	}
}

// Spares records that an engine is not asked.
func (j *Job) Spares(engine Engine, why string) {
	if j.log != nil {
		j.log.Steps = append(j.log.Steps, Step{Engine: engine, Why: why})
	}
}

// outcome is a verdict in the log of decisions.
func outcome(v *diag.Verdict) string {
	if v.Reason != "" {
		return fmt.Sprintf("%s: %s", v.Kind, v.Reason)
	}
	return v.Kind.String()
}

// logged examines the kernel, counts it, and sends the decisions in the order of the kernels.
func (j *Job) logged(examine func(*Job)) {
	j.log = &Decisions{Input: j.d.inputName, Kernel: j.Kernel.Demangled}
	start := time.Now()
	examine(j)
	j.d.counts.kernelsDone.Add(1)
	j.log.Time = time.Since(start)
	if n := len(j.sum.Verdicts); n > 0 {
		j.log.Verdict, j.log.Decided = j.sum.Verdicts[n-1].Kind, true
	}
	if j.d.opt.Decisions != nil && len(j.log.Steps) > 0 {
		j.Turn()
		j.d.opt.Decisions(*j.log)
	}
}

// Tell reports progress, to which it adds the counts of the run. It does not wait for its turn, so
// progress of several kernels is interleaved.
func (j *Job) Tell(p Progress) {
	if j.d.opt.Progress == nil {
		return
	}
	c := &j.d.counts
	p.Kernels, p.KernelsDone = int(c.kernels.Load()), int(c.kernelsDone.Load())
	p.Files, p.FilesDone = c.files, c.filesDone
	j.d.opt.Progress(p)
}
