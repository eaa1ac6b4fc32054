// Package diag holds diagnostics as data and renders them: as text for people, and as JSON, SARIF,
// JUnit XML and GitHub workflow commands for tools. Apart from the commands themselves, no other
// package prints results for the user.
//
// A diagnostic carries everything that any format shows; each renderer picks the parts for which
// its format has a field and joins the rest into the message (fullText). Renderers never decide
// whether something is a bug: severity, code and verdict are set by the producer.
package diag

import (
	"fmt"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// Severity orders diagnostics.
type Severity uint8

const (
	Note    Severity = iota // background; never changes an exit code
	Warning                 // something was ignored or guessed, and the run continues
	Error                   // a bug of the kernel, a limit of heddle, or an unusable input
)

// Code is the stable name of a kind of finding: "race-shared", "barrier-divergence". codes.go lists
// all codes, and the codes_*.go files hold their documentation.
type Code string

// Diagnostic is one finding. Only Code, Severity and Message are always set; a zero Span means that
// the finding has no place in a file.
type Diagnostic struct {
	Code     Code // one of codes.go
	Severity Severity
	Message  string      // one line, no trailing period
	Span     source.Span // where it happened; for a race, the second access

	// Stack lists the inlined and called functions that lead to Span, innermost first. Stack[0] is
	// the function that contains Span.
	Stack   []source.Frame
	Label   string    // what happened at Span: "(2) just happened here"
	Related []Related // the other places, such as the first access of a race

	Notes   []string // explanations, each one line or several joined by "\n"
	Help    []string // advice, verb phrases
	Fixes   []Fix    // edits that repair the finding
	Witness *Witness // nil: no run or counterexample belongs to the finding

	// Groups says where all threads of the block are, for a barrier that some threads miss or that
	// no thread can complete.
	Groups    []Group
	Kernel    string // demangled name
	Reproduce string // command line
	Count     uint64 // conflicts that this finding summarizes; 0: not counted

	Input      string       // the input with the finding, as the user named it
	Suppressed *Suppression // not nil: a heddle:ignore comment covers this finding
}

// Suppression is a heddle:ignore comment that covers a finding.
type Suppression struct {
	Reason string      // the text after the codes, for people
	Span   source.Span // of the comment
}

// Related is another place of a finding.
type Related struct {
	Span    source.Span    // where it is
	Stack   []source.Frame // as in Diagnostic
	Message string         // what happened there, one line
}

// Group is a set of threads at one place when the block can no longer make progress.
type Group struct {
	Threads string      // "32 threads (0,0,0) to (31,0,0) of warp 0"
	At      string      // "barrier 1, for 64 threads"; empty: they have exited
	Span    source.Span // of the place
}

// Fix is a suggested change.
type Fix struct {
	Message string // a verb phrase
	Edits   []Edit // non-overlapping, in any order
}

// Edit replaces the text of a span. Package edit applies edits.
type Edit = edit.Edit

// Witness describes the observed execution for machines; docs/json.md has the JSON schema.
type Witness struct {
	Engine        string        // "emulator"
	Launch        string        // as flags
	Seed          uint64        // of the schedule
	First, Second WitnessAccess // zero where the finding is not a race
	Memory        string        // "shared tile"
	Offset, Size  uint64        // bytes of Memory that both accesses touch
	Level         string        // "inter-block", "intra-block", "intra-warp"

	// Status is "observed" if a run showed the finding, and "confirmed" if a replay reproduced the
	// counterexample of a proof.
	Status string

	// Interval is the barrier interval of a race: the number of block-wide barriers that the second
	// thread had passed. For two threads of one block it is the interval of both.
	Interval uint32
	Entry    source.Span // of the kernel's entry
}

// WitnessAccess is one operation of a finding.
type WitnessAccess struct {
	Op     string // "st.shared.u32"
	Thread string // "thread (0,0,0) of block (0,0,0)"
	Kind   string // "read", "write", "atomic", ...; empty: unknown
}

// VerdictKind is the conclusion of an engine for one kernel.
type VerdictKind uint8

const (
	// Clean: no finding in the runs that Scope describes. It proves nothing beyond them.
	Clean VerdictKind = iota
	// Verified: proved free of races and barrier divergence for all inputs that Scope describes.
	Verified
	// Bug: at least one finding of family Bugs that no heddle:ignore comment covers.
	Bug
	// Unknown: heddle could not decide whether the kernel has a bug; Reason says why.
	Unknown
	// Unsupported: the kernel uses a construct, at Span, that heddle does not model.
	Unsupported
)

// String returns the stable name of a verdict: "clean", "verified", "bug", "unknown",
// "unsupported".
func (k VerdictKind) String() string { return verdictNames[min(int(k), len(verdictNames)-1)].name }

// Verdict is the conclusion for one kernel.
type Verdict struct {
	Kind   VerdictKind // the result
	Kernel string      // demangled name; empty: all kernels of an input that was not read
	Scope  string      // what a Clean or Verified covers: runs, or inputs
	Reason string      // why Unknown or Unsupported
	Span   source.Span // of the construct, for Unsupported
	Input  string      // the input with the kernel, as the user named it

	// Apart lists what a Clean or Verified does not cover, as noun phrases with the place and the code
	// of a warning: "unordered strong accesses at k.cu:7 (race-unordered-strong)".
	Apart []string

	Suppressed int // findings covered by heddle:ignore comments
	Known      int // findings of the baseline or of an older revision, which are not shown
}

// Text returns the verdict in one line without its kind: the kernel, the scope, the reason, and the
// number of hidden findings.
func (v *Verdict) Text() string {
	text := "kernel " + v.Kernel
	if v.Kernel == "" {
		text = "all kernels of " + v.Input
	}
	switch {
	case v.Kind == Clean && v.Suppressed+v.Known > 0:
		text += ": no other findings in " + v.Scope + "; there is no proof"
	case v.Kind == Clean:
		text += ": no findings in " + v.Scope + "; there is no proof"
	case v.Scope != "":
		text += ": " + v.Scope
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	if len(v.Apart) > 0 {
		text += "; apart from " + strings.Join(v.Apart, " and ")
	}
	if v.Suppressed > 0 {
		text += "; " + count(v.Suppressed, "finding is", "findings are") + " suppressed by heddle:ignore"
	}
	if v.Known > 0 {
		text += "; " + count(v.Known, "finding is", "findings are") + " already known and not shown"
	}
	return text
}

// count returns n with the singular or plural form of a phrase.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
