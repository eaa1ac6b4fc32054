// Package diag holds diagnostics as data and renders them: as text and Markdown for people, and as
// JSON, SARIF, JUnit XML, GitHub workflow commands and GitLab reports for tools. Apart from the
// commands themselves, no other package prints results for the user.
//
// A diagnostic carries everything that any format shows; each renderer picks the parts for which
// its format has a field and joins the rest into the message (fullText). Renderers never decide
// whether something is a bug: severity, code and verdict are set by the producer.
package diag

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

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
	Label   string    // what happened at Span: "(2) read here by thread (0,0,0)"
	Related []Related // the other places, such as the first access of a race

	Notes []string // explanations, each one line or several joined by "\n"
	// Alike says which earlier finding may have the same cause; empty: none. Text leaves out the
	// rest.
	Alike string
	// Separate says of a finding with Alike that the change which ends the earlier one does not end
	// it.
	Separate bool
	Details  []string // for people who ask for them (-v): opcodes
	Help     []string // advice, verb phrases
	Fixes    []Fix    // edits that repair the finding
	Witness  *Witness // nil: no run or counterexample belongs to the finding

	// Groups says where all threads of the block are, for a barrier that some threads miss or that
	// no thread can complete.
	Groups    []Group
	Kernel    string // demangled name
	Launch    string // with its inputs, and where each comes from; empty: none
	Reproduce string // command line
	Count     uint64 // conflicts that this finding summarizes; 0: not counted

	Input      string       // the input with the finding, as the user named it
	Suppressed *Suppression // not nil: a heddle:ignore comment covers this finding
}

// Remarks are the notes, with Alike and the launch as the last ones, for formats that have no field
// for it.
func (d *Diagnostic) Remarks() []string {
	out := slices.Clip(d.Notes)
	if d.Alike != "" {
		out = append(out, d.Alike)
	}
	if d.Launch != "" {
		out = append(out, "launch: "+d.Launch)
	}
	return out
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
	// Unreached says that no thread gets there, although others wait for one.
	Unreached bool
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
	Element       string        // "tile[9][8]"; empty: the type of Memory is not known
	ElementSize   int           // bytes
	Dims          []int         // of the array, as declared; the first is 0 if it is open
	Level         string        // "inter-block", "intra-block", "intra-warp"

	// Status is "observed" if a run showed the finding, "confirmed" if a replay reproduced the
	// counterexample of a proof, and StatusGuess if it may need values that heddle guessed.
	Status string

	// Interval is the barrier interval of a race: the number of block-wide barriers that the second
	// thread had passed. For two threads of one block it is the interval of both.
	Interval uint32
	// NoBarrier says that the kernel has no barrier of the block.
	NoBarrier bool
	Entry     source.Span // of the kernel's entry
}

// StatusGuess is the Status of a finding that may need values that heddle guessed.
const StatusGuess = "depends on guesses"

// WitnessAccess is one operation of a finding.
type WitnessAccess struct {
	Op     string // "st.shared.u32"
	Thread string // "thread (0,0,0) of block (0,0,0)"
	Kind   string // "read", "write", "atomic", ...; empty: unknown
	Does   string // "writes `tile[t]`", in the words of the source
	Name   string // Thread with the dimensions of the launch: "thread 64 of block 0"
	When   string // the counters of the loops around it: "k = 64"; empty: unknown
	Value  string // what it writes or reads, to end a sentence: ", value 3"; empty: unknown
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
	// From is where the kernel is defined, "kernel.py:8", if the input is what a compiler has made of
	// it; else empty.
	From  string
	Scope string // what a Clean or Verified covers: runs, or inputs
	// Details complete Scope: what it assumes, and what else was examined, one clause each. Printers
	// for people leave them out unless asked.
	Details []string
	Reason  string      // why Unknown or Unsupported
	Span    source.Span // of the construct, for Unsupported
	Input   string      // the input with the kernel, as the user named it

	// Apart lists what a Clean or Verified does not cover, as noun phrases with the place and the
	// code of a warning: "unordered strong accesses at k.cu:7 (race-unordered-strong)".
	Apart []string
	// Next is what may decide more than a Clean verdict does, as a clause; empty: nothing.
	Next string

	Suppressed int // findings covered by heddle:ignore comments
	Known      int // findings of the baseline or of an older revision, which are not shown
}

// Text returns the verdict without its kind, complete: the kernel, the scope with its details, the
// reason, and the number of hidden findings.
func (v *Verdict) Text() string {
	if v.Kernel == "" {
		return v.complete(nameIn("", v.Input))
	}
	return v.complete("kernel " + v.Kernel)
}

