package ptxtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/testing/long"
)

// kinds are the kinds of statements that TestMutations changes, each with what it matches behind
// guard and label. The first that matches counts.
var kinds = []struct {
	name string
	rx   *regexp.Regexp
}{
	{"wait", regexp.MustCompile(`^(?:mbarrier\.(?:test|try)_wait|barrier\.cluster\.wait|` +
		`cp\.async\.(?:bulk\.)?wait)`)},
	{"expect", regexp.MustCompile(`^mbarrier\.(?:expect_tx|complete_tx|arrive(?:_drop)?\.expect_tx)`)},
	{"arrive", regexp.MustCompile(`^(?:mbarrier\.arrive|barrier\.cluster\.arrive|` +
		`cp\.async\.(?:mbarrier|bulk\.commit))`)},
	{"fence", regexp.MustCompile(`^fence\.`)},
	{"barrier", regexp.MustCompile(`^bar\.`)},
	{"init", regexp.MustCompile(`^mbarrier\.(?:init|inval)`)},
}

// statement matches a line with one statement, or with a wait and its loop.
var statement = regexp.MustCompile(`^\t(?:(W\d+): )?(?:@!?%p\d+ )?([a-z][^;]*);`)

// kindOf returns the kind of the statement of a line; "" if it is not changed.
func kindOf(line string) string {
	m := statement.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	for _, k := range kinds {
		if k.rx.MatchString(m[2]) {
			return k.name
		}
	}
	return ""
}

// mutant is a kernel of which one statement was changed.
type mutant struct {
	kernel, kind, how string
	line              int // from 1
	text              string
}

// key names a mutant in the list of survivors.
func (m *mutant) key(path string) string {
	return fmt.Sprintf("%s %s: %s %s", filepath.Base(path), m.kernel, m.kind, m.how)
}

// mutantsOf returns the mutants of a file: each statement of a kind removed, doubled, and moved
// over its neighbor, down or up.
func mutantsOf(lines []string) (out []mutant) {
	kernel := ""
	for i, line := range lines {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			kernel = m[1]
		}
		kind := kindOf(line)
		if kind == "" || kernel == "" {
			continue
		}
		add := func(how, with string) {
			text := append([]string(nil), lines...)
			text[i] = with
			out = append(out, mutant{kernel, kind, how, i + 1, strings.Join(text, "\n")})
		}
		code, _, _ := strings.Cut(line, " //")
		again := code
		if m := statement.FindStringSubmatch(line); m[1] != "" {
			add("removed", "")
			again = strings.ReplaceAll(code, m[1], m[1]+"0")
		} else {
			add("removed", strings.Replace(line, code, "", 1))
		}
		add("doubled", code+again)
	}
	for _, m := range movesOf(lines) {
		at := m.line
		if kindOf(lines[at]) == "" {
			at = m.over
		}
		if kind := kindOf(lines[at]); kind != "" {
			out = append(out, mutant{m.kernel, kind, "moved", at + 1, m.text})
		}
	}
	slices.SortStableFunc(out, func(a, b mutant) int { return cmp.Compare(a.line, b.line) })
	return out
}

// survivors are the mutants that neither a trace nor a run finds and that a trace does not verify
// either, each with the reason.
var survivors = map[string]string{
	"threads_clean.ptx pause_and_peek: wait doubled":       asksTwice,
	"right.ptx stored_and_copied: wait doubled":            asksTwice,
	"right.ptx reductions_of_one_kind: wait doubled":       asksTwice,
	"right.ptx bulk_reductions_of_one_kind: wait doubled":  asksTwice,
	"mbarrier.ptx k: wait doubled":                         asksTwice,
	"mbarrier_verified.ptx counted_attempts: wait doubled": asksTwice,
	"mbarrier_verified.ptx negated: wait doubled":          asksTwice,
	"mbarrier_verified.ptx address_in_loop: wait doubled":  asksTwice,
	"mbarrier_verified.ptx token: wait doubled":            waitsTwice,
}

// The reasons. A phase that is complete stays so until the next one is, which needs this thread.
const (
	asksTwice = "harmless: of two tests in a loop the second decides, and both ask for the same " +
		"phase; a trace takes no loop for a wait that drops an answer"
	waitsTwice = "harmless: the second wait is over at once; a trace knows no token that decides " +
		"about two waits"
)

// fate says what becomes of a mutant.
type fate uint8

const (
	killed    fate = iota // a trace or a run shows a bug, or the trace that schedules differ
	redundant             // a trace verifies the kernel, and no run has a bug
	survived
)

// mutantSeeds is how many schedules decide whether a run finds a mutant.
const mutantSeeds = 100

// judge decides about a mutant.
func judge(t *testing.T, path, kernel string) (fate, string) {
	t.Helper()
	v := verdictOn(t, path, kernel, check.Trace, 1)
	switch {
	case v.Kind == diag.Bug, v.Kind == diag.Unknown,
		strings.Contains(v.Reason, "which is read before it is written"): // a state without arrival
		return killed, "trace"
	}
	run := verdictOn(t, path, kernel, check.Run, mutantSeeds)
	switch {
	case run.Kind == diag.Bug:
		return killed, "run"
	case v.Kind == diag.Verified && run.Kind == diag.Clean:
		return redundant, ""
	}
	return survived, fmt.Sprintf("trace: %v (%s), run: %v (%s)", v.Kind, v.Reason, run.Kind,
		run.Reason)
}

// TestMutations removes, doubles and moves each wait, arrival, announcement of bytes, fence and
// barrier of the right kernels over mbarriers, bulk copies and clusters, and each initialization.
// What is left must be found, by a trace or by a run with 100 schedules, or shown to be redundant:
// the trace verifies it, and the runs are clean. Anything else is in survivors, with its reason.
func TestMutations(t *testing.T) {
	type cell struct{ kind, how string }
	table, by, seen := make(map[cell]*[3]int), make(map[string]int), make(map[string]bool)
	n := 0
	for _, f := range rightFiles(t, []string{mbarrierDir, clusterDir}, "mbarrier", "cluster") {
		path := f.path
		for _, m := range mutantsOf(f.lines) {
			if n++; !long.All() && n%60 != 0 {
				continue
			}
			file := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(file, []byte(m.text), 0o644); err != nil {
				t.Fatal(err)
			}
			c := cell{m.kind, m.how}
			if table[c] == nil {
				table[c] = new([3]int)
			}
			what, how := judge(t, file, m.kernel)
			table[c][what]++
			by[how]++
			if what != survived {
				continue
			}
			by[how]--
			key := m.key(path)
			if seen[key] = true; survivors[key] == "" {
				t.Errorf("%s:%d: survives, and is not in the list: %q: %s", path, m.line, key, how)
			}
		}
	}
	for key := range survivors {
		if long.All() && !seen[key] {
			t.Errorf("%q is in the list of survivors, and does not survive", key)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-8s %7s %9s %8s\n", "", "", "killed", "redundant", "survived")
	for _, k := range kinds {
		for _, how := range []string{"removed", "moved", "doubled"} {
			if c := table[cell{k.name, how}]; c != nil {
				fmt.Fprintf(&b, "%-8s %-8s %7d %9d %8d\n", k.name, how, c[killed], c[redundant], c[survived])
			}
		}
	}
	t.Logf("%d mutants; killed by traces %d, by runs only %d\n%s", n, by["trace"], by["run"], &b)
	if long.All() && n < 500 {
		t.Errorf("only %d mutants", n)
	}
}
