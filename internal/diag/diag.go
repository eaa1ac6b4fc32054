// Package diag holds diagnostics as data and renders them: text for people; JSON, SARIF, JUnit XML and workflow
// commands for tools. No other package prints to the user, cmd excepted.
package diag

import (
	"fmt"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// Severity orders diagnostics.
type Severity uint8

const (
	Note Severity = iota
	Warning
	Error
)

// Code is a stable name of a kind of finding: "race-shared", "barrier-divergence". Codes are listed with
// their documentation in codes.go.
type Code string

// Diagnostic is one finding.
type Diagnostic struct {
	Code      Code
	Severity  Severity
	Message   string // one line, no trailing period
	Span      source.Span
	Stack     []source.Frame // inlining and calls that led to Span, innermost first; Stack[0] is Span's own
	Label     string         // what happened at Span: "(2) just happened here"
	Related   []Related
	Notes     []string
	Help      []string
	Fixes     []Fix
	Witness   *Witness
	Groups    []Group // of a barrier that not all come to, or that nobody completes: where threads are
	Kernel    string  // demangled
	Reproduce string  // command line
	Count     uint64  // hazards that this finding stands for

	Input      string       // the input that it was found in, as the user named it
	Suppressed *Suppression // not nil: a comment says that this finding is to be ignored
}

// Suppression is a heddle:ignore comment that a finding matches.
type Suppression struct {
	Reason string
	Span   source.Span // of the comment
}

// Related is another place of a finding.
type Related struct {
	Span    source.Span
	Stack   []source.Frame
	Message string
}

// Group is threads that are at one place, when nothing goes on.
type Group struct {
	Threads string      // "32 threads (0,0,0) to (31,0,0) of warp 0"
	At      string      // "barrier 1, for 64 threads"; empty: they have exited
	Span    source.Span // of the place
}

// Fix is a suggested change.
type Fix struct {
	Message string // a verb phrase
	Edits   []Edit
}

// Edit replaces the text of a span. Package edit applies edits.
type Edit = edit.Edit

// Witness says what was seen, for machines; see the JSON schema in docs/json.md.
type Witness struct {
	Engine        string // "emulator"
	Launch        string // as flags
	Seed          uint64
	First, Second WitnessAccess
	Memory        string // "shared tile"
	Offset, Size  uint64 // byte range in Memory
	Level         string
	Status        string // "observed": seen in a run; "confirmed": a proof's counterexample that was replayed

	// Interval is the barrier interval of a race: how many barriers of its whole block the second thread had
	// passed. Between threads of one block it is that of both.
	Interval uint32
	Entry    source.Span // where the kernel begins
}

// WitnessAccess is one operation of a finding.
type WitnessAccess struct {
	Op     string // "st.shared.u32"
	Thread string // "thread (0,0,0) of block (0,0,0)"
	Kind   string
}

// VerdictKind is what an engine can conclude.
type VerdictKind uint8

const (
	// Clean: no finding in the runs that Scope describes. It proves nothing beyond them.
	Clean VerdictKind = iota
	Verified
	Bug
	Unknown
	Unsupported
)

// String is the stable name of a conclusion: "clean", "verified", "bug", "unknown", "unsupported".
func (k VerdictKind) String() string { return verdictNames[min(int(k), len(verdictNames)-1)].name }

// Verdict is the conclusion for one kernel.
type Verdict struct {
	Kind   VerdictKind
	Kernel string
	Scope  string      // what a Clean or Verified covers
	Reason string      // why Unknown or Unsupported
	Span   source.Span // of the construct, for Unsupported
	Input  string      // the input that holds the kernel, as the user named it

	Suppressed int // findings that heddle:ignore comments match
	Known      int // findings that were known before: of a baseline or an older revision
}

// Text says in one line what the verdict is worth, without its kind.
func (v *Verdict) Text() string {
	text := "kernel " + v.Kernel
	switch {
	case v.Kind == Clean && v.Suppressed+v.Known > 0:
		text += ": no other findings in " + v.Scope + "; this is no proof"
	case v.Kind == Clean:
		text += ": no findings in " + v.Scope + "; this is no proof"
	case v.Scope != "":
		text += ": " + v.Scope
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	if v.Suppressed > 0 {
		text += "; " + count(v.Suppressed, "finding is", "findings are") + " suppressed by heddle:ignore"
	}
	if v.Known > 0 {
		text += "; " + count(v.Known, "finding is", "findings are") + " known and not shown"
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
