package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/source"
)

// outputFlags say how results are printed.
type outputFlags struct {
	format, color string
	html          string // the file of an HTML report; empty: none
	printf        bool
	stats         bool
	invariants    bool
	quiet         bool
	known         knownFlags
}

func (out *outputFlags) define(fs *pflag.FlagSet) {
	fs.Var(newChoice(&out.format, "text", "json", "sarif", "github", "junit"), "format", "print as `FORMAT` text, json (one object per line), sarif, github (workflow annotations) or junit")
	fs.Var(newChoice(&out.color, "auto", "always", "never"), "color", "use color: `WHEN` is auto, always or never")
	fs.StringVar(&out.html, "html", "", "also write an HTML report to `FILE`: one file that needs no network")
	if v := fs.Lookup("verbose"); v != nil { // of the input, defined before
		v.Usage = "print to standard error which engines examined each kernel, why, with which result and in what time, and which parts of compile commands are ignored"
	}
	fs.BoolVarP(&out.quiet, "quiet", "q", false, "print findings and a summary line, but no verdicts (format text)")
	out.known.define(fs)
}

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

var checkExamples = map[string]string{
	"check":  "  heddle check kernel.cu\n  heddle check --grid 64 --block 256 --arg n=1024 kernel.cu\n  heddle check --format sarif ./... > heddle.sarif",
	"run":    "  heddle run --seeds 20 --grid 4 --block 256 kernel.cu",
	"verify": "  heddle verify kernel.cu\n  heddle verify --grid '*' --block '*' --assume 'n <= gridDim.x * blockDim.x' kernel.cu",
}

const launchHelp = `

A FILE is CUDA C++ (.cu), OpenCL C (.cl), PTX (.ptx), LLVM IR (.ll, .bc), or an ELF file, archive or fatbin
that contains PTX. A directory (also ./...) means the files below it, and - means standard input.

The launch is taken from flags, else from heddle.toml, else from a comment above the kernel
(// heddle: grid=64 block=256 n=1024), else from a <<<...>>> with constants in the same file, else from .reqntid
or .maxntid. heddle guesses anything that is left unspecified and marks it in the report.`

// modes are those of the commands that newCheck makes.
var modes = map[string]check.Mode{"check": check.Check, "run": check.Run, "verify": check.Verify}

