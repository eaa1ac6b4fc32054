// Package proc runs external SMT solvers as processes that read SMT-LIB 2: z3 (4.8.12 or later) and
// cvc5.
//
// A Solver owns at most one process. The first query starts it. It answers the queries one after
// the other, with a reset before each. The process is restarted after a crash, after an unexpected
// answer, and after a time limit, because its output could belong to the interrupted query. A query
// is never retried silently: any failure is the reason of an Unknown.
//
// Reset instead of push and pop has two advantages. z3 uses its incremental solver between push and
// pop; after a reset it preprocesses the entire query, which took a hundredth of the time for the
// hardest queries measured. A limit of steps also does not depend on earlier queries.
package proc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"heddle/internal/smt"
)

// Solver is an smt.Solver that runs an external program. It is not safe for concurrent use.
type Solver struct {
	Path    string        // of the program
	Kind    Kind          // of program, for its command line and options
	Time    time.Duration // limit for each query; 0: none but the context
	Steps   int64         // limit for each query in the program's resource units; 0: none
	Memory  int           // limit in MiB; 0: none
	Logic   string        // set-logic line; empty: ALL
	running *process
}

// unitSteps are the steps of the embedded solver that take about as long as one resource unit: z3
// spends three to ten million units a second, and the embedded solver twenty million steps.
const unitSteps = 3

// Kind is a supported program.
type Kind uint8

const (
	Z3   Kind = iota // z3 -in
	CVC5             // cvc5, incremental
)

// Find returns a solver without limits for a program in PATH, or nil if PATH does not have it.
func Find(kind Kind) *Solver {
	name := [...]string{"z3", "cvc5"}[kind]
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	return &Solver{Path: path, Kind: kind}
}

// Name returns "z3" or "cvc5".
func (s *Solver) Name() string { return [...]string{"z3", "cvc5"}[s.Kind] }

// Version returns the name and version that the program prints, its first line: two programs with
// one version give the same answers. It is the name alone if the program does not say.
func (s *Solver) Version() string {
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.Path, "--version").Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if line = strings.TrimSpace(line); err != nil || line == "" {
		return s.Name()
	}
	return line
}

// versionTime bounds the call of a program for its version.
const versionTime = 10 * time.Second

// process is a running solver. lines receives its output and is closed when the output ends.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// args returns the command line. Limits of z3 per query are set by prologue, since the process
// serves many queries.
func (s *Solver) args() []string {
	if s.Kind == CVC5 {
		args := []string{"--incremental", "--produce-models", "--lang=smt2", "--quiet"}
		if s.Steps > 0 {
			args = append(args, fmt.Sprintf("--rlimit-per=%d", s.Steps))
		}
		return args
	}
	args := []string{"-in", "-smt2"}
	if s.Memory > 0 {
		args = append(args, fmt.Sprintf("-memory:%d", s.Memory))
	}
	return args
}

// start starts the program and a goroutine that reads its output line by line.
func (s *Solver) start() (*process, error) {
	cmd := exec.Command(s.Path, s.args()...)
	detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// The reader runs until the output ends, so that the solver never blocks on a full pipe. A model
	// can be a single line of many megabytes.
	p := &process{cmd: cmd, in: in, lines: make(chan string, 64)}
	go func() {
		defer close(p.lines)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			p.lines <- sc.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	return p, nil
}

// prologue returns the commands that reset the solver and set the options for the next query; a
// reset also drops options.
func (s *Solver) prologue() string {
	text := "(reset)\n(set-option :print-success false)\n(set-option :produce-models true)\n"
	if s.Kind == Z3 && s.Time > 0 { // ends the query even if heddle is killed
		text += fmt.Sprintf("(set-option :timeout %d)\n", (s.Time + time.Second).Milliseconds())
	}
	if s.Kind == Z3 && s.Steps > 0 {
		text += fmt.Sprintf("(set-option :rlimit %d)\n", s.Steps)
	}
	return text + "(set-logic " + cmp.Or(s.Logic, "ALL") + ")\n"
}

// kill ends the process and waits for it, so that no zombie remains. Only the owner of the process
// may call it, at any time.
func (p *process) kill() {
	_ = p.in.Close()
	killTree(p.cmd)
	go func() {
		for range p.lines { // drain, so that the reader goroutine ends
		}
	}()
	_ = p.cmd.Wait()
}

// Close ends the process. The next query starts a new one, so a closed Solver can still be used.
func (s *Solver) Close() {
	if s.running != nil {
		s.running.kill()
		s.running = nil
	}
}

// errGarbage reports output that is not an answer.
type errGarbage string

// Error quotes the start of the output.
func (e errGarbage) Error() string {
	text := string(e)
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return fmt.Sprintf("unexpected output %q", text)
}

var errEnded = errors.New("the solver ended without an answer")

// Solve decides asserts together with the ranges of their variables. Failures of the process are
// reported as Unknown with a reason.
func (s *Solver) Solve(ctx context.Context, c *smt.Context, asserts []smt.Term) smt.Answer {
	if s.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Time)
		defer cancel()
	}
	a, err := s.ask(ctx, c, asserts)
	if err != nil {
		s.Close()
		return smt.Answer{Reason: reason(ctx, err)}
	}
	return a
}

// reason describes an error. The end of the context explains any error that it caused.
func reason(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "out of time"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return err.Error()
}

// ask sends the query, starting a process if none is running, and reads the answer and the model.
func (s *Solver) ask(ctx context.Context, c *smt.Context, asserts []smt.Term) (smt.Answer, error) {
	if ctx.Err() != nil {
		return smt.Answer{}, ctx.Err()
	}
	if s.running == nil {
		p, err := s.start()
		if err != nil {
			return smt.Answer{}, err
		}
		s.running = p
	}
	p := s.running
	query := append([]byte(s.prologue()), c.Script(asserts, asked(c, inputs(c, asserts))...)...)
	query = append(query, "(check-sat)\n"...)
	if err := p.write(ctx, query); err != nil {
		// the last line before the end says why
		if last, lineErr := p.line(ctx); err == errEnded && lineErr == nil {
			err = errGarbage(last)
		}
		return smt.Answer{}, err
	}
	line, err := p.line(ctx)
	if err != nil {
		return smt.Answer{}, err
	}
	var a smt.Answer
	switch line {
	case "unsat":
		a.Status = smt.Unsat
	case "sat":
		a.Status = smt.Sat
		if a.Model, err = p.model(ctx, c, asserts); err != nil {
			return smt.Answer{}, err
		}
	case "unknown":
		a.Reason = "it does not know"
		if s.Steps > 0 {
			a.Reason = fmt.Sprintf("it does not know after at most %d steps", s.Steps)
			a.Steps = s.Steps * unitSteps
		}
	default:
		return smt.Answer{}, errGarbage(line)
	}
	return a, nil
}

// write sends text to the process. It returns when ctx is done even if the process does not read.
func (p *process) write(ctx context.Context, text []byte) error {
	done := make(chan error, 1)
	go func() {
		_, err := p.in.Write(text)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return errEnded
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// line returns the next nonempty line of the output, or an error when the output or ctx ends.
func (p *process) line(ctx context.Context) (string, error) {
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return "", errEnded
			}
			if l = strings.TrimSpace(l); l != "" {
				return l, nil
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
