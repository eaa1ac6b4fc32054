package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/exhaustive"
	"heddle/internal/explore"
	"heddle/internal/ir"
)

// kernels explores the kernels of one file, each for its launch.
func (c *exploreCommand) kernels(ctx context.Context, file string) error {
	inputs, err := c.in.inputs([]string{file}, c.stdin, c.stderr)
	if err != nil {
		return inputError{err}
	}
	opt := c.common
	opt.Command, opt.Workers = "explore", 1
	mistakes := diag.NewText(c.stderr, opt.Files, useColor("auto", c.stderr))
	d := driver.New(opt, func(g diag.Diagnostic) { _ = mistakes.Finding(&g) })
	var failed error
	d.Run(ctx, inputs, func(ctx context.Context, job *driver.Job) {
		if failed == nil {
			failed = c.kernel(ctx, job)
		}
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
func (c *exploreCommand) kernel(ctx context.Context, job *driver.Job) error {
	c.total.kernels++
	if c.replay != nil {
		return c.replayKernel(ctx, job)
	}
	start := time.Now()
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	opt := exhaustive.Options{Options: c.opt, AutoGrid: c.grid, AutoBlock: c.block}
	opt.Symmetry = opt.Symmetry && len(c.outcomes) == 0
	if cfg := job.Config(); cfg != nil { // what nothing specifies is chosen, but one block stays one
		one := cfg.Geometry.Blocks() == 1
		opt.AutoGrid = c.grid || cfg.Origins["grid"].Guessed() && !one && job.Launch.Global == nil
		opt.AutoBlock = c.block || cfg.Origins["block"].Guessed() && job.Launch.Global == nil
		l := &job.Launch
		asked := c.grid || c.block || l.Grid != nil || l.Block != nil || l.Global != nil
		if !asked && exhaustive.TooLarge(cfg) {
			opt.AutoGrid, opt.AutoBlock = !one, true
			opt.MinBlocks = int(min(cfg.Geometry.Blocks(), 2))
		}
		if opt.AutoBlock && !opt.AutoGrid && one {
			job.Launch.Grid = &cfg.Geometry.Grid
		}
	}
	out := &explore.Outcomes{}
	if len(c.outcomes) > 0 {
		if opt.Visit, opt.Restart = out.Visit, out.Reset; !slices.Contains(c.outcomes, allOutcomes) {
			out.Names = c.outcomes
		}
	}
	res, err := exhaustive.Kernel(ctx, job, &opt)
	if err != nil {
		return err
	}
	return c.printKernel(job, res, out, time.Since(start))
}

// printKernel writes the result for a kernel, or why it has none, and counts it.
func (c *exploreCommand) printKernel(job *driver.Job, res *exhaustive.Result,
	out *explore.Outcomes, took time.Duration) error {
	verdict, reason := res.Verdict()
	switch verdict {
	case diag.Bug:
		c.total.wrong++
	case diag.Unsupported:
		c.total.unsupported++
	case diag.Unknown:
		c.total.unknown++
	}
	if c.page != nil {
		c.addPage(job, res)
	}
	saved := ""
	if res.Report != nil && res.Err == nil {
		var err error
		if saved, err = c.save(job.Kernel.Demangled, res, findingsOf(res.Report)); err != nil {
			return err
		}
	}
	if c.format == "json" {
		return c.kernelJSON(job, res, out)
	}
	at := driver.KernelPlace(job.Kernel).Start
	if res.At != nil {
		at = driver.Place(res.At).Start
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v: kernel %s: ", job.Format(at), verdict, job.Kernel.Demangled)
	if rep := res.Report; rep == nil || res.Err != nil {
		fmt.Fprintf(&b, "%s\n", reason)
	} else {
		fmt.Fprintf(&b, "%s%s, %s, for %s\n", counted(rep.Stats.Executions, "execution"),
			symmetryText(&rep.Stats), racesText(rep), res.Scope())
		c.launchText(&b, res)
		c.limits(&b, &rep.Stats)
		if verdict == diag.Unknown &&
			(len(res.Missing)+len(res.Unmet)+len(rep.Faults) > 0 || res.Partial) {
			fmt.Fprintf(&b, "  %s\n", reason)
		}
		c.outcomesText(&b, out)
		(&shower{b: &b}).report(rep, c.explain)
		c.speed(&b, &rep.Stats, took)
		b.WriteString(saved)
	}
	_, err := io.WriteString(c.stdout, b.String())
	return err
}

// symmetryText says that executions stand for others.
func symmetryText(s *explore.Stats) string {
	if s.Orders < 2 || s.Symmetric == 0 {
		return ""
	}
	return fmt.Sprintf(" up to %d permutations of threads", s.Orders)
}

// addPage adds the verdict on a kernel and its executions to the HTML page.
func (c *exploreCommand) addPage(job *driver.Job, res *exhaustive.Result) {
	kind, reason := res.Verdict()
	v := diag.Verdict{Kind: kind, Kernel: job.Kernel.Demangled, Reason: reason, Input: job.InputName(),
		Span: driver.KernelPlace(job.Kernel)}
	if res.Report != nil && res.Err == nil {
		v.Scope = res.Scope()
		drawn(c.page, v.Input, v.Kernel, res.Report)
	}
	_ = c.page.Verdict(&v) // never fails
}

// launchText says which facts of the launch heddle chose.
func (c *exploreCommand) launchText(b *strings.Builder, res *exhaustive.Result) {
	if names := res.Guessed(); len(names) > 0 {
		fmt.Fprintf(b, "  guessed, with zeros in buffers: %s (--arg)\n", strings.Join(names, ", "))
	}
	if res.Choice != nil {
		fmt.Fprintf(b, "  launch chosen by heddle: %s\n", res.ChoiceText())
	}
}

// outcomesText prints the final states of a kernel.
func (c *exploreCommand) outcomesText(b *strings.Builder, out *explore.Outcomes) {
	if len(c.outcomes) == 0 {
		return
	}
	for _, n := range out.Missing() {
		fmt.Fprintf(b, "  no execution accesses a global variable or buffer %s (--outcomes)\n", n)
	}
	list := out.List()
	if len(list) == 1 && len(list[0].Values) == 0 {
		fmt.Fprintln(b, "  one final state")
		return
	}
	fmt.Fprintf(b, "  %s\n", counted(len(list), "final state"))
	for i, s := range list {
		if i == maxStates {
			fmt.Fprintf(b, "  ... and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "  %9d  %s\n", s.Executions, s)
	}
}

// maxStates bounds the final states of a kernel that are printed.
const maxStates = 40

// racesText counts the races of a test or a kernel.
func racesText(rep *explore.Report) string {
	text := "no data race"
	if n := len(rep.Groups()); n > 0 {
		text = counted(n, "data race")
	}
	if n := len(explore.Grouped(rep.Unordered)); n > 0 {
		text += ", " + counted(n, "pair") + " of strong accesses without an order"
	}
	if n := len(rep.Faults); n > 0 {
		text += ", " + counted(n, "error")
	}
	if rep.Hang != nil {
		text += ", may not end"
	}
	return text
}

// kernelJSON writes the result for a kernel as one line.
func (c *exploreCommand) kernelJSON(job *driver.Job, res *exhaustive.Result,
	outcomes *explore.Outcomes) error {
	verdict, reason := res.Verdict()
	out := exploreObject{jsonHead: jsonHead{diag.SchemaVersion, "explore"}, File: job.InputName(),
		Kernel: job.Kernel.Demangled, Verdict: verdict.String(), Reason: reason}
	if res.Config != nil {
		out.Grid, out.Block = res.Config.Geometry.Grid.String(), res.Config.Geometry.Block.String()
	}
	if ch := res.Choice; ch != nil {
		out.Launch = &exploreLaunch{ch.Tried, ch.Unusable, ch.Sync, ch.Named}
	}
	if rep := res.Report; rep != nil && res.Err == nil {
		s := &rep.Stats
		out.Executions, out.Complete, out.Truncated = s.Executions, s.Complete, s.Truncated
		out.Stopped, out.Hangs = s.Stopped, rep.Hang != nil
		if s.Symmetric > 0 {
			out.Permutes = s.Orders
		}
		at := func(in *explore.Inst) (line, col int) {
			p := driver.Place(in.Site.(*ir.Instr)).Start
			return p.Line(), p.Col()
		}
		out.Races = racesJSON(rep.Races, at)
		for _, f := range rep.Faults {
			th, in := f.Instruction()
			line, col := at(in)
			out.Faults = append(out.Faults, exploreFault{explorePlace{th.Name, line, col, in.Text}, f.What})
		}
		for _, o := range outcomes.List() {
			st := exploreState{Executions: o.Executions}
			for _, v := range o.Values {
				st.Values = append(st.Values, exploreValue(v))
			}
			out.States = append(out.States, st)
		}
	}
	return json.NewEncoder(c.stdout).Encode(out)
}
