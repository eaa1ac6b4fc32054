package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/place"
)

// syncHelp is the long description in --help and docs/commands.md.
const syncHelp = `sync finds the cheapest placement of block barriers with which no two threads of a block race and no barrier
diverges, and prints the change as a unified diff of the source. Existing barriers are kept unless others cost
less. The report states what each barrier separates. The patched source is verified again from the start.

--explain runs the launch once without each barrier of the result and reports the races that appear,
each with two threads, their iterations and an element. Where no run shows one, a proof decides
whether the barrier is redundant. With --verify-only it explains the barriers that exist. What a
barrier costs in cycles is an estimate: how often threads reach it, times its latency on an A100.

The oracle decides which placements are right: static proves them for all inputs of the launch shape, dynamic runs
the launch, and both runs first and proves what passes. Block barriers cannot repair races between blocks.

--optimize searches instead for synchronization that is stronger than the kernel needs: barriers of the block of
which a barrier of the warp or a named barrier of the first warps suffices, fences, scopes of atomic operations,
and memory orders. It lists each change that is proved for every launch in the file, with what it still orders and
what it assumes of code outside the kernel (-v: also the places where nothing may change, and why), and prints one
diff with all of them, proved together. Lanes of a warp count as independent, whatever --warp says.

Exit codes: 0 the barriers are right, or the printed change makes them so; 1 a bug that no placement repairs;
2 usage or input error; 3 not decided, or blocks may race with each other.`

// syncCommand is heddle sync: barriers of all kernels of one file.
type syncCommand struct {
	oneFile
	sync      placement.Options
	algorithm string
	cost      string
	optimize  bool // offer weaker synchronization instead
}

// algorithms maps the words of --algorithm to searches; package place describes them.
var algorithms = map[string]place.Algorithm{"exact": place.Exact, "paper": place.Paper,
	"naive": place.Naive}

// newSync defines the command. --loop-cost and --cond-cost are the constants of the static cost
// model: a barrier counts loop^(depth of loops) * cond^(depth of conditions).
func newSync(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &syncCommand{oneFile: oneFile{stdin: stdin, stdout: stdout, stderr: stderr},
		sync: placement.Options{Options: place.Options{Cost: place.DefaultCost}}}
	cmd := c.command(cobra.Command{
		Use:   "sync [flags] FILE|-",
		Short: "find the cheapest placement of barriers",
		Long:  syncHelp,
		Example: "  heddle sync kernel.cu\n  heddle sync -w kernel.cu\n  heddle sync --verify-only " +
			"--explain kernel.cu\n  heddle sync --optimize kernel.cu",
	}, c.run)
	fs := cmd.Flags()
	fs.Lookup("format").Usage = "report as `FORMAT` text or json (one object on standard output)"
	fs.BoolVar(&c.sync.Strip, "strip", false,
		"do not prefer existing barriers over others of the same cost")
	fs.BoolVar(&c.sync.BlockOnly, "block-only", false, "place block barriers only, no __syncwarp()")
	fs.BoolVar(&c.sync.VerifyOnly, "verify-only", false, "only judge the existing barriers")
	fs.BoolVar(&c.sync.Explain, "explain", false,
		"say of each barrier what it separates, with an example from a run without it, and how often "+
			"threads reach it")
	fs.BoolVar(&c.sync.Incremental, "incremental", false,
		"keep verified results in the cache, and search again only for kernels that have changed since")
	fs.Var(newParsed(&c.sync.Oracle, placement.ParseOracle, "static", "dynamic", "both"), "oracle",
		"judge placements with `ENGINE` static, dynamic or both")
	fs.Var(newChoice(&c.algorithm, "exact", "paper", "naive"), "algorithm",
		"search with `NAME` exact, paper (Algorithm 1 of AutoSync) or naive (remove one barrier after "+
			"another)")
	fs.Var(newChoice(&c.cost, "static", "measured"), "cost",
		"weigh barriers by `MODEL` static (the constants below) or measured (how often threads reach "+
			"each place in a run)")
	fs.Float64Var(&c.sync.Cost.Loop, "loop-cost", place.DefaultCost.Loop,
		"assume that a loop has `N` iterations")
	fs.Float64Var(&c.sync.Cost.Cond, "cond-cost", place.DefaultCost.Cond,
		"assume that a condition holds in this `SHARE` of cases")
	fs.DurationVar(&c.opt.Prove.Timeout, "timeout", 0,
		"end the search for a kernel after `TIME`, such as 90s (default: a fixed number of steps)")
	c.optimizeFlags(cmd)
	return c.endFlags(cmd)
}

