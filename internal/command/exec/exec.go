// Package exec is heddle exec: it runs a program whose kernels are emulated under detection.
//
// The program is a process of its own, linked with heddle's CUDA runtime, which sends what it is
// asked to package host. A session is the device of one such process: it loads modules, executes
// launches in the memory that both share, and reports findings as they appear. Run starts the
// program, waits for it, and sums the sessions up.
//
// A launch that cannot be executed to its end is never passed over: the program gets the error that
// a GPU would give (cudaErrorLaunchFailure, which stays), and the kernel is unknown or unsupported.
package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/host"
	"heddle/internal/source"
)

// Options are the choices of heddle exec.
type Options struct {
	Common driver.Options // Warp, Benign, MaxSteps, Memory, Limit and Workers count
	GPU    *host.GPU      // which is emulated
	// Watch says that kernels run on the GPU of the machine, which the program finds by itself: heddle
	// instruments them. With GPU, an emulated one plays its part. Library is what the program loads
	// (lower.Builder.WatchLibrary), Arch the architecture of the GPU: 90, or 0 if it is not known.
	Watch   bool
	Queues  Queues
	Library string
	Arch    int
	Prove   bool   // what is proved to race with nothing is not logged
	Check   Policy // which launches the detector watches
	// Save is a directory for files with the launches that the detector watches, as they were before
	// they were executed (launch.Saved); empty: none are written.
	Save string
	// SavePTX also writes the PTX of each kernel with a saved launch, so that both can be examined
	// without the program.
	SavePTX bool
	// ExecuteRepeats: launches that repeat earlier ones with the same inputs are executed, too.
	ExecuteRepeats bool
	// InitCheck: reads of device memory that nothing has written are findings.
	InitCheck bool
	Leaks     bool // memory that is never freed is a finding
	FailOn    driver.FailOn
	// Progress is called now and then while the program waits for a launch, and with nil before it
	// goes on. Processes call it from goroutines of their own. It may be nil.
	Progress func(*Progress)
	Name     string // of the program in reports; empty: the path of its executable
	Command  string // the command line of heddle, for the reproduce line
	// Printer returns a printer for the findings and verdicts of all processes, whose positions refer
	// to files. It is called once, and the printer closed by Summary.Close.
	Printer func(files *source.Set) diag.Printer
}

// Program is a program to start.
type Program struct {
	Args           []string // with the path or name of the executable
	Env            []string // NAME=VALUE, in addition to heddle's own environment
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Progress says how far a launch is.
type Progress struct {
	Kernel             string // demangled
	Launch             uint64 // its number among those of the kernel
	Blocks, BlocksDone uint64
	Steps              uint64 // warp instructions
	Records            uint64 // of the log of a GPU, which tells no more
}

// Summary is what a run of a program has shown.
type Summary struct {
	Kernels     []Kernel       // in the order of their first launches
	Verdicts    []diag.Verdict // of the same kernels, and of what could not be loaded
	Bugs        int            // findings
	Warnings    int            // other findings of that severity
	Unsupported []string       // functions of the runtime that were called in vain
	Libraries   []string       // functions of libraries that were computed
	Notes       []string       // what else went wrong
	Connected   int            // processes that used CUDA
	Killed      []string       // processes, other than the program, that used CUDA and did not exit
	End         error          // of the program: nil, an *exec.ExitError, or why it did not start
	Time        time.Duration  // of the run
	Timeline    []Executed     // the first launches, in the order of the calls
	Later       int            // launches that Timeline does not have

	printer diag.Printer
	failOn  driver.FailOn
}

// Close closes the printer, which writes what it has collected.
func (s *Summary) Close() error { return s.printer.Close() }

// Executed is a launch of the timeline.
type Executed struct {
	Process int    // its number
	Kernel  string // demangled
	Number  uint64 // of the launch of this kernel, from 1
	Stream  string // "stream 2"
	Place   string // of the call: "main.cu:12"; empty: unknown
	Checked bool   // the detector watched it
	Failed  bool   // it did not reach its end
	Found   bool   // it has findings that no earlier launch had
}

// mostExecuted bounds the timeline.
const mostExecuted = 400

// Kernel is a row of the table at the end.
type Kernel struct {
	Name             string // demangled
	Launches         uint64
	Checked          uint64 // launches that the detector watched to their end, and repeats of these
	Repeated         uint64 // launches that were not executed, because they repeat others
	LaneInstructions uint64 // executed
	Findings         int
	Shapes           int           // grid, block and dynamic shared memory
	Time             time.Duration // of all launches; on a GPU, of those that logged
	// On a GPU: the launches that logged, the records and bytes of their logs, and launches that were
	// timed without a log.
	Logged, Records, LogBytes, Timed uint64
	Less                             uint64        // launches that logged less, because of proofs
	Plain                            time.Duration // of these
}

// runner is the state of one run, which the sessions of its processes share.
type runner struct {
	ctx context.Context
	opt *Options

	shown *source.Set // the files of all processes

	mu      sync.Mutex // held for what follows, and while something is printed
	sum     Summary
	process int             // the number of the program's process
	ended   []*process      // in the order in which they ended
	files   map[string]bool // names of saved launches that are taken
}

// add adds a launch to the timeline.
func (r *runner) add(e Executed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sum.Timeline) < mostExecuted {
		r.sum.Timeline = append(r.sum.Timeline, e)
	} else {
		r.sum.Later++
	}
}

