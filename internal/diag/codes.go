package diag

import (
	"slices"
	"strings"
)

// The codes. A code is stable: it is never given another meaning, and a code that is dropped is not used
// again. Two findings have one code if one change of a kernel's design would repair both.
const (
	CodeRaceShared  Code = "race-shared"
	CodeRaceGlobal  Code = "race-global"
	CodeBranchOrder Code = "race-branch-order"
	CodeAsyncCopy   Code = "race-async-copy"
	CodeNoncoherent Code = "race-noncoherent"

	CodeBarrierDivergence Code = "barrier-divergence"
	CodeBarrierDeadlock   Code = "barrier-deadlock"
	CodeBarrierCount      Code = "barrier-count-mismatch"
	CodeWarpSyncHang      Code = "warp-sync-hang"
	CodeBadBarrier        Code = "bad-barrier"
	CodeBarrierRecycle    Code = "barrier-recycling"
	CodeBarrierTooMany    Code = "barrier-too-many"
	CodeBarrierNoWaiter   Code = "barrier-no-waiter"

	CodeOutOfBounds   Code = "out-of-bounds"
	CodeMisaligned    Code = "misaligned"
	CodeTrap          Code = "trap"
	CodeAssertFailed  Code = "assert-failed"
	CodeAnnotation    Code = "annotation-failed"
	CodeStackOverflow Code = "stack-overflow"

	CodeStepLimit      Code = "step-limit"
	CodeUnsupported    Code = "unsupported"
	CodeDependsOnInput Code = "depends-on-input"
	CodeAssumptions    Code = "outside-assumptions"

	CodeSyntax   Code = "ptx-syntax"
	CodeCompile  Code = "compile-error"
	CodeHostCode Code = "host-code"
	CodeLaunch   Code = "launch"
	CodeInput    Code = "input"

	CodeSuppression       Code = "suppression"
	CodeSuppressionUnused Code = "suppression-unused"
)

// Family groups codes by who has to act on them.
type Family uint8

const (
	Bugs   Family = iota // of the kernel: exit code 1
	Limits               // of heddle or of this run; never a bug of the kernel: exit code 3
	Inputs               // mistakes in what heddle was given: exit code 2, or a warning
)

// String is the heading of the family in a list of codes.
func (f Family) String() string {
	return [...]string{"bugs in the kernel", "limits of heddle or of the run", "mistakes in the input"}[f]
}

// Doc documents one code.
type Doc struct {
	Code    Code
	Family  Family
	Title   string // one line, no trailing period
	Text    string // what it means, why it is wrong, what the message says; paragraphs
	Fix     string // how to repair it
	Example Example
	Fixed   Example // the same, repaired; what is empty is that of Example
}

// Example is an input for heddle run: one on which it reports the code, or does not any more.
type Example struct {
	File  string // its name, which says the language
	Text  string
	Flags []string // of heddle run
}

// Docs returns the documentation of all codes, in the order in which they are listed to users.
func Docs() []Doc {
	return slices.Concat(raceDocs, barrierDocs, memoryDocs, limitDocs, inputDocs)
}

// Family returns the family of a code; Bugs for one that is not documented.
func (c Code) Family() Family {
	d, _ := Lookup(c)
	return d.Family
}

// Lookup returns the documentation of a code.
func Lookup(c Code) (Doc, bool) {
	for _, d := range Docs() {
		if d.Code == c {
			return d, true
		}
	}
	return Doc{}, false
}

// Similar returns the codes that contain one of the words of name, for a name that is no code.
func Similar(name string) []string {
	var out []string
	for _, d := range Docs() {
		for _, w := range strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c < 'a' || c > 'z' }) {
			if len(w) > 2 && strings.Contains(string(d.Code), w) && !slices.Contains(out, string(d.Code)) {
				out = append(out, string(d.Code))
			}
		}
	}
	return out
}
