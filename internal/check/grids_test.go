package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/source"
)

// gridKernel is what a comment above a kernel of testdata/grids expects.
type gridKernel struct {
	want  string // clean, unsupported, part, or the code of the finding
	lines []int  // that the finding names
	why   string // of unsupported: what the reason contains
}

var (
	gridExpectation = regexp.MustCompile(
		`(?m)^// ([a-z-]+)((?: @\w+)*)(?: "([^"]*)")?: .*\n(?:// heddle: .*\n)?.*(?:__ void|\.entry) (\w+)\(`)
	gridMark = regexp.MustCompile(`//.* (@\w+)$`)
)

// gridKernels reads the expectations of a file.
func gridKernels(t *testing.T, text string) map[string]gridKernel {
	t.Helper()
	lines := make(map[string]int)
	for i, line := range strings.Split(text, "\n") {
		if m := gridMark.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "//") {
			lines[m[1]] = i + 1
		}
	}
	out := make(map[string]gridKernel)
	for _, m := range gridExpectation.FindAllStringSubmatch(text, -1) {
		k := gridKernel{want: m[1], why: m[3]}
		for _, mark := range strings.Fields(m[2]) {
			if lines[mark] == 0 {
				t.Errorf("no line has the mark %s", mark)
			}
			k.lines = append(k.lines, lines[mark])
		}
		out[m[4]] = k
	}
	if n := strings.Count(text, "__global__ void") + strings.Count(text, ".entry "); len(out) < n {
		t.Fatalf("%d kernels, %d expectations", n, len(out))
	}
	return out
}

// TestGrids runs kernels that launch kernels (CUDA Dynamic Parallelism), under several schedules.
func TestGrids(t *testing.T) {
	files, err := filepath.Glob("../../testdata/grids/*.*")
	if err != nil || len(files) < 4 {
		t.Fatal("no kernels", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := gridKernels(t, string(text))
		for seed := range uint64(3) {
			t.Run(filepath.Base(path)+" "+strconv.Itoa(int(seed)), func(t *testing.T) {
				opt := check.Options{SkipProof: true, Run: run.Options{Seed: seed, Seeds: 1}}
				opt.Files, opt.Limit, opt.MaxSteps = source.NewSet(), 100, 1_000_000
				found := make(map[string][]diag.Diagnostic)
				sum, err := check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
					if d.Severity == diag.Error {
						found[reportedFor(&d)] = append(found[reportedFor(&d)], d)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range sum.Verdicts {
					v := &sum.Verdicts[i]
					name := kernelName(v.Kernel)
					expectGrid(t, name, want[name], v, found[name])
				}
			})
		}
	}
}

// kernelName is the name of a kernel without its type.
func kernelName(demangled string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(demangled, "void "), "(")
	name, _, _ = strings.Cut(name, "<")
	return name
}

// launchedBy matches the place of a launch in the findings of a launched grid.
var launchedBy = regexp.MustCompile(`launched here by .* of (?:void )?(\w+)`)

// reportedFor is the kernel for whose run a finding is: the one that the host launches.
func reportedFor(d *diag.Diagnostic) string {
	name := kernelName(d.Kernel)
	for _, r := range d.Related {
		if m := launchedBy.FindStringSubmatch(r.Message); m != nil {
			name = m[1]
		}
	}
	return name
}

func expectGrid(t *testing.T, name string, want gridKernel, v *diag.Verdict,
	found []diag.Diagnostic) {
	t.Helper()
	switch want.want {
	case "part":
		return
	case "clean":
		if v.Kind != diag.Clean || len(found) > 0 {
			t.Errorf("%s: %v (%s), want clean; %+v", name, v.Kind, v.Reason, found)
		}
		return
	case "unsupported":
		if v.Kind != diag.Unsupported || !strings.Contains(v.Reason, want.why) {
			t.Errorf("%s: %v (%s), want unsupported: %s", name, v.Kind, v.Reason, want.why)
		}
		return
	}
	if v.Kind != diag.Bug || len(found) == 0 {
		t.Errorf("%s: %v (%s), want %s", name, v.Kind, v.Reason, want.want)
		return
	}
	for i := range found {
		d := &found[i]
		named := []int{d.Span.Start.Line()}
		for _, r := range d.Related {
			named = append(named, r.Span.Start.Line())
		}
		for _, g := range d.Groups {
			named = append(named, g.Span.Start.Line())
		}
		missing := slices.ContainsFunc(want.lines, func(n int) bool { return !slices.Contains(named, n) })
		if string(d.Code) == want.want && !missing {
			return
		}
	}
	t.Errorf("%s: no %s that names the lines %v: %+v", name, want.want, want.lines, found)
}