// fileFor returns a path in the directory of saved launches for a kernel, which no other one has.
func (r *runner) fileFor(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '_'
	}, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	unique := name
	for n := 2; r.files[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	r.files[unique] = true
	return filepath.Join(r.opt.Save, unique)
}

// note adds a line to the end of the report. After a few, more of them say nothing new.
func (r *runner) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sum.Notes) < mostNotes {
		r.sum.Notes = append(r.sum.Notes, fmt.Sprintf(format, args...))
	}
}

// mostNotes bounds the notes at the end.
const mostNotes = 5

// Run starts a program and waits until it has ended. Its error says why nothing could be started;
// everything else is in the summary. If ctx ends, the program is ended too.
func Run(ctx context.Context, p Program, opt *Options) (*Summary, error) {
	r := &runner{ctx: ctx, opt: opt, files: make(map[string]bool), shown: source.NewSet()}
	r.sum.printer, r.sum.failOn = opt.Printer(r.shown), opt.FailOn
	if opt.Save != "" {
		if err := os.MkdirAll(opt.Save, 0o777); err != nil {
			return nil, err
		}
	}
	env, stopServers, err := r.serve()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	r.sum.End = r.program(p, env)
	// Processes that the program has started and left behind have a moment to end.
	stop, cancel := context.WithTimeout(ctx, leftBehind)
	defer cancel()
	err = stopServers(stop)
	r.conclude()
	r.sum.Time = time.Since(start)
	var ended *osexec.ExitError
	if r.sum.End != nil && !errors.As(r.sum.End, &ended) && ctx.Err() == nil {
		return &r.sum, r.sum.End
	}
	return &r.sum, err
}

// leftBehind is how long processes may run on that the program has left behind.
const leftBehind = 2 * time.Second

// serve starts what the program talks to. It returns what tells the program, for its environment,
// and what ends it.
func (r *runner) serve() (env []string, stop func(context.Context) error, err error) {
	if !r.opt.Watch {
		server, err := host.Listen(r.opt.GPU, r.opt.InitCheck, r.open)
		if err != nil {
			return nil, nil, err
		}
		return []string{host.Socket + "=" + server.Path}, server.Close, nil
	}
	w := &watched{r: r, queues: r.opt.Queues, arch: r.opt.Arch}
	server, err := host.Watch(w.open)
	if err != nil {
		return nil, nil, err
	}
	env = []string{host.WatchSocket + "=" + server.Path, before("LD_PRELOAD", r.opt.Library)}
	if r.opt.GPU == nil {
		return env, server.Close, nil
	}
	var device *host.Server
	if w.emulate, device, err = r.startEmulated(); err != nil {
		return nil, nil, errors.Join(err, server.Close(r.ctx))
	}
	stop = func(ctx context.Context) error {
		return errors.Join(server.Close(ctx), device.Close(ctx))
	}
	return append(env, host.Socket+"="+device.Path), stop, nil
}

