package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/host"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// Bounds of a program that heddle check --exec runs. A program that exceeds them has no launches,
// and its kernels are examined as without --exec.
const (
	execSteps    = 50_000_000       // warp instructions of a launch
	execTime     = 60 * time.Second // of the program: it may wait for input that never comes
	execLaunches = 3                // examined for each kernel, of different shapes
)

// programLaunches are the launches that the program of a file has made, by kernel.
type programLaunches map[string][]*launch.Saved

// runPrograms runs the program of each CUDA file among the inputs and lets the driver take its
// launches. done removes them.
func (c *checkCommand) runPrograms(ctx context.Context, inputs []driver.Input) (done func(),
	err error) {
	dir, err := os.MkdirTemp("", "heddle-check-exec-")
	if err != nil {
		return nil, err
	}
	all := make(map[string]programLaunches)
	for i := range inputs {
		name := inputs[i].Name
		if !source.CUDAName(name) || name == driver.Stdin {
			continue
		}
		found, err := c.runProgram(ctx, &inputs[i], filepath.Join(dir, fmt.Sprint(i)))
		switch {
		case ctx.Err() != nil:
			_ = os.RemoveAll(dir)
			return nil, ctx.Err()
		case err != nil:
			c.noteExec(name, err.Error())
		default:
			all[name] = found
			n, take := found.count(), "take"
			if n == 1 {
				take = "takes"
			}
			c.noteExec(name, fmt.Sprintf("%s ran to its end; %s of it %s the place of guesses", name,
				launchesText(n), take))
		}
	}
	c.opt.Saved = func(input string, k *ir.Func) []*launch.Saved { return all[input][k.Name] }
	return func() { _ = os.RemoveAll(dir) }, nil
}

// noteExec reports what became of the program of a file.
func (c *checkCommand) noteExec(name, text string) {
	c.finding(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Message: "--exec: " + text,
		Input: name})
}

// launchesText counts launches.
func launchesText(n int) string {
	if n == 1 {
		return "1 launch"
	}
	return fmt.Sprintf("%d launches", n)
}

// count returns the number of launches.
func (p programLaunches) count() int {
	n := 0
	for _, l := range p {
		n += len(l)
	}
	return n
}

// runProgram builds and runs one file, and returns its launches. An error says why there are none.
func (c *checkCommand) runProgram(ctx context.Context, in *driver.Input, dir string) (
	programLaunches, error) {
	saved := filepath.Join(dir, "launches")
	if err := os.MkdirAll(saved, 0o700); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "program")
	if err := c.buildProgram(ctx, in, dir, program); err != nil {
		var ce *lower.CompileError
		if errors.As(err, &ce) {
			return nil, fmt.Errorf("%s is not a program that builds by itself (heddle exec says more); "+
				"nothing was run", in.Name)
		}
		return nil, err
	}
	gpu, err := host.FindGPU(host.GPUNames()[0])
	if err != nil {
		return nil, err
	}
	opt := &exec.Options{GPU: gpu, Check: exec.Policy{First: 1}, Save: saved, Name: in.Name,
		Command: "heddle exec " + launch.Quote(in.Name),
		Printer: func(files *source.Set) diag.Printer {
			return diag.FindingFunc(streamRaces{c, files}.finding)
		}}
	opt.Common.Warp, opt.Common.Benign, opt.Common.Limit = c.opt.Warp, c.opt.Benign, c.opt.Limit
	opt.Common.MaxSteps, opt.Common.Memory = execSteps, c.opt.Memory
	limited, cancel := context.WithTimeout(ctx, execTime)
	defer cancel()
	sum, err := exec.Run(limited, exec.Program{Args: []string{program}, Stdout: io.Discard,
		Stderr: io.Discard}, opt)
	if err != nil {
		return nil, err
	}
	if why := notUsed(limited, sum); why != "" {
		return nil, fmt.Errorf("%s: %s; its launches are not used", in.Name, why)
	}
	return readLaunches(saved)
}

// notUsed says why the launches of a program are not used; empty if they are.
func notUsed(ctx context.Context, sum *exec.Summary) string {
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("the program did not end within %v", execTime)
	case len(sum.Unsupported) > 0:
		return fmt.Sprintf("the program needs %s, which heddle does not support", sum.Unsupported[0])
	case sum.End != nil:
		return sum.EndText() + " without arguments"
	case len(sum.Kernels) == 0:
		return "the program launched no kernel"
	}
	for i := range sum.Verdicts {
		if v := &sum.Verdicts[i]; v.Kind == diag.Unknown || v.Kind == diag.Unsupported {
			return "the program was not executed to its end: " + v.Reason
		}
	}
	return ""
}

// buildProgram builds one file with the flags of the check.
func (c *checkCommand) buildProgram(ctx context.Context, in *driver.Input, dir, out string) error {
	low := &c.opt.Lower
	opt := lower.Options{Compiler: low.Compiler, Arch: low.Arch, Std: low.Std, NoCache: low.NoCache,
		CCCL:     low.CCCL,
		Includes: low.Includes, Systems: low.Systems, Defines: low.Defines, Undefines: low.Undefines,
		Forced: low.Forced}
	b := buildFlags{opt: lower.BuildOptions{Options: opt.With(in.Flags)}}
	return b.program(ctx, []string{in.Name}, dir, out, 1)
}

// readLaunches reads the saved launches of a directory: the first ones of each kernel.
func readLaunches(dir string) (programLaunches, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make(programLaunches)
	for _, e := range entries {
		s, err := launch.Load(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		s.Path = launch.PathExec
		if len(out[s.Kernel]) < execLaunches {
			out[s.Kernel] = append(out[s.Kernel], s)
		}
	}
	return out, nil
}

// streamRaces prints races between streams, which only the run of the program can show. The rest is
// found again by the examination of its launches.
type streamRaces struct {
	c     *checkCommand
	files *source.Set
}

// finding prints d if it is one.
func (s streamRaces) finding(d *diag.Diagnostic) {
	if d.Code != diag.CodeRaceStream || d.Suppressed != nil {
		return
	}
	moved := *d
	moved.Kernel = "" // the kernels may be right by themselves
	moved.Span = s.move(d.Span)
	moved.Related = nil
	for _, r := range d.Related {
		r.Span, r.Stack = s.move(r.Span), nil
		moved.Related = append(moved.Related, r)
	}
	s.c.streamRaces++
	s.c.finding(moved)
}

// move returns a place of the program's files in those of the check.
func (s streamRaces) move(p source.Span) source.Span {
	f := s.files.File(p.Start.File())
	if f == nil {
		return source.Span{}
	}
	to := s.c.opt.Files.Lookup(f.Name)
	if to == nil || to.Content == nil && f.Content != nil {
		to, _ = s.c.opt.Files.Add(f.Name, f.Content)
	}
	if to == nil {
		return source.Span{}
	}
	return source.Span{Start: source.MakePos(to.ID, p.Start.Line(), p.Start.Col())}
}
