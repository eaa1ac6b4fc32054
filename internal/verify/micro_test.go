package verify_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// expectation is the comment above a kernel of testdata/verify: what must come out.
var expectation = regexp.MustCompile(`(?m)^// (verified|race|divergence): .*\n__global__ void (\w+)`)

// TestMicro: small kernels, one pattern each.
func TestMicro(t *testing.T) {
	for _, name := range []string{"barriers", "bits", "indices", "elements", "loops", "memory"} {
		path := "../../testdata/verify/" + name + ".cu"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, m := range expectation.FindAllStringSubmatch(string(text), -1) {
			want[m[2]] = m[1]
		}
		if n := strings.Count(string(text), "__global__"); n != len(want) {
			t.Fatalf("%s: %d kernels, %d expectations", path, n, len(want))
		}
		module, _ := kernels.File(t, path, lower.Options{})
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		g := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
		for _, k := range module.Funcs {
			base, _, _ := strings.Cut(k.Demangled, "(")
			if !k.Kernel {
				continue
			}
			t.Run(base, func(t *testing.T) {
				th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: g})
				if err != nil {
					t.Fatal(err)
				}
				r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
				if got := summary(r); got != want[base] {
					t.Errorf("%s, want %s", got, want[base])
					for i := range r.Findings {
						t.Log(r.Findings[i].String())
					}
				}
			})
		}
	}
}

// summary is the worst that a result says.
func summary(r *verify.Result) string {
	s := "verified"
	for _, f := range r.Findings {
		switch {
		case f.Reason != "":
			return "unknown: " + f.Reason
		case f.Kind == verify.Divergence:
			s = "divergence"
		case s == "verified":
			s = "race"
		}
	}
	return s
}