// run searches for a placement and writes the results. The constants must keep costs positive and
// must not make a barrier in a loop cheaper than one outside.
func (c *syncCommand) run(cmd *cobra.Command, input driver.Input) error {
	if c.sync.Cost.Loop < 1 || c.sync.Cost.Cond <= 0 || c.sync.Cost.Cond > 1 {
		return inputError{fmt.Errorf("--loop-cost must be at least 1, and --cond-cost above 0 and at " +
			"most 1")}
	}
	if c.sync.Incremental && c.opt.Lower.NoCache {
		return inputError{errors.New("--incremental keeps results in the cache, which --no-cache turns off")}
	}
	if c.optimize {
		return c.runOptimize(cmd.Context(), input)
	}
	c.sync.Measured = c.cost == "measured"
	c.sync.Algorithm = algorithms[c.algorithm]
	page, err := c.withPage(cmd.Context())
	if err != nil {
		return inputError{err}
	}
	mistakes := c.mistakes(page)
	opt := c.sync
	opt.Common, opt.Run, opt.Prove = c.opt.Options, c.opt.Run, c.opt.Prove
	res, err := placement.File(cmd.Context(), opt, input, func(d diag.Diagnostic) { mistakes.Finding(&d) })
	if err != nil {
		return inputError{err}
	}
	err = errors.Join(c.report(res, input.Name), page.addSync(res, c.prints(input.Name)))
	if err != nil {
		return inputError{fmt.Errorf("writing the results: %w", err)}
	}
	return exitWith(syncExit(res))
}

// syncExit returns the exit code for all kernels of a file. A bug counts only where the kernel was
// checked; anything without a decision prevents exitClean.
func syncExit(res *placement.Result) int {
	code := exitClean
	for i := range res.Kernels {
		k := &res.Kernels[i]
		switch {
		case k.Verdict.Kind == diag.Bug && k.Status != placement.NotChecked:
			return exitBugs
		case k.Status == placement.NoPlacement, k.Status == placement.NotChecked, k.Verdict.Kind == diag.Unknown,
			k.Verdict.Kind == diag.Unsupported, len(k.OtherBlocks) > 0:
			code = exitUnknown
		}
	}
	if res.InputErrors > 0 {
		return exitUsage
	}
	return code
}

// report writes the report and the diff, then the changed text.
func (c *syncCommand) report(res *placement.Result, name string) error {
	if c.format == "json" {
		if err := writeSyncJSON(c.stdout, res); err != nil {
			return err
		}
	} else {
		for i := range res.Kernels {
			if err := c.text(&res.Kernels[i]); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(c.stdout, res.Diff); err != nil {
			return err
		}
		if res.Diff != "" {
			c.unchanged(name)
		}
	}
	return c.save(res.Patched, res.Files, name)
}

// text reports one kernel on standard error: its barriers with their reasons, the costs, and the
// verdict for the patched source.
func (c *syncCommand) text(k *placement.Kernel) error {
	w := &bytes.Buffer{}
	again := ""
	if k.Earlier {
		again = " (not searched again: nothing has changed)"
	}
	fmt.Fprintf(w, "%s: kernel %s%s\n", k.Status, k.Kernel, again)
	for i := range k.Barriers {
		b := &k.Barriers[i]
		fmt.Fprintf(w, "  %s\n", barrierSays(b))
		for _, why := range barrierReasons(b) {
			fmt.Fprintf(w, "    %s\n", why)
		}
	}
	if k.Unexplained != "" {
		fmt.Fprintf(w, "  its barriers are not explained: %s\n", k.Unexplained)
	}
	for _, why := range k.Stuck {
		fmt.Fprintf(w, "  %s\n", why)
	}
	if k.Status == placement.Unchanged || k.Status == placement.Changed {
		// The placement is minimal only if the search ended within its limits.
		best := ""
		if k.Optimal {
			best = ", minimal"
		}
		switch {
		case c.in.verbose:
			fmt.Fprintf(w, "  cost %.6g before, %.6g after%s; %d oracle calls (%s)\n", k.Before, k.After,
				best, k.Calls, k.Oracle)
		case k.Optimal:
			fmt.Fprintf(w, "  no correct placement is cheaper (-v: costs)\n")
		default:
			fmt.Fprintf(w, "  another correct placement may be cheaper (-v: costs)\n")
		}
	}
	for _, note := range syncNotes(k) {
		fmt.Fprintf(w, "  %s\n", note)
	}
	switch {
	case k.Status != placement.Unchanged && k.Status != placement.Changed:
	case c.in.verbose:
		fmt.Fprintf(w, "  %s: %s\n", k.Verdict.Kind, k.Verdict.Text())
	default:
		fmt.Fprintf(w, "  %s: %s\n", k.Verdict.Kind,
			cmp.Or(k.Verdict.Scope, k.Verdict.Reason))
	}
	_, err := w.WriteTo(c.stderr)
	return err
}
