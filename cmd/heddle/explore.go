package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/internal/driver"
	"heddle/internal/explore"
	"heddle/internal/litmus"
	"heddle/internal/source"
)

// exploreCommand is heddle explore.
type exploreCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            explore.Options
	format         string
	outcomes       []string // names; allOutcomes: all
	explain        bool
	stats          bool
	timeout        time.Duration
	common         driver.Options // of kernels
	in             inputFlags
	grid, block    bool // heddle chooses them
	html           string
	page           *reportFile // nil: none was asked for
	saveAs         string
	saved          *os.File // nil: nothing is to be saved
	replayFrom     string
	replay         []savedExecution // nil: explore
	command        string           // the command line
	total          exploreTotal
}

// allOutcomes is the value of --outcomes without names.
const allOutcomes = "*"

// exploreTotal sums the tests of a run up.
type exploreTotal struct {
	verdicts    [3]int // by explore.Verdict
	kernels     int
	unknown     int // kernels of which not all executions were explored
	unsupported int
	mistakes    int // files that could not be read
	agree       int // with what they state about themselves
	wrong       int // what makes the exit code 1
}

const exploreHelp = `explore enumerates every execution that the memory model of the PTX ISA
(chapter 8) allows, each once.

Of a litmus test, it decides the condition: Ok or No. Of a kernel and a small launch (at most 64
threads; 4 are many), it reports data races, with an execution that shows what they lead to, failed
assertions, accesses out of bounds, and executions that do not end; a kernel without any of these is
verified for this launch.
docs/theory/memory-model.md describes the model, the format of litmus tests, and what is left out.
Directories stand for the .litmus files below them.

With --grid auto and --block auto, for what nothing specifies, and where the files name a launch of
more than 64 threads, heddle takes the smallest launch that executes the atomics, fences, barriers
and strong accesses of the kernel, and in which they meet the accesses of other threads and blocks.
In the last case it has two blocks at least, if the one in the files does. The output names it.

A test may state what it expects, in lines Expect=Ok, Race=no or Hang=yes above its declarations.

Exit codes: 0 all tests are as they expect, or Ok and without a data race or hang if they expect
nothing, and all kernels are verified; 1 another result; 2 usage or input error; 3 something is not
supported, or loops need a larger --unroll.`

// newExplore makes heddle explore.
func newExplore(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &exploreCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "explore [flags] FILE|DIR|-...",
		Short: "enumerate all executions of litmus tests and small launches under the PTX memory model",
		Long:  exploreHelp,
		Example: "  heddle explore mp.litmus\n  heddle explore --outcomes --explain mp.litmus\n" +
			"  heddle explore --format json testdata/litmus\n" +
			"  heddle explore --grid 2 --block 2 kernel.cu\n" +
			"  heddle explore --grid auto --block auto --outcomes=sum --explain kernel.cu",
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&c.outcomes, "outcomes", nil,
		"print all final states; of a test, with a * for those in which the formula of the condition "+
			"holds; of a kernel, the values of the global variables and buffers in `NAMES` (comma-"+
			"separated, each a NAME or NAME[INDEX]), or without names of what differs between them")
	fs.Lookup("outcomes").NoOptDefVal = allOutcomes
	fs.BoolVar(&c.explain, "explain", false,
		"print an execution that decides the condition, and one for each data race and for a hang")
	fs.IntVar(&c.opt.Unroll, "unroll", 4,
		"repeat a loop that depends on what it reads at most `N` times; iterations that only wait do "+
			"not count")
	fs.IntVar(&c.opt.MaxGraphs, "max-executions", 10_000_000,
		"end a test or a kernel after `N` executions")
	fs.BoolVar(&c.opt.Symmetry, "symmetry", true,
		"explore executions of a kernel once that differ by a permutation of threads or blocks that do "+
			"the same; off with --outcomes")
	fs.Var(positive{&c.timeout}, "timeout",
		"end a test or a kernel after `TIME`, such as 90s (default: no limit)")
	fs.BoolVar(&c.stats, "stats", false,
		"print how many partial executions were examined, and the time")
	fs.Var(newChoice(&c.format, "text", "json"), "format",
		"print as `FORMAT` text or json (one object per line)")
	fs.StringVar(&c.html, "html", "", "also write the executions of data races and hangs as graphs to "+
		"the HTML file `FILE`, which needs no network")
	fs.StringVar(&c.saveAs, "save", "", "also write the executions of data races and hangs, as their "+
		"schedules and read choices, to `FILE`, one JSON object per line, for --replay")
	fs.StringVar(&c.replayFrom, "replay", "", "replay the executions that --save has written to "+
		"`FILE`, with their launches, and explore nothing else")
	launchFlags(fs, &c.common, nil)
	autoDim(fs.Lookup("grid"), &c.grid)
	autoDim(fs.Lookup("block"), &c.block)
	lowerFlags(fs, &c.common.Lower)
	return cmd
}

// autoDim makes a flag for a grid or a block accept auto.
func autoDim(f *pflag.Flag, auto *bool) {
	f.Value.(*dimFlag).auto = auto
	f.Usage += "; auto: the smallest that exercises what synchronizes the kernel"
}

