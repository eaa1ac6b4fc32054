package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/internal/command/bugreport"
	"heddle/internal/launch"
)

// reportHelp is the long description in --help and docs/commands.md.
const reportHelp = `bug-report bundles what a maintainer needs to see a wrong result or a failure of heddle again. It
runs the command line that follows, compiles the input to PTX, and makes PTX and launch smaller as long as heddle
says the same: an internal error in the same functions, the same kind of verdict on the kernel with a finding of the
same code, or (--keep finding=CODE) a finding of that code. Of a kernel that is verified or clean, only what it does not
use is removed, since an empty kernel has that verdict too. A reduction keeps what heddle says, not whether it is right:
if heddle reports a false alarm, the smaller program may have a real bug. Then use --keep program.

Of exec, the program is run once, and its launches are saved: the input is the first one that alone shows the same.

The bundle has no source code. In the reduced PTX, functions, variables, parameters and files have other names, and
letters of texts are replaced. README.txt in the bundle lists what is in it. Nothing is sent anywhere.

Exit codes: 0 the report has a reduced program, 3 it has none, with the reason, 2 usage or input error.`

// archiveName is the file that bug-report writes by default, without its extension the directory in
// it.
const archiveName = "heddle-bug-report.tar.gz"

// reportable are the commands that bug-report can run.
var reportable = []string{"check", "verify", "run", "trace", "fix", "sync", "exec"}

// reportCommand is the command line of a report about another one.
func reportCommand(args []string) string {
	out := "heddle bug-report --"
	for _, a := range args {
		out += " " + launch.Quote(a)
	}
	return out
}

// bugReportCommand is one call of heddle bug-report.
type bugReportCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            bugreport.Options
	keep, output   string
	// run runs a command line in this process; tests replace it.
	run func(ctx context.Context, words []string, stdin []byte) bugreport.Outcome
}

// newBugReport defines the command. Its own flags end at the name of the other command.
func newBugReport(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &bugReportCommand{stdin: stdin, stdout: stdout, stderr: stderr, run: within}
	return c.command()
}

