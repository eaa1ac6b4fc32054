package prove

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/answers"
	"heddle/internal/smt/proc"
	"heddle/internal/smt/sat"
	"heddle/internal/verify"
)

// Limits of one query, in steps, so that a verdict does not depend on the load of the machine. The
// embedded solver decides nearly all queries within milliseconds. A query that it does not decide
// within firstSteps goes to z3 where that is installed, and then back to the embedded solver with
// querySteps. A proof that follows a clean run must not keep users waiting for one query that is
// too hard: its limits are smaller, and there is no third attempt.
const (
	firstSteps   = 10_000_000  // about half a second
	programSteps = 15_000_000  // of z3, about five seconds
	querySteps   = 100_000_000 // about five seconds

	checkFirstSteps   = 5_000_000
	checkProgramSteps = 4_000_000  // of z3, about a second
	checkQuerySteps   = 20_000_000 // without z3
)

// hangTime is the time after which a solver process is killed. Well before that it must have
// reached its step limit.
const hangTime = time.Minute

// solverMemory bounds a solver process, in MiB.
const solverMemory = 4096

// Engine is what the proofs of one run share: the options, the solvers, which are started when the
// first proof needs them, the directory for queries, and the counts of all queries.
type Engine struct {
	opt      Options
	run      run.Options // of replays
	common   *driver.Options
	program  *proc.Solver // nil: the embedded solver alone
	embedded bool
	hint     string // what may help with a query that no solver decided
	once     sync.Once
	started  *smt.Pool
	ask      sync.Once
	version  string // of program
	store    *answers.Dir

	mu      sync.Mutex
	failure error // of the first query that could not be kept
	queries verify.Stats
	terms   time.Duration
}

// Open checks that the selected solver and the directory for queries are usable. It starts no
// process. The engine must be closed.
func Open(common *driver.Options, runs run.Options, opt Options) (*Engine, error) {
	e := &Engine{opt: opt, run: runs, common: common, embedded: true}
	switch opt.Solver {
	case Auto:
		if !opt.NoProcess {
			e.program = proc.Find(proc.Z3)
		}
		if e.program == nil {
			e.hint = "installing z3 may help"
		}
	case Z3, CVC5:
		kind := proc.Z3
		if opt.Solver == CVC5 {
			kind = proc.CVC5
		}
		e.embedded = false
		if e.program = proc.Find(kind); e.program == nil {
			return nil, fmt.Errorf("--solver %s: no program of that name in PATH; install it, or "+
				"omit the flag to use the embedded solver", opt.Solver)
		}
	}
	if opt.SMTDir != "" {
		if err := os.MkdirAll(opt.SMTDir, 0o755); err != nil {
			return nil, fmt.Errorf("--smt-dir: %w", err)
		}
	}
	return e, nil
}

// Process names the solver process that takes part in proofs, with its version; empty: none does.
// The first call starts the program to ask it.
func (e *Engine) Process() string {
	if e.program == nil {
		return ""
	}
	e.ask.Do(func() { e.version = e.program.Version() })
	return e.version
}

// Failure is the first error of writing a query.
func (e *Engine) Failure() error { return e.failure }

// Queries counts the queries of all proofs so far.
func (e *Engine) Queries() verify.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queries
}

// Terms is the time from modules to the accesses of one thread, of all proofs so far.
func (e *Engine) Terms() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.terms
}

func (e *Engine) addQueries(s *verify.Stats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queries.Add(s)
}

func (e *Engine) addTerms(t time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.terms += t
}

// Pool returns the solvers. None is started before the first query.
func (e *Engine) Pool() *smt.Pool {
	e.once.Do(func() {
		var store smt.Store // must stay nil without a cache: a nil *answers.Dir in it would not be nil
		if dir := lower.CacheDir(e.common.Lower); dir != "" {
			e.store = answers.Open(dir)
			store = e.store
		}
		e.started = smt.NewPool(e.common.Cores(), e.list, store)
	})
	return e.started
}

