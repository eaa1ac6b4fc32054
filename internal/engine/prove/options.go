package prove

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"heddle/internal/assume"
	"heddle/internal/axiom"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Options are the choices of this engine.
type Options struct {
	// Cooperative says that the caller makes launches of the host code cooperative that are not, as
	// barriers of the grid need.
	Cooperative    bool
	OnlyIntraBlock bool                         // races between different blocks are not checked
	FewBlocks      bool                         // a replay runs the blocks of its two threads only
	Ignore         func(f *verify.Finding) bool // findings that do not count; nil: all do
	Any            lockstep.Any                 // dimensions that are arbitrary, not the launch's
	Assume         []*assume.Expr               // conditions on arguments and dimensions to assume
	Axioms         []*axiom.File                // about functions without a meaning, to assume
	Bounds         bool                         // check accesses to arrays of known size
	Abstraction    Abstraction
	Extern         Extern
	NoWrap         bool // assume that signed 32-bit index arithmetic does not wrap
	Unwind         int  // look at so many iterations of each loop, without a proof; 0: all
	// OfLaunch says that the proofs follow runs: a failed assertion counts only with the data of the
	// launch, and the limits are smaller.
	OfLaunch bool
	// Quick gives up hard queries early, as with OfLaunch: what is searched by many proofs is rarely
	// decided by one that takes seconds.
	Quick bool
	Given []string // kernels to prove for the scalar arguments of their launch only
	// Timeout bounds the proof of one kernel. A proof that reaches it is undecided. 0: only the steps
	// of the solvers are bounded.
	Timeout time.Duration
	Solver  Solver
	// NoProcess makes Auto behave as where no solver process is installed: a result must not depend
	// on the machine that computes it.
	NoProcess  bool
	SMTDir     string    // directory in which queries are kept; empty: they are not kept
	Invariants io.Writer // receives the candidate invariants of loops; nil: discarded
}

// Abstraction says what a proof assumes about values loaded from arrays that the kernel writes.
type Abstraction uint8

const (
	// Equality assumes that loads of one address in one barrier interval return equal values. That
	// holds for a kernel without races, so it does not hide the first one.
	Equality Abstraction = iota
	// Adversarial lets each load return any value. It assumes less, and proves less.
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
	// Pure assumes that they return, access no memory but the thread's own and do not synchronize.
	Pure
)

// ParseExtern reads what functions without a body do; the empty word is Unsupported.
func ParseExtern(word string) (Extern, error) {
	return parse[Extern]("extern", word, "unsupported", "pure")
}

// Solver names the solver that decides queries.
type Solver uint8

const (
	// Auto is the embedded solver, and z3 where it is installed.
	Auto     Solver = iota
	Embedded        // package smt/sat, in process
	Z3              // a process, in SMT-LIB 2
	CVC5            // the same
)

var solverNames = []string{"auto", "embedded", "z3", "cvc5"}

// String is the word that ParseSolver reads.
func (s Solver) String() string { return solverNames[s] }

// ParseSolver reads the name of a solver; the empty word is Auto.
func ParseSolver(word string) (Solver, error) {
	return parse[Solver]("solver", word, solverNames...)
}

// parse returns the index of a word in words, and 0 for the empty word.
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

// Limits of one search, in steps of the solvers (smt.Answer). They are not times, so a verdict does
// not depend on the load of the machine. A timeout that the user specifies replaces them, except
// where another attempt follows: whether that is made must not depend on time.
const (
	// VerifySteps bounds a proof that the user requested: about a minute.
	VerifySteps = 1_500_000_000
	// checkSteps bounds all attempts at a proof that follows a clean run, for which users should not
	// have to wait long: about four seconds.
	checkSteps = 80_000_000
	// guessedSteps bounds the last attempt, for guessed scalars: the run had them and found nothing.
	guessedSteps = 20_000_000
)

// Proof is the verification of one kernel. The exported fields are set before Verify is called.
type Proof struct {
	Job    *driver.Job
	Config *launch.Config
	// Fixed has the values of scalar parameters, by index, for which the proof holds. The other
	// parameters are arbitrary.
	Fixed    map[int]uint64
	Steps    int64 // limit of each search; 0: none
	Paths    bool  // a counterexample also has the iterations in which the accesses race
	Exists   bool  // a finding needs no counterexample
	OneBlock bool  // races between blocks are left out
	// Beyond is that of verify.Options.
	Beyond uint32
	// Shown and OneWarp are those of verify.Options, and so is Ignore, beside that of the engine.
	Shown, OneWarp, Ignore func(*verify.Finding) bool

	engine  *Engine
	opt     *Options
	earlier *Earlier     // of other launches of the kernel; nil: there are none
	aside   driver.Aside // findings of replays that do not count
	queries int          // number of queries that were kept, for file names
	// total bounds the steps of all attempts, which have spent some of them; 0: no bound
	total, spent int64
	apart        bool // do without lock step, whatever the options say
	// tied is what the host code computes for the launch, which the proof assumes; nil: nothing
	tied *launch.Relation
	// whether says that only the existence of a counterexample counts
	whether bool
	// bare leaves out the annotations that are checked; doubtful says that only such annotations
	// stood in the way of the last proof.
	bare, doubtful bool
	// Counterexamples with equal arguments share one replay. replayed tells, by the arguments,
	// whether it showed anything.
	replayed map[string]bool
	guess    *run.Guesses
	otherUse *string // what unread has found; nil: it has not looked yet
}

// Proof prepares a proof of the job's kernel for a launch. Nothing is decided yet.
func (e *Engine) Proof(job *driver.Job, cfg *launch.Config) *Proof {
	return &Proof{
		Job: job, Config: cfg, engine: e, opt: &e.opt, replayed: map[string]bool{},
	}
}
