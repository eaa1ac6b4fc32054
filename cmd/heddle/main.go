// Command heddle finds synchronization bugs in CUDA and OpenCL kernels: data races, barrier
// divergence and deadlock. It only maps flags to the options of the engines, and results to output
// and exit codes; what decides a verdict is below internal.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"heddle/internal/heap"
)

// Exit codes. Scripts rely on them: they must not change within a major version. A bug outranks
// everything else that happened in a run, except that a signal ended it: the code is then 128 and
// the number of the signal, as with any program (130 SIGINT, 143 SIGTERM, 129 SIGHUP, and 141
// SIGPIPE for output that nobody reads).
const (
	exitClean    = 0
	exitBugs     = 1
	exitUsage    = 2 // a mistake in flags or input
	exitUnknown  = 3 // unknown or unsupported, and no bug
	exitInternal = 4 // a bug in heddle, or output that cannot be written
)

// main passes the real streams to run and exits with its code.
func main() {
	heap.Grow()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// exitError ends a command with an exit code and without a message: its output has been written.
type exitError int

// Error implements error. The text is never printed by heddle.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// inputError ends a command whose flags are valid but whose input is not. It suppresses the hint at
// --help, which would not help.
type inputError struct{ err error }

// Error and Unwrap are those of the error within.
func (e inputError) Error() string { return e.err.Error() }
func (e inputError) Unwrap() error { return e.err }

// writeError ends a command whose results could not be written, with exitInternal.
type writeError struct{ err error }

// Error and Unwrap implement error.
func (e writeError) Error() string { return "the results cannot be written: " + e.err.Error() }
func (e writeError) Unwrap() error { return e.err }

// run is the whole program as a function of its arguments and streams. It returns the exit code, so
// that tests can call it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return guarded(args, stderr, func() int { return execute(args, stdin, stdout, stderr) })
}

// guarded turns a panic, which is always a bug in heddle, into a message that asks for a report,
// and exitInternal. A crash must not look like one of the codes that scripts act on. Panics of
// other goroutines are not covered; the driver passes those of its workers on.
func guarded(args []string, stderr io.Writer, f func() int) (code int) {
	defer func() {
		if p := recover(); p != nil {
			reportCrash(stderr, args, p, debug.Stack())
			code = exitInternal
		}
	}()
	return f()
}

// execute parses the arguments and runs the command. The first signal ends its context, and the
// command reports what it has; a later one ends the process.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer catchSignals(cancel)()

	out := &output{w: stdout, cancel: cancel}
	return perform(ctx, args, input{ctx, stdin}, out, bestEffort{stderr})
}

// perform is execute for a context that exists.
func perform(ctx context.Context, args []string, stdin io.Reader, out *output, log bestEffort) int {
	root := newRoot(stdin, out, log)
	// Completions and help are printed by cobra itself.
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(log)
	root.SetArgs(spelled(args))
	err := root.ExecuteContext(context.WithValue(ctx, typed{}, args))
	if code, early := endedEarly(ctx, out.failure(), log); early {
		return code
	}
	var exit exitError
	var unwritten writeError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &unwritten):
		fmt.Fprintf(log, "heddle: %v\n", unwritten)
		return exitInternal
	}
	// Whatever has no exit code of its own is a mistake of the user.
	fmt.Fprintf(log, "heddle: %v\n", err)
	var input inputError
	if !errors.As(err, &input) {
		fmt.Fprintln(log, usageHint(root, args, err))
	}
	return exitUsage
}

// endedEarly returns the exit code of a command that could not write its output or that a signal
// ended, after one message. Whatever else the command returns as an error follows from that and is
// not printed. Nobody is left to read about a closed pipe, so that ends quietly.
func endedEarly(ctx context.Context, written error, log io.Writer) (code int, early bool) {
	var sig signalError
	switch {
	case errors.Is(written, syscall.EPIPE):
		return exitSignal + int(syscall.SIGPIPE), true
	case written != nil:
		fmt.Fprintf(log, "heddle: the results cannot be written: %v\n", written)
		return exitInternal, true
	case errors.As(context.Cause(ctx), &sig):
		fmt.Fprintf(log, "heddle: %v; not everything was examined\n", sig)
		return exitSignal + int(sig.Signal), true
	}
	return 0, false
}

