package fix

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// missing is a kernel with a barrier missing, and another statement.
func missing(stride, more string) string {
	return "__global__ void k(int *out, const int *in, int *count) {\n" +
		"    __shared__ int s[256];\n" +
		"    int t = threadIdx.x, i = blockIdx.x * " + stride + " + t;\n" +
		"    s[t] = in[i];\n" +
		"    out[i] = s[255 - t];\n" + more +
		"}\n" +
		"void go(int *out, const int *in, int *count) { k<<<1024, 256>>>(out, in, count); }\n"
}

// A barrier that is missing is inserted although another race cannot be repaired, which is named
// with its reason. Only what is selected is repaired.
func TestPartly(t *testing.T) {
	count := "    count[blockIdx.x]++;\n"
	line := func(n int) []Only { return []Only{{Line: n}} }
	for _, c := range []struct {
		name, text string
		only       []Only
		want       Status
		why        string
	}{
		{"one instruction", missing("256", count), nil, PartlyRepaired, "race at the same statement"},
		{"other blocks", missing("255", ""), nil, PartlyRepaired, "threads of different blocks race"},
		{"nothing else", missing("256", ""), nil, Repaired, ""},
		{"selected by its code", missing("256", count), []Only{{Code: diag.CodeRaceShared}},
			PartlyRepaired, "not selected"},
		{"selected by its line", missing("256", count), line(5), PartlyRepaired, "not selected"},
		{"all selected", missing("256", ""), line(4), Repaired, ""},
		{"another line", missing("256", count), line(6), NotRepaired, "no placement of barriers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			opt := Options{Source: true, Only: c.only,
				Common: driver.Options{Files: source.NewSet(), Limit: 20}}
			in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(c.text)}}
			res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
			if err != nil || len(res.Fixes) != 1 {
				t.Fatalf("%v", err)
			}
			f := &res.Fixes[0]
			why := strings.Join(f.Remaining, "; ")
			if f.Status == NotRepaired {
				why = f.Why
			}
			if f.Status != c.want || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
				t.Errorf("%v, %q; want %v, %q", f.Status, why, c.want, c.why)
			}
			patched := strings.Contains(string(res.Patched), "s[t] = in[i];\n    __syncthreads();\n")
			if patched != (c.want != NotRepaired) {
				t.Errorf("the barrier:\n%s", res.Patched)
			}
			if (f.After.Kind == diag.Verified) != (c.want == Repaired) {
				t.Errorf("the verdict is %v", f.After.Kind)
			}
		})
	}
}

// A copy that still runs when its block has ended is a bug in every command (PTX ISA 9.7.9.25.2: an
// asynchronous operation is complete only after a wait). heddle fix adds the wait, at the exit of
// the kernel.
func TestUnfinishedCopy(t *testing.T) {
	opt := Options{Common: driver.Options{Files: source.NewSet(), Limit: 20, Kernel: "never_awaited"}}
	opt.Common.Launch.Block = &event.Dim3{X: 64, Y: 1, Z: 1}
	in := driver.Input{Input: lower.Input{Name: "../../../testdata/suite/mbarrier/misuse.ptx"}}
	res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
	if err != nil || len(res.Fixes) != 1 {
		t.Fatalf("%v", err)
	}
	f := &res.Fixes[0]
	if f.Status != Repaired || !strings.Contains(f.Changes[0].Text, "a wait for [full]") {
		t.Errorf("%v, %q, %v; want a wait for the copy", f.Status, f.Why, f.Changes)
	}
}
