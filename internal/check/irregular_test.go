package check_test

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

// irregularBug matches a place for a planted bug: its kind, the right text and the wrong one.
var irregularBug = regexp.MustCompile(`(?s)\{\{(\w+): (.*?) ?\|\| ?(.*?)\}\}`)

// bugKinds are the bugs that each kernel of testdata/irregular has a place for.
var bugKinds = []string{"atomic", "guard", "barrier", "fence"}

// irregularText returns a file with one kernel: right, or with a bug of that kind.
func irregularText(name, params, body, bug string) string {
	text := fmt.Sprintf("__global__ void %s(%s) {\n%s\n}\n", name, params, body)
	return irregularBug.ReplaceAllStringFunc(text, func(place string) string {
		m := irregularBug.FindStringSubmatch(place)
		if m[1] == bug {
			return m[3]
		}
		return m[2]
	})
}

// paragraphs splits a file of testdata/irregular into its entries, without comments.
func paragraphs(t *testing.T, name string) [][]string {
	text, err := os.ReadFile("../../testdata/irregular/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(part, "\n")
		out = append(out, slices.DeleteFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "#")
		}))
	}
	return out
}

// irregularCase is one generated file.
type irregularCase struct{ name, bug, text string }

// irregularCases combines each scheme with each algorithm, right and with each bug.
func irregularCases(t *testing.T) []irregularCase {
	var out []irregularCase
	for _, s := range paragraphs(t, "schemes.txt") {
		for _, a := range paragraphs(t, "algorithms.txt") {
			body := strings.Join(s[2:], "\n")
			body = strings.NewReplacer("GATE", a[2], "BODY", a[3]).Replace(body)
			name := a[0] + "_" + s[0]
			for _, bug := range append([]string{""}, bugKinds...) {
				text := irregularText(name, a[1]+", "+s[1], body, bug)
				out = append(out, irregularCase{name, bug, text})
			}
		}
	}
	return out
}

// TestIrregular: heddle check without any argument reports at least 95% of the bugs that are planted
// into kernels for irregular graphs, and calls none of the right kernels a bug. Their arrays hold
// indices and rows: with zeros, most of them do nothing.
func TestIrregular(t *testing.T) {
	cases := irregularCases(t)
	if !long.All() {
		cases = slices.DeleteFunc(cases, func(c irregularCase) bool {
			return !strings.HasPrefix(c.name, "cc_")
		})
	}
	dir := t.TempDir()
	found, planted := 0, 0
	for _, c := range cases {
		t.Run(c.name+"/"+cmp.Or(c.bug, "right"), func(t *testing.T) {
			path := filepath.Join(dir, c.name+"_"+c.bug+".cu")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			kind, races := irregularVerdict(t, path)
			switch {
			case c.bug == "" && kind == diag.Bug:
				t.Errorf("the right kernel is a bug\n%s", c.text)
			case c.bug != "":
				planted++
				if races > 0 {
					found++
				} else {
					t.Logf("not found")
				}
			}
		})
	}
	t.Logf("%d of %d planted bugs found", found, planted)
	if 100*found < 95*planted {
		t.Errorf("%d of %d planted bugs found, want 95%%", found, planted)
	}
}

// irregularVerdict returns what plain heddle check says of the kernel in a file, and the number of
// races that it reports.
func irregularVerdict(t *testing.T, path string) (kind diag.VerdictKind, races int) {
	t.Helper()
	sum, err := check.Files(t.Context(), check.Options{}, []string{path}, func(d diag.Diagnostic) {
		if d.Severity >= diag.Warning && strings.HasPrefix(string(d.Code), "race-") {
			races++
		}
	})
	if err != nil || len(sum.Verdicts) != 1 {
		t.Fatalf("%v, %d verdicts", err, len(sum.Verdicts))
	}
	v := &sum.Verdicts[0]
	t.Logf("%v: %s", v.Kind, v.Reason)
	return v.Kind, races
}
