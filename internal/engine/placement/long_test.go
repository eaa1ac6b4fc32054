package placement_test

import (
	"testing"

	"heddle/internal/diag"
	"heddle/internal/engine/placement"
	"heddle/internal/testing/long"
	"heddle/internal/testing/longkernel"
)

// A long kernel without barriers gets as few as its shape needs, within the steps of one search:
// what a search costs must not grow with the pairs of its accesses. heddle's bench prints the times.
func TestLongKernels(t *testing.T) {
	for _, shape := range longkernel.Shapes {
		lengths := map[string][]int{"chain": {300}, "trees": {100}, "loops": {30}}[shape.Name]
		if long.All() {
			lengths = map[string][]int{"chain": {1000}, "trees": {300, 1000}, "loops": {100, 300}}[shape.Name]
		}
		for _, n := range lengths {
			res := synchronize(t, shape.Name+".cu", shape.Text(n), placement.Options{})
			k := &res.Kernels[0]
			if got, want := inPlace(k), shape.Barriers(n); got != want || k.Verdict.Kind != diag.Verified {
				t.Errorf("%s of %d statements: %d barriers, %v; want %d, verified: %v", shape.Name, n, got,
					k.Verdict.Kind, want, k.Stuck)
			}
		}
	}
}
