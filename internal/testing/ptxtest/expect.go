// Package ptxtest runs kernels that state their own expectations. A test kernel is a .cu, .cl or .ptx file with
// these comments:
//
//	// expect: clean | verified | bug | ...          the verdict on every kernel of the file, always given
//	// options: --warp lockstep --benign all ...     flags of heddle run
//	// heddle: grid=1 block=64                       the launch, read by heddle itself
//	... // want CODE "regexp"                        on each line that a finding names
//	... // unsupported "regexp"                      on the line that the verdict names, with its reason
//
// A finding names the lines of both its operations (or of all its groups), and each of them must carry a
// want with its code, whose regexp matches the finding's message; and each want must be met by a finding.
// So a test fails when a finding is missing, when there is one too many, and when it names a wrong place.
package ptxtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"heddle/internal/diag"
)

// Want is one expectation.
type Want struct {
	Line int
	Code diag.Code
	Rx   *regexp.Regexp // nil: any message
	met  bool
}

// Expect is what a file says about itself.
type Expect struct {
	Verdict diag.VerdictKind
	Options []string
	Wants   []*Want
	Stops   []*Want // where the verdict is unsupported, and why; Code is empty
}

var verdicts = map[string]diag.VerdictKind{
	"clean": diag.Clean, "bug": diag.Bug, "unknown": diag.Unknown, "unsupported": diag.Unsupported, "verified": diag.Verified,
}

// Parse reads the expectations of a file.
func Parse(text string) (*Expect, error) {
	e := &Expect{}
	given := false
	for i, line := range strings.Split(text, "\n") {
		_, comment, ok := strings.Cut(line, "// ")
		if !ok {
			continue
		}
		if v, ok := strings.CutPrefix(comment, "expect: "); ok {
			kind, known := verdicts[strings.TrimSpace(v)]
			if !known || given {
				return nil, fmt.Errorf("line %d: expect: wants one of clean, verified, bug, unknown, unsupported, once", i+1)
			}
			e.Verdict, given = kind, true
		}
		if v, ok := strings.CutPrefix(comment, "options: "); ok {
			e.Options = append(e.Options, strings.Fields(v)...)
		}
		for v, ok := cutWant(line); ok; v, ok = cutWant(v) {
			w, err := parseWant(v)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			w.Line = i + 1
			e.Wants = append(e.Wants, w)
		}
		if _, why, ok := strings.Cut(line, "// unsupported "); ok {
			w, err := parseWant("unsupported " + why)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			w.Line = i + 1
			e.Stops = append(e.Stops, w)
		}
	}
	if !given {
		return nil, fmt.Errorf("no // expect: line")
	}
	if (e.Verdict == diag.Bug) != (len(e.Wants) > 0) {
		return nil, fmt.Errorf("a file that expects a bug has wants, and no other has")
	}
	return e, nil
}

func cutWant(s string) (string, bool) {
	_, after, ok := strings.Cut(s, "// want ")
	return after, ok
}

func parseWant(s string) (*Want, error) {
	s, _, _ = strings.Cut(s, "// want ")
	code, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	w := &Want{Code: diag.Code(code)}
	if rest = strings.TrimSpace(rest); rest == "" {
		return w, nil
	}
	pattern, err := strconv.Unquote(rest)
	if err != nil {
		return nil, fmt.Errorf("want %s: a quoted regexp is expected, not %s", code, rest)
	}
	w.Rx, err = regexp.Compile(pattern)
	return w, err
}

// Match compares the findings with the wants; it returns one message for each difference.
func (e *Expect) Match(findings []Finding) []string {
	var diffs []string
	for _, f := range findings {
		for _, line := range f.Lines {
			if !e.meet(line, f) {
				diffs = append(diffs, fmt.Sprintf("line %d: unexpected %s: %s", line, f.Code, f.Message))
			}
		}
	}
	for _, w := range e.Wants {
		if !w.met {
			diffs = append(diffs, fmt.Sprintf("line %d: no finding %s matching %v", w.Line, w.Code, w.Rx))
		}
	}
	return diffs
}

func (e *Expect) meet(line int, f Finding) bool {
	found := false
	for _, w := range e.Wants {
		if w.Line == line && w.Code == f.Code && (w.Rx == nil || w.Rx.MatchString(f.Message)) {
			w.met, found = true, true
		}
	}
	return found
}

// Finding is what Match needs of a diagnostic.
type Finding struct {
	Code    diag.Code
	Message string
	Lines   []int // of its places in the file, without repetition
}
