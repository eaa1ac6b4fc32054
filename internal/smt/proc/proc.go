// Package proc asks solver processes that speak SMT-LIB 2: z3 (Debian's 4.8.12 is the floor) and cvc5.
//
// One Solver owns one process at a time. It is started when the first query comes, answers one query after
// the other, each after a reset, and is started anew after a crash, after an answer that is not understood,
// and after a time limit, because a solver that was interrupted cannot be trusted to be in step. A query is
// never retried in silence: whatever went wrong is the reason of an Unknown.
//
// Between push and pop z3 would keep to the solver that it has for many similar questions; after a reset it
// simplifies the question as a whole first, and takes a hundredth of the time for the hardest of ours. It also makes
// what a limit of steps means independent of what was asked before.
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

// Solver is a smt.Solver over a process.
type Solver struct {
	Path    string        // the program
	Kind    Kind          // which command line it wants
	Time    time.Duration // for each query; 0: until the context ends
	Steps   int64         // for each query, as the program counts its resources; 0: no limit
	Memory  int           // MiB that the process may use; 0: no limit
	Logic   string        // set-logic line; empty: ALL
	running *process
}

// Kind says how a program is called.
type Kind uint8

const (
	Z3 Kind = iota
	CVC5
)

// Find returns a solver for the first of the named programs that PATH has, or nil.
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

// process is a running solver. lines carries what it prints; it is closed when the output ends.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

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

// prologue forgets the query before, and says what holds for the next.
func (s *Solver) prologue() string {
	text := "(reset)\n(set-option :print-success false)\n(set-option :produce-models true)\n"
	if s.Kind == Z3 && s.Time > 0 { // so that it ends by itself if heddle is killed
		text += fmt.Sprintf("(set-option :timeout %d)\n", (s.Time + time.Second).Milliseconds())
	}
	if s.Kind == Z3 && s.Steps > 0 {
		text += fmt.Sprintf("(set-option :rlimit %d)\n", s.Steps)
	}
	return text + "(set-logic " + cmp.Or(s.Logic, "ALL") + ")\n"
}

// kill ends the process and collects it. It may be called at any time, by the owner only.
func (p *process) kill() {
	_ = p.in.Close()
	killTree(p.cmd)
	go func() {
		for range p.lines { // let the reader come to its end
		}
	}()
	_ = p.cmd.Wait()
}

// Close ends the process. The Solver can be used again.
func (s *Solver) Close() {
	if s.running != nil {
		s.running.kill()
		s.running = nil
	}
}

// errGarbage says that a solver printed something else than an answer.
type errGarbage string

func (e errGarbage) Error() string {
	text := string(e)
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return fmt.Sprintf("answered %q", text)
}

var errEnded = errors.New("ended without an answer")

// Solve decides asserts, with the ranges of their variables.
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

func reason(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "out of time"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return err.Error()
}

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
	query := append([]byte(s.prologue()), c.Script(asserts)...)
	query = append(query, "(check-sat)\n"...)
	if err := p.write(ctx, query); err != nil {
		if last, lineErr := p.line(ctx); err == errEnded && lineErr == nil { // what it said before it ended
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
			a.Steps = s.Steps
		}
	default:
		return smt.Answer{}, errGarbage(line)
	}
	return a, nil
}

// write sends text, giving up when ctx ends although the process does not read.
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

// line returns the next line that is not empty.
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