// FullScope is the scope with its details.
func (v *Verdict) FullScope() string {
	scope := v.Scope
	if slices.ContainsFunc(v.Details, func(d string) bool { return strings.HasPrefix(d, "assuming ") }) {
		scope = withoutAssumptions(scope) // the details have all of them
	}
	return strings.Join(append([]string{scope}, v.Details...), "; ")
}

// withoutAssumptions returns a scope without what it assumes, for each launch that it is about.
func withoutAssumptions(scope string) string {
	head, rest, ok := strings.Cut(scope, "; assuming ")
	if !ok {
		return scope
	}
	for _, start := range []string{"; the launch ", "; launch "} {
		if _, next, ok := strings.Cut(rest, start); ok {
			return head + start + withoutAssumptions(next)
		}
	}
	return head
}

// complete is Text for a kernel that is named so.
func (v *Verdict) complete(name string) string {
	return v.text(name, v.FullScope(), v.Reason) + v.tail()
}

// LineWidth is the number of columns of a verdict for people, at most.
const LineWidth = 159

// more ends a line from which something was left out.
const more = " (-v: details)"

// Line returns the verdict without its kind in at most width columns. It names the input once, and
// leaves out the details of the scope. What does not fit is shortened: the parameters of the kernel
// and the directory of the input first, then a long scope of a clean kernel, then the reason.
func (v *Verdict) Line(width int) string {
	w := *v
	if input := v.Input; input != "" {
		w.Scope = strings.ReplaceAll(v.Scope, input+":", "")
		w.Reason = strings.ReplaceAll(v.Reason, input+":", "")
		w.Apart = slices.Clone(v.Apart)
		for i := range w.Apart {
			w.Apart[i] = strings.ReplaceAll(w.Apart[i], input+":", "")
		}
	}
	if n := len(w.Apart); n > 1 {
		w.Apart = []string{w.Apart[0], fmt.Sprintf("%d more", n-1)}
	}
	name, end := nameIn(v.from(v.Kernel), v.Input), w.tail()
	if len(v.Details) > 0 {
		end += more
	}
	if full := w.text(name, w.Scope, w.Reason) + end; utf8.RuneCountInString(full) <= width {
		return full
	}
	name, end = nameIn(v.from(withoutParameters(v.Kernel)), filepath.Base(v.Input)), w.tail()+more
	width = max(width-utf8.RuneCountInString(end), utf8.RuneCountInString(name))
	full := w.text(name, w.Scope, w.Reason)
	if over := utf8.RuneCountInString(full) - width; over > 0 && v.Kind == Clean && v.Reason != "" {
		full = w.text(name, shorten(w.Scope, max(utf8.RuneCountInString(w.Scope)-over, 60)), w.Reason)
	}
	return shorten(full, width) + end
}

// from adds where the kernel is defined to its name.
func (v *Verdict) from(kernel string) string {
	if v.From == "" || kernel == "" {
		return kernel
	}
	return kernel + " (" + v.From + ")"
}

// withoutParameters cuts the list of parameters from a demangled name. The name before it may have
// parentheses, too: "(anonymous namespace)::f(int)".
func withoutParameters(name string) string {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}

// nameIn names a kernel and its input, if that has a name; without a kernel, all of the input.
func nameIn(kernel, input string) string {
	if kernel == "" {
		return "all kernels of " + input
	}
	if input == "" || input == "." || input == "-" {
		return "kernel " + kernel
	}
	return "kernel " + kernel + " in " + input
}

// shorten cuts a text to at most width columns, at a space if there is one near.
func shorten(text string, width int) string {
	r := []rune(text)
	if len(r) <= width {
		return text
	}
	const mark = "..."
	r = r[:max(width-len(mark), 0)]
	for n := len(r); n > len(r)-20 && n > 0; n-- {
		if r[n-1] == ' ' {
			r = r[:n-1]
			break
		}
	}
	return strings.TrimRight(string(r), " ,;:(") + mark
}

// text joins the name of a kernel, a scope and a reason.
func (v *Verdict) text(text, scope, reason string) string {
	switch {
	case v.Kind == Clean && v.Suppressed+v.Known > 0:
		text += ": no other findings in " + scope + "; there is no proof"
	case v.Kind == Clean:
		text += ": no findings in " + scope + "; there is no proof"
	case scope != "":
		text += ": " + scope
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// tail says what the verdict does not cover. It is never shortened.
func (v *Verdict) tail() string {
	text := ""
	if v.Next != "" {
		text += "; " + v.Next
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