// run explores the tests one after another and prints each result as soon as it is known.
func (c *exploreCommand) run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("no input file; expected .litmus files, directories, kernels (.cu, .cl, " +
			".ptx, .ll), or - for a test on standard input")
	}
	if c.opt.Unroll < 0 || c.opt.MaxGraphs < 1 {
		return errors.New("--unroll must be at least 0, and --max-executions at least 1")
	}
	files, err := litmusFiles(args)
	if err != nil {
		return inputError{err}
	}
	if c.replayFrom != "" && (c.saveAs != "" || c.html != "" || c.format == "json") {
		return errors.New("--replay goes with neither --save, --html nor --format json")
	}
	c.common.Files = source.NewSet()
	if c.html != "" {
		if c.page, err = createReport(c.html, c.common.Files, commandLine(ctx)); err != nil {
			return err
		}
	}
	c.command = commandLine(ctx)
	if c.replayFrom != "" {
		if c.replay, err = readSaved(c.replayFrom); err != nil {
			return inputError{err}
		}
	}
	if c.saved, err = c.saver(); err != nil {
		return err
	}
	err = errors.Join(c.examine(ctx, files), c.unused())
	if c.saved != nil {
		err = errors.Join(err, c.saved.Close())
	}
	if c.page != nil {
		err = errors.Join(err, c.page.Close())
	}
	if err != nil {
		return err
	}
	return c.finish(len(files))
}

// examine explores the files one after another.
func (c *exploreCommand) examine(ctx context.Context, files []string) error {
	for _, file := range files {
		examine := c.file
		if isKernel(file) {
			examine = c.kernels
		}
		if err := examine(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// isKernel reports whether a file has kernels rather than a litmus test.
func isKernel(file string) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".cu", ".cl", ".ptx", ".ll", ".bc":
		return true
	}
	return false
}

// litmusFiles replaces directories by the litmus tests below them, in the order of their names.
func litmusFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			out = append(out, arg)
			continue
		}
		if err != nil {
			return nil, err
		}
		n := len(out)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".litmus" {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(out) == n {
			return nil, fmt.Errorf("%s: there is no .litmus file below this directory", arg)
		}
	}
	return out, nil
}

// read returns the text of a file.
func (c *exploreCommand) read(file string) (name string, text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(c.stdin)
		return "<stdin>", text, err
	}
	text, err = os.ReadFile(file)
	return file, text, err
}

// file explores one test. Mistakes in it are counted and end nothing.
func (c *exploreCommand) file(ctx context.Context, file string) error {
	name, text, err := c.read(file)
	var test *litmus.Test
	if err == nil {
		test, err = litmus.Read(name, string(text))
	}
	var mistake *litmus.Error
	switch {
	case errors.As(err, &mistake) && mistake.Unsupported:
		c.total.unsupported++
		return c.print(name, nil, nil, err, 0)
	case err != nil:
		c.total.mistakes++
		fmt.Fprintf(c.stderr, "%v\n", err)
		return nil
	}
	if c.replay != nil {
		return c.replayTest(ctx, name, test)
	}
	start := time.Now()
	res, err := c.judge(ctx, test)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var limit *explore.LimitError
	if errors.As(err, &limit) {
		c.total.unsupported++
		return c.print(name, test, nil, fmt.Errorf("%s: %w", name, err), 0)
	}
	return c.print(name, test, res, nil, time.Since(start))
}

// judge explores a test within its time.
func (c *exploreCommand) judge(ctx context.Context, t *litmus.Test) (*explore.Result, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return explore.Judge(ctx, t, c.opt)
}

// print writes the result of a test, or why it has none, and counts it.
func (c *exploreCommand) print(file string, t *litmus.Test, res *explore.Result, why error,
	took time.Duration) error {
	if res != nil {
		c.total.count(res)
		drawn(c.page, file, res.Test.Name, &res.Report)
	}
	saved := ""
	if res != nil {
		list := findingsOf(&res.Report)
		if f := res.Decisive(); f != nil && res.Verdict == explore.No {
			list = append(list, finding{"an execution that ends with " + f.String(), f.Example})
		}
		var err error
		if saved, err = c.save(res.Test.Name, nil, list); err != nil {
			return err
		}
	}
	if c.format == "json" {
		return writeExploreJSON(c.stdout, file, t, res, why)
	}
	if res == nil {
		_, err := fmt.Fprintf(c.stdout, "%v: unsupported\n", why)
		return err
	}
	_, err := io.WriteString(c.stdout, c.text(file, res, took)+saved)
	return err
}

// count adds a result to the total.
func (t *exploreTotal) count(res *explore.Result) {
	t.verdicts[res.Verdict]++
	switch {
	case res.Test.Expect.Stated() && len(res.Differences()) > 0,
		!res.Test.Expect.Stated() && (res.Verdict == explore.No || len(res.Races) > 0 ||
			res.Hang != nil):
		t.wrong++
	case res.Test.Expect.Stated():
		t.agree++
	}
}