// program runs the program with some more variables in its environment.
func (r *runner) program(p Program, env []string) error {
	cmd := osexec.CommandContext(r.ctx, p.Args[0], p.Args[1:]...)
	cmd.Env = slices.Concat(os.Environ(), p.Env, env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = leftBehind
	r.mu.Lock() // the program may connect at once: open waits
	err := cmd.Start()
	if err == nil {
		r.process = cmd.Process.Pid
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// open is the device of a process that has connected.
func (r *runner) open(h host.Hello, a *host.Arena) (host.Device, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Connected++
	return newSession(r, h, a), nil
}

// end keeps a process that has ended.
func (r *runner) end(s *process, regular bool) {
	s.spare()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !regular && s.hello.Process != r.process { // EndText says it of the program itself
		r.sum.Killed = append(r.sum.Killed, fmt.Sprintf("process %d (%s) ended without exit",
			s.hello.Process, s.hello.Path))
	}
	r.ended = append(r.ended, s)
}

// conclude adds what the processes did to the summary and prints their verdicts.
func (r *runner) conclude() {
	for _, s := range r.ended {
		for _, k := range s.kernels {
			if k.launches == 0 {
				continue
			}
			r.sum.Kernels = append(r.sum.Kernels, k.row())
			r.sum.Bugs += k.watch.Bugs()
			s.verdict(k.watch.Verdict())
		}
		r.sum.Bugs += s.apart
		for i := range s.problems {
			s.verdict(s.problems[i])
		}
	}
}

// unsupported notes a function of the runtime that does nothing.
func (r *runner) unsupported(name string) { r.noteName(&r.sum.Unsupported, name) }

// computed notes a function of a library that was computed.
func (r *runner) computed(name string) { r.noteName(&r.sum.Libraries, name) }

// noteName adds a name to a list of the summary once.
func (r *runner) noteName(list *[]string, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// Policy says which launches of a kernel the detector watches. The others are executed without it.
type Policy struct {
	First uint64 // the first ones of each shape; 0: no limit
	Every uint64 // each Nth one; 0: see First
	None  bool   // no launch at all
}

// DefaultPolicy watches enough to see what differs between the first launch of a shape and those
// that find its results in memory.
var DefaultPolicy = Policy{First: 3}

// ParsePolicy reads first:N, every:N or all.
func ParsePolicy(s string) (Policy, error) {
	var n uint64
	what, number, _ := strings.Cut(s, ":")
	_, err := fmt.Sscanf(number, "%d", &n)
	switch {
	case s == "all":
		return Policy{}, nil
	case what == "first" && err == nil && n > 0:
		return Policy{First: n}, nil
	case what == "every" && err == nil && n > 0:
		return Policy{Every: n}, nil
	}
	return Policy{}, errors.New("expected first:N, every:N (N from 1) or all")
}

// String returns the form that ParsePolicy reads.
func (p Policy) String() string {
	switch {
	case p.Every > 0:
		return fmt.Sprintf("every:%d", p.Every)
	case p.First > 0:
		return fmt.Sprintf("first:%d", p.First)
	}
	return "all"
}

// Watches reports whether the launch after n others of the same shape is watched.
func (p Policy) Watches(n uint64) bool {
	switch {
	case p.None:
		return false
	case p.Every > 0:
		return n%p.Every == 0
	case p.First > 0:
		return n < p.First
	}
	return true
}

// Exit says how a run ends for a script: bugs come first, then what was not examined, then the
// program's own code. Options.FailOn decides which of them count.
func (s *Summary) Exit() int {
	const bugs, unknown = 1, 3
	switch {
	case s.Bugs > 0 && s.failOn.Bugs():
		return bugs
	case s.incomplete() && s.failOn.Unknown(), s.Warnings > 0 && s.failOn.Warnings():
		return unknown
	}
	return s.Code()
}

// incomplete reports whether something was not examined or not decided.
func (s *Summary) incomplete() bool {
	incomplete := len(s.Unsupported) > 0 || len(s.Verdicts) == 0
	for i := range s.Verdicts {
		k := s.Verdicts[i].Kind
		incomplete = incomplete || k == diag.Unknown || k == diag.Unsupported
	}
	return incomplete
}

// Code is the exit code of the program; 128 and the number of the signal that ended it.
func (s *Summary) Code() int {
	var exit *osexec.ExitError
	if !errors.As(s.End, &exit) {
		return 0
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return exit.ExitCode()
}

// EndText says how the program ended; empty if it returned 0.
func (s *Summary) EndText() string {
	var exit *osexec.ExitError
	if !errors.As(s.End, &exit) {
		return ""
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("the program was ended by signal %d (%v)", int(w.Signal()), w.Signal())
	}
	return fmt.Sprintf("the program ended with exit code %d", exit.ExitCode())
}
