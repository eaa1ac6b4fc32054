package fix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/cputime"
	"heddle/internal/testing/long"
)

// barrierStatement matches a block barrier of CUDA.
var barrierStatement = regexp.MustCompile(`__syncthreads\(\);`)

// realSize reads the kernels of testdata/repair: all of them with HEDDLE_LONG, else a few.
func realSize(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/repair/*.cu")
	if err != nil || len(files) < 40 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	out := map[string]string{}
	for i, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if long.All() || i%20 == 0 {
			out[filepath.Base(path)] = string(text)
		}
	}
	return out
}

// fixContent repairs a source text.
func fixContent(t *testing.T, name, text string) *Result {
	t.Helper()
	opt := Options{Source: true, Common: driver.Options{Files: source.NewSet(), Limit: 20}}
	in := driver.Input{Input: lower.Input{Name: name, Content: []byte(text)}}
	res, err := File(t.Context(), opt, in, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s", name, d.Message)
		}
	})
	if err != nil || len(res.Fixes) != 1 {
		t.Fatalf("%s: %v, %d kernels", name, err, len(res.Fixes))
	}
	return res
}

// The kernels of testdata/repair, launched by host code at real sizes, without their barriers:
// heddle fix repairs what heddle sync repairs, with as many barriers, and both are proved. The log
// has the time that each takes.
func TestRealSize(t *testing.T) {
	texts := realSize(t)
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var syncs, fixes []time.Duration
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, ".cu"), func(t *testing.T) {
			bare := barrierStatement.ReplaceAllString(texts[name], ";")
			began := cputime.Process()
			in := driver.Input{Input: lower.Input{Name: name, Content: []byte(bare)}}
			placed, err := placement.File(t.Context(), placement.Options{}, in, func(diag.Diagnostic) {})
			if err != nil || len(placed.Kernels) != 1 {
				t.Fatalf("%v", err)
			}
			between := cputime.Process()
			k, f := &placed.Kernels[0], &fixContent(t, name, bare).Fixes[0]
			end := cputime.Process()
			syncs, fixes = append(syncs, between-began), append(fixes, end-between)
			t.Logf("sync: %v, %v, %d barriers, %.2f s; fix: %v, %v, %d barriers, %.2f s", k.Status,
				k.Verdict.Kind, len(k.Barriers), (between - began).Seconds(), f.Status, f.Source.Kind,
				len(f.Changes), (end - between).Seconds())
			if k.Verdict.Kind == diag.Verified &&
				(f.Status != Repaired || f.Source.Kind != diag.Verified || len(f.Changes) > len(k.Barriers)) {
				t.Errorf("heddle sync repairs it: %v, %s", f.Status, f.Why)
			}
		})
	}
	t.Logf("sync %s; fix %s", quantiles(syncs), quantiles(fixes))
}

// quantiles describes times.
func quantiles(list []time.Duration) string {
	if len(list) == 0 {
		return "no kernels"
	}
	slices.Sort(list)
	at := func(share float64) float64 { return list[int(share*float64(len(list)-1))].Seconds() }
	return fmt.Sprintf("median %.2f s, 95%% %.2f s, all %.2f s", at(0.5), at(0.95), at(1))
}

// A place that all threads reach for the arguments of the launch, and not for others, is avoided.
func TestUnevenPlace(t *testing.T) {
	const body = "__global__ void k(const int *in, int *out, int n) {\n    __shared__ int s[256];\n" +
		"    int t = threadIdx.x;\n    if (t < n)\n        s[t] = in[blockIdx.x * 256 + t];\n" +
		"    if (t < n)\n        out[blockIdx.x * 256 + t] = s[255 - t];\n}\n" +
		"void go(const int *in, int *out) { k<<<1024, 256>>>(in, out, 256); }\n"
	res := fixContent(t, "k.cu", body)
	const want = "        s[t] = in[blockIdx.x * 256 + t];\n    __syncthreads();\n    if"
	if res.Fixes[0].Source.Kind != diag.Verified || !strings.Contains(string(res.Patched), want) {
		t.Errorf("%v:\n%s", res.Fixes[0].Source.Kind, res.Patched)
	}
}