// text returns the result of a test as text.
func (c *exploreCommand) text(file string, res *explore.Result, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v: %s: %s, %s, %s\n", file, res.Verdict, res.Test.Name,
		counted(res.Stats.Executions, "execution"), counted(len(res.States), "final state"),
		racesText(&res.Report))
	for _, d := range res.Differences() {
		fmt.Fprintf(&b, "  %s\n", d)
	}
	c.limits(&b, &res.Stats)
	if len(c.outcomes) > 0 {
		states(&b, res)
	}
	if c.explain {
		shown(&b, res)
	}
	c.speed(&b, &res.Stats, took)
	return b.String()
}

// speed prints what --stats asks for.
func (c *exploreCommand) speed(b *strings.Builder, s *explore.Stats, took time.Duration) {
	if c.stats {
		fmt.Fprintf(b, "  stats: %.1f ms, %.0f executions per second, %s ruled out by an axiom, %s\n",
			float64(took.Microseconds())/1000, float64(s.Executions)/max(took.Seconds(), 1e-6),
			counted(s.Violations, "partial execution"), counted(s.Dead, "dead end"))
	}
}

// limits says why an exploration is not complete.
func (c *exploreCommand) limits(b *strings.Builder, s *explore.Stats) {
	if n := s.Truncated; n > 0 {
		fmt.Fprintf(b, "  %s ended where a loop was to be repeated more than %d times (--unroll)\n",
			counted(n, "execution"), c.opt.Unroll)
	}
	if s.Stopped {
		fmt.Fprintln(b, "  not all executions were explored (--max-executions, --timeout)")
	}
}

// states prints the final states.
func states(b *strings.Builder, res *explore.Result) {
	fmt.Fprintf(b, "  condition %s\n", res.Test.Condition.String())
	for _, s := range res.States {
		mark := ' '
		if s.Holds {
			mark = '*'
		}
		fmt.Fprintf(b, "  %c %7d  %s\n", mark, s.Executions, s)
	}
}

// shower prints executions, each once in a row.
type shower struct {
	b    *strings.Builder
	last *explore.Execution
}

func (s *shower) show(e *explore.Execution) {
	if e == s.last {
		fmt.Fprintln(s.b, "    (the execution above)")
		return
	}
	s.last = e
	e.Show(s.b, "    ")
}

// shown prints an execution for each thing that was found.
func shown(b *strings.Builder, res *explore.Result) {
	s := &shower{b: b}
	if f := res.Decisive(); f != nil {
		fmt.Fprintf(b, "  an execution that ends with %s\n", f)
		s.show(f.Example)
	}
	s.report(&res.Report, true)
}

// report prints the races and a hang, with executions if wanted.
func (s *shower) report(r *explore.Report, executions bool) {
	for _, group := range r.Groups() {
		race, more := group[0], ""
		if n := len(group) - 1; n > 0 {
			more = fmt.Sprintf(" (and %s of threads)", counted(n, "other pair"))
		}
		fmt.Fprintf(s.b, "  data race of %s and %s%s: causality order does not relate them, and %s\n",
			race.Describe(race.First), race.Describe(race.Second), more, race.Why())
		if m := race.Missing(); m != "" {
			fmt.Fprintf(s.b, "    missing: %s\n", m)
		}
		if executions {
			s.show(race.Example)
		}
	}
	for _, group := range explore.Grouped(r.Unordered) {
		p, more := group[0], ""
		if n := len(group) - 1; n > 0 {
			more = fmt.Sprintf(" (and %s of threads)", counted(n, "other pair"))
		}
		fmt.Fprintf(s.b, "  strong accesses without an order: %s and %s%s: no data race, and the load may "+
			"return the value before or after the store\n", p.Describe(p.First), p.Describe(p.Second), more)
		if executions {
			s.show(p.Example)
		}
	}
	for _, f := range r.Faults {
		fmt.Fprintf(s.b, "  error: %s %s\n", f.Describe(), f.What)
		if executions {
			s.show(f.Example)
		}
	}
	if r.Hang != nil {
		fmt.Fprintln(s.b, "  an execution that does not end")
		s.show(r.Hang)
	}
}

// finish prints the total of several tests and returns the exit code.
func (c *exploreCommand) finish(files int) error {
	t := &c.total
	if files > 1 && t.kernels == 0 && c.format == "text" {
		parts := []string{}
		for v, n := range t.verdicts {
			parts = append(parts, fmt.Sprintf("%d %v", n, explore.Verdict(v)))
		}
		parts = slices.DeleteFunc(parts, func(s string) bool { return strings.HasPrefix(s, "0 ") })
		for _, p := range []struct {
			n    int
			what string
		}{{t.unsupported, "unsupported"}, {t.mistakes, "not read"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
			}
		}
		fmt.Fprintf(c.stdout, "\n%s: %s; %d as they expect, %d to look at\n", counted(files, "test"),
			strings.Join(parts, ", "), t.agree, t.wrong)
	}
	switch {
	case t.wrong > 0:
		return exitError(exitBugs)
	case t.mistakes > 0:
		return exitError(exitUsage)
	case t.unsupported > 0 || t.unknown > 0 || t.verdicts[explore.Unknown] > 0:
		return exitError(exitUnknown)
	}
	return nil
}
