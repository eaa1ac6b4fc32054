package lockstep_test

import (
	"testing"

	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// BenchmarkBuild describes the kernels of a file: loops with barriers, loops with memory, and
// straight code.
func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"loops", "memory", "barriers", "programs/sorting"} {
		b.Run(name, func(b *testing.B) {
			module, facts := kernels.File(b, "../../testdata/verify/"+name+".cu", lower.Options{})
			type job struct {
				f   *ir.Func
				opt lockstep.Options
			}
			var jobs []job
			for _, k := range module.Funcs {
				if !k.Kernel {
					continue
				}
				cfg, errs := launch.Resolve(k, launch.Request{}, facts)
				if len(errs) > 0 {
					b.Fatal(errs[0])
				}
				jobs = append(jobs, job{k, lockstep.Options{Geometry: cfg.Geometry}})
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, j := range jobs {
					if _, err := lockstep.Build(b.Context(), j.f, j.opt); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
