package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/explore"
	"heddle/internal/explore/kernel"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// kernels explores the kernels of one file, each for its launch.
func (c *exploreCommand) kernels(ctx context.Context, file string) error {
	inputs, err := c.in.inputs([]string{file}, c.stdin, c.stderr)
	if err != nil {
		return inputError{err}
	}
	opt := c.common
	opt.Files, opt.Command, opt.Workers = source.NewSet(), "explore", 1
	mistakes := diag.NewText(c.stderr, opt.Files, useColor("auto", c.stderr))
	d := driver.New(opt, func(g diag.Diagnostic) { _ = mistakes.Finding(&g) })
	var failed error
	d.Run(ctx, inputs, func(ctx context.Context, job *driver.Job) {
		cfg := job.Resolve()
		if cfg == nil || failed != nil {
			return
		}
		failed = c.kernel(ctx, job, cfg)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.total.mistakes += d.Summary().InputErrors
	for i := range d.Summary().Verdicts { // of kernels that were not examined: they do not compile
		if err := c.left(file, &d.Summary().Verdicts[i]); err != nil {
			return err
		}
	}
	return failed
}

// left writes the verdict on a kernel that could not be examined.
func (c *exploreCommand) left(file string, v *diag.Verdict) error {
	c.total.unsupported++
	if c.format == "json" {
		return json.NewEncoder(c.stdout).Encode(exploreObject{
			jsonHead: jsonHead{diag.SchemaVersion, "explore"}, File: file, Kernel: v.Kernel,
			Verdict: v.Kind.String(), Reason: v.Reason})
	}
	_, err := fmt.Fprintf(c.stdout, "%s: %v: kernel %s: %s\n", file, v.Kind, v.Kernel, v.Reason)
	return err
}

// kernel explores one launch of one kernel.
func (c *exploreCommand) kernel(ctx context.Context, job *driver.Job, cfg *launch.Config) error {
	c.total.kernels++
	place := func(in *ir.Instr) string { return job.Format(driver.Place(in).Start) }
	start := time.Now()
	p, err := kernel.Program(job.Kernel, cfg, place)
	var rep *explore.Report
	if err == nil {
		if c.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.timeout)
			defer cancel()
		}
		rep, err = explore.Survey(ctx, p, c.opt, nil)
	}
	var refused *kernel.UnsupportedError
	var limit *explore.LimitError
	at := job.Format(driver.KernelPlace(job.Kernel).Start)
	switch {
	case errors.As(err, &refused):
		if refused.Instr != nil {
			at = place(refused.Instr)
		}
		return c.printKernel(job, cfg, nil, at, err, 0)
	case errors.As(err, &limit):
		return c.printKernel(job, cfg, nil, at, err, 0)
	}
	return c.printKernel(job, cfg, rep, at, nil, time.Since(start))
}

// kernelVerdict is the verdict on a kernel in the words of other commands.
func kernelVerdict(rep *explore.Report) diag.VerdictKind {
	switch {
	case rep == nil:
		return diag.Unsupported
	case len(rep.Races) > 0 || rep.Hang != nil:
		return diag.Bug
	case rep.Stats.Truncated > 0 || rep.Stats.Stopped:
		return diag.Unknown
	}
	return diag.Verified
}

// printKernel writes the result for a kernel, or why it has none, and counts it.
func (c *exploreCommand) printKernel(job *driver.Job, cfg *launch.Config, rep *explore.Report,
	at string, why error, took time.Duration) error {
	verdict := kernelVerdict(rep)
	switch verdict {
	case diag.Bug:
		c.total.wrong++
	case diag.Unsupported:
		c.total.unsupported++
	case diag.Unknown:
		c.total.unknown++
	}
	if c.format == "json" {
		return c.kernelJSON(job, cfg, rep, verdict, why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v: kernel %s: ", at, verdict, job.Kernel.Demangled)
	if rep == nil {
		fmt.Fprintf(&b, "%v\n", why)
		_, err := io.WriteString(c.stdout, b.String())
		return err
	}
	fmt.Fprintf(&b, "%s, %s, for %s of %s, %s\n", counted(rep.Stats.Executions, "execution"),
		racesText(rep), counted(int(cfg.Geometry.Blocks()), "block"),
		counted(cfg.Geometry.ThreadsPerBlock(), "thread"), coverage(rep))
	if names := guessed(cfg); len(names) > 0 {
		fmt.Fprintf(&b, "  guessed, with zeros in buffers: %s (--arg)\n", strings.Join(names, ", "))
	}
	c.limits(&b, &rep.Stats)
	(&shower{b: &b}).report(rep, c.explain)
	c.speed(&b, &rep.Stats, took)
	_, err := io.WriteString(c.stdout, b.String())
	return err
}

// guessed returns the names of the arguments that nothing specifies.
func guessed(cfg *launch.Config) []string {
	var out []string
	for i := range cfg.Args {
		if name := cfg.Args[i].Name; cfg.Origins["arg "+name].Guessed() {
			out = append(out, name)
		}
	}
	return out
}

// racesText counts the races of a test or a kernel.
func racesText(rep *explore.Report) string {
	text := "no data race"
	if n := len(rep.Groups()); n > 0 {
		text = counted(n, "data race")
	}
	if rep.Hang != nil {
		text += ", may not end"
	}
	return text
}

// coverage says what an exploration covers.
func coverage(rep *explore.Report) string {
	if rep.Stats.Truncated > 0 || rep.Stats.Stopped {
		return "some executions of the PTX memory model"
	}
	return "all executions of the PTX memory model"
}

// kernelJSON writes the result for a kernel as one line.
func (c *exploreCommand) kernelJSON(job *driver.Job, cfg *launch.Config, rep *explore.Report,
	verdict diag.VerdictKind, why error) error {
	out := exploreObject{jsonHead: jsonHead{diag.SchemaVersion, "explore"}, File: job.InputName(),
		Kernel: job.Kernel.Demangled, Grid: cfg.Geometry.Grid.String(),
		Block: cfg.Geometry.Block.String(), Verdict: verdict.String()}
	if why != nil {
		out.Reason = why.Error()
	}
	if rep != nil {
		s := &rep.Stats
		out.Executions, out.Complete, out.Truncated = s.Executions, s.Complete, s.Truncated
		out.Stopped, out.Hangs = s.Stopped, rep.Hang != nil
		out.Races = racesJSON(rep.Races, func(in *explore.Inst) (line, col int) {
			p := driver.Place(in.Site.(*ir.Instr)).Start
			return p.Line(), p.Col()
		})
	}
	return json.NewEncoder(c.stdout).Encode(out)
}
