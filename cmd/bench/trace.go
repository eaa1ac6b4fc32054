package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	heddle "heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/testing/gen"
)

// traces measures heddle trace on kernels with the shapes and sizes of the examples of the Weft
// paper (PLDI 2015, figures 9 and 10): loops over a few buffers as in CudaDMA, and straight-line
// code as in Singe.
func traces() []measurement {
	saxpy := gen.Warps{Producers: 2, Consumers: 8, Buffers: 2, Words: 512, Reads: 2}
	sgemv := gen.Warps{Producers: 1, Consumers: 4, Buffers: 2, Words: 128, Iterations: 128, Reads: 128}
	singe := gen.Warps{Producers: 16, Consumers: 16, Buffers: 4, Words: 4096, Iterations: 16,
		Reads: 208, Unrolled: true}
	var out []measurement
	for _, n := range []int{8, 64, 512, 4096} { // the cost should be linear in the iterations
		s := saxpy
		s.Iterations = n
		out = append(out, traced("saxpy", s))
	}
	out = append(out, traced("sgemv", sgemv), traced("singe", singe))
	ring := gen.Ring{Stages: 4, Consumers: 11, Reads: 4}
	for _, n := range []int{256, 1024, 4096, 16384} {
		ring.Steps = n
		out = append(out, tracedText("ring", fmt.Sprintf("ring of bulk copies, %d k-steps", n), ring.PTX(),
			ring.Commands()))
	}
	return out
}

// traced measures heddle trace from the PTX to the verdict, which must be verified. The remark has
// the time per command of the trace, which should not depend on its length.
func traced(name string, s gen.Warps) measurement {
	what := fmt.Sprintf("%s, %d barriers", name, s.Barriers())
	return tracedText(name, what, s.PTX(), s.Commands())
}

// tracedText measures heddle trace on a kernel whose trace has so many commands.
func tracedText(name, what, text string, commands uint64) measurement {
	return measurement{"trace: " + what, "s",
		func() (float64, string, error) {
			dir, err := os.MkdirTemp("", "heddle-bench")
			if err != nil {
				return 0, "", err
			}
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, name+".ptx")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return 0, "", err
			}
			t, err := seconds(func() error {
				sum, err := heddle.Files(context.Background(), heddle.Options{Mode: heddle.Trace},
					[]string{path}, func(diag.Diagnostic) {})
				if err == nil && (len(sum.Verdicts) != 1 || sum.Verdicts[0].Kind != diag.Verified) {
					return fmt.Errorf("not verified: %+v", sum.Verdicts)
				}
				return err
			})
			return t, fmt.Sprintf("%.1f M commands, %.1f ns each", float64(commands)/1e6,
				t*1e9/float64(commands)), err
		}}
}
