package driver

import (
	"fmt"
	"path/filepath"
	"time"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// Job is the examination of one kernel: the kernel, the requested launch, and where its results go.
// Jobs run concurrently and share only the driver. Every method that changes the driver's state
// waits for its turn first.
type Job struct {
	Module *Module
	Kernel *ir.Func
	Launch launch.Request // the options' request, with the settings of a configuration
	Engine Engine         // named by a configuration for this kernel
	// Timeout is the limit that a configuration sets for the proof of this kernel. A flag takes
	// precedence. 0: unspecified.
	Timeout time.Duration

	d      *Driver
	sum    *Summary // of this job; that of the driver if the job runs alone
	sink   func(diag.Diagnostic)
	before <-chan struct{} // closed when the jobs before this one are done; nil: there are none
	log    *Decisions      // nil: decisions are not recorded

	record   record    // receives what the job does; nil: it is not recorded
	launches *launches // of a job for one of several launches; else nil
	quiet    bool      // notes of the launch are not reported again
	cores    int       // that this job may use; 0: one
}

// Cores returns how many goroutines may emulate independent blocks of a run.
func (j *Job) Cores() int { return max(j.cores, 1) }

// Job returns a job for a kernel that is examined alone, outside of Run. It never waits.
func (d *Driver) Job(m *Module, k *ir.Func) *Job {
	j := &Job{Module: m, Kernel: k, Launch: d.opt.Launch, d: d, sum: &d.sum, sink: d.sink}
	j.set()
	return j
}

// For returns a job for another form of the same kernel, such as a repaired one.
func (j *Job) For(k *ir.Func) *Job {
	other := *j
	other.Kernel = k
	return &other
}

// Into returns the same job, whose findings go to another sink.
func (j *Job) Into(sink func(diag.Diagnostic)) *Job {
	other := *j
	other.sink = sink
	return &other
}

// Options are those of the driver.
func (j *Job) Options() *Options { return &j.d.opt }

// Files are those that positions refer to.
func (j *Job) Files() *source.Set { return j.d.opt.Files }

// SourceAt returns the rest of the line of the source from a position on; empty if the file cannot
// be read.
func (j *Job) SourceAt(p source.Pos) string {
	j.Turn()
	j.d.needText(source.Span{Start: p})
	f := j.d.opt.Files.File(p.File())
	if f == nil || f.Content == nil {
		return ""
	}
	line, _ := f.Line(p.Line())
	return line[min(max(p.Col()-1, 0), len(line)):]
}

// LineAt returns the line of the source that has a position. ok is false if the file cannot be
// read.
func (j *Job) LineAt(p source.Pos) (line string, ok bool) {
	j.d.needText(source.Span{Start: p})
	f := j.d.opt.Files.File(p.File())
	if f == nil {
		return "", false
	}
	return f.Line(p.Line())
}

// Format names a position.
func (j *Job) Format(p source.Pos) string { return j.d.opt.Files.Format(p) }

// InputName is the input as the user named it.
func (j *Job) InputName() string { return j.d.inputName }

// Turn waits until the jobs of all earlier kernels are done. It precedes everything that must
// happen in the order of the kernels, such as findings and output. The earliest unfinished job
// never waits, so there is no deadlock.
func (j *Job) Turn() {
	if j.before != nil {
		<-j.before
	}
}

// Report sends one finding, with the text of the files that it names.
func (j *Job) Report(g diag.Diagnostic) {
	j.Turn()
	if !j.launches.again(&g) {
		j.d.send(g, j.sink)
	}
}

// InputError reports a mistake in the input and counts it.
func (j *Job) InputError(g diag.Diagnostic) {
	j.sum.InputErrors++
	j.Report(g)
}

// LaunchError reports a mistake in the launch of the kernel, and counts it as one in the input.
func (j *Job) LaunchError(e *launch.Error) { j.InputError(launchDiagnostic(j.Kernel.Demangled, e)) }

// AddVerdict records the verdict on the kernel, with its place in Python: names of kernels in a
// cache of compiled ones are not unique, and the names of its files say nothing.
func (j *Job) AddVerdict(v diag.Verdict) {
	if at := KernelPlace(j.Kernel).Start; at.IsValid() {
		if f := j.Files().File(at.File()); source.PythonName(f.Name) {
			v.From = fmt.Sprintf("%s:%d", filepath.Base(f.Name), at.Line())
		}
	}
	j.sum.Verdicts = append(j.sum.Verdicts, v)
}

// AddFindings counts bugs, and findings that depend on guessed launch values.
func (j *Job) AddFindings(bugs, guessed int) {
	j.sum.Bugs += bugs
	j.sum.Guessed += guessed
}

// Config resolves the launch of the kernel; nil if it has mistakes, which are reported.
func (j *Job) Config() *launch.Config {
	cfg, errs := launch.Resolve(j.Kernel, j.Launch, j.Module.Facts)
	for _, e := range errs {
		j.LaunchError(e)
	}
	if len(errs) > 0 {
		return nil
	}
	return cfg
}

// Resolve is Config for a launch that is executed: it also reports the notes of the launch, such as
// what was guessed and why.
func (j *Job) Resolve() *launch.Config {
	cfg := j.Config()
	if cfg == nil || j.quiet {
		return cfg
	}
	for _, n := range cfg.Notes {
		j.note(n, cfg.Launch)
	}
	return cfg
}

// note reports a note on a launch of the kernel, at the launch in host code, or at the kernel if
// there is none.
func (j *Job) note(text string, at source.Span) {
	if !at.IsValid() {
		at = j.Kernel.Span
	}
	j.Report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Message: text, Span: at,
		Kernel: j.Kernel.Demangled})
}

// configure applies the configuration of the kernel. It returns false, after a note, if the
// configuration skips the kernel.
func (j *Job) configure() bool {
	s := j.set()
	if s.Skip != "" {
		j.sum.Skipped++
		j.Report(diag.Diagnostic{
			Code: diag.CodeLaunch, Severity: diag.Note, Span: s.Span, Kernel: j.Kernel.Demangled,
			Message: fmt.Sprintf("kernel %s is skipped: %s", j.Kernel.Demangled, s.Skip),
		})
		return false
	}
	return true
}

// set applies the settings of the configuration for the kernel, and returns them.
func (j *Job) set() Setting {
	if j.d.opt.Settings == nil {
		return Setting{}
	}
	s := j.d.opt.Settings(j.Module.Name, j.Kernel)
	j.Launch.Config, j.Engine, j.Timeout = s.Launch, s.Engine, s.Timeout
	return s
}
