package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/event"
	"heddle/internal/lower"
	"heddle/internal/verify"
)

// Case is one kernel file of a suite in one configuration, with the expectations of its authors and
// ours. The reasons (Why, Except, Proved, Accepted) are in labels.go; a difference without a reason
// makes the run fail.
type Case struct {
	Name   string      // unique in the suite: the directory, or the configuration
	File   string      // path of the source
	Expect Expectation // of the suite
	// Jobs lists the runs in the order in which they are tried. The first one that satisfies the
	// kernel's assumptions counts.
	Jobs []Job
	// Proof is the job of a proof: the launch of the suite, for all inputs. nil: the suite has none.
	Proof *Job
	// Want is the verdict of our own label and Why its reason; empty without such a label.
	Want, Why string
	// Theirs is the label of the suite if ours differs; WhyNot says what is wrong with it.
	Theirs, WhyNot string
	// Except says why a bug in a kernel that should pass is correct. Empty: it would be a false alarm.
	Except string
	// Proved says why a proof of a kernel that should fail is correct. Empty: it would be unsound.
	Proved string
	// Accepted says why a proof of a kernel that the suite's tool rejects is correct.
	Accepted string
	// Cause is the suite's name for an expected failure: "race", "divergence", ...
	Cause string
}

// Expectation is the suite's expectation of a kernel. GPUVerify calls them pass,
// xfail:NOT_ALL_VERIFIED and any other xfail.
type Expectation uint8

const (
	// Pass: free of races and divergence.
	Pass Expectation = iota
	// Fail: a defect, which the suite does not always name.
	Fail
	// Rejected: the suite's tool does not accept the input.
	Rejected
)

// String returns "pass", "fail" or "rejected".
func (e Expectation) String() string { return [...]string{"pass", "fail", "rejected"}[e] }

// Job is one run of an engine on one file. It is sent to a worker process as JSON.
type Job struct {
	File     string     // path of the source
	Kernel   string     // empty: all kernels of the file
	Compiler []string   // further compiler arguments
	Defines  []string   // macros, as -D takes them
	Undefs   []string   // macros, as -U takes them
	Forced   []string   // headers, as -include takes them
	Includes []string   // directories
	Grid     event.Dim3 // in blocks
	Block    event.Dim3 // in threads
	Shared   uint32     // bytes of dynamic shared memory
	Args     []string   // as --arg takes them
	Warp     event.WarpModel
	Benign   event.Benign
	MaxSteps uint64    // limit of warp instructions
	Seeds    int       // number of schedules
	Note     string    // how the launch differs from that of the suite; empty: it does not
	Exclude  Exclusion // findings that do not count
	// DeviceOnly says that the suite has no host, so that variables of the file are device memory.
	DeviceOnly bool
	scratch    string // a directory for files of the worker; empty: none

	// For proofs only.
	OnlyIntraBlock bool          // ignore races between blocks
	AnyBlock       bool          // Block only tells which dimensions are larger than one
	Timeout        time.Duration // of the proof
	Axioms         string        // a file of axioms to assume; empty: none
}

// lower returns the options of the compiler.
func (j *Job) lower() lower.Options {
	return lower.Options{Args: j.Compiler, Defines: j.Defines, Undefines: j.Undefs, Forced: j.Forced,
		Includes: j.Includes}
}

// Exclusion holds the findings that the flags in the header of a case exclude.
type Exclusion struct {
	Races  bool     // check divergence only
	Arrays []string // races on other arrays do not count; nil: all count
}

// has reports whether a finding is excluded. Only races are: options such as --only-divergence turn
// the check for races off, and nothing else.
func (e *Exclusion) has(f *Finding) bool {
	switch {
	case !strings.HasPrefix(f.Code, "race-"):
		return false
	}
	_, array, _ := strings.Cut(f.Memory, " ")
	return e.Races || e.Arrays != nil && !slices.Contains(e.Arrays, array)
}

// Stage is the last stage that a kernel passed. A kernel that fails early is not comparable with
// the suite's expectation and is listed separately.
type Stage uint8

const (
	AtStart Stage = iota // nothing
	Lowered              // it compiles to PTX
	Parsed               // the PTX parses
	Built                // the IR is built
	Sane                 // the IR is consistent
	Ended                // the engine returned a verdict
)

// String returns the name of the stage as in the table.
func (s Stage) String() string {
	return [...]string{"start", "lowered", "parsed", "built", "sane", "ended"}[s]
}

// Result is the result of an engine for a Job.
type Result struct {
	Stage    Stage     // the last stage that was passed
	Error    string    // why the next stage was not reached
	Findings []Finding // without excluded ones
	Verdicts []Verdict // of each kernel
	// Assumptions is set if every run violated an assumption of its kernel, and names one.
	Assumptions string
	Seconds     float64      // wall time of the worker
	CPU         float64      // its time on the processors in seconds, compilers included
	Queries     verify.Stats // of a proof
}

// Finding is a defect that the engine reports.
type Finding struct {
	Code    string // of package diag
	Message string // one line
	Memory  string // of a race: "shared tile"
	Line    int    // in the source, from 1
	Kernel  string // demangled name
}

// Verdict is the engine's verdict on one kernel.
type Verdict struct {
	Kernel string // demangled name
	Kind   string // as diag.VerdictKind prints it
	Reason string // of an undecided verdict
}

// isSynchronization reports whether a finding is a race, divergence, deadlock or misuse of a
// barrier. Only these are defects in the sense of the suites; an access out of bounds is not.
func (f Finding) isSynchronization() bool {
	return strings.HasPrefix(f.Code, "race-") || strings.HasPrefix(f.Code, "barrier-") ||
		f.Code == "warp-sync-hang" || f.Code == "bad-barrier"
}

// verdict summarizes a result in one word: "failed" if a stage was not passed, "bug" for a
// synchronization defect, "other" for other findings only, "outside" if the assumptions of the
// kernels were violated, and otherwise the weakest verdict of the kernels.
func (r *Result) verdict() string {
	if r.Stage < Ended {
		return "failed"
	}
	// The weakest verdict counts: one undecided kernel makes the file undecided. A bug outranks it,
	// and a synchronization defect outranks any other finding.
	word := "clean"
	for _, v := range r.Verdicts {
		if v.Kind == "unknown" || v.Kind == "unsupported" {
			word = v.Kind
		}
	}
	for _, f := range r.Findings {
		switch {
		case f.isSynchronization():
			return "bug"
		case f.Code != "":
			word = "other"
		}
	}
	if r.Assumptions != "" && len(r.Findings) == 0 {
		return "outside"
	}
	return word
}

// reason returns the reason for the verdict in one line: the error, the most relevant finding, or
// why the engine did not decide. It is empty for a clean kernel.
func (r *Result) reason() string {
	if r.Error != "" {
		return r.Error
	}
	for _, f := range r.Findings {
		if f.isSynchronization() {
			return f.text()
		}
	}
	for _, f := range r.Findings {
		return f.text()
	}
	for _, v := range r.Verdicts {
		if v.Kind == "unknown" || v.Kind == "unsupported" {
			return v.Reason
		}
	}
	return ""
}

// text returns the finding in one line.
func (f Finding) text() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Code, f.Message) }
