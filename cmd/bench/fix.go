package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// repairs times heddle fix on the kernels of testdata/fix that it repairs, and returns the slowest repair proper, that is,
// without the checks of candidates; the mean and the slowest whole repair are in the remark. Compiled files come from the
// cache. Of each kernel the best of three counts, since other work on the machine only adds.
func repairs() (float64, string, error) {
	type timed struct{ proper, whole time.Duration }
	files, err := filepath.Glob("testdata/fix/*.*")
	if err != nil || len(files) == 0 {
		return 0, "", fmt.Errorf("no kernels in testdata/fix: run it at the top of the repository (%v)", err)
	}
	best := map[string]timed{}
	for range 3 {
		for _, path := range files {
			res, err := check.FixFile(context.Background(), check.Options{Files: source.NewSet(), Limit: 20}, check.FixOptions{}, check.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
			if err != nil {
				return 0, "", err
			}
			for i := range res.Fixes {
				f := &res.Fixes[i]
				if f.Status != check.Repaired {
					continue
				}
				t, ok := best[path+f.Name]
				if proper := f.Total - f.Checks; !ok || proper < t.proper {
					t.proper = proper
				}
				if !ok || f.Total < t.whole {
					t.whole = f.Total
				}
				best[path+f.Name] = t
			}
		}
	}
	var sum, most, whole time.Duration
	for _, t := range best {
		sum, most, whole = sum+t.proper, max(most, t.proper), max(whole, t.whole)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return ms(most), fmt.Sprintf("mean %.1f ms; with all checks at most %.0f ms; %d kernels repaired", ms(sum)/float64(max(len(best), 1)), ms(whole), len(best)), nil
}
