package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/event"
	"heddle/internal/verify"
)

// Case is one kernel file of a suite, in one configuration, with what its authors expect of it.
type Case struct {
	Name   string // unique in the suite: the directory, or the configuration
	File   string
	Expect Expectation
	Jobs   []Job // runs, in the order in which they are tried: the first that is within the kernel's assumptions counts
	Proof  *Job  // the one job of a proof: the launch that the suite names, for all inputs; nil: the suite is not for proofs
	// Want is the verdict that a label of our own demands, and Why what decides it; both may be empty.
	Want, Why string
	// Theirs is a label of the suite that is not ours; WhyNot says what is wrong with it.
	Theirs, WhyNot string
	// Except is why a bug in a kernel that should pass is right all the same.
	Except string
	// Proved is why a proof of a kernel that should fail is right all the same.
	Proved string
	// Accepted is why a proof of a kernel that the suite's tool refuses is right.
	Accepted string
	// Cause is what a suite says of an expected failure: "race", "divergence", ...
	Cause string
}

// Expectation is what a suite says of a kernel.
type Expectation uint8

const (
	// Pass: free of races and divergence.
	Pass Expectation = iota
	// Fail: some defect, which the suite does not always name.
	Fail
	// Rejected: the suite's tool does not accept the input.
	Rejected
)

func (e Expectation) String() string { return [...]string{"pass", "fail", "rejected"}[e] }

// Job is one run of an engine on one file. It is sent to a process of its own as JSON.
type Job struct {
	File     string
	Kernel   string // empty: all kernels of the file
	Compiler []string
	Defines  []string
	Includes []string
	Grid     event.Dim3
	Block    event.Dim3
	Shared   uint32   // bytes of dynamic shared memory
	Args     []string // as --arg takes them
	Warp     event.WarpModel
	Benign   event.Benign
	MaxSteps uint64
	Seeds    int
	Note     string // how this launch differs from that of the suite
	Exclude  Exclusion

	// Of proofs.
	OnlyIntraBlock bool
	AnyBlock       bool // Block says in which dimensions blocks are larger than one, and no more
	Timeout        time.Duration
}

// Exclusion says which findings a case excludes by itself, by the flags in its header.
type Exclusion struct {
	Races  bool     // divergence only
	Arrays []string // races count on these arrays only; nil: on all
}

func (e *Exclusion) has(f *Finding) bool {
	switch {
	case !strings.HasPrefix(f.Code, "race-"):
		return false
	}
	_, array, _ := strings.Cut(f.Memory, " ")
	return e.Races || e.Arrays != nil && !slices.Contains(e.Arrays, array)
}

// Stage is how far a kernel came.
type Stage uint8

const (
	AtStart Stage = iota
	Lowered       // there is PTX
	Parsed        // it parses
	Built         // it is IR
	Sane          // and the IR is consistent
	Ended         // the engine came to a verdict
)

func (s Stage) String() string {
	return [...]string{"start", "lowered", "parsed", "built", "sane", "ended"}[s]
}

// Result is what an engine says of a Job.
type Result struct {
	Stage    Stage
	Error    string // why the next stage was not reached
	Findings []Finding
	Verdicts []Verdict // of each kernel
	// Assumptions says that every kernel's run was outside what the kernel assumes.
	Assumptions string
	Seconds     float64
	Queries     verify.Stats // of a proof
}

// Finding is a defect that the engine reports.
type Finding struct {
	Code    string
	Message string
	Memory  string // of a race: "shared tile"
	Line    int
}

// Verdict is the engine's conclusion on one kernel.
type Verdict struct {
	Kernel, Kind, Reason string
}

// isSynchronization reports whether a finding is a race, divergence, deadlock or misuse of a barrier; others are of other
// kinds.
func (f Finding) isSynchronization() bool {
	return strings.HasPrefix(f.Code, "race-") || strings.HasPrefix(f.Code, "barrier-") || f.Code == "warp-sync-hang" || f.Code == "bad-barrier"
}

// verdict sums up a result in one word: "bug" for a synchronization defect, "other" for findings of other
// kinds only, else the weakest verdict of the kernels; "failed" if a stage was not passed.
func (r *Result) verdict() string {
	if r.Stage < Ended {
		return "failed"
	}
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

// reason says in a line what decided the verdict.
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

func (f Finding) text() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Code, f.Message) }
