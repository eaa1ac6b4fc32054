package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/verify"
)

// proofFiles are the kernels whose proofs are timed.
var proofFiles = []string{"examples/*.cu", "testdata/verify/*.c[ul]",
	"testdata/verify/programs/*.cu"}

// proofTime is the time of one proof in milliseconds, with the compilation of the whole file.
type proofTime struct {
	kernel string
	ms     float64
}

// proofTimes collects the results of proofs.
type proofTimes struct {
	all      []proofTime
	queries  verify.Stats
	verified int // number of kernels
}

// proofs times the proof of every kernel of proofFiles, including the compilation of its file
// without a cache, which is what a user with one kernel waits for. The figure is the median; the
// remark has the 95th percentile, the slowest kernel, and which part of heddle decided the queries.
func proofs() (float64, string, error) {
	var t proofTimes
	if err := t.run(context.Background()); err != nil {
		return 0, "", err
	}
	all := t.all
	if len(all) == 0 {
		return 0, "", noKernels(strings.Join(proofFiles, " "), nil)
	}
	slices.SortFunc(all, func(a, b proofTime) int { return cmp.Compare(a.ms, b.ms) })
	worst := all[len(all)-1]
	simplified, solved := 0, 0
	for by, q := range t.queries.Queries {
		if by == "simplifier" {
			simplified += q.Unsat + q.Sat
		} else {
			solved += q.Unsat + q.Sat
		}
	}
	// The time of queries includes that of solvers; the rest is the simplifier's.
	solving := t.queries.SolverTime()
	remark := fmt.Sprintf("95th %.0f ms, worst %.0f ms (%s); %d of %d verified; "+
		"queries: %d decided by the simplifier (%.1f s), %d by solvers (%.1f s)",
		all[len(all)*95/100].ms, worst.ms, worst.kernel, t.verified, len(all),
		simplified, (t.queries.Time - solving).Seconds(), solved, solving.Seconds())
	return all[len(all)/2].ms, remark, nil
}

// run proves every kernel of proofFiles on one core, one after another. The compilation of a file
// is timed once and added to each of its kernels.
func (t *proofTimes) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opt := lower.Options{CacheDir: dir}
	for _, pattern := range proofFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, path := range files {
			start := time.Now()
			low, err := lower.File(ctx, path, opt)
			if err != nil {
				return err
			}
			compile := time.Since(start)
			for _, k := range low.Kernels {
				if err := t.kernel(ctx, path, k.Name, opt, compile); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// kernel proves one kernel; compile is the time that the compilation of its file took. The engine
// finds the result of that compilation in the cache. A kernel that is not proved counts with the
// time until the prover gave up.
func (t *proofTimes) kernel(ctx context.Context, path, name string, low lower.Options,
	compile time.Duration) error {
	opt := check.Options{Mode: check.Verify,
		Options: driver.Options{Kernel: name, Workers: 1, Lower: low}}
	start := time.Now()
	sum, err := check.Files(ctx, opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil {
		return err
	}
	t.queries.Add(&sum.Queries)
	if len(sum.Verdicts) == 1 && sum.Verdicts[0].Kind == diag.Verified {
		t.verified++
	}
	ms := float64((compile + time.Since(start)).Microseconds()) / 1000
	t.all = append(t.all, proofTime{filepath.Base(path) + ":" + name, ms})
	return nil
}
