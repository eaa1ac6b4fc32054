package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/host"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/report"
	"heddle/internal/source"
	"heddle/internal/table"
)

// execHelp is the long description of heddle exec.
const execHelp = `exec runs a CUDA program without a GPU: it compiles host and device code, runs main(), and
executes every launch on an emulated GPU with the race detector watching. Grids, sizes, data and
aliasing are those of the program, so nothing is guessed.

With files, exec builds them into one program, whose arguments follow --. If the first FILE is a
program, it runs that with the arguments that follow: one that heddle nvcc has built, or a build
that runs one (make test).

Findings are printed to standard error as they appear, and a table of the kernels at the end;
standard output belongs to the program. The exit code is 1 with bugs; else 3 if something was
unknown or unsupported; else that of the program.

exec runs the program with your rights. docs/exec.md says how to confine it.`

// execCommand is one call of heddle exec.
type execCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	opt     exec.Options
	build   buildFlags
	gpu     string
	check   string
	format  string
	html    string
	files   reportFlags
	color   string
	verbose bool
	output  string
	keep    string
	timeout time.Duration
}

// newExec makes the command.
func newExec(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &execCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "exec [flags] FILE... [-- ARG...]\n  heddle exec [flags] PROGRAM [ARG...]",
		Short: "run a program with its kernels under detection",
		Long:  execHelp,
		Example: "  heddle exec main.cu -- 1000000\n  heddle exec main.cu kernels.cu util.cpp\n" +
			"  heddle exec ./app -n 4\n  heddle exec make test",
		RunE: func(cmd *cobra.Command, args []string) error {
			files, rest := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				files, rest = args[:n], args[n:]
			}
			return c.run(cmd.Context(), files, rest)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	c.check = exec.DefaultPolicy.String()
	fs.StringVar(&c.check, "check-launches", c.check,
		"watch `WHICH` launches for races: first:N of each kernel and shape, every:N, or all; the "+
			"others are executed without the detector")
	c.gpu = host.GPUNames()[0]
	fs.StringVar(&c.gpu, "gpu", c.gpu,
		"the program sees an emulated GPU of `MODEL` "+strings.Join(host.GPUNames(), ", ")+
			"; native: its kernels run on the GPU of this machine, and log what they do")
	fs.Var(newParsed(&c.opt.Common.Warp, event.ParseWarpModel, "independent", "lockstep"), "warp",
		"order the lanes of a warp by `MODEL` independent (only by synchronization) or lockstep")
	fs.Var(newParsed(&c.opt.Common.Benign, event.ParseBenign, "warp", "all", "none"), "benign",
		"tolerate conflicting writes of the same value: `WHICH` is warp (by one instruction of a "+
			"warp), all or none")
	fs.Uint64Var(&c.opt.Common.MaxSteps, "max-steps", 2_000_000_000,
		"end a launch after `N` warp instructions; the program then gets an error")
	c.opt.Common.Memory = 4 << 30
	fs.Var(&bytesFlag{&c.opt.Common.Memory}, "memory",
		"end a launch for which the detector needs more than `BYTES` of memory")
	fs.IntVar(&c.opt.Common.Limit, "limit", driver.DefaultLimit,
		"print at most `N` errors and N warnings per kernel")
	fs.IntVarP(&c.opt.Common.Workers, "jobs", "j", 0,
		"compile `N` files at a time and emulate independent blocks on as many cores (default: one per "+
			"core)")
	fs.Var(positive{&c.timeout}, "timeout", "end the program after `TIME`, such as 10m")
	fs.StringVar(&c.opt.Save, "save", "", "write each launch that the detector watches to a file in "+
		"`DIR`, for the flag --launch of check, run, verify, fix, sync and trace")
	fs.BoolVar(&c.opt.SavePTX, "save-ptx", false,
		"with --save, also write the PTX of each kernel to DIR, for these commands without the source")
	fs.BoolVar(&c.opt.ExecuteRepeats, "execute-repeats", false,
		"execute launches that repeat an earlier one with the same inputs, too")
	fs.BoolVar(&c.opt.InitCheck, "init-check", false,
		"report launches that read device memory which nothing has written")
	fs.BoolVar(&c.opt.Leaks, "leak-check", false,
		"report memory that the program does not free as a finding")
	fs.BoolVar(&c.opt.Prove, "prove", false,
		"with --gpu native, prove when a module is loaded which accesses race with nothing, and do not "+
			"log these")
	c.build.define(fs)
	fs.StringVar(&c.keep, "keep", "", "write the program that was built to `FILE`")
	c.reportFlags(fs)
	return cmd
}

