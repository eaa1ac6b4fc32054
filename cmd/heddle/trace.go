package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/check"
	"heddle/internal/driver"
	"heddle/internal/engine/trace"
	"heddle/internal/event"
	"heddle/internal/launch"
)

// traceHelp is the long description in --help and docs/commands.md.
const traceHelp = `trace decides kernels with named barriers, mbarriers, bulk copies, wgmma and tcgen05 (warp specialization) for all inputs: whether
threads can deadlock, whether each barrier is reused safely, and whether accesses to shared memory race. It
executes one block with unknown inputs. A kernel whose barriers or shared addresses depend on an input is
unsupported until --arg sets it. trace does not check global memory; run does.
--html draws barriers and the phases of mbarriers, by stage and by role.`

// newTrace makes heddle trace. A trace covers all schedules, so there are no seeds; checkNumbers
// gets the one that it requires.
func newTrace(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &checkCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	opt := &c.opt
	opt.Mode = check.Trace
	var stats, anyRounds bool
	var blocks string
	cmd := &cobra.Command{
		Use:     "trace [flags] FILE|DIR|-...",
		Short:   "verify barriers and shared memory of a block for all inputs",
		Long:    traceHelp + launchHelp,
		Args:    c.in.some,
		Example: "  heddle trace kernel.cu\n  heddle trace --stats --blockidx all kernel.ptx",
		RunE: func(cmd *cobra.Command, files []string) error {
			opt.Run.Seeds, opt.Trace.KnownRounds = 1, !anyRounds
			if err := checkNumbers(opt); err != nil {
				return err
			}
			limitMemory(opt)
			if err := blockIndices(blocks, &opt.Trace); err != nil {
				return err
			}
			if stats {
				opt.Trace.Stats = statsPrinter(c.out.format, stdout, stderr)
			}
			return c.checkFiles(cmd.Context(), files)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	launchFlags(fs, &opt.Options, nil)
	boxesFlag(fs, &opt.Boxes)
	proxyFlags(fs, &opt.Options)
	fs.StringVar(&blocks, "blockidx", "",
		"trace the block `X[,Y[,Z]]` of the grid, or all (default: block 0, which covers all blocks if "+
			"blockIdx does not matter)")
	fs.BoolVar(&anyRounds, "any-rounds", true,
		"decide a kernel whose number of rounds is an unknown parameter for every value of it, where "+
			"that is possible")
	fs.Var(newParsed(&opt.Warp, event.ParseWarpModel, "independent", "lockstep"), "warp",
		"order the lanes of a warp by `MODEL` independent (only by synchronization) or lockstep")
	fs.Var(newParsed(&opt.Benign, event.ParseBenign, "warp", "all", "none"), "benign",
		"tolerate conflicting writes of the same value: `WHICH` is warp (by one instruction of a "+
			"warp), all or none")
	fs.Uint64Var(&opt.MaxSteps, "max-steps", 0,
		"end a trace after `N` warp instructions (default: 2 billion)")
	fs.IntVar(&opt.Limit, "limit", driver.DefaultLimit,
		"print at most `N` errors and N warnings per kernel")
	fs.BoolVar(&stats, "stats", false,
		"print the commands, barrier generations and shared addresses of each block, time and memory")
	c.in.define(fs)
	lowerFlags(fs, &opt.Lower)
	c.out.define(fs)
	totalFlag(fs, &c.total)
	return cmd
}

// blockIndices reads --blockidx: all blocks, one index, or by default block 0. A leading dash is
// rejected here, because it is a forgotten value followed by a flag.
func blockIndices(s string, t *trace.Options) error {
	// Without the option, block 0 is traced.
	switch s {
	case "":
		return nil
	case "all":
		t.All = true
		return nil
	}
	if strings.HasPrefix(s, "-") {
		return fmt.Errorf("--blockidx %s: expected X[,Y[,Z]] or all", s)
	}
	x, err := launch.ParseIndex(s)
	if err != nil {
		return fmt.Errorf("--blockidx %s: %w", s, err)
	}
	t.Blocks = [][3]uint32{{x.X, x.Y, x.Z}}
	return nil
}

// statsPrinter returns the function that prints the counts of a block: among the results if they
// are text or JSON lines, otherwise to standard error, since the other formats have no place for
// them.
func statsPrinter(format string, stdout, stderr io.Writer) func(trace.Stats) {
	switch format {
	case "text":
		return func(s trace.Stats) { printStats(stdout, s) }
	case "json":
		return func(s trace.Stats) { writeTraceJSON(stdout, s) }
	}
	return func(s trace.Stats) { printStats(stderr, s) }
}

// printStats prints the counts of one block.
func printStats(w io.Writer, s trace.Stats) {
	fmt.Fprintf(w, "stats: %s block %v: %d threads, %d commands, %d dynamic barriers, %d shared "+
		"addresses\n",
		s.Kernel, s.Block, s.Threads, s.Commands, s.Barriers, s.Addresses)
	fmt.Fprintf(w, "stats: %d of %d instructions in the slice, %d warp instructions executed, %.1f "+
		"ms, %.1f MB\n",
		s.Sliced, s.Total, s.Executed, float64(s.Time.Microseconds())/1000, float64(memory())/1e6)
}

// memory returns the bytes that the process has obtained from the system, an upper bound on its
// peak heap. Go does not count what it gives back.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
