package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
)

// expected is what a case says of one kernel: the verdicts that are right, the code of an error
// that has to be among the findings, and that of a warning.
type expected struct {
	kernel        string
	verdicts      []string
	code, warning string
	causes        int // findings of which none may have the cause of another; 0: any number
}

// readCase reads the first line of a case: "// expect: k1 bug race-shared; k2 clean|verified,
// warning barrier-split". The lines behind it say why, by the specification.
func readCase(t *testing.T, path string) []expected {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	list, ok := strings.CutPrefix(line, "// expect: ")
	if !ok {
		t.Fatalf("%s: the first line is no expectation", path)
	}
	var out []expected
	for _, one := range strings.Split(list, "; ") {
		head, more, _ := strings.Cut(one, ", ")
		words := strings.Fields(head)
		e := expected{kernel: words[0], verdicts: strings.Split(words[1], "|")}
		if len(words) > 2 {
			e.code = words[2]
		}
		if code, ok := strings.CutPrefix(more, "warning "); ok {
			e.warning = code
		}
		if more == "1 cause" {
			e.causes = 1
		}
		out = append(out, e)
	}
	return out
}

// TestCases checks kernels that heddle once got wrong, found on real code and by attack: races that
// it called verified or clean, right kernels that it called a bug, and kernels that it refused.
// They are checked as a user would, without flags.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.cu")
	if err != nil || len(files) < 27 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			var found []diag.Diagnostic
			opt := check.Options{Options: driver.Options{Limit: 50}}
			sum, err := check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
				found = append(found, d)
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range readCase(t, path) {
				e.holds(t, sum, found)
			}
		})
	}
}

// holds compares an expectation with the verdicts and findings of a file.
func (e *expected) holds(t *testing.T, sum *check.Summary, found []diag.Diagnostic) {
	t.Helper()
	of := func(name string) bool {
		base, _, _ := strings.Cut(name, "(")
		return base == e.kernel
	}
	i := slices.IndexFunc(sum.Verdicts, func(v diag.Verdict) bool { return of(v.Kernel) })
	if i < 0 {
		t.Errorf("%s: no verdict", e.kernel)
		return
	}
	if v := &sum.Verdicts[i]; !slices.Contains(e.verdicts, v.Kind.String()) {
		t.Errorf("%s: %s, want %v: %s", e.kernel, v.Kind, e.verdicts, v.Text())
	}
	has := func(code string, s diag.Severity) bool {
		return code == "" || slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
			return of(d.Kernel) && string(d.Code) == code && d.Severity >= s
		})
	}
	if !has(e.code, diag.Error) || !has(e.warning, diag.Warning) {
		t.Errorf("%s: no %s%s among %d findings", e.kernel, e.code, e.warning, len(found))
	}
	causes := 0
	for i := range found {
		if d := &found[i]; of(d.Kernel) && d.Severity == diag.Error && d.Alike == "" {
			causes++
		}
	}
	if e.causes > 0 && causes != e.causes {
		t.Errorf("%s: %d causes, want %d", e.kernel, causes, e.causes)
	}
}