// reportCrash prints what a report of a panic needs: the command line, the version and the stack.
func reportCrash(w io.Writer, args []string, p any, stack []byte) {
	fmt.Fprintf(w, "heddle: internal error: %v\n", p)
	fmt.Fprintf(w, "This is a bug in heddle, not in your code. Please report it with this command, "+
		"the input file and the text below:\n")
	fmt.Fprintf(w, "  heddle %s\n%s\n%s", strings.Join(args, " "), versionText(), stack)
	if len(args) > 0 && slices.Contains(reportable, args[0]) {
		fmt.Fprintf(w, "A report with a small input and without your names: %s\n",
			reportCommand(args))
	}
}

// longForms rewrites -std, -cl-std, -arch, -isystem, -Xcompiler and -rdc as GNU flags with two
// dashes. Users know them from compilers, but pflag would read -std as the letters s, t and d.
// Arguments after -- are left alone.
func longForms(args []string) []string {
	out := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if rest, ok := strings.CutPrefix(a, "-cl-std"); ok && (rest == "" || rest[0] == '=') {
			a = "-std" + rest
		}
		for _, name := range []string{"-std", "-arch", "-isystem", "-Xcompiler", "-rdc"} {
			if a == name || strings.HasPrefix(a, name+"=") {
				a = "-" + a
			}
		}
		out = append(out, a)
	}
	return out
}

// usageHint returns the line after a usage error. If the first argument is a file in the place of a
// command, it suggests heddle check; otherwise it names the --help of the command.
func usageHint(root *cobra.Command, args []string, err error) string {
	if strings.HasPrefix(err.Error(), "unknown command") && len(args) > 0 {
		switch strings.ToLower(filepath.Ext(args[0])) {
		case ".cu", ".hip", ".ptx", ".cl", ".ll", ".bc":
			return "To check a file: heddle check " + args[0]
		}
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return fmt.Sprintf("See '%s --help'.", cmd.CommandPath())
}

// newRoot builds the tree of commands. Errors and usage are printed by execute, not by cobra, so
// that all messages have one form.
func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "heddle",
		Short: "find synchronization bugs in CUDA and OpenCL kernels",
		Long: `heddle finds synchronization bugs in CUDA and OpenCL kernels without a GPU: data races, barrier divergence,
deadlock, unsafe reuse of barriers.

Exit codes: 0 verified or clean, 1 bugs, 2 usage or input error, 3 unknown or unsupported and no bug,
4 internal error or output that cannot be written, 128 and the number of the signal that ended it (130, 143).`,
		Example: "  heddle check reduce.cu\n  heddle run --seeds 20 --grid 4 --block 256 --arg " +
			"n=1024 reduce.cu\n  heddle explain race-shared",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newCheck("check", stdin, stdout, stderr), newCheck("run", stdin, stdout, stderr),
		newCheck("verify", stdin, stdout, stderr), newTrace(stdin, stdout, stderr), newFix(stdin, stdout,
			stderr), newSync(stdin, stdout, stderr), newExec(stdin, stdout, stderr), newNVCC(stdout, stderr), newPTX(stdin, stdout, stderr), newLSP(stdin, stdout,
			stderr), newMCP(stdin, stdout, stderr), newExplore(stdin, stdout, stderr), newExplain(stdout),
		newDemo(stdout, stderr), newInit(stdin, stdout, stderr), newDoctor(stdout),
		newBugReport(stdin, stdout, stderr), newMan(), newVersion(stdout), newPerform(stderr))
	root.Version = moduleVersion()
	root.SetVersionTemplate(versionText())
	root.SetOut(stdout)
	root.Flags().Bool("version", false, "print the version")
	groupFlags(root)
	completions(root)
	return root
}
