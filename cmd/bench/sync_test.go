package main

import (
	"math"
	"testing"
)

// Computed by hand: equal orders give 1, opposite ones -1; with ties, the ranks 1.5 1.5 3 and 1 2 3
// give 1.5/sqrt(1.5*2).
func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 30}, []float64{5, 6, 7}, 1},
		{[]float64{1, 2, 30}, []float64{7, 6, 5}, -1},
		{[]float64{1, 1, 2}, []float64{1, 2, 3}, 1.5 / math.Sqrt(3)},
	} {
		if got := spearman(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %g, want %g", c.x, c.y, got, c.want)
		}
	}
	if got := spearman([]float64{1, 1}, []float64{1, 2}); !math.IsNaN(got) {
		t.Errorf("equal values: %g, want NaN", got)
	}
}
