package fix

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// removal is a kind of instruction that the mutants lack, one at a time.
type removal struct {
	name string
	line *regexp.Regexp
	// repaired is how many of a hundred mutants in which heddle finds a bug are repaired at least.
	repaired int
}

var removals = []removal{
	{"proxy fence", regexp.MustCompile(`^\s*fence\.proxy\.async`), 100},
}

// right are kernels without a bug that use mbarriers, bulk copies, clusters and wgmma.
func right(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"mbarrier/*clean.ptx", "cluster/right.ptx", "wgmma/right.ptx"} {
		files, err := filepath.Glob("../../../testdata/suite/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out[path] = string(text)
		}
	}
	return out
}

// mutantFix repairs a kernel of a text of PTX.
func mutantFix(t *testing.T, kernel, text string) *Kernel {
	t.Helper()
	opt := Options{Common: driver.Options{Files: source.NewSet(), Limit: 20, Kernel: kernel}}
	in := driver.Input{Input: lower.Input{Name: "mutant.ptx", Content: []byte(text), Lang: lower.PTX}}
	res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Fixes) != 1 {
		t.Fatalf("%s: %d kernels", kernel, len(res.Fixes))
	}
	return &res.Fixes[0]
}

// An instruction that is removed from a right kernel is restored, or replaced by what does the
// same: the judge accepts the result, and no part of the repair can be left out.
func TestRemoved(t *testing.T) {
	texts := right(t)
	for _, r := range removals {
		t.Run(r.name, func(t *testing.T) {
			mutants, bugs, repaired, steps := 0, 0, 0, 0
			for path, text := range texts {
				lines := strings.SplitAfter(text, "\n")
				kernel := ""
				for i, line := range lines {
					if m := kernelLine.FindStringSubmatch(line); m != nil {
						kernel = m[1]
					}
					if !r.line.MatchString(line) || !long.Keep(path+kernel+line, 3) {
						continue
					}
					mutants++
					label, _, _ := strings.Cut(line, ":")
					mutant := strings.Join(lines[:i], "") + "//\n" + strings.Join(lines[i+1:], "")
					if strings.Contains(label, "W") && !strings.Contains(label, ".") {
						mutant = strings.Join(lines[:i], "") + label + ":\n" + strings.Join(lines[i+1:], "")
					}
					f := mutantFix(t, kernel, mutant)
					if f.Status == NothingToFix || f.Status == NotChecked {
						continue
					}
					bugs++
					if f.Status != Repaired {
						t.Logf("%s:%d (%s) %s: %s", filepath.Base(path), i+1, kernel, f.Status, f.Why)
						continue
					}
					repaired++
					steps += len(f.Changes)
					t.Logf("%s:%d (%s) %d texts: %s", filepath.Base(path), i+1, kernel, f.Judged, f.Changes[0].Text)
				}
			}
			t.Logf("%d mutants, %d with a bug, %d repaired by %d changes", mutants, bugs, repaired, steps)
			if bugs == 0 || repaired*100 < bugs*r.repaired {
				t.Errorf("want %d of a hundred", r.repaired)
			}
		})
	}
}