// command is newBugReport for given fields.
func (c *bugReportCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bug-report [flags] [--] check|verify|run|trace|fix|sync|exec ARGS...",
		Short: "bundle what is needed to reproduce a failure or a wrong result",
		Long:  reportHelp,
		Example: "  heddle bug-report check kernel.cu\n" +
			"  heddle bug-report exec main.cu -- 1000\n" +
			"  heddle bug-report --keep finding=race-shared run --grid 4 kernel.cu",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains(reportable, args[0]) {
				return fmt.Errorf("expected a command line of heddle that begins with %s",
					strings.Join(reportable, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.report(cmd.Context(), args) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.SetInterspersed(false)
	fs.StringVar(&c.keep, "keep", "verdict", "keep `WHAT` when the program is reduced: verdict, "+
		"finding=CODE, program (the verdict and all instructions of what the kernel uses), or "+
		"contradiction (heddle verify proves the kernel, and heddle run finds a bug)")
	fs.StringVar(&c.opt.Kernel, "kernel", "",
		"report the kernel `NAME` (default: the first bug, else the first that is not clean)")
	fs.IntVar(&c.opt.Attempts, "attempts", 2000, "try at most `N` smaller programs")
	fs.BoolVar(&c.opt.KeepNames, "keep-names", false,
		"leave the names of functions, variables and files as they are")
	fs.BoolVar(&c.opt.WithSource, "with-source", false, "include the inputs, and the names in them")
	fs.StringVarP(&c.output, "output", "o", archiveName,
		"write `PATH`: an archive if it ends with .tar.gz or .tgz, else a directory")
	fs.Var(positive{&c.opt.Total}, "total-timeout",
		"end the reduction after `TIME`, such as 10m, and write the smallest program so far")
	return cmd
}

// report makes and writes the bundle.
func (c *bugReportCommand) report(ctx context.Context, args []string) error {
	if c.opt.Attempts < 1 {
		return fmt.Errorf("--attempts %d: must be at least 1", c.opt.Attempts)
	}
	code, finding := strings.CutPrefix(c.keep, "finding=")
	switch {
	case finding && code != "":
		c.opt.Code = code
	case c.keep == "program":
		c.opt.Tidy = true
	case c.keep == "contradiction":
		if !slices.Contains([]string{"check", "verify", "run"}, args[0]) {
			return fmt.Errorf("--keep contradiction is for check, verify and run, not for %s", args[0])
		}
		c.opt.Contradiction = true
	case c.keep != "verdict":
		return fmt.Errorf("--keep %s: expected verdict, finding=CODE, program or contradiction", c.keep)
	}
	if err := absent(c.output); err != nil {
		return inputError{err}
	}
	line, err := readLine(args)
	if err != nil {
		return inputError{err}
	}
	c.opt.Line = line
	if slices.Contains(line.Inputs, "-") {
		if c.opt.Stdin, err = io.ReadAll(io.LimitReader(c.stdin, maxStdin)); err != nil {
			return inputError{fmt.Errorf("reading standard input: %w", err)}
		}
	}
	if err := c.describe(ctx); err != nil {
		return inputError{err}
	}
	rep, err := bugreport.Make(ctx, c.opt)
	var usage *bugreport.UsageError
	switch {
	case errors.As(err, &usage):
		return inputError{err}
	case err != nil:
		return err
	}
	if err := c.write(rep); err != nil {
		return inputError{err}
	}
	return c.conclude(rep)
}

// describe fills in what the bundle says about this machine, and how it runs commands.
func (c *bugReportCommand) describe(ctx context.Context) error {
	version, err := json.Marshal(thisBuild())
	if err != nil {
		return err
	}
	c.opt.Version, c.opt.Tools = append(version, '\n'), tools(ctx)
	c.opt.Home, _ = os.UserHomeDir()
	c.opt.Dir, _ = os.Getwd()
	c.opt.Log, c.opt.Run = c.stderr, c.run
	stdin := c.opt.Stdin
	c.opt.Programs = func(ctx context.Context, line bugreport.Line) []bugreport.Program {
		return programs(ctx, line, stdin)
	}
	if isTerminal(c.stderr) {
		c.opt.Progress = func(n, instructions int) {
			if n%100 == 0 {
				fmt.Fprintf(c.stderr, "heddle: %d attempts, %s left\n", n,
					counted(instructions, "instruction"))
			}
		}
	}
	return nil
}

// tools lists what heddle doctor finds without compiling anything.
func tools(ctx context.Context) string {
	var b strings.Builder
	for _, n := range needs {
		if n.quick {
			found, err := n.try(ctx)
			if err != nil {
				found = err.Error()
			}
			fmt.Fprintf(&b, "%-6s %s\n", n.name, found)
		}
	}
	return b.String()
}

// readLine reads the command line to report. Flags are recorded and have no effect here.
func readLine(args []string) (bugreport.Line, error) {
	line := bugreport.Line{Command: args[0], Words: args}
	fs := flagsOf(args[0])
	err := fs.ParseAll(spelled(args)[1:], func(f *pflag.Flag, value string) error {
		line.Flags = append(line.Flags, bugreport.Flag{Name: f.Name, Value: value,
			Switch: f.NoOptDefVal != ""})
		return nil
	})
	line.Inputs = fs.Args()
	if n := fs.ArgsLenAtDash(); n >= 0 && args[0] == "exec" {
		line.Inputs, line.Args = line.Inputs[:n], line.Inputs[n:]
	}
	if err != nil {
		return line, fmt.Errorf("the command line to report is not valid: %w", err)
	}
	return line, nil
}

// flagsOf are the flags of a reportable command.
func flagsOf(command string) *pflag.FlagSet {
	switch command {
	case "trace":
		return newTrace(nil, nil, nil).Flags()
	case "fix":
		return newFix(nil, nil, nil).Flags()
	case "sync":
		return newSync(nil, nil, nil).Flags()
	case "exec":
		return newExec(nil, nil, nil).Flags()
	}
	return newCheck(command, nil, nil, nil).Flags()
}

// within runs a command line in this process. Its results go nowhere else.
func within(ctx context.Context, words []string, stdin []byte) (o bugreport.Outcome) {
	var out, errs bytes.Buffer
	o.Code = guarded(words, &errs, func() int {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		return perform(ctx, words, bytes.NewReader(stdin), &output{w: &out, cancel: cancel},
			bestEffort{&errs})
	})
	o.Stdout, o.Stderr = out.Bytes(), errs.Bytes()
	return o
}

// absent returns an error if a file or a directory with files is in the place of the report.
func absent(path string) error {
	if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 && !archived(path) {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists; expected a new name for the report, by -o PATH", path)
	}
	return nil
}

// archived reports whether a report with this name is an archive.
func archived(path string) bool {
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
}

// write writes the bundle.
func (c *bugReportCommand) write(rep *bugreport.Report) error {
	if !archived(c.output) {
		return bugreport.WriteDir(c.output, rep.Files)
	}
	dir, _, _ := strings.Cut(filepath.Base(c.output), ".t")
	var b bytes.Buffer
	if err := bugreport.WriteArchive(&b, dir, rep.Files); err != nil {
		return err
	}
	return os.WriteFile(c.output, b.Bytes(), 0o666)
}

// conclude prints what was written and what to do with it.
func (c *bugReportCommand) conclude(rep *bugreport.Report) error {
	w := c.stdout
	fmt.Fprintf(w, "%s: a report about %s\n", c.output, rep.Interest)
	if rep.Reduced {
		size := "the smallest program so far"
		if rep.Minimal {
			size = "minimal"
		}
		fmt.Fprintf(w, "  reduced.ptx: %d of %s (%s, %s)\n", rep.After,
			counted(rep.Before, "instruction"), size, counted(rep.Attempts, "attempt"))
		for _, line := range rep.Reproduce {
			fmt.Fprintf(w, "  reproduce:   %s\n", line)
		}
	} else {
		fmt.Fprintf(w, "  without a reduced program: %s\n", rep.Why)
	}
	for _, f := range rep.Files {
		fmt.Fprintf(w, "  %-20s %s\n", f.Name, f.About)
	}
	if rep.Reduced && rep.Interest.Verdict == "bug" && !c.opt.Tidy {
		fmt.Fprintln(w, "If the bug is a false alarm, check that reduced.ptx has no real one, or use "+
			"--keep program.")
	}
	read := "README.txt"
	if rep.Reduced {
		read += " and reduced.ptx"
	}
	_, err := fmt.Fprintf(w, "Read %s before you send it; heddle sends nothing. Add what heddle should "+
		"say.\n", read)
	if err == nil && !rep.Reduced {
		return exitError(exitUnknown)
	}
	return err
}
