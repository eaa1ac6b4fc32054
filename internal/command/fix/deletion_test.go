package fix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/cputime"
	"heddle/internal/testing/long"
)

// functionHead matches the beginning of a kernel or of a device function, with the kernel's name.
var functionHead = regexp.MustCompile(`__global__[^;{(]*?(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(|__device__`)

// kernelAt is the name of the kernel whose body has an offset; empty for other functions.
func kernelAt(text string, offset int) string {
	name := ""
	for _, m := range functionHead.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > offset {
			break
		}
		if name = ""; m[2] >= 0 {
			name = text[m[2]:m[3]]
		}
	}
	return name
}

// deleted is what heddle fix makes of a kernel from which a barrier is removed.
type deleted struct {
	name, text string // of the file
	kernel     string
	offset     int // of the barrier
}

// fixed repairs one kernel of a text; nil if there is none of that name, or several.
func (d *deleted) fixed(t *testing.T, text string) (*Kernel, []byte) {
	t.Helper()
	opt := Options{Source: true, Common: driver.Options{
		Files: source.NewSet(), Limit: 20, Kernel: d.kernel,
	}}
	in := driver.Input{Input: lower.Input{Name: d.name, Content: []byte(text)}}
	res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
	if err != nil || len(res.Fixes) != 1 {
		return nil, nil
	}
	return &res.Fixes[0], res.PTX
}

// cost is what the barriers of the kernel cost as it is; negative if it is not verified.
func (d *deleted) cost(t *testing.T) float64 {
	t.Helper()
	was, ptx := d.fixed(t, d.text)
	if was == nil || was.Status != NothingToFix || was.After.Kind != diag.Verified {
		return -1
	}
	p, err := parseKernel("k.ptx", was.Name, ptx)
	if err != nil {
		t.Fatal(err)
	}
	return barrierCost(p)
}

// lost says what is wrong with the repair of a kernel that cost was enough for; empty if it is as
// good as it was.
func lost(t *testing.T, f *Kernel, ptx []byte, cost float64) string {
	t.Helper()
	p, err := parseKernel("k.ptx", f.Name, ptx)
	switch {
	case err != nil:
		return err.Error()
	case f.Status == NotRepaired || f.Status == NotChecked || f.Status == PartlyRepaired:
		return f.Status.String() + ": " + f.Why
	case f.After.Kind != diag.Verified:
		return "not verified after: " + f.Verdict()
	case f.Status == Repaired && f.Source.Kind != diag.Verified:
		return "not verified in the source: " + f.PTXOnly
	case barrierCost(p) > cost:
		return fmt.Sprintf("costs %v, was %v", barrierCost(p), cost)
	}
	return ""
}

// A barrier that is removed from a verified kernel is restored, or the kernel is verified with
// barriers that cost no more: in all but one of a hundred cases, of all kernels of the examples and
// the test data.
func TestDeletion(t *testing.T) {
	var files []string
	for _, pattern := range []string{
		"../../../testdata/repair/*.cu", "../../../testdata/sync/*.cu", "../../../examples/*.cu",
		"../../../testdata/verify/*.cu", "../../../testdata/verify/programs/*.cu",
		"../../../testdata/irregular/*.cu", "../../../testdata/suite/*.cu",
	} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	every := 60
	if long.All() {
		every = 1
	}
	n, bad, seen := 0, 0, 0
	costs := map[string]float64{} // of verified kernels, by file and name; negative: not verified
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		for _, at := range barrierStatement.FindAllStringIndex(text, -1) {
			d := &deleted{filepath.Base(path), text, kernelAt(text, at[0]), at[0]}
			if seen++; d.kernel == "" || seen%every != 0 {
				continue
			}
			cost, known := costs[path+d.kernel]
			if !known {
				cost = d.cost(t)
				costs[path+d.kernel] = cost
			}
			if cost < 0 {
				continue
			}
			n++
			began := cputime.Process()
			f, ptx := d.fixed(t, text[:at[0]]+";"+text[at[1]:])
			line := 1 + strings.Count(text[:at[0]], "\n")
			if why := lost(t, f, ptx, cost); why != "" {
				bad++
				t.Logf("%s:%d (%s): %s", path, line, d.kernel, why)
			}
			if used := cputime.Process() - began; used.Seconds() > 3 {
				t.Logf("%s:%d (%s): %.2f s", path, line, d.kernel, used.Seconds())
			}
		}
	}
	t.Logf("%d of %d not restored", bad, n)
	if bad*100 > n || n == 0 {
		t.Errorf("more than one in a hundred")
	}
}
