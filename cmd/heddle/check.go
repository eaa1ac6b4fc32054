package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// outputFlags control where and how results are printed.
type outputFlags struct {
	format, color string
	html          string // the file of an HTML report; empty: none
	files         reportFlags
	failOn        driver.FailOn
	printf        bool
	stats         bool
	invariants    bool
	quiet         bool
	verbose       bool   // that of the input: verdicts in full
	flags         string // of the command line, for commands that the report suggests
	known         knownFlags
}

// define adds the flags to a command. The flags of the input must be defined before, because
// --verbose, which both use, is described here in full.
func (out *outputFlags) define(fs *pflag.FlagSet) {
	fs.Var(newChoice(&out.format, formats...), "format",
		"print as `FORMAT` text, json (one object per line), sarif, github (workflow annotations), "+
			"gitlab (code quality) or junit")
	fs.Var(newChoice(&out.color, "auto", "always", "never"), "color",
		"use color: `WHEN` is auto, always or never")
	fs.StringVar(&out.html, "html", "",
		"also write an HTML report to `FILE`: one file that needs no network")
	out.files.define(fs)
	failOnFlag(fs, &out.failOn)
	if v := fs.Lookup("verbose"); v != nil { // of the input, defined before
		v.Usage = "print verdicts in full, with what they assume, and to standard error which engines " +
			"examined each kernel, why, with which result and in what time, and which parts of compile " +
			"commands are ignored"
	}
	fs.BoolVarP(&out.quiet, "quiet", "q", false,
		"print findings and a summary line, but no verdicts (format text)")
	out.known.define(fs)
}

// verboseFlag adds --verbose to a command, with what it means there.
func verboseFlag(fs *pflag.FlagSet, to *bool, usage string) {
	fs.BoolVarP(to, "verbose", "v", false, usage)
}

// checkHelp has the short and the long description of each command that newCheck makes. The text is
// also in docs/commands.md, which a test compares.
var checkHelp = map[string][2]string{
	"check": {"check the kernels of files", `check compiles the files, executes each kernel on an emulated GPU for one launch, and prints the bugs that it
finds. If it finds none, it tries to prove the kernel for all inputs of the launch shape: the verdict is
"verified", or "clean" with what the run covers and what prevented the proof.`},
	"run": {"check by emulation alone", `run executes each kernel on an emulated GPU for one launch and detects races by happens-before.
--seeds tries several schedules.`},
	"verify": {"prove the absence of races and divergence for all inputs", `verify proves that no two threads of a kernel race and that no barrier diverges, for every input of the launch
shape, without unrolling loops. Otherwise it reports a bug, confirmed by a run of the counterexample, or says
what it could not decide. Arguments given by --arg are fixed, all others are arbitrary.`},
}

// checkExamples has the examples of the same commands, indented as cobra prints them.
var checkExamples = map[string]string{
	"check": "  heddle check kernel.cu\n  heddle check --grid 64 --block 256 --arg n=1024 " +
		"kernel.cu\n  heddle check --format sarif ./... > heddle.sarif",
	"run": "  heddle run --seeds 20 --grid 4 --block 256 kernel.cu",
	"verify": "  heddle verify kernel.cu\n  heddle verify --grid '*' --block '*' --assume 'n <= " +
		"gridDim.x * blockDim.x' kernel.cu",
}

// launchHelp ends the help of every command that needs a launch. Its order of sources is the order
// in which package launch consults them.
const launchHelp = `

A FILE is CUDA C++ (.cu), HIP (.hip), OpenCL C (.cl), PTX (.ptx), LLVM IR (.ll, .bc), or an ELF file, archive or fatbin
that contains PTX. A directory (also ./...) means the files below it, and - means standard input.

The launch is taken from flags, else from heddle.toml, else from a comment above the kernel
(// heddle: grid=64 block=256 n=1024), else from a <<<...>>> with constants in the same file, else from the metadata
that Triton writes beside PTX (NAME.json), else from .reqntid or .maxntid. heddle guesses anything that is left
unspecified and marks it in the report.`

// modes maps the commands that newCheck makes to the engines that they use.
var modes = map[string]check.Mode{"check": check.Check, "run": check.Run, "verify": check.Verify}

