// Package check is the driver: it lowers the input files, resolves the launch of each kernel, runs the
// engines, and turns what they found into diagnostics and verdicts.
package check

import (
	"io"
	"time"

	"heddle/internal/assume"
	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// DefaultLimit is the number of findings printed for each kernel when Options.Limit is 0.
const DefaultLimit = 20

// Options are the choices of one run of the driver.
type Options struct {
	Kernel   string         // mangled or demangled name or its part before '('; empty: all
	Launch   launch.Request // what the flags said
	Warp     string         // "independent" | "lockstep"
	Benign   string         // "warp" | "all" | "none"
	Seed     uint64         // of the first schedule
	Seeds    int            // how many schedules, with consecutive seeds
	MaxSteps uint64         // warp instructions for each run; 0: 20 million and 50,000 for each warp
	// Workers is how many kernels are worked on at a time, 0: one for each core; and how many goroutines emulate
	// independent blocks of a run, 0: one, because the detector takes the events in turn.
	Workers        int
	Prove          bool                         // verify for all inputs instead of running
	OnlyIntraBlock bool                         // of proofs: races between threads of different blocks do not count
	Ignore         func(f *verify.Finding) bool // of proofs: findings that do not count; nil: all do
	ThenProve      bool                         // verify what is clean in all runs
	Any            lockstep.Any                 // of proofs: dimensions of the launch that are arbitrary
	Assume         []*assume.Expr               // of proofs: what holds of arguments and dimensions
	Bounds         bool                         // of proofs: accesses to arrays of known size stay in them
	Abstraction    string                       // of proofs: "equality", which is the default, or "adversarial"
	Solver         string                       // "embedded" | "z3" | "cvc5" | "auto", which is the default
	SMTDir         string                       // keep the queries of proofs there; empty: nowhere
	Timeout        time.Duration                // for the proof of one kernel; 0: DefaultTimeout
	Limit          int                          // findings printed per kernel; 0: DefaultLimit
	Lower          lower.Options
	Trace          *Trace          // not nil: trace each kernel, as heddle trace does
	Command        string          // "check" or "run": for the reproduce line
	Database       string          // what -p named: for the reproduce line
	Progress       func(Progress)  // is called from several goroutines; nil: none
	Decisions      func(Decisions) // is sent what was decided for each kernel, in their order; nil: nothing
	Extern         string          // of proofs: what calls of functions without a body are: "unsupported", which is the default, or "pure"
	NoWrap         bool            // of proofs: signed 32-bit index arithmetic does not wrap
	Unwind         int             // of proofs: only the first iterations of each loop, which finds bugs and proves nothing; 0: all
	Invariants     io.Writer       // what came of the candidate invariants of loops in proofs; nil: discarded
	Printf         io.Writer       // kernel printf output; nil: discarded
	Files          *source.Set     // that the positions of findings refer to; nil: a new one

	// Graph is sent the barriers of each block that is traced, in the order of the kernels; nil: nothing.
	Graph func(*diag.BarrierGraph)

	// Form is "pred" or "lockstep": print this form of each kernel to FormTo, and check nothing.
	Form   string
	FormTo io.Writer

	// Settings returns what a configuration says of a kernel of an input; nil: there is none.
	Settings func(input string, k *ir.Func) Setting

	// Known reports a finding that was known before, which is then counted and not sent; nil: none was.
	Known func(*diag.Diagnostic) bool

	// given are kernels that are proved for the scalar arguments of their launch.
	given []string

	// blockOnly has heddle sync place no barriers of the warp.
	blockOnly bool
}

// Setting is what a configuration says of one kernel. What flags say counts before it.
type Setting struct {
	Launch  []launch.Setting
	Engine  string        // how check examines it: "run", "verify" or "trace"; empty: as others
	Timeout time.Duration // for its proof; 0: Options.Timeout
	Skip    string        // the reason why it is not checked
	Span    source.Span   // of the table that says so
}

// Input is one input of a run.
type Input struct {
	lower.Input
	Found bool // in a directory that the user named: a file of some other use is no mistake
}

// Progress says how far the current run is.
type Progress struct {
	Kernel                    string
	Engine                    string // that works on it: "emulation", "trace" or "proof"
	Steps, BlocksDone, Blocks uint64 // of an emulation; Blocks is 0 before it begins
	Kernels, KernelsDone      int    // of the files that were read so far; 0: not known
	Files, FilesDone          int
}

// Times says where the time of a run went; of kernels that were worked on side by side it is the sum.
type Times struct {
	Compile time.Duration // until there is PTX
	Read    time.Duration // from PTX to the module
	Terms   time.Duration // from the module to the accesses of one thread
}

// Summary is what a run of the driver came to.
type Summary struct {
	Verdicts    []diag.Verdict // one for each kernel, in the order of files and kernels
	Bugs        int
	Guessed     int          // findings beside them that depend on what nobody said of the launch
	Queries     verify.Stats // of all proofs
	Times       Times
	Files       *source.Set
	Printed     int // kernels of which a form was printed
	Skipped     int // kernels that a configuration excludes
	InputErrors int // files or launches that could not be used; each was sent as a diagnostic
}
