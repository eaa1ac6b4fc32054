package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"heddle/internal/command/sync"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
)

// syncFiles are our own kernels that may have barriers.
var syncFiles = []string{"testdata/sync/*.cu", "testdata/verify/*.c[ul]", "testdata/verify/programs/*.cu", "testdata/fix/*.cu", "testdata/suite/*/*.c[ul]", "examples/*.c[ul]"}

// syncTable prints what heddle sync does to every kernel of our own whose barriers are proved right, and to those of
// testdata/sync: barriers and costs before and after, calls of the oracle, and the CPU time of all of it, that of the last
// proof included, with nothing in a cache. Those that got cheaper come with what was proved. Barriers are those
// of the block: one of them can cost more than several of the warp.
func syncTable(only string) error {
	const row = "%-44s %8v %8v %8v %8v %6v %6v %9v  %v\n"
	fmt.Printf(row, "kernel", "barriers", "cost", "now", "cost now", "calls", "CPU s", "compilers", "verdict")
	kernels, fewer, cheaper, worse := 0, 0, 0, 0
	slowest := 0.0
	var proofs []string
	for _, pattern := range syncFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, path := range files {
			if !strings.Contains(path, only) {
				continue
			}
			before, _, err := synchronized(path, "", sync.Options{VerifyOnly: true})
			if err != nil {
				return err
			}
			for i := range before {
				b := &before[i]
				own := strings.HasPrefix(path, "testdata/sync/")
				if !own && (b.Status != sync.Unchanged || len(b.Barriers) == 0 || b.Verdict.Kind != diag.Verified) {
					continue
				}
				so := sync.Options{BlockOnly: true}
				so.Strip = true
				after, cpu, err := synchronized(path, b.Kernel, so)
				if err != nil {
					return err
				}
				if len(after) != 1 {
					return fmt.Errorf("%s: kernel %s: %d results", path, b.Kernel, len(after))
				}
				a := &after[0]
				name := filepath.Base(path) + ":" + strings.SplitN(b.Kernel, "(", 2)[0]
				was, is := standing(b), standing(a)
				if a.Status == sync.NotChecked { // out of time: that says nothing
					fmt.Printf(row, name, was, b.Before, "", "", "", fmt.Sprintf("%.2f", cpu.own), fmt.Sprintf("%.2f", cpu.compilers), a.Stuck[0])
					continue
				}
				kernels++
				slowest = max(slowest, cpu.own+cpu.compilers)
				right := b.Status == sync.Unchanged && b.Given == a.Given // not for one launch before, and for all now
				switch {
				case a.Verdict.Kind != diag.Verified || right && (is > was || a.After > b.Before):
					worse++
				case right && is < was:
					fewer++
				}
				if right && a.After < b.Before {
					cheaper++
					proofs = append(proofs, fmt.Sprintf("%s: %s", name, a.Verdict.Text()))
				}
				fmt.Printf(row, name, was, b.Before, is, a.After, a.Calls, fmt.Sprintf("%.2f", cpu.own), fmt.Sprintf("%.2f", cpu.compilers), a.Verdict.Kind)
			}
		}
	}
	fmt.Printf("%d kernels, %d with fewer barriers, %d cheaper, %d worse; the slowest takes %.2f s\n", kernels, fewer, cheaper, worse, slowest)
	for _, p := range proofs {
		fmt.Println(p)
	}
	return nil
}

// standing counts the barriers that stand in the end; before a search, which has none in its list, those that it judged.
func standing(k *sync.Kernel) int {
	n := 0
	for i := range k.Barriers {
		if !k.Barriers[i].Gone {
			n++
		}
	}
	return n
}

// synchronized runs heddle sync, and says how much CPU time it took.
func synchronized(path, kernel string, so sync.Options) ([]sync.Kernel, cpuTime, error) {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return nil, cpuTime{}, err
	}
	defer os.RemoveAll(dir)
	so.Common = driver.Options{Kernel: kernel, Lower: lower.Options{CacheDir: dir}}
	so.Prove.Timeout = 30 * time.Second
	start := cpuSeconds()
	res, err := sync.File(context.Background(), so, driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
	if err != nil {
		return nil, cpuTime{}, fmt.Errorf("%s: %w", path, err)
	}
	end := cpuSeconds()
	return res.Kernels, cpuTime{end.own - start.own, end.compilers - start.compilers}, nil
}

// cpuTime is CPU time in seconds: of this process, and of the compilers that it ran.
type cpuTime struct{ own, compilers float64 }

func cpuSeconds() cpuTime {
	of := func(who int) float64 {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return cpuTime{of(syscall.RUSAGE_SELF), of(syscall.RUSAGE_CHILDREN)}
}

// maxPlacements bounds how many placements of a kernel are run to compare costs.
const maxPlacements = 2000

// costModel correlates the cost of placements with the barriers that runs execute: Spearman's rank correlation over all
// placements of all kernels of testdata/sync, with the median of those of single kernels in the remark.
func costModel(measured bool) func() (float64, string, error) {
	return func() (float64, string, error) {
		files, err := filepath.Glob("testdata/sync/*.cu")
		if err != nil || len(files) == 0 {
			return 0, "", fmt.Errorf("no kernel in testdata/sync: run it at the top of the repository (%w)", err)
		}
		var cost, truth, single []float64
		cut := 0
		for _, path := range files {
			all, err := sync.Costs(context.Background(), sync.Options{}, driver.Input{Input: lower.Input{Name: path}}, maxPlacements)
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
				if len(placements) == maxPlacements {
					cut++
				}
				if rho := spearman(c, t); !math.IsNaN(rho) {
					single = append(single, rho)
				}
				cost, truth = append(cost, c...), append(truth, t...)
			}
		}
		slices.Sort(single)
		remark := fmt.Sprintf("%d placements of %d files", len(cost), len(files))
		if len(single) > 0 {
			remark += fmt.Sprintf("; within a kernel: median %.3f, least %.3f", single[len(single)/2], single[0])
		}
		return spearman(cost, truth), remark, nil
	}
}

// spearman is the correlation of ranks, those of equal values being their mean; NaN if all of one side are equal.
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

// ranks returns the place of each value in the order of all, from 1.
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
