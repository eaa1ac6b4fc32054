package reduce

import (
	"context"
	"strings"
	"testing"

	"heddle/internal/diag"
)

// BenchmarkRace reduces a racy kernel of 60 instructions with runs as the judge.
func BenchmarkRace(b *testing.B) {
	c, err := Parse([]byte(racyKernel(29)), Launch{Kernel: "secretKernel", Grid: dim(2), Block: dim(64)})
	if err != nil {
		b.Fatal(err)
	}
	bench(b, c, finds(diag.CodeRaceShared))
}

// BenchmarkLarge reduces a kernel of 20,000 instructions with a judge that costs nothing: what is
// measured is the reducer itself.
func BenchmarkLarge(b *testing.B) {
	c, err := Parse([]byte(racyKernel(20_000)), Launch{Kernel: "secretKernel"})
	if err != nil {
		b.Fatal(err)
	}
	bench(b, c, func(_ context.Context, c *Candidate) bool {
		return strings.Contains(string(c.Text), "xor.b32") && strings.Contains(string(c.Text), "mad.lo")
	})
}

// bench measures reductions of a program, and the attempts in a second.
func bench(b *testing.B, c *Candidate, holds Property) {
	attempts := 0
	for b.Loop() {
		res, err := Reduce(b.Context(), c, holds, Options{})
		if err != nil || !res.Minimal {
			b.Fatal(err)
		}
		attempts += res.Attempts
	}
	b.ReportMetric(float64(attempts)/b.Elapsed().Seconds(), "attempts/s")
}
