package fix

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/lower"
	"heddle/internal/repair"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// huntFor looks for inputs that show a bug of the first kernel of a text, without runs of its own
// launch and without a proof.
func huntFor(t *testing.T, text string, seed uint64) (*judge, *repair.Judgement) {
	t.Helper()
	d := driver.New(driver.Options{Limit: 1}, func(g diag.Diagnostic) { t.Errorf("%s", g.Message) })
	file := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(text)}}
	results := d.Lower(t.Context(), file)
	if len(results) != 1 {
		t.Fatal("the kernel does not compile")
	}
	in := d.Parse(file, results[0])
	k := d.Select(in)[0]
	p, err := parseKernel(in.Lowered.Name, k.Name, in.Lowered.PTX)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Run: run.Options{Seed: seed}}
	j := newJudge(&fixer{d: d, opt: opt, in: in}, k)
	j.launches = nil
	out := &repair.Judgement{Grade: repair.Clean}
	j.hunt(t.Context(), p, out)
	return j, out
}

// Bugs that only some launches, scalar arguments or contents of buffers show are found, under each
// seed, and the launch that shows one is kept. No launch that is tried without a search
// satisfies one of the conditions: it has the default arguments.
func TestHunt(t *testing.T) {
	const race = "s[0] = threadIdx.x;" // by all threads: they race
	seeds := 5
	if long.All() {
		seeds = 50
	}
	for _, tt := range []struct{ name, params, condition string }{
		{"the shape of the block", "int *out", "blockDim.x == 96"},
		{"several blocks", "int *out", "gridDim.x == 3"},
		{"a scalar", "int *out, int n", "n == 7"},
		{"two scalars", "int *out, int n, int m", "n == 0 && m > 64"},
		{"contents", "int *out, const int *in", "in[3] == 3"},
		{"contents and a scalar", "int *out, const int *in, int n", "n > 64 && in[5] == 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				text := fmt.Sprintf("__global__ void k(%s) { __shared__ int s[1]; if (%s) %s __syncthreads(); out[threadIdx.x + blockIdx.x * blockDim.x] = s[0]; }", tt.params, tt.condition, race)
				j, out := huntFor(t, text, seed)
				if out.Grade != repair.Buggy || len(j.witnesses) != 1 {
					t.Errorf("seed %d: grade %v, %d launches", seed, out.Grade, len(j.witnesses))
					continue
				}
				again, same := huntFor(t, text, seed)
				if same.Scope != out.Scope || again.f.ran != j.f.ran || out.Scope == "" {
					t.Errorf("seed %d: another launch the second time", seed)
				}
			}
		})
	}
}

// What the user says of a launch stays, and nothing is found where nothing is: within the budget.
func TestHuntKeeps(t *testing.T) {
	for _, text := range []string{
		"// heddle: grid=1 block=64 n=3\n__global__ void k(int *out, int n) { if (n == 7) out[0] = threadIdx.x; }",
		"// heddle: block=64\n__global__ void k(int *out) { if (blockDim.x == 96) out[0] = threadIdx.x; }",
		"__global__ void k(int *out, int n) { __shared__ int s[1024]; for (int i = 0; i < 1000000; i++) { s[threadIdx.x] += n; __syncthreads(); } out[threadIdx.x + blockIdx.x * blockDim.x] = s[threadIdx.x]; }",
	} {
		j, out := huntFor(t, text, 1)
		if out.Grade != repair.Clean || len(out.Findings) > 0 || len(j.witnesses) > 0 {
			t.Errorf("%s: %+v", text, out)
		}
		// The last launch may go over the budget, once in a run and once to be scored.
		if most := uint64(run.HuntSteps + 2*(200_000+5_000*4*8)); j.f.ran > most {
			t.Errorf("%s: %d warp instructions, at most %d are meant", text, j.f.ran, most)
		}
	}
}

// fixText repairs a text whose proofs run out of time.
func fixText(t *testing.T, text string) *Kernel {
	t.Helper()
	opt := Options{
		Common: driver.Options{Files: source.NewSet(), Limit: 20},
		Prove:  prove.Options{Timeout: time.Nanosecond},
	}
	res, err := File(t.Context(), opt, driver.Input{
		Input: lower.Input{Name: "k.cu", Content: []byte(text)},
	}, func(diag.Diagnostic) {})
	if err != nil || len(res.Fixes) != 1 {
		t.Fatalf("%v, %d kernels", err, len(res.Fixes))
	}
	return &res.Fixes[0]
}

// A bug that occurs only with a guessed shape does not make a kernel "not repaired": it is a note.
// A kernel that does not read its shape is not tried with others. With the shape in the launch, it
// is a bug.
func TestGuessedShape(t *testing.T) {
	const same = "__shared__ int s[64]; s[threadIdx.x % 64] = threadIdx.x; __syncthreads(); out[threadIdx.x" // one instruction races from 65 threads on
	asks := "__global__ void k(int *out) { " + same + " + blockIdx.x * blockDim.x] = s[threadIdx.x % 64]; }"
	f := fixText(t, asks)
	if f.Status != NothingToFix || f.After.Kind != diag.Clean || len(f.Notes) != 1 ||
		!strings.Contains(f.Notes[0], "heddle guessed") || !strings.Contains(f.Notes[0], "block ") {
		t.Errorf("%v, %v, %q", f.Status, f.After, f.Notes)
	}
	f = fixText(t, "// heddle: grid=1\n__global__ void k(int *out) { "+same+"] = s[threadIdx.x % 64]; }")
	if f.Status != NothingToFix || len(f.Notes) > 0 {
		t.Errorf("a kernel that does not ask: %v, %q", f.Status, f.Notes)
	}
	f = fixText(t, "// heddle: grid=1 block=128\n"+asks)
	if f.Status != NotRepaired {
		t.Errorf("with the launch given: %v", f.Status)
	}
}
