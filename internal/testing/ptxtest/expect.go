// Package ptxtest runs kernels that state their own expectations. A test kernel is a .cu, .cl or
// .ptx file with these comments:
//
//	// expect: clean | verified | bug | ...          the verdict on every kernel; required
//	// options: --warp lockstep --benign all ...     flags of heddle run
//	// heddle: grid=1 block=64                       the launch, read by heddle itself
//	... // want CODE "regexp"                        on each line that a finding reports
//	... // warn CODE "regexp"                        the same for a warning of the kernel
//	... // unsupported "regexp"                      on the line of the verdict, for its reason
//
// A finding reports the lines of both its operations or of all its groups. Each of these lines must
// have a want with the code of the finding and a regexp that matches its message (of a race, after
// "read-write intra-warp: ", its kinds and how far apart the threads are), and each want
// must match a finding. A test thus fails for a missing finding, for an unexpected one, and for a
// wrong place. Warnings that no warn expects are accepted in kernels with a bug only.
package ptxtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/diag"
)

// Want is one expectation of a file.
type Want struct {
	Line    int            // from 1
	Code    diag.Code      // of the finding
	Rx      *regexp.Regexp // for its message; nil: any message
	matched bool           // by a finding
}

// Expect holds the expectations of a file.
type Expect struct {
	Verdict diag.VerdictKind // on every kernel
	Options []string         // flags of heddle run
	Wants   []*Want          // findings, one for each line that they report
	Warns   []*Want          // warnings, likewise
	Stops   []*Want          // unsupported constructs and reasons; Code is "unsupported"
}

// verdicts maps the words of expect: comments to verdicts.
var verdicts = map[string]diag.VerdictKind{
	"clean": diag.Clean, "bug": diag.Bug, "unknown": diag.Unknown, "unsupported": diag.Unsupported,
	"verified": diag.Verified,
}

// Parse reads the expectations of a file. It fails if the verdict is missing or unknown, if a want
// is malformed, and if a file has wants without expecting a bug or the other way round.
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
				return nil, fmt.Errorf("line %d: expected a single expect: comment with clean, verified, "+
					"bug, unknown or unsupported", i+1)
			}
			e.Verdict, given = kind, true
		}
		if v, ok := strings.CutPrefix(comment, "options: "); ok {
			e.Options = append(e.Options, strings.Fields(v)...)
		}
		for mark, to := range map[string]*[]*Want{"// want ": &e.Wants, "// warn ": &e.Warns} {
			for _, v, ok := strings.Cut(line, mark); ok; _, v, ok = strings.Cut(v, mark) {
				w, err := parseWant(v)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
				w.Line = i + 1
				*to = append(*to, w)
			}
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
		return nil, fmt.Errorf("expected wants in a file that expects a bug, and in no other file")
	}
	return e, nil
}

// parseWant parses CODE "regexp" up to the next marker. A line can have several.
func parseWant(s string) (*Want, error) {
	s, _, _ = strings.Cut(s, "// wa")
	code, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	w := &Want{Code: diag.Code(code)}
	if rest = strings.TrimSpace(rest); rest == "" {
		return w, nil
	}
	pattern, err := strconv.Unquote(rest)
	if err != nil {
		return nil, fmt.Errorf("want %s: expected a Go string literal with a regexp (backslashes doubled), found %s", code, rest)
	}
	w.Rx, err = regexp.Compile(pattern)
	return w, err
}

// Match compares findings with the wants, and warnings with the warns, and returns a message for
// each difference.
func (e *Expect) Match(findings []Finding) []string {
	var diffs []string
	for _, f := range findings {
		for _, line := range f.Lines {
			if !e.match(line, f) && !(f.Warning && e.Verdict == diag.Bug) {
				diffs = append(diffs, fmt.Sprintf("line %d: unexpected %s: %s", line, f.Code, f.Message))
			}
		}
	}
	for _, w := range slices.Concat(e.Wants, e.Warns) {
		if !w.matched {
			diffs = append(diffs, fmt.Sprintf("line %d: no finding %s matching %v", w.Line, w.Code, w.Rx))
		}
	}
	return diffs
}

// match marks the wants on a line that match a finding, and reports whether there are any.
func (e *Expect) match(line int, f Finding) bool {
	found, list := false, e.Wants
	if f.Warning {
		list = e.Warns
	}
	for _, w := range list {
		if w.Line == line && w.Code == f.Code && (w.Rx == nil || w.Rx.MatchString(f.Message)) {
			w.matched, found = true, true
		}
	}
	return found
}

// Finding is a diagnostic reduced to what Match compares.
type Finding struct {
	Code    diag.Code // of the finding
	Message string    // see summary
	Lines   []int     // of its places in the file, distinct; 0 for a place in another file
	Warning bool      // it does not count as a bug
}