// newCheck makes check, run or verify. They share one implementation and differ in their engines,
// so each has only the flags that its engines read: a flag without effect would let the user
// believe that it was taken into account.
func newCheck(name string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &checkCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	opt := &c.opt
	opt.Mode = modes[name]
	verifies := opt.Mode == check.Verify
	var mathInt bool
	cmd := &cobra.Command{
		Use:     name + " [flags] FILE|DIR|-...",
		Short:   checkHelp[name][0],
		Long:    checkHelp[name][1] + launchHelp,
		Args:    c.in.some,
		Example: checkExamples[name],
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := checkNumbers(opt); err != nil {
				return err
			}
			if err := c.remote.checkValues(); opt.Mode == check.Check && err != nil {
				return err
			}
			limitMemory(opt)
			c.out.flags = sharedFlags(cmd.Flags(), newFix(nil, nil, nil).Flags())
			if mathInt {
				fmt.Fprintln(stderr,
					"heddle: note: --math-int is ignored: proofs use bit-vectors, as the kernel does")
			}
			return c.checkFiles(cmd.Context(), files)
		},
	}
	fs := cmd.Flags()
	// The help lists flags in this order: launch, engines, input, output, then the rarely used ones.
	fs.SortFlags = false
	if verifies {
		// Only a proof can treat a dimension as arbitrary.
		launchFlags(fs, &opt.Options, &opt.Prove.Any)
	} else {
		launchFlags(fs, &opt.Options, nil)
	}
	engineFlags(fs, opt)
	if opt.Mode == check.Check {
		boxesFlag(fs, &opt.Boxes)
	}
	if opt.Mode != check.Verify {
		proxyFlags(fs, &opt.Options)
	}
	if verifies {
		opt.FormTo = stdout
		fs.Var(newParsed(&opt.Form, check.ParseForm, "", "pred", "lockstep"), "print",
			"instead of a proof, print `FORM` pred (the predicated program of one thread) or lockstep "+
				"(that of two threads)")
	}
	if opt.Mode != check.Run {
		proofFlags(fs, &opt.Prove, !verifies)
		fs.BoolVar(&c.out.stats, "stats", false,
			"print how many queries each solver decided, and the time of each phase")
	}
	if verifies {
		scopeFlags(fs, &opt.Prove)
	}
	c.in.define(fs)
	lowerFlags(fs, &opt.Lower)
	if opt.Mode == check.Check {
		fs.BoolVar(&c.exec, "exec", false,
			"build each file as a program, run it with your rights, and examine the launches that it makes "+
				"instead of guessed ones")
	}
	if opt.Mode == check.Check {
		c.remote.define(fs)
	}
	c.out.define(fs)
	if verifies {
		c.verifyFlags(fs, &mathInt)
	}
	totalFlag(fs, &c.total)
	fs.BoolVar(&c.out.printf, "printf", false,
		"print the output of the kernels' printf to standard error")
	return cmd
}

// verifyFlags defines the rarely used flags of heddle verify.
func (c *checkCommand) verifyFlags(fs *pflag.FlagSet, mathInt *bool) {
	opt := &c.opt
	fs.BoolVar(&opt.Prove.NoWrap, "assume-no-wrap", false,
		"assume that signed 32-bit index arithmetic does not wrap; the verdict names this assumption")
	fs.Var(newParsed(&opt.Prove.Extern, prove.ParseExtern, "unsupported", "pure"), "extern",
		"treat functions without a body as `WHAT`: unsupported, or pure (they return, access only the "+
			"thread's own memory and do not synchronize; the verdict names this assumption)")
	fs.IntVar(&opt.Prove.Unwind, "unwind", 0,
		"examine only the first `N` iterations of each loop: finds bugs without invariants, never "+
			"verifies")
	fs.BoolVar(mathInt, "math-int", false,
		"ignored with a note: accepted for command lines of GPUVerify")
	fs.BoolVar(&c.out.invariants, "invariants", false,
		"print the candidate invariants of loops to standard error: which hold, and why each other "+
			"one was dropped")
}

// checkCommand is one call of check, run, verify or trace: the flags, and what a run of the engines
// needs beside them. Its flags are bound to the fields, so it must not be copied once they are
// defined.
type checkCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            check.Options
	out            outputFlags
	in             inputFlags

	results, mistakes diag.Printer  // findings and verdicts; errors in the input
	reports           []filePrinter // of --report and --summary, part of both
	progress          *progress
	inputs            [diag.Error + 1]listed // findings about the input, by severity
	warnings          int                    // findings of that severity that count
	writeErr          error                  // the first error of a printer

	page     *reportFile // of --html; nil: none
	verified verifiedOf  // for page

	remote remoteFlags

	exec bool // --exec
	// races between streams that --exec has found
	streamRaces int
	total       time.Duration // after which the command ends; 0: never
}

