package exec_test

import (
	"strings"
	"testing"

	"heddle/internal/testing/program"
)

// TestGrids runs whole programs whose kernels launch kernels. The expectations follow from the CUDA
// C++ Programming Guide, "CUDA Dynamic Parallelism": a kernel is complete when all grids below it
// are, so that whatever the host puts behind the kernel is behind them.
func TestGrids(t *testing.T) {
	built := program.Build(t, "testdata/grids.cu")
	for _, c := range []struct {
		arg, stdout string
		codes       []string // each once
	}{
		{"", "0 wrong, sum 32640, 1 error, no error", nil},
		// The parts of the sum are read while the grids that add them up may still run.
		{"racy", "0 wrong", []string{"race-grid"}},
		// Each launch reads what the one before has written, in a grid below it.
		{"repeats", "10\n", nil},
		{"streams", "", []string{"race-stream"}},
		{"outside", "cudaErrorIllegalAddress", []string{"out-of-bounds"}},
	} {
		t.Run(c.arg, func(t *testing.T) {
			got := start(t, []string{built, c.arg}, nil)
			var codes []string
			for _, code := range got.codes() {
				if len(codes) == 0 || codes[len(codes)-1] != code {
					codes = append(codes, code)
				}
			}
			if !strings.Contains(got.stdout, c.stdout) || got.stderr != "" {
				t.Errorf("output %q, want %q; messages %q", got.stdout, c.stdout, got.stderr)
			}
			if strings.Join(codes, " ") != strings.Join(c.codes, " ") {
				t.Errorf("findings %q, want %q", got.findings, c.codes)
			}
			for _, k := range got.Kernels {
				if k.Repeated > 0 {
					t.Errorf("%s: %d launches were not executed", k.Name, k.Repeated)
				}
			}
		})
	}
}

// TestGridsOfFiles: a kernel launches one of another file.
func TestGridsOfFiles(t *testing.T) {
	built := program.Build(t, "testdata/gridsof.cu", "testdata/gridsin.cu")
	got := start(t, []string{built}, nil)
	if !strings.Contains(got.stdout, "0 wrong, no error") || got.stderr != "" || len(got.findings) > 0 {
		t.Errorf("output %q, messages %q, findings %q", got.stdout, got.stderr, got.findings)
	}
}
