package check

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/answers"
	"heddle/internal/smt/proc"
	"heddle/internal/smt/sat"
	"heddle/internal/verify"
)

// Steps of one query: numbers, so that a verdict does not depend on how busy the machine is. The embedded solver decides
// nearly all within milliseconds; what it does not decide soon goes to a process where there is one, and comes back to it
// if that does not know either.
const (
	firstSteps   = 10_000_000  // about half a second
	programSteps = 15_000_000  // of z3, about five seconds
	querySteps   = 100_000_000 // about five seconds
)

// hangTime ends a process that does not come back although its steps must be used up.
const hangTime = time.Minute

// solverMemory bounds a solver process, in MiB.
const solverMemory = 4096

// solving is what the proofs of one run share: solvers, which are started when the first proof needs them, and the
// directory for queries.
type solving struct {
	opt      *Options
	program  *proc.Solver // nil: the embedded solver alone
	embedded bool
	hint     string // what could help a query that nobody decided
	once     sync.Once
	started  *smt.Pool
	store    *answers.Dir
	failure  error // of the first query that could not be kept
	mu       sync.Mutex
}

// newSolving checks what the options say of solvers.
func newSolving(opt *Options) (*solving, error) {
	s := &solving{opt: opt, embedded: true}
	switch opt.Solver {
	case "", "auto":
		if s.program = proc.Find(proc.Z3); s.program == nil {
			s.hint = "installing z3 could help"
		}
	case "embedded":
	case "z3", "cvc5":
		kind := proc.Z3
		if opt.Solver == "cvc5" {
			kind = proc.CVC5
		}
		s.embedded = false
		if s.program = proc.Find(kind); s.program == nil {
			return nil, fmt.Errorf("--solver %s: no program of that name in PATH; install it, or leave the flag out: the embedded solver needs nothing", opt.Solver)
		}
	default:
		return nil, fmt.Errorf("solver %q: expected embedded, z3, cvc5 or auto", opt.Solver)
	}
	if opt.SMTDir != "" {
		if err := os.MkdirAll(opt.SMTDir, 0o755); err != nil {
			return nil, fmt.Errorf("--smt-dir: %w", err)
		}
	}
	return s, nil
}

// pool returns the solvers. Nothing is started before the first query.
func (s *solving) pool() *smt.Pool {
	s.once.Do(func() {
		var store smt.Store // not a nil pointer in it
		if dir := lower.CacheDir(s.opt.Lower); dir != "" {
			s.store = answers.Open(dir)
			store = s.store
		}
		s.started = smt.NewPool(cmp.Or(s.opt.Workers, runtime.GOMAXPROCS(0)), s.list, store)
	})
	return s.started
}

// list makes the solvers of one slot.
func (s *solving) list() []smt.Solver {
	var program *proc.Solver
	if s.program != nil {
		program = &proc.Solver{Path: s.program.Path, Kind: s.program.Kind, Steps: programSteps, Time: hangTime, Memory: solverMemory}
	}
	switch {
	case program == nil:
		return []smt.Solver{&sat.Solver{Steps: querySteps}}
	case !s.embedded:
		return []smt.Solver{program}
	}
	return []smt.Solver{&sat.Solver{Steps: firstSteps}, program, &sat.Solver{Steps: querySteps}}
}

// forInvariants are the solvers that look for invariants of loops: in process, as most of what they are asked is simple.
func (s *solving) forInvariants() []smt.Solver { return []smt.Solver{&sat.Solver{Steps: firstSteps}} }

// close ends the solvers. All proofs are done.
func (s *solving) close() {
	if s.started != nil {
		s.started.Close()
	}
	if s.store != nil {
		s.store.Prune()
	}
}

// recorder returns what keeps the queries of one proof, numbered from 1; nil if none are to be kept.
func (p *proof) recorder() func(*verify.Finding, []byte, smt.Answer) {
	dir := p.opt.SMTDir
	if dir == "" {
		return nil
	}
	return func(f *verify.Finding, script []byte, a smt.Answer) {
		p.queries++
		var b strings.Builder
		fmt.Fprintf(&b, "; %s\n; kernel %s: is there %s?\n", p.in.name, oneLine(p.kernel.Demangled), oneLine(p.describe(f)))
		if a.Status == smt.Unknown {
			fmt.Fprintf(&b, "; undecided: %s\n", oneLine(a.Reason))
		} else {
			fmt.Fprintf(&b, "; decided by %s in %v\n", a.By, a.Time.Round(time.Microsecond))
		}
		fmt.Fprintf(&b, "(set-info :status %s)\n(set-logic ALL)\n%s(check-sat)\n", a.Status, script)
		name := fmt.Sprintf("%s.%s-%05d.smt2", fileName(filepath.Clean(p.in.name)), fileName(p.kernel.Name), p.queries)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err != nil {
			p.solving.fail(fmt.Errorf("--smt-dir: %w", err))
		}
	}
}

// oneLine makes a text fit into a comment.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// fileName leaves of a name what any file system takes, and not too much of it.
func fileName(s string) string {
	s = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '_'
	}, s)
	return s[max(len(s)-100, 0):]
}

func (s *solving) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}
