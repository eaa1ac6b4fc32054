package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/lower"
)

// syncFiles are the kernels of the repository that may have barriers.
var syncFiles = []string{"testdata/sync/*.cu", "testdata/verify/*.c[ul]",
	"testdata/verify/programs/*.cu", "testdata/fix/*.cu", "testdata/suite/*/*.c[ul]",
	"examples/*.c[ul]"}

// syncRow is the format of a line of syncTable.
const syncRow = "%-44s %8v %8v %8v %8v %6v %6v %9v  %v\n"

// syncSums counts the results of syncTable.
type syncSums struct {
	kernels int
	fewer   int     // kernels with fewer barriers than before
	cheaper int     // kernels with a lower cost than before
	worse   int     // kernels that are not verified, or have more barriers or a higher cost
	slowest float64 // CPU time in seconds
	proofs  []string
}

// syncTable prints what heddle sync does to the kernels of syncFiles whose file name contains only
// and whose barriers are proved correct, and to all kernels of testdata/sync: barriers and costs
// before and after, calls of the oracle, and the CPU time including the final proof, without a
// cache. For kernels that became cheaper it prints the verdicts. It places block barriers only,
// since one block barrier can cost more than several warp barriers.
func syncTable(only string) error {
	fmt.Printf(syncRow, "kernel", "barriers", "cost", "now", "cost now", "calls", "CPU s",
		"compilers", "verdict")
	var sums syncSums
	for _, pattern := range syncFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, path := range files {
			if !strings.Contains(path, only) {
				continue
			}
			before, _, err := synchronized(path, "", placement.Options{VerifyOnly: true})
			if err != nil {
				return err
			}
			for i := range before {
				b := &before[i]
				correct := b.Status == placement.Unchanged && len(b.Barriers) > 0 &&
					b.Verdict.Kind == diag.Verified
				if !strings.HasPrefix(path, "testdata/sync/") && !correct {
					continue
				}
				if err := sums.kernel(path, b); err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("%d kernels, %d with fewer barriers, %d cheaper, %d worse; the slowest takes %.2f s\n",
		sums.kernels, sums.fewer, sums.cheaper, sums.worse, sums.slowest)
	for _, p := range sums.proofs {
		fmt.Println(p)
	}
	return nil
}

// kernel searches barriers for one kernel without preference for the existing ones, prints a line,
// and counts the result. b is the verdict on the existing barriers. A search that runs out of time
// is printed and not counted.
func (sums *syncSums) kernel(path string, b *placement.Kernel) error {
	// Stripping prevents a tie from being decided in favor of existing barriers.
	so := placement.Options{BlockOnly: true}
	so.Strip = true
	after, cpu, err := synchronized(path, b.Kernel, so)
	if err != nil {
		return err
	}
	if len(after) != 1 {
		return fmt.Errorf("%s: kernel %s has %d results", path, b.Kernel, len(after))
	}
	a := &after[0]
	name := filepath.Base(path) + ":" + strings.SplitN(b.Kernel, "(", 2)[0]
	was, is := standing(b), standing(a)
	own, compilers := fmt.Sprintf("%.2f", cpu.own), fmt.Sprintf("%.2f", cpu.compilers)
	if a.Status == placement.NotChecked { // out of time, which is not a result
		fmt.Printf(syncRow, name, was, b.Before, "", "", "", own, compilers, a.Stuck[0])
		return nil
	}
	sums.kernels++
	sums.slowest = max(sums.slowest, cpu.own+cpu.compilers)
	// Compare only results for the same launches: one launch, or all.
	comparable := b.Status == placement.Unchanged && b.Given == a.Given
	switch {
	case a.Verdict.Kind != diag.Verified || comparable && (is > was || a.After > b.Before):
		sums.worse++
	case comparable && is < was:
		sums.fewer++
	}
	if comparable && a.After < b.Before {
		sums.cheaper++
		sums.proofs = append(sums.proofs, fmt.Sprintf("%s: %s", name, a.Verdict.Text()))
	}
	fmt.Printf(syncRow, name, was, b.Before, is, a.After, a.Calls, own, compilers, a.Verdict.Kind)
	return nil
}

// standing counts the barriers in the resulting source: kept and inserted ones, or without a
// search, all.
func standing(k *placement.Kernel) int {
	n := 0
	for i := range k.Barriers {
		if !k.Barriers[i].Gone {
			n++
		}
	}
	return n
}

// synchronized runs heddle sync without a cache and returns its results and its CPU time. The time
// limit keeps one hard kernel from holding up the table.
func synchronized(path, kernel string, so placement.Options) ([]placement.Kernel, cpuTime, error) {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return nil, cpuTime{}, err
	}
	defer os.RemoveAll(dir)
	so.Common = driver.Options{Kernel: kernel, Lower: lower.Options{CacheDir: dir}}
	so.Prove.Timeout = 30 * time.Second
	start := cpuSeconds()
	res, err := placement.File(context.Background(), so,
		driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
	if err != nil {
		return nil, cpuTime{}, fmt.Errorf("%s: %w", path, err)
	}
	end := cpuSeconds()
	return res.Kernels, cpuTime{end.own - start.own, end.compilers - start.compilers}, nil
}

// cpuTime is CPU time in seconds, of this process and of the compilers that it ran.
type cpuTime struct{ own, compilers float64 }

// maxPlacements is the maximum number of placements of a kernel that are run to compare costs; the
// number grows exponentially with the places for a barrier.
const maxPlacements = 2000

// costModel correlates the cost of placements with the barriers that runs execute. The figure is
// Spearman's rank correlation over all placements of all kernels of testdata/sync; the remark has
// the median and the minimum over single kernels.
func costModel(measured bool) func() (float64, string, error) {
	return func() (float64, string, error) {
		files, err := filepath.Glob("testdata/sync/*.cu")
		if err != nil || len(files) == 0 {
			return 0, "", noKernels("testdata/sync", err)
		}
		var cost, truth, single []float64
		for _, path := range files {
			all, err := placement.Costs(context.Background(), placement.Options{},
				driver.Input{Input: lower.Input{Name: path}}, maxPlacements)
			if err != nil {
				return 0, "", fmt.Errorf("%s: %w", path, err)
			}
			for _, placements := range all {
				var c, t []float64
				for _, p := range placements {
					if measured {
						c = append(c, p.Measured)
					} else {
						c = append(c, p.Static)
					}
					t = append(t, p.Executions)
				}

				if rho := spearman(c, t); !math.IsNaN(rho) {
					single = append(single, rho)
				}
				cost, truth = append(cost, c...), append(truth, t...)
			}
		}
		// Costs of different kernels have different scales, so the correlation within each is given too.
		slices.Sort(single)
		remark := fmt.Sprintf("%d placements of %d files", len(cost), len(files))
		if len(single) > 0 {
			remark += fmt.Sprintf("; within a kernel: median %.3f, minimum %.3f", single[len(single)/2],
				single[0])
		}
		return spearman(cost, truth), remark, nil
	}
}

// spearman returns Spearman's rank correlation, with the mean rank for equal values: the Pearson
// correlation of the ranks. It is NaN if all values of one side are equal.
func spearman(x, y []float64) float64 {
	a, b := ranks(x), ranks(y)
	mean := float64(len(x)+1) / 2
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - mean) * (b[i] - mean)
		aa += (a[i] - mean) * (a[i] - mean)
		bb += (b[i] - mean) * (b[i] - mean)
	}
	return ab / math.Sqrt(aa*bb)
}

// ranks returns the rank of each value, from 1; equal values share their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}