// reportFlags defines the flags of the report.
func (c *execCommand) reportFlags(fs *pflag.FlagSet) {
	fs.Var(newChoice(&c.format, formats...), "format",
		"print findings as `FORMAT` text, json (one object per line), sarif, github, gitlab or junit")
	fs.StringVar(&c.html, "html", "",
		"also write a report as HTML to `FILE`, with a timeline of the launches by stream")
	c.files.define(fs)
	failOnFlag(fs, &c.opt.FailOn)
	fs.Var(newChoice(&c.color, "auto", "always", "never"), "color",
		"use color: `WHEN` is auto, always or never")
	verboseFlag(fs, &c.verbose, "print findings and verdicts in full, with every pair of accesses "+
		"that may have the same cause")
	fs.StringVarP(&c.output, "output", "o", "", "write the report to `FILE` instead of standard error")
}

// run builds what is to be built, runs the program, and reports.
func (c *execCommand) run(ctx context.Context, files, args []string) error {
	if err := c.options(ctx); err != nil {
		return err
	}
	if len(files) == 0 && len(args) == 0 {
		return errors.New("expected files to build, or a program to run")
	}
	to := c.stderr
	if c.output != "" {
		f, err := os.Create(c.output)
		if err != nil {
			return inputError{err}
		}
		defer f.Close()
		to = f
	}
	program := args
	var env []string
	if c.opt.Watch {
		if len(files) > 0 {
			return errors.New("--gpu native runs a command that was built with NVIDIA's tools: expected " +
				"a program and its arguments, and no files to build")
		}
		if err := c.watch(ctx); err != nil {
			return inputError{err}
		}
	}
	if len(files) == 0 && c.opt.GPU != nil {
		var err error
		if env, err = exec.Environment(ctx, args[0], c.runtime); err != nil {
			var foreign *exec.ForeignError
			if errors.As(err, &foreign) {
				fmt.Fprintf(c.stderr, "heddle: %v\n", err)
				return exitWith(exitUnknown)
			}
			return inputError{err}
		}
	}
	if len(files) > 0 {
		path, done, err := c.compile(ctx, files)
		if err != nil {
			return err
		}
		defer done()
		program = append([]string{path}, args...)
		c.opt.Name = files[0]
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, timeLimit(c.timeout))
		defer cancel()
	}
	var mu sync.Mutex
	line := newProgressBelow(c.stderr)
	c.opt.Progress = line.launches()
	defer line.stop()
	to = line.wrap(&sharedWriter{&mu, to})
	page, err := c.printers(ctx, to)
	if err != nil {
		return inputError{err}
	}
	streams := exec.Program{Args: program, Env: env, Stdin: ownFile(c.stdin).(io.Reader),
		Stdout: c.stream(&mu, c.stdout), Stderr: c.stream(&mu, c.stderr)}
	sum, err := exec.Run(ctx, streams, &c.opt)
	line.stop()
	if sum == nil {
		return inputError{err}
	}
	if err != nil {
		fmt.Fprintf(c.stderr, "heddle: %v\n", err)
	}
	if page != nil {
		page.Launches(launchRows(sum), sum.Later)
	}
	if err := errors.Join(c.summarize(ctx, to, sum), sum.Close()); err != nil {
		return writeError{err}
	}
	code := sum.Exit()
	if (err != nil || ctx.Err() != nil && c.opt.FailOn.Unknown()) && code != exitBugs {
		code = exitUnknown
	}
	return exitWith(code)
}

// watch prepares for a program on a GPU.
func (c *execCommand) watch(ctx context.Context) error {
	b, err := lower.NewBuilder(ctx, c.build.options())
	if err != nil {
		return err
	}
	defer b.Close()
	if c.opt.Library, err = b.WatchLibrary(ctx); err != nil {
		return err
	}
	c.opt.Queues = exec.DefaultQueues
	if c.opt.GPU == nil {
		c.opt.Arch = exec.Architecture(ctx)
	}
	return nil
}

// runtime returns a directory with the runtime as a shared library.
func (c *execCommand) runtime(ctx context.Context) (string, error) {
	b, err := lower.NewBuilder(ctx, c.build.options())
	if err != nil {
		return "", err
	}
	defer b.Close()
	return b.SharedRuntime(ctx)
}

