package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/command/exec"
	"heddle/internal/command/mcp"
	"heddle/internal/driver"
	"heddle/internal/host"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// runProgramOfCall implements mcp.Options.Program: it builds and runs a program as heddle exec
// does, without an input.
func runProgramOfCall(ctx context.Context, p *mcp.Program) error {
	dir, err := os.MkdirTemp("", "heddle-program-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(p.File), filepath.Ext(p.File)))
	b := buildFlags{opt: lower.BuildOptions{Options: p.Lower}}
	if err := b.program(ctx, []string{p.File}, dir, path, 1); err != nil {
		var ce *lower.CompileError
		if errors.As(err, &ce) {
			return fmt.Errorf("%w; the compiler says:\n%s%s", err, ce.Output, ce.Help)
		}
		return err
	}
	gpu, err := host.FindGPU(host.GPUNames()[0])
	if err != nil {
		return err
	}
	opt := &exec.Options{GPU: gpu, Check: exec.DefaultPolicy, Name: p.File, Printer: p.Printer,
		Command: "heddle exec " + launch.Quote(p.File)}
	opt.Common.Limit, opt.Common.MaxSteps = driver.DefaultLimit, 2_000_000_000
	sum, err := exec.Run(ctx, exec.Program{Args: append([]string{path}, p.Args...),
		Stdin: strings.NewReader(""), Stdout: p.Output, Stderr: p.Output}, opt)
	if sum == nil {
		return err
	}
	p.Ended, p.Code, p.Unsupported = sum.EndText(), sum.Code(), sum.Unsupported
	for _, k := range sum.Kernels {
		p.Launches += k.Launches
	}
	return errors.Join(err, sum.Close())
}
