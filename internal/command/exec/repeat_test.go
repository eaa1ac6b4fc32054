package exec_test

import (
	"slices"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/program"
)

// repeatCases are the blocks of testdata/repeats.cu. A launch repeats another one if it reads the
// same bytes with the same contents. The first one of a kind only says that there is one, and the
// second is examined, so that of ten that repeat each other eight are not executed; where a launch
// reads what it writes, what it found there is only known from the third on. What the programs
// print is what they print on a GPU.
var repeatCases = []struct {
	name, stdout string
	repeated     uint64
	findings     []string
}{
	{name: "same", stdout: "14", repeated: 8},
	{name: "other input", stdout: "0 2 4 6 8 10 12 14 16 18 "},
	{name: "input again", stdout: "14 14 14 14 14 2 2 2 2 2 ", repeated: 7},
	{name: "output overwritten", stdout: "14 14 14 14 14 14 14 14 14 14 ", repeated: 8},
	{name: "in place", stdout: "8 9 10 11 12 13 14 15 16 17 "},
	{name: "in place, input again", stdout: "4 4 4 4 4 4 4 4 4 4 ", repeated: 7},
	{name: "atomics", stdout: "224 224 224 224 224 224 224 224 224 224 ", repeated: 7},
	{name: "atomics, not reset", stdout: "2240"},
	{name: "scratch", stdout: "8", repeated: 7},
	{name: "constant memory", stdout: "0 0 0 21 21 21 42 42 42 63 ", repeated: 5},
	{name: "variable", stdout: "7 7 7 7 7 7 7 7 7 8 ", repeated: 7},
	{name: "managed variable", stdout: "7 7 7 7 7 7 7 7 7 8 "},
	{name: "managed memory", stdout: "14"},
	{name: "pinned memory", stdout: "14"},
	{name: "printf", stdout: "7 7 7 7 7 7 7 7 7 7 "},
	{name: "clock"},
	{name: "heap", stdout: "9"},
	{name: "pointers", stdout: "7 7 7 7 2 2 2 2 0 0 ", repeated: 6},
	{name: "texture", stdout: "7", repeated: 8},
	{name: "texture, other texels, other object", stdout: "7 0 3", repeated: 16},
	{name: "freed", repeated: 3, findings: []string{"out-of-bounds"}},
	{name: "other shape", stdout: "14"},
	{name: "other arguments", stdout: "14"},
	{name: "streams", repeated: 9, findings: []string{"race-stream"}},
	{name: "streams, in order", repeated: 8},
	{name: "reset", stdout: "14 14 14 14 14 0 0 0 0 0 ", repeated: 6},
}

// repeatsProgram builds testdata/repeats.cu.
func repeatsProgram(t *testing.T) string {
	t.Helper()
	return program.Build(t, "testdata/repeats.cu")
}

// TestRepeats: a launch is executed unless its result is known, and the program sees no difference.
func TestRepeats(t *testing.T) {
	built := repeatsProgram(t)
	for _, c := range repeatCases {
		t.Run(c.name, func(t *testing.T) {
			got := start(t, []string{built, c.name}, nil)
			var repeated uint64
			for _, k := range got.Kernels {
				repeated += k.Repeated
			}
			if got.stdout != c.stdout || repeated != c.repeated || !slices.Equal(got.codes(), c.findings) {
				t.Errorf("output %q, %d repeated, findings %q; want %q, %d, %q; messages %q", got.stdout,
					repeated, got.findings, c.stdout, c.repeated, c.findings, got.stderr)
			}
			all := start(t, []string{built, c.name}, func(o *exec.Options) { o.ExecuteRepeats = true })
			if all.stdout != c.stdout || !slices.Equal(all.findings, got.findings) {
				t.Errorf("with all launches executed: output %q, findings %q", all.stdout, all.findings)
			}
			for _, k := range all.Kernels {
				if k.Repeated > 0 {
					t.Errorf("%d launches of %s were not executed", k.Repeated, k.Name)
				}
			}
		})
	}
}

// TestRepeatsChecked: a repeat of a launch that the detector watched counts as checked, one of
// another does not. With every:4 the detector watches the launches 1 and 5 of those that are
// executed; the repeats are those of launch 2.
func TestRepeatsChecked(t *testing.T) {
	built := repeatsProgram(t)
	for _, c := range []struct {
		policy            exec.Policy
		repeated, checked uint64
	}{
		{exec.Policy{}, 8, 10},
		{exec.Policy{First: 3}, 8, 10},
		{exec.Policy{First: 1}, 8, 1},
		{exec.Policy{Every: 4}, 8, 1},
	} {
		got := start(t, []string{built, "same"}, func(o *exec.Options) { o.Check = c.policy })
		k := got.Kernels[0]
		if k.Launches != 10 || k.Repeated != c.repeated || k.Checked != c.checked {
			t.Errorf("%v: %d launches, %d repeated, %d checked; want 10, %d, %d", c.policy, k.Launches,
				k.Repeated, k.Checked, c.repeated, c.checked)
		}
	}
}