// printers sets what prints the report to a writer, and creates the page of --html, which is nil
// without.
func (c *execCommand) printers(ctx context.Context, to io.Writer) (page *reportFile, err error) {
	if c.html != "" {
		if page, err = createReport(c.html, nil, commandLine(ctx)); err != nil {
			return nil, err
		}
	}
	files, err := c.files.open()
	if err != nil {
		return nil, err
	}
	out := outputFlags{format: c.format, color: "never", verbose: c.verbose}
	if c.output == "" && useColor(c.color, c.stderr) {
		out.color = "always"
	}
	c.opt.Printer = func(set *source.Set) diag.Printer {
		results, _ := printers(out, set, to, c.stderr)
		if text, ok := results.(*diag.Text); ok {
			text.Next = false // fix would need the launch of the program
		}
		if page != nil {
			page.Files(set)
			results = both{results, page}
		}
		for _, f := range files {
			results = both{results, f.print(set)}
		}
		return results
	}
	return page, nil
}

// ownFile returns the file below a stream of heddle's, which the program gets as its own: it may
// ask whether it is a terminal, and it writes where heddle does in the order in which both write. A
// stream without a file, as in tests, is returned as it is.
func ownFile(s any) any {
	var below any
	switch s := s.(type) {
	case *output:
		below = s.w
	case bestEffort:
		below = s.Writer
	case input:
		below = s.r
	}
	if f, ok := below.(*os.File); ok {
		return f
	}
	return s
}

// stream returns what the program writes to in the place of a stream of heddle's.
func (c *execCommand) stream(mu *sync.Mutex, w io.Writer) io.Writer {
	if f, ok := ownFile(w).(*os.File); ok {
		return f
	}
	return &sharedWriter{mu, w}
}

// sharedWriter is a writer that the program and heddle share, if it is not a file.
type sharedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

// timeLimit is the cause of the end of a context: --timeout.
type timeLimit time.Duration

// Error names the flag.
func (t timeLimit) Error() string {
	return fmt.Sprintf("the program was ended after %v (--timeout)", time.Duration(t))
}

// options reads the flags whose words are not checked by their types.
func (c *execCommand) options(ctx context.Context) (err error) {
	if c.opt.Check, err = exec.ParsePolicy(c.check); err != nil {
		return fmt.Errorf("--check-launches %s: %w", c.check, err)
	}
	model, watch := strings.CutPrefix(c.gpu, "native")
	if model = strings.TrimPrefix(model, ":"); watch { // native:MODEL emulates the native one
		c.opt.Watch = true
	}
	if model != "" {
		if c.opt.GPU, err = host.FindGPU(model); err != nil {
			return fmt.Errorf("--gpu: %w, or native", err)
		}
	}
	if c.opt.Prove && !c.opt.Watch {
		return errors.New("--prove needs --gpu native")
	}
	if c.opt.Watch && (c.opt.Save != "" || c.opt.InitCheck || c.opt.Leaks) {
		return errors.New("--save, --init-check and --leak-check need an emulated GPU: leave out --gpu " +
			"native")
	}
	if c.opt.Common.Limit < 1 {
		return fmt.Errorf("--limit %d: must be at least 1", c.opt.Common.Limit)
	}
	if c.opt.SavePTX && c.opt.Save == "" {
		return errors.New("--save-ptx needs --save DIR")
	}
	args, _ := ctx.Value(typed{}).([]string)
	c.opt.Command = "heddle"
	for _, a := range args {
		c.opt.Command += " " + launch.Quote(a)
	}
	return nil
}

// compile builds the files in a temporary directory, or to the file of --keep.
func (c *execCommand) compile(ctx context.Context, files []string) (path string, done func(),
	err error) {
	dir, err := os.MkdirTemp("", "heddle-program-")
	if err != nil {
		return "", nil, inputError{err}
	}
	done = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0])))
	if c.keep != "" {
		if path, err = filepath.Abs(c.keep); err != nil {
			return "", nil, inputError{err}
		}
	}
	if err := c.build.program(ctx, files, dir, path, c.opt.Common.Workers); err != nil {
		done()
		var ce *lower.CompileError
		if errors.As(err, &ce) {
			fmt.Fprint(c.stderr, ce.Output)
			if ce.Help != "" {
				err = fmt.Errorf("%w; %s", err, ce.Help)
			}
		}
		return "", nil, inputError{err}
	}
	return path, done, nil
}