// checkFiles examines the kernels of files, or of the project if files is empty. Findings and
// verdicts are printed in the order of the kernels, as soon as those of the earlier kernels are.
// The error carries the exit code.
func (c *checkCommand) checkFiles(ctx context.Context, files []string) error {
	ctx, cancel := limited(ctx, c.total)
	defer cancel()
	if err := c.out.known.check(); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return inputError{err}
	}
	inputs, err := c.in.inputs(files, c.stdin, c.stderr)
	if err != nil {
		return inputError{err}
	}
	c.opt.Database = c.in.database
	c.progress = newProgress(c.stderr)
	c.opt.Progress = c.progress.callback()
	defer c.progress.stop()
	if c.in.verbose {
		log := c.progress.wrap(c.stderr)
		c.opt.Decisions = func(d driver.Decisions) { printDecisions(log, d) }
	}
	known, err := c.out.known.open(ctx, c.opt, inputs, c.stderr)
	if err != nil {
		return inputError{err}
	}
	defer func() {
		if closeErr := known.close(); closeErr != nil {
			fmt.Fprintf(c.stderr, "heddle: %v\n", closeErr)
		}
	}()
	c.opt.Known = known.callback()
	c.outputOfKernels()
	if c.exec {
		done, err := c.runPrograms(ctx, inputs)
		if err != nil {
			return inputError{err}
		}
		defer done()
	}
	endRemote, err := c.withRemote(ctx)
	if err != nil {
		return inputError{err}
	}
	defer endRemote()
	defer c.keepResults()()
	c.opt.Verdict = c.verdict
	sum, err := check.Inputs(ctx, c.opt, inputs, c.finding)
	if c.page != nil && err == nil {
		c.explainVerified(ctx, inputs)
	}
	c.progress.stop()
	if err != nil {
		return inputError{err}
	}
	if err := c.summarize(sum); err != nil {
		return writeError{err}
	}
	why := driver.Stopped(ctx)
	if err := known.finish(sum, why != "", c.stderr); err != nil {
		return inputError{err}
	}
	var limit totalTime
	if errors.As(context.Cause(ctx), &limit) { // execute says it of a signal
		fmt.Fprintf(c.stderr, "heddle: %v; not everything was examined\n", limit)
	}
	return exitWith(c.exitCode(sum, why != ""))
}

// open creates the printers and the HTML report and reads the configuration. All of it happens
// before the first kernel is compiled, so that a wrong name costs the user no time.
func (c *checkCommand) open(ctx context.Context) error {
	c.opt.Files = source.NewSet()
	c.out.verbose = c.in.verbose
	c.results, c.mistakes = printers(c.out, c.opt.Files, c.stdout, c.stderr)
	if c.out.html != "" {
		page, err := createReport(c.out.html, c.opt.Files, commandLine(ctx))
		if err != nil {
			return err
		}
		c.results, c.mistakes = both{c.results, page}, both{c.mistakes, page.findings()}
		c.opt.Trace.Graph, c.opt.Trace.Pipeline = page.Graph, page.Pipeline
		c.page, c.verified = page, verifiedOf{}
	}
	files, err := c.out.files.open()
	if err != nil {
		return err
	}
	for _, f := range files {
		p := f.print(c.opt.Files)
		c.reports = append(c.reports, p)
		c.results, c.mistakes = both{c.results, p}, both{c.mistakes, onlyFindings{p}}
	}
	if err := c.in.config.read(c.opt.Files, c.mistakes); err != nil {
		return errors.Join(err, c.results.Close())
	}
	c.in.config.apply(&c.opt.Options)
	c.out.failOn = cmp.Or(c.out.failOn, c.in.config.failOn())
	return nil
}

// outputOfKernels connects --printf and --invariants to standard error. It must follow the copy of
// the options that --new-from makes for the older revision, whose kernels must print nothing.
func (c *checkCommand) outputOfKernels() {
	if c.out.printf {
		c.opt.Run.Printf = c.progress.wrap(c.stderr)
	}
	if c.out.invariants {
		c.opt.Prove.Invariants = c.progress.wrap(c.stderr)
	}
}

// listed counts findings that were printed, and those that --limit cut off.
type listed struct{ shown, hidden int }

