package prove

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"heddle/internal/assume"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Options are the choices of this engine.
type Options struct {
	OnlyIntraBlock bool                         // leave out races between threads of different blocks
	Ignore         func(f *verify.Finding) bool // findings that do not count; nil: all do
	Any            lockstep.Any                 // dimensions of the launch that are arbitrary
	Assume         []*assume.Expr               // what holds of arguments and dimensions
	Bounds         bool                         // accesses to arrays of known size stay in them
	Abstraction    Abstraction
	Extern         Extern
	NoWrap         bool     // signed 32-bit index arithmetic does not wrap
	Unwind         int      // only the first iterations of each loop, which proves nothing; 0: all
	OfLaunch       bool     // assertions about data count only for the data of the launch
	Given          []string // kernels that are proved for the scalar arguments of their launch
	// Timeout bounds the proof of one kernel. A proof that reaches it is undecided. 0: only the steps
	// of the solvers are bounded.
	Timeout    time.Duration
	Solver     Solver
	SMTDir     string    // keep the queries there; empty: nowhere
	Invariants io.Writer // which candidate invariants of loops hold; nil: discarded
}

// Abstraction says what is known of what is loaded from arrays that the kernel writes to.
type Abstraction uint8

const (
	// Equality takes loads of one place in one barrier interval to be equal.
	Equality Abstraction = iota
	// Adversarial takes each load to be anything.
	Adversarial
)

// ParseAbstraction reads an abstraction; the empty word is Equality.
func ParseAbstraction(word string) (Abstraction, error) {
	return parse[Abstraction]("abstraction", word, "equality", "adversarial")
}

// Extern says what functions without a body do.
type Extern uint8

const (
	// Unsupported leaves kernels that call them undecided.
	Unsupported Extern = iota
	// Pure takes them to return, to touch no memory but the thread's own and to synchronize nothing.
	Pure
)

// ParseExtern reads what functions without a body do; the empty word is Unsupported.
func ParseExtern(word string) (Extern, error) {
	return parse[Extern]("extern", word, "unsupported", "pure")
}

// Solver names who decides queries.
type Solver uint8

const (
	// Auto is the embedded solver, and z3 where it is installed.
	Auto Solver = iota
	Embedded
	Z3
	CVC5
)

var solverNames = []string{"auto", "embedded", "z3", "cvc5"}

// String is the word that ParseSolver reads.
func (s Solver) String() string { return solverNames[s] }

// ParseSolver reads the name of a solver; the empty word is Auto.
func ParseSolver(word string) (Solver, error) {
	return parse[Solver]("solver", word, solverNames...)
}

// parse returns the number of a word; of the empty word it is 0.
func parse[T ~uint8](what, word string, words ...string) (T, error) {
	if word == "" {
		return 0, nil
	}
	if i := slices.Index(words, word); i >= 0 {
		return T(i), nil
	}
	last := len(words) - 1
	return 0, fmt.Errorf("%s %q: expected %s or %s", what, word,
		strings.Join(words[:last], ", "), words[last])
}

// Limits of one search, in steps of the solvers (smt.Answer). They are not times, so that a verdict
// does not depend on how busy the machine is. A timeout that the user gives replaces them, except
// where another attempt follows: what is decided there must not depend on time.
const (
	// VerifySteps bounds a proof that was asked for: about a minute.
	VerifySteps = 1_200_000_000
	// checkSteps bounds a proof that follows a clean run, where it should not keep users waiting:
	// some ten seconds.
	checkSteps = 200_000_000
)

// Proof is the verification of one kernel. What is exported beside Job and Config is set before
// Verify.
type Proof struct {
	Job    *driver.Job
	Config *launch.Config
	// Fixed has the values of scalar parameters that the proof is for, by index; the others are
	// arbitrary.
	Fixed map[int]uint64
	Steps int64 // that each search may take; 0: no limit
	Paths bool  // races are asked for the iterations in which they are
	// Shown and OneWarp are those of verify.Options.
	Shown, OneWarp func(*verify.Finding) bool

	engine  *Engine
	opt     *Options
	aside   driver.Aside // findings of replays that do not count
	queries int          // that were kept
	apart   bool         // the lanes of a warp are not in lock step, whatever the options say
	// Counterexamples that agree in the scalars are one run: by its arguments, whether it showed
	// anything.
	replayed map[string]bool
	guess    *run.Guesses
}

// Proof readies a proof of the job's kernel for a launch.
func (e *Engine) Proof(job *driver.Job, cfg *launch.Config) *Proof {
	return &Proof{
		Job: job, Config: cfg, engine: e, opt: &e.opt, replayed: map[string]bool{},
	}
}