func newCheck(name string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	opt := check.Options{Mode: modes[name]}
	verifies := opt.Mode == check.Verify
	var mathInt bool
	var out outputFlags
	var in inputFlags
	cmd := &cobra.Command{
		Use:     name + " [flags] FILE|DIR|-...",
		Short:   checkHelp[name][0],
		Long:    checkHelp[name][1] + launchHelp,
		Args:    in.some,
		Example: checkExamples[name],
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := checkNumbers(&opt); err != nil {
				return err
			}
			if mathInt {
				fmt.Fprintln(stderr, "heddle: note: --math-int is ignored: proofs use bit-vectors, as the kernel does")
			}
			return checkFiles(cmd.Context(), opt, out, &in, files, stdin, stdout, stderr)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	if verifies {
		launchFlags(fs, &opt.Options, &opt.Prove.Any)
	} else {
		launchFlags(fs, &opt.Options, nil)
	}
	engineFlags(fs, &opt)
	if verifies {
		opt.FormTo = stdout
		fs.Var(newParsed(&opt.Form, check.ParseForm, "", "pred", "lockstep"), "print", "instead of a proof, print `FORM` pred (the predicated program of one thread) or lockstep (that of two threads)")
	}
	if opt.Mode != check.Run {
		proofFlags(fs, &opt.Prove, !verifies)
		fs.BoolVar(&out.stats, "stats", false, "print how many queries each solver decided, and the time of each phase")
	}
	if verifies {
		scopeFlags(fs, &opt.Prove)
	}
	in.define(fs)
	lowerFlags(fs, &opt.Lower)
	out.define(fs)
	if verifies {
		fs.BoolVar(&opt.Prove.NoWrap, "assume-no-wrap", false, "assume that signed 32-bit index arithmetic does not wrap; the verdict names this assumption")
		fs.Var(newParsed(&opt.Prove.Extern, prove.ParseExtern, "unsupported", "pure"), "extern", "treat functions without a body as `WHAT`: unsupported, or pure (they return, access only the thread's own memory and do not synchronize; the verdict names this assumption)")
		fs.IntVar(&opt.Prove.Unwind, "unwind", 0, "examine only the first `N` iterations of each loop: finds bugs without invariants, never verifies")
		fs.BoolVar(&mathInt, "math-int", false, "ignored with a note: accepted for command lines of GPUVerify")
		fs.BoolVar(&out.invariants, "invariants", false, "print the candidate invariants of loops to standard error: which hold, and why each other one was dropped")
	}
	fs.BoolVar(&out.printf, "printf", false, "print the output of the kernels' printf to standard error")
	return cmd
}

// checkFiles runs the driver on what files and the flags of the input name, prints what it finds as it comes, and then
// the verdicts.
func checkFiles(ctx context.Context, opt check.Options, out outputFlags, in *inputFlags, files []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := out.known.check(); err != nil {
		return err
	}
	opt.Files = source.NewSet()
	printer, mistakes := printers(out, opt.Files, stdout, stderr)
	if out.html != "" {
		page, err := createReport(out.html, opt.Files, commandLine(ctx))
		if err != nil {
			return inputError{err}
		}
		printer, mistakes = both{printer, page}, both{mistakes, page.findings()}
		opt.Trace.Graph = page.Graph
	}
	if err := in.config.read(opt.Files, mistakes); err != nil {
		return inputError{errors.Join(err, mistakes.Close())}
	}
	in.config.apply(&opt.Options)
	inputs, err := in.inputs(files, stdin, stderr)
	if err != nil {
		return inputError{err}
	}
	opt.Database = in.database
	p := newProgress(stderr)
	opt.Progress = p.callback()
	defer p.stop()
	if in.verbose {
		log := p.wrap(stderr)
		opt.Decisions = func(d driver.Decisions) { printDecisions(log, d) }
	}
	known, err := out.known.open(ctx, opt, inputs, stderr)
	if err != nil {
		return inputError{err}
	}
	defer func() {
		if closeErr := known.close(); closeErr != nil {
			fmt.Fprintf(stderr, "heddle: %v\n", closeErr)
		}
	}()
	opt.Known = known.callback()
	if out.printf {
		opt.Run.Printf = p.wrap(stderr)
	}
	if out.invariants {
		opt.Prove.Invariants = p.wrap(stderr)
	}
	var writeErr error
	hidden, shown := 0, 0 // mistakes in the input
	sum, err := check.Inputs(ctx, opt, inputs, func(d diag.Diagnostic) {
		p.clear()
		to := printer
		if d.Code.Family() == diag.Inputs {
			if to = mistakes; out.format == "text" && shown >= opt.Limit {
				hidden++
				return
			}
			shown++
		}
		writeErr = errors.Join(writeErr, to.Finding(&d))
	})
	p.stop()
	if err != nil {
		return inputError{err}
	}
	if hidden > 0 {
		fmt.Fprintf(stderr, "heddle: %d more errors in the input are not shown (--limit %d)\n", hidden, opt.Limit)
	}
	for i := range sum.Verdicts {
		writeErr = errors.Join(writeErr, printer.Verdict(&sum.Verdicts[i]))
	}
	if out.stats {
		printProofStats(stderr, sum)
	}
	if writeErr = errors.Join(writeErr, printer.Close()); writeErr != nil {
		return inputError{fmt.Errorf("writing the results: %w", writeErr)}
	}
	if n := len(sum.Verdicts) + sum.Skipped; out.format == "text" && sum.Printed == 0 && (out.quiet || n > 1) {
		if _, err := fmt.Fprintln(stdout, summaryLine(sum)); err != nil {
			return inputError{fmt.Errorf("writing the results: %w", err)}
		}
	}
	interrupted := ctx.Err() != nil
	if err := known.finish(sum, interrupted, stderr); err != nil {
		return inputError{err}
	}
	if interrupted {
		fmt.Fprintln(stderr, "heddle: interrupted; kernels without a verdict were not checked")
	}
	if code := exitCode(sum, interrupted); code != exitClean {
		return exitError(code)
	}
	return nil
}

// exitCode sums up a run. A bug that was found counts, whatever else went wrong.
func exitCode(sum *check.Summary, interrupted bool) int {
	code := exitClean
	for _, v := range sum.Verdicts {
		switch v.Kind {
		case diag.Bug:
			return exitBugs
		case diag.Unknown, diag.Unsupported:
			code = exitUnknown
		}
	}
	switch {
	case sum.Bugs > 0:
		return exitBugs
	case interrupted:
		return exitUnknown
	case sum.InputErrors > 0:
		return exitUsage
	case len(sum.Verdicts) == 0 && sum.Skipped == 0 && sum.Printed == 0: // nothing was checked, and nobody said why
		return exitUnknown
	}
	return code
}

// printers returns where findings and verdicts go, and where mistakes in the input go: to standard error for
// people, into the one stream for tools.
func printers(out outputFlags, files *source.Set, stdout, stderr io.Writer) (results, mistakes diag.Printer) {
	switch out.format {
	case "json":
		results = diag.NewJSON(stdout, files)
	case "sarif":
		results = diag.NewSARIF(stdout, files, workingDirectory(), moduleVersion())
	case "github":
		results = diag.NewGitHub(stdout, files, workingDirectory())
	case "junit":
		results = diag.NewJUnit(stdout, files, workingDirectory())
	}
	if results != nil {
		return results, results
	}
	results = diag.NewText(stdout, files, useColor(out.color, stdout))
	if out.quiet {
		results = withoutVerdicts{results}
	}
	return results, diag.NewText(stderr, files, useColor(out.color, stderr))
}

// withoutVerdicts prints findings alone.
type withoutVerdicts struct{ diag.Printer }

func (withoutVerdicts) Verdict(*diag.Verdict) error { return nil }

// useColor decides on colour: in doubt only for a terminal, and not if NO_COLOR is set (no-color.org).
func useColor(when string, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// terminalWidth is how many columns the terminal has that w writes to, or that COLUMNS says; 0 if lines may have any length.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
