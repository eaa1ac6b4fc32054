package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	dynamicengine "heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// dynamic is the engine of heddle run.
type dynamic struct{}

// Check emulates the kernels of a job and detects races. Kernels whose assumptions the launch
// violates do not count; the result is outside the assumptions only if all of them are.
func (dynamic) Check(ctx context.Context, job *Job) *Result {
	res := new(Result)
	opt := job.lower()
	if !build(ctx, job, opt, res) {
		return res
	}
	req, err := job.request()
	if err != nil {
		res.Error = err.Error()
		return res
	}
	files := source.NewSet()
	sum, err := check.Files(ctx, check.Options{
		Options: job.options(req, opt, files),
		Mode:    check.Run,
		Run:     dynamicengine.Options{Seeds: job.Seeds},
	}, []string{job.File}, func(d diag.Diagnostic) { res.add(&d, &job.Exclude) })
	if err != nil {
		res.Error = err.Error()
		return res
	}
	// A kernel is outside if no choice of arguments satisfied its assumptions.
	outside := 0
	res.addVerdicts(sum.Verdicts)
	for _, v := range sum.Verdicts {
		if strings.Contains(v.Reason, "outside the kernel's assumptions") {
			outside++
			res.Assumptions = v.Reason
		}
	}
	if outside < len(sum.Verdicts) {
		res.Assumptions = ""
	}
	if res.Error == "" && len(sum.Verdicts) > 0 {
		res.Stage = Ended
	}
	return res
}

// options are the choices of a job that both engines share.
func (j *Job) options(req launch.Request, opt lower.Options, files *source.Set) driver.Options {
	return driver.Options{
		Kernel: j.Kernel, Launch: req, Warp: j.Warp, Benign: j.Benign, MaxSteps: j.MaxSteps,
		Workers: 1, Lower: opt, Files: files,
	}
}

// addVerdicts records verdicts of kernels.
func (r *Result) addVerdicts(list []diag.Verdict) {
	for _, v := range list {
		r.Verdicts = append(r.Verdicts, Verdict{v.Kernel, kindName(v.Kind), v.Reason})
	}
}

// add records a diagnostic: a bug as a finding, an error in the input as the error of the result.
// Warnings are ignored.
func (r *Result) add(d *diag.Diagnostic, except *Exclusion) {
	doc, _ := diag.Lookup(d.Code)
	switch {
	case doc.Family == diag.Bugs:
		f := Finding{Code: string(d.Code), Message: d.Message, Line: d.Span.Start.Line()}
		if d.Witness != nil {
			f.Memory = d.Witness.Memory
		}
		if !except.has(&f) {
			r.Findings = append(r.Findings, f)
		}
	case d.Severity == diag.Error:
		r.Error = d.Message
	}
}

// kindName returns the name of a verdict in results.
func kindName(k diag.VerdictKind) string {
	switch k {
	case diag.Clean:
		return "clean"
	case diag.Verified:
		return verified
	case diag.Bug:
		return "bug"
	case diag.Unknown:
		return "unknown"
	}
	return "unsupported"
}

// build runs the stages before execution one by one, so that a failure can be attributed to a
// stage. The engine repeats them; the compiler's output comes from its cache.
func build(ctx context.Context, job *Job, opt lower.Options, res *Result) bool {
	low, err := lower.File(ctx, job.File, opt)
	if job.DeviceOnly && usesHostVariable(err) {
		if err = job.moveVariables(); err == nil {
			low, err = lower.File(ctx, job.File, opt)
		}
	}
	if err != nil {
		res.Error = firstError(err)
		return false
	}
	res.Stage = Lowered
	files := source.NewSet()
	text, err := files.Add(low.Name, low.PTX)
	if err != nil {
		res.Error = err.Error()
		return false
	}
	tree, errs := ptx.Parse(text)
	if len(errs) > 0 {
		res.Error = errs[0].Msg
		return false
	}
	res.Stage = Parsed
	module, errs := irgen.Module(files, tree)
	if len(errs) > 0 {
		res.Error = errs[0].Msg
		return false
	}
	res.Stage = Built
	if errs := ir.CheckModule(module); len(errs) > 0 {
		res.Error = errs[0].Error()
		return false
	}
	res.Stage = Sane
	return true
}

// firstError returns the first error message of a compiler, without its place, so that equal causes
// can be counted.
func firstError(err error) string {
	var ce *lower.CompileError
	if !errors.As(err, &ce) {
		return err.Error()
	}
	for line := range strings.Lines(ce.Output) {
		if _, msg, ok := strings.Cut(line, "error: "); ok {
			return "compiler: " + strings.TrimSpace(msg)
		}
	}
	return err.Error()
}

// request converts the launch of a job. In a file with several kernels, each argument goes to the
// kernels that have a parameter of that name.
func (j *Job) request() (launch.Request, error) {
	req := launch.Request{Grid: &j.Grid, Block: &j.Block}
	if j.Shared > 0 {
		req.Shared = &j.Shared
	}
	for _, text := range j.Args {
		a, err := launch.ParseArg(text)
		if err != nil {
			return req, fmt.Errorf("argument %s: %w", text, err)
		}
		req.Args = append(req.Args, a)
	}
	return req, nil
}
