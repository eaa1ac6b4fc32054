package diag

import (
	"slices"
	"strings"
)

// The codes. A code is stable: its meaning never changes, and a dropped code is never reused. Two
// findings share a code if the same change to the kernel would repair both.
const (
	CodeRaceShared          Code = "race-shared"
	CodeRaceGlobal          Code = "race-global"
	CodeBranchOrder         Code = "race-branch-order"
	CodeAsyncCopy           Code = "race-async-copy"
	CodeNoncoherent         Code = "race-noncoherent"
	CodeRaceUnorderedStrong Code = "race-unordered-strong"
	CodeRaceStream          Code = "race-stream"
	CodeRaceProxy           Code = "race-proxy"
	CodeProxyFenceLate      Code = "proxy-fence-late"
	CodeRaceGrid            Code = "race-grid"
	CodeRaceTensor          Code = "race-tensor"

	CodeBarrierDivergence Code = "barrier-divergence"
	CodeBarrierDeadlock   Code = "barrier-deadlock"
	CodeBarrierCount      Code = "barrier-count-mismatch"
	CodeWarpSyncHang      Code = "warp-sync-hang"
	CodeBadBarrier        Code = "bad-barrier"
	CodeBarrierRecycle    Code = "barrier-recycling"
	CodeBarrierTooMany    Code = "barrier-too-many"
	CodeBarrierNoWaiter   Code = "barrier-no-waiter"
	CodeBarrierSplit      Code = "barrier-split"

	CodeMBarrierUninitialized Code = "mbarrier-uninitialized"
	CodeMBarrierReinit        Code = "mbarrier-reinit"
	CodeMBarrierOverwritten   Code = "mbarrier-overwritten"
	CodeMBarrierInvalEarly    Code = "mbarrier-inval-early"
	CodeMBarrierExcess        Code = "mbarrier-arrive-excess"
	CodeMBarrierRange         Code = "mbarrier-count-range"
	CodeMBarrierBytes         Code = "mbarrier-tx-mismatch"
	CodeMBarrierState         Code = "mbarrier-state"
	CodeMBarrierRemote        Code = "mbarrier-remote"
	CodePeerNotStarted        Code = "dsmem-not-started"
	CodePeerExited            Code = "dsmem-exited"
	CodeBulkAlignment         Code = "bulk-alignment"
	CodeAsyncUnfinished       Code = "async-unfinished"
	CodeWarpgroupRegister     Code = "wgmma-register"
	CodeWarpgroupFence        Code = "wgmma-fence"
	CodeWarpgroupDivergence   Code = "wgmma-divergence"
	CodeTensorFence           Code = "tensor-fence"
	CodeTensorAllocation      Code = "tensor-alloc"
	CodeTensorBounds          Code = "tensor-bounds"
	CodeTensorOperand         Code = "tensor-operand"
	CodeCancelAfterFailure    Code = "cancel-after-failure"
	CodeRegisterPool          Code = "register-pool"
	CodeEarlyAccess           Code = "pdl-early-access"

	CodeOutOfBounds   Code = "out-of-bounds"
	CodeMisaligned    Code = "misaligned"
	CodeTrap          Code = "trap"
	CodeAssertFailed  Code = "assert-failed"
	CodeAnnotation    Code = "annotation-failed"
	CodeStackOverflow Code = "stack-overflow"
	CodeLeak          Code = "leak"
	CodeUninitialised Code = "uninitialized"

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

// Family groups codes by who has to act on them, and decides the exit code.
type Family uint8

const (
	Bugs   Family = iota // of the kernel: exit code 1
	Limits               // of heddle or of this run, never a bug of the kernel: exit code 3
	Inputs               // errors in files, flags or launches: exit code 2, or a warning
)

// String returns the heading of the family in a list of codes.
func (f Family) String() string {
	return [...]string{"bugs in the kernel", "limits of heddle or of this run",
		"errors in the input"}[f]
}

// Doc documents one code.
type Doc struct {
	Code    Code    // unique
	Family  Family  // who has to act
	Title   string  // one line, no trailing period
	Text    string  // what it means, why it is wrong, what can happen; paragraphs
	Fix     string  // how to repair it
	Example Example // an input that produces the code
	Fixed   Example // the repaired input; empty fields are as in Example
}

// Example is an input for a command. A test runs every example and checks that the code appears for
// Doc.Example and not for Doc.Fixed.
type Example struct {
	Command string   // of heddle; empty: run
	File    string   // name; the extension selects the language
	Text    string   // content of the file
	Flags   []string // of the command
}

// Docs returns the documentation of all codes, in the order of `heddle explain`.
func Docs() []Doc {
	return slices.Concat(raceDocs, proxyDocs, barrierDocs, mbarrierDocs, wgmmaDocs, tensorDocs,
		gridDocs, memoryDocs, limitDocs, inputDocs)
}

// Family returns the family of a code, and Bugs for an undocumented one, so that a finding with a
// mistyped code is never taken for a limit.
func (c Code) Family() Family {
	d, _ := Lookup(c)
	return d.Family
}

// Lookup returns the documentation of a code, and whether the code exists.
func Lookup(c Code) (Doc, bool) {
	for _, d := range Docs() {
		if d.Code == c {
			return d, true
		}
	}
	return Doc{}, false
}

// Similar returns the codes that contain a word of name, as suggestions for a name that is not a
// code.
func Similar(name string) []string {
	var out []string
	for _, d := range Docs() {
		for _, w := range strings.FieldsFunc(strings.ToLower(name),
			func(c rune) bool { return c < 'a' || c > 'z' }) {
			if len(w) > 2 && strings.Contains(string(d.Code), w) && !slices.Contains(out, string(d.Code)) {
				out = append(out, string(d.Code))
			}
		}
	}
	return out
}
