package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/verify"
)

// proofFiles are the kernels of our own that the figures of proofs are about.
var proofFiles = []string{"examples/*.cu", "testdata/verify/*.c[ul]", "testdata/verify/programs/*.cu"}

// proofs times the proof of every kernel, compilation of its file included and with an empty cache, and returns the median, with
// the 95th percentile, the slowest, and who decided the queries in the remark. The time is that of a user who has one kernel of the
// file proved: of the whole file's compilation, and of the proof.
func proofs() (float64, string, error) {
	type timed struct {
		kernel string
		ms     float64
	}
	var all []timed
	var queries verify.Stats
	verified, ctx := 0, context.Background()
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	opt := lower.Options{CacheDir: dir}
	for _, pattern := range proofFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return 0, "", err
		}
		for _, path := range files {
			start := time.Now()
			low, err := lower.File(ctx, path, opt)
			if err != nil {
				return 0, "", err
			}
			compile := time.Since(start)
			for _, k := range low.Kernels {
				start = time.Now()
				sum, err := check.Files(ctx, check.Options{Mode: check.Verify, Options: driver.Options{Kernel: k.Name, Workers: 1, Lower: opt}}, []string{path}, func(diag.Diagnostic) {})
				if err != nil {
					return 0, "", err
				}
				queries.Add(&sum.Queries)
				if len(sum.Verdicts) == 1 && sum.Verdicts[0].Kind == diag.Verified {
					verified++
				}
				all = append(all, timed{filepath.Base(path) + ":" + k.Name, float64((compile + time.Since(start)).Microseconds()) / 1000})
			}
		}
	}
	if len(all) == 0 {
		return 0, "", fmt.Errorf("no kernel in %v: run it at the top of the repository", proofFiles)
	}
	slices.SortFunc(all, func(a, b timed) int { return int(a.ms*1000) - int(b.ms*1000) })
	worst := all[len(all)-1]
	by := func(who string) int {
		q := queries.Queries[who]
		if q == nil {
			return 0
		}
		return q.Unsat + q.Sat
	}
	solved := 0
	for who := range queries.Queries {
		if who != "simplifier" {
			solved += by(who)
		}
	}
	return all[len(all)/2].ms, fmt.Sprintf("95th %.0f ms, worst %.0f ms (%s); %d of %d verified; queries: %d decided by the simplifier (%.1f s), %d by solvers (%.1f s)",
		all[len(all)*95/100].ms, worst.ms, worst.kernel, verified, len(all),
		by("simplifier"), (queries.Time - queries.SolverTime()).Seconds(), solved, queries.SolverTime().Seconds()), nil
}