// summarize prints how the program ended, what was not supported, and the table of kernels.
func (c *execCommand) summarize(ctx context.Context, w io.Writer, s *exec.Summary) error {
	switch c.format {
	case "json":
		return writeExecJSON(w, s)
	case "sarif", "gitlab", "junit": // one document
		return nil
	}
	line := func(format string, args ...any) { fmt.Fprintf(w, "heddle: "+format+"\n", args...) }
	var limit timeLimit
	if errors.As(context.Cause(ctx), &limit) {
		line("%v; not everything was executed", limit)
	}
	if text := s.EndText(); text != "" {
		line("%s", text)
	}
	for _, text := range s.Killed {
		line("%s", text)
	}
	for _, text := range s.Notes {
		line("%s", text)
	}
	if len(s.Unsupported) > 0 {
		line("the program called functions that heddle does not support, which failed: %s",
			strings.Join(s.Unsupported, ", "))
	}
	if len(s.Libraries) > 0 {
		line("computed on the CPU, with other roundings and other random numbers than on a GPU: %s",
			strings.Join(s.Libraries, ", "))
	}
	if s.Connected == 0 && c.opt.Watch {
		line("the program did not use CUDA, so nothing was checked")
		return nil
	}
	if s.Connected == 0 {
		line("no program that heddle built used CUDA, so nothing was checked (heddle nvcc builds such " +
			"programs)")
		return nil
	}
	if len(s.Kernels) == 0 {
		what := "nothing was checked"
		if len(s.Libraries) > 0 {
			what = "only what libraries access was checked"
		}
		line("the program launched no kernel, so %s", what)
		return nil
	}
	if c.opt.Watch {
		return watchedTable(s).Write(w, terminalWidth(w))
	}
	var t table.Table
	t.Add("launches", "checked", "repeated", "shapes", "lane instructions", "time", "findings",
		"kernel")
	for _, k := range s.Kernels {
		t.Add(fmt.Sprint(k.Launches), fmt.Sprint(k.Checked), fmt.Sprint(k.Repeated),
			fmt.Sprint(k.Shapes),
			fmt.Sprintf("%.3g", float64(k.LaneInstructions)), longTime(k.Time),
			fmt.Sprint(k.Findings), k.Name)
	}
	return t.Write(w, terminalWidth(w))
}

// watchedTable is the table of the kernels of a program on a GPU. Times are those of one launch.
func watchedTable(s *exec.Summary) *table.Table {
	var t table.Table
	t.Add("launches", "checked", "shapes", "records", "log", "time", "without log", "findings",
		"kernel")
	for _, k := range s.Kernels {
		t.Add(fmt.Sprint(k.Launches), fmt.Sprint(k.Checked), fmt.Sprint(k.Shapes),
			fmt.Sprint(k.Records), fmt.Sprintf("%.1f MB", float64(k.LogBytes)/1e6),
			meanTime(k.Time, k.Logged), meanTime(k.Plain, k.Timed), fmt.Sprint(k.Findings), k.Name)
	}
	return &t
}

// meanTime is the mean of n times.
func meanTime(sum time.Duration, n uint64) string {
	if n == 0 {
		return "unknown"
	}
	return (sum / time.Duration(n)).Round(time.Microsecond).String()
}

// longTime returns a time of a second and more; shorter ones interest nobody.
func longTime(d time.Duration) string {
	if d < time.Second {
		return "< 1 s"
	}
	return inSeconds(d)
}

// launchRows returns the timeline for the HTML report: a row for each stream of a process.
func launchRows(s *exec.Summary) []report.Stream {
	var out []report.Stream
	index := make(map[string]int)
	processes := make(map[int]bool)
	for i := range s.Timeline {
		processes[s.Timeline[i].Process] = true
	}
	for n, e := range s.Timeline {
		name := e.Stream
		if len(processes) > 1 {
			name = fmt.Sprintf("process %d, %s", e.Process, name)
		}
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, report.Stream{Name: name})
		}
		out[i].Launches = append(out[i].Launches, report.Launch{Column: n + 1, Kernel: e.Kernel,
			Number: e.Number, Place: e.Place, Checked: e.Checked, Failed: e.Failed, Found: e.Found})
	}
	return out
}
