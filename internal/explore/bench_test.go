package explore

import (
	"context"
	"testing"
)

// BenchmarkAtomics explores two threads that add to one location in loops.
func BenchmarkAtomics(b *testing.B) {
	const text = `PTX t
{x=0;}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
L: | L: ;
atom.relaxed.gpu.exch r0, x, 1 | atom.relaxed.gpu.exch r0, x, 2 ;
bne r0, 2, L | bne r0, 1, L ;
exists x=1`
	test, err := readTest(text)
	if err != nil {
		b.Fatal(err)
	}
	n := 0 // executions
	for b.Loop() {
		res, err := Judge(context.Background(), test, Options{Unroll: 4})
		if err != nil {
			b.Fatal(err)
		}
		n += res.Stats.Executions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "executions/s")
}
