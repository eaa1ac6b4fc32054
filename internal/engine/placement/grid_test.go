package placement

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/source"
)

// With Grid, barriers of the grid separate races between blocks, also in loops; a place that only
// some blocks reach is none.
func TestGrid(t *testing.T) {
	const head = "__global__ void k(float *a, float *b, int n) {\n" +
		"    int i = blockIdx.x * 256 + threadIdx.x;\n"
	const host = "}\nvoid go(float *a, float *b) { k<<<64, 256>>>(a, b, 1000); }\n"
	for _, c := range []struct {
		name, body string
		want       []string // places
	}{
		{"neighbors", "    b[i] = a[i];\n    a[i] = b[i ^ 256];\n", []string{"after line 3"}},
		{"steps", "    for (int s = 0; s < n; s++) {\n" +
			"        float v = a[i ^ 256];\n        a[i] = v;\n    }\n",
			[]string{"at the top of the loop in line 3", "after line 4"}},
		{"own elements", "    b[i] = a[i];\n    a[i] = b[i];\n", nil},
		{"one block writes", "    if (blockIdx.x == 0)\n        b[i] = a[i];\n    a[i] = b[i & 255];\n",
			[]string{"after line 4"}},
		{"some threads return", "    if (i >= n) return;\n    b[i] = a[i];\n    a[i] = b[n - 1 - i];\n",
			[]string{"none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := Options{Grid: true, Unverified: true, Common: driver.Options{Files: source.NewSet()},
				Options: place.Options{Keep: true}}
			in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(head + c.body + host)}}
			res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
			if err != nil || len(res.Kernels) != 1 {
				t.Fatalf("%v", err)
			}
			k := &res.Kernels[0]
			var got []string
			for i := range k.Barriers {
				got = append(got, k.Barriers[i].Place)
			}
			if k.Status == NoPlacement {
				got = []string{"none"}
			}
			if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
				t.Errorf("%v: %q, want %q (%q)", k.Status, got, c.want, k.Stuck)
			}
			patched := string(res.Patched["k.cu"])
			n := strings.Count(patched, GridBarrier)
			if c.want != nil && c.want[0] != "none" && n != len(c.want) {
				t.Errorf("%d barriers:\n%s", n, patched)
			}
		})
	}
}