// list returns the solvers of one slot, in the order in which they are asked.
func (e *Engine) list() []smt.Solver {
	first, steps, query := int64(firstSteps), int64(programSteps), int64(querySteps)
	if e.opt.OfLaunch || e.opt.Quick {
		first, steps, query = checkFirstSteps, checkProgramSteps, checkQuerySteps
	}
	var program *proc.Solver
	if e.program != nil {
		program = &proc.Solver{
			Path: e.program.Path, Kind: e.program.Kind,
			Steps: steps, Time: hangTime, Memory: solverMemory,
		}
	}
	switch {
	case program == nil:
		return []smt.Solver{&sat.Solver{Steps: query}}
	case !e.embedded:
		return []smt.Solver{program}
	case e.opt.OfLaunch || e.opt.Quick:
		return []smt.Solver{&sat.Solver{Steps: first}, lowDegree{program}}
	}
	return []smt.Solver{&sat.Solver{Steps: firstSteps}, program, &sat.Solver{Steps: querySteps}}
}

// mostDegree is the largest degree of a query (smt.Context.Degree) for which z3 is asked when users
// should not have to wait. Of the queries of HeCBench that the embedded solver had left, z3 decided
// nearly all up to degree 2, most of degree 3, and none of the 29 of a higher degree, each in two
// seconds.
const mostDegree = 3

// lowDegree is a solver that leaves queries of a high degree undecided at once.
type lowDegree struct{ *proc.Solver }

// Solve decides a conjunction.
func (s lowDegree) Solve(ctx context.Context, c *smt.Context, asserts []smt.Term) smt.Answer {
	if d := c.Degree(asserts); d > mostDegree {
		return smt.Answer{Reason: fmt.Sprintf("not asked for products of %d variables", d)}
	}
	return s.Solver.Solve(ctx, c, asserts)
}

// forInvariants are the solvers for the search for loop invariants. It has many simple queries, for
// which the embedded solver is fastest. An undecided candidate is only dropped.
func (e *Engine) forInvariants() []smt.Solver {
	return []smt.Solver{&sat.Solver{Steps: firstSteps}}
}

// Close ends the solvers and trims the cache of answers. All proofs must have ended.
func (e *Engine) Close() {
	if e.started != nil {
		e.started.Close()
	}
	if e.store != nil {
		e.store.Prune()
	}
}

// recorder returns a function that keeps the queries of one proof, numbered from 1; nil if none are
// to be kept.
func (p *Proof) recorder() func(*verify.Finding, []byte, smt.Answer) {
	dir := p.opt.SMTDir
	if dir == "" {
		return nil
	}
	return func(f *verify.Finding, script []byte, a smt.Answer) {
		p.queries++
		var b strings.Builder
		fmt.Fprintf(&b, "; %s\n; kernel %s: is %s possible?\n",
			p.Job.Module.Name, oneLine(p.Job.Kernel.Demangled), oneLine(p.Describe(f)))
		if a.Status == smt.Unknown {
			fmt.Fprintf(&b, "; undecided: %s\n", oneLine(a.Reason))
		} else {
			fmt.Fprintf(&b, "; decided by %s in %v\n", a.By, a.Time.Round(time.Microsecond))
		}
		fmt.Fprintf(&b, "(set-info :status %s)\n(set-logic ALL)\n%s(check-sat)\n", a.Status, script)
		name := fmt.Sprintf("%s.%s-%05d.smt2", fileName(filepath.Clean(p.Job.Module.Name)),
			fileName(p.Job.Kernel.Name), p.queries)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err != nil {
			p.engine.fail(fmt.Errorf("--smt-dir: %w", err))
		}
	}
}

// oneLine makes a text fit into a comment.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// fileName replaces the characters of a name that some file system does not accept, and keeps at
// most its last 100 bytes.
func fileName(s string) string {
	s = strings.Map(func(c rune) rune {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if letter || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '_'
	}, s)
	return s[max(len(s)-100, 0):]
}

// fail records the first error, which Failure returns.
func (e *Engine) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failure == nil {
		e.failure = err
	}
}
