package verify_test

import (
	"testing"

	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// BenchmarkKernel verifies the kernels of a file, from their description to the findings.
func BenchmarkKernel(b *testing.B) {
	for _, name := range []string{"indices"} {
		b.Run(name, func(b *testing.B) {
			module, facts := kernels.File(b, "../../testdata/verify/"+name+".cu", lower.Options{})
			b.ReportAllocs()
			for b.Loop() {
				for _, k := range module.Funcs {
					if !k.Kernel {
						continue
					}
					cfg, errs := launch.Resolve(k, launch.Request{}, facts)
					if len(errs) > 0 {
						b.Fatal(errs[0])
					}
					th, err := lockstep.Build(b.Context(), k, lockstep.Options{Geometry: cfg.Geometry})
					if err != nil {
						b.Fatal(err)
					}
					verify.Kernel(b.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 100_000}}})
				}
			}
		})
	}
}
