package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// verifyFile verifies the only kernel of a file with the launch that the file gives.
func verifyFile(t *testing.T, path string) (*verify.Result, error) {
	t.Helper()
	module, facts := kernels.File(t, path, lower.Options{})
	for _, k := range module.Funcs {
		if !k.Kernel {
			continue
		}
		cfg, errs := launch.Resolve(k, launch.Request{}, facts)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: cfg.Geometry})
		if err != nil {
			return nil, err
		}
		return verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}}), nil
	}
	t.Fatal("no kernel")
	return nil, nil
}

// proved are right examples whose proof needs block barriers, distinct indices and loop counters
// alone, and so must be found whatever else changes.
var proved = []string{"bfs", "histogram", "reduce", "reduce_warp", "scan", "stencil", "transpose"}

// TestExamples: no example with a planted bug is verified, and of the right ones those are that
// need nothing but block barriers for their proof.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.cu")
	if err != nil || len(files) < 30 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".cu")
		if !strings.Contains(name, "_racy") && !slices.Contains(proved, name) {
			continue // may be proved one day
		}
		t.Run(name, func(t *testing.T) {
			r, err := verifyFile(t, path)
			if err != nil {
				t.Skip(err)
			}
			t.Logf("verified %v, %+v", r.Verified(), r.Stats)
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
			if strings.Contains(name, "_racy") && r.Verified() {
				t.Error("a kernel with a planted bug is verified")
			}
			if slices.Contains(proved, name) && !r.Verified() {
				t.Error("not verified")
			}
		})
	}
}
