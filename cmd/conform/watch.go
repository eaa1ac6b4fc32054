package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/host"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// watched is the engine of heddle exec --gpu native, with the emulator as the GPU: it builds the
// file into a program, runs it, and takes the verdicts from what its kernels log.
type watched struct{}

// Check runs the program of a job. The launch is that of its main function.
func (watched) Check(ctx context.Context, job *Job) *Result {
	res := new(Result)
	sum, err := job.watch(ctx, res)
	if err != nil {
		res.Error = firstError(err)
		return res
	}
	res.addVerdicts(sum.Verdicts)
	if len(sum.Verdicts) > 0 {
		res.Stage = Ended
	}
	return res
}

// watch builds and runs the program of a job.
func (j *Job) watch(ctx context.Context, res *Result) (*exec.Summary, error) {
	dir, err := os.MkdirTemp("", "heddle-conform-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	opt := lower.BuildOptions{Options: j.lower()}
	b, err := lower.NewBuilder(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	object, program := filepath.Join(dir, "o.o"), filepath.Join(dir, "program")
	if _, err := b.Object(ctx, j.File, object, false); err != nil {
		return nil, err
	}
	res.Stage = Lowered
	if err := b.LinkDynamic(ctx, []string{object}, nil, program); err != nil {
		return nil, err
	}
	library, err := b.WatchLibrary(ctx)
	if err != nil {
		return nil, err
	}
	libraries, err := b.SharedRuntime(ctx)
	if err != nil {
		return nil, err
	}
	gpu, err := host.FindGPU("a100")
	if err != nil {
		return nil, err
	}
	res.Stage = Sane
	var out bytes.Buffer
	run := &exec.Options{Common: driver.Options{Warp: j.Warp, Benign: j.Benign, MaxSteps: j.MaxSteps,
		Limit: driver.DefaultLimit}, GPU: gpu, Watch: true, Library: library,
		Queues: exec.Queues{Number: 4, Slots: 1024},
		Printer: func(*source.Set) diag.Printer {
			return diag.FindingFunc(func(d *diag.Diagnostic) { res.add(d, &j.Exclude) })
		}}
	return exec.Run(ctx, exec.Program{Args: []string{program},
		Env: []string{"LD_LIBRARY_PATH=" + libraries}, Stdout: &out, Stderr: &out}, run)
}