// finding prints one finding. In text, at most --limit errors in the input are shown, since a
// missing header can cause hundreds, and as many warnings and notes about it. The other formats
// have no limit, because a program reads them.
func (c *checkCommand) finding(d diag.Diagnostic) {
	c.progress.clear()
	if d.Severity == diag.Warning && d.Suppressed == nil {
		c.warnings++
	}
	to := c.results
	if d.Code.Family() == diag.Inputs {
		n := &c.inputs[d.Severity]
		if to = c.mistakes; c.out.format == "text" && n.shown >= c.opt.Limit {
			n.hidden++
			for _, r := range c.reports {
				c.keepError(r.Finding(&d))
			}
			return
		}
		n.shown++
	}
	c.keepError(to.Finding(&d))
}

// verdict prints one verdict.
func (c *checkCommand) verdict(v *diag.Verdict) {
	c.progress.clear()
	c.keepError(c.results.Verdict(v))
	if c.page != nil {
		c.verified.add(v)
	}
}

// keepError keeps the first error of a printer.
func (c *checkCommand) keepError(err error) {
	if c.writeErr == nil {
		c.writeErr = err
	}
}

// summarize prints the statistics and, for several kernels or --quiet, the summary line. It returns
// the first error of a printer since the start of the run.
func (c *checkCommand) summarize(sum *check.Summary) error {
	for severity, what := range []string{"note about", "warning about", "error in"} { // by Severity
		if n := c.inputs[severity].hidden; n > 0 {
			noun, where, _ := strings.Cut(what, " ")
			fmt.Fprintf(c.stderr, "heddle: %s %s the input not shown (--limit %d)\n",
				counted(n, "more "+noun), where, c.opt.Limit)
		}
	}
	if c.out.stats {
		printProofStats(c.stderr, sum)
	}
	c.keepError(c.results.Close())
	if c.writeErr != nil {
		return c.writeErr
	}
	n := len(sum.Verdicts) + sum.Skipped
	if c.out.format == "text" && sum.Printed == 0 && (c.out.quiet || n > 1) {
		if _, err := fmt.Fprintln(c.stdout, summaryLine(sum)); err != nil {
			return err
		}
	}
	return nil
}

// printers returns a printer for findings and verdicts and one for errors in the input. For people,
// the errors go to standard error, so that standard output has results alone; a format for programs
// has one stream, which needs both.
func printers(out outputFlags, files *source.Set, stdout, stderr io.Writer) (
	results, mistakes diag.Printer) {
	if results = newPrinter(out.format, stdout, files); results != nil {
		return results, results
	}
	text := diag.NewText(stdout, files, useColor(out.color, stdout))
	text.Verbose, text.Next, text.Flags = out.verbose, true, out.flags
	results = text
	if out.quiet {
		results = withoutVerdicts{results}
	}
	return results, diag.NewText(stderr, files, useColor(out.color, stderr))
}

// sharedFlags returns the flags that a command line sets and that another command has too, as its
// user would write them. Those of the report are left out.
func sharedFlags(set, other *pflag.FlagSet) string {
	var out []string
	set.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "format", "html", "report", "summary", "fail-on", "color", "verbose", "jobs", "limit",
			"output":
			return
		}
		if other.Lookup(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		switch list := f.Value.(type) {
		case pflag.SliceValue:
			values = list.GetSlice()
		case repeated:
			values = list.values()
		}
		for _, v := range values {
			if f.NoOptDefVal != "" && v == "true" {
				out = append(out, "--"+f.Name)
				continue
			}
			out = append(out, launch.Quote("--"+f.Name+"="+v))
		}
	})
	return strings.Join(out, " ")
}

// withoutVerdicts is a printer for --quiet: it prints findings and ignores verdicts.
type withoutVerdicts struct{ diag.Printer }

// Verdict implements diag.Printer; the summary line counts the verdicts instead.
func (withoutVerdicts) Verdict(*diag.Verdict) error { return nil }

// useColor decides whether output to w is colored. "auto" means a terminal that understands escape
// sequences, unless NO_COLOR is set (no-color.org).
func useColor(when string, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// terminalWidth returns the number of columns to which tables written to w are fitted: COLUMNS if
// it is set, else the width of the terminal. 0 means that lines may have any length, as in a file
// or a pipe.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(descriptor(w))); err == nil {
		return n
	}
	return 0
}

// isTerminal reports whether w is a terminal. A writer that is not a file, such as a buffer of a
// test, is none.
func isTerminal(w io.Writer) bool { return term.IsTerminal(int(descriptor(w))) }
