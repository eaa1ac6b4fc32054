package trace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/trace"
	"heddle/internal/testing/gen"
)

// TestTraceCounts compares the counts of a trace with those that follow from the shape of a kernel.
func TestTraceCounts(t *testing.T) {
	shapes := []gen.Warps{
		{Producers: 1, Consumers: 1, Buffers: 1, Words: 32, Iterations: 5, Reads: 1},
		{Producers: 2, Consumers: 3, Buffers: 2, Words: 128, Iterations: 7, Reads: 3},
		{Producers: 1, Consumers: 4, Buffers: 7, Words: 64, Iterations: 3, Reads: 2, Unrolled: true},
	}
	for _, s := range shapes {
		for _, broken := range []bool{false, true} {
			s.Broken = broken
			verdict, stats := traceText(t, s.PTX())
			want := diag.Verified
			if broken { // consumers release the buffer before reading it: write after read
				want = diag.Bug
			}
			if verdict.Kind != want {
				t.Errorf("%+v: verdict %v (%s), want %v", s, verdict.Kind, verdict.Reason, want)
			}
			if stats.Commands != s.Commands() || stats.Barriers != s.Barriers() ||
				stats.Addresses != s.Words*s.Buffers {
				t.Errorf("%+v: %d commands, %d barriers, %d addresses; want %d, %d, %d", s,
					stats.Commands, stats.Barriers, stats.Addresses, s.Commands(), s.Barriers(), s.Words*s.Buffers)
			}
		}
	}
}

func traceText(t *testing.T, text string) (diag.Verdict, trace.Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var stats trace.Stats
	opt := check.Options{Mode: check.Trace}
	opt.Trace.Stats = func(s trace.Stats) { stats = s }
	sum, err := check.Files(context.Background(), opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil || len(sum.Verdicts) != 1 {
		t.Fatalf("%v, %+v", err, sum)
	}
	return sum.Verdicts[0], stats
}

// A trace that does not end is undecided, and names the limit that it reached.
func TestTraceStepLimit(t *testing.T) {
	const endless = `.version 8.7
.target sm_90
.address_size 64
// heddle: grid=1 block=32
.visible .entry k()
{
LOOP:
	bar.sync 0;
	bra LOOP;
}
`
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, []byte(endless), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []uint64{1234, 5678} {
		opt := check.Options{Mode: check.Trace}
		opt.MaxSteps = limit
		sum, err := check.Files(t.Context(), opt, []string{path}, func(diag.Diagnostic) {})
		if err != nil || len(sum.Verdicts) != 1 {
			t.Fatalf("%v, %+v", err, sum)
		}
		want := fmt.Sprintf("reached its limit of %d warp instructions with 0 of 1 blocks done",
			limit)
		if v := &sum.Verdicts[0]; v.Kind != diag.Unknown || !strings.Contains(v.Reason, want) {
			t.Errorf("%v (%s), want unknown because it %s", v.Kind, v.Reason, want)
		}
	}
}
