package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
)

// repairs times heddle fix on the kernels of testdata/fix that it repairs. The figure is the
// slowest repair proper, without the checks of candidates; the remark has the mean and the slowest
// total. Compiled files come from the cache. For each kernel the best of three runs counts, since
// other work on the machine can only add to it.
func repairs() (float64, string, error) {
	type timed struct{ proper, whole time.Duration }
	files, err := filepath.Glob("testdata/fix/*.*")
	if err != nil || len(files) == 0 {
		return 0, "", noKernels("testdata/fix", err)
	}
	best := map[string]timed{}
	for range 3 {
		for _, path := range files {
			res, err := fix.File(context.Background(), fix.Options{Common: driver.Options{Limit: 20}},
				driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
			if err != nil {
				return 0, "", err
			}
			for i := range res.Fixes {
				f := &res.Fixes[i]
				if f.Status != fix.Repaired {
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
	return ms(most), fmt.Sprintf("mean %.1f ms; with all checks at most %.0f ms; %d kernels repaired",
		ms(sum)/float64(max(len(best), 1)), ms(whole), len(best)), nil
}

// fixFiles are the kernels of the repository that may be broken and do not test a single rule.
var fixFiles = []string{"testdata/fix/*.*", "testdata/verify/programs/*.cu", "testdata/sync/*.cu",
	"examples/*.c[ul]"}

// fixRow is the format of a line of fixTable.
const fixRow = "%-36s %-13s %8v %8v %6v %8v %9v %9v %8v\n"

// fixTable prints what heddle fix does to each broken kernel of fixFiles whose FILE:KERNEL contains
// only, one kernel at a time and without a cache. The columns are:
//
//	verdict, source  verdicts on the repaired PTX and on the repaired, recompiled source
//	judged           candidates that were run and proved
//	compiled         source forms that were compiled
//	repair ms        wall time of search and edits without judging and compiling, best of all rounds
//	own s            CPU time of heddle, compilation of the input included
//	compilers s      CPU time of the compilers in the same round, the one with the least CPU time
func fixTable(only string, rounds int) error {
	fmt.Printf(fixRow, "kernel", "status", "verdict", "source", "judged", "compiled",
		"repair ms", "own s", "compilers s")
	var proper, whole []float64
	// The first pass finds the kernels that need a repair; only they are timed.
	inFile, inName, _ := strings.Cut(only, ":")
	for _, pattern := range fixFiles {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return noKernels(pattern, err)
		}
		for _, path := range files {
			if !strings.Contains(path, inFile) {
				continue
			}
			res, _, err := repaired(path, "", fix.Options{})
			if err != nil {
				return err
			}
			for i := range res.Fixes {
				kernel := res.Fixes[i].Kernel
				if !strings.Contains(kernel, inName) || res.Fixes[i].Status == fix.NothingToFix {
					continue
				}
				b, err := bestRepair(path, kernel, rounds)
				if err != nil {
					return err
				}
				b.print(path + ":" + strings.SplitN(kernel, "(", 2)[0])
				proper = append(proper, b.ms)
				whole = append(whole, b.cpu.own+b.cpu.compilers)
			}
		}
	}
	printQuantiles("repair proper", proper, "ms")
	printQuantiles("total", whole, "CPU s")
	return nil
}

// noKernels reports a pattern without files, which usually means a wrong working directory. An
// empty table would look like a result.
func noKernels(pattern string, err error) error {
	return fmt.Errorf("no kernels in %s: run bench in the root of the repository (%v)", pattern, err)
}

// repairTime is the result of several repairs of one kernel; fix is that of the last one.
type repairTime struct {
	fix *fix.Kernel
	ms  float64 // wall time of the repair proper, the least of all rounds
	cpu cpuTime // of everything, in the round with the least
}

// bestRepair repairs a kernel rounds times. The least time counts, since other work on the machine
// can only add to it. Wall and CPU time are minimized separately.
func bestRepair(path, kernel string, rounds int) (repairTime, error) {
	var best repairTime
	for n := range rounds {
		res, t, err := repaired(path, kernel, fix.Options{Source: true})
		if err != nil {
			return best, err
		}
		if len(res.Fixes) != 1 {
			return best, fmt.Errorf("%s: kernel %s has %d results", path, kernel, len(res.Fixes))
		}
		f := &res.Fixes[0]
		best.fix = f
		// The repair proper is what remains without judging and compiling.
		p := float64((f.Total - f.Checks - f.Compiles).Microseconds()) / 1000
		if n == 0 || p < best.ms {
			best.ms = p
		}
		if n == 0 || t.own+t.compilers < best.cpu.own+best.cpu.compilers {
			best.cpu = t
		}
	}
	return best, nil
}

// print prints a line of fixTable.
func (b *repairTime) print(name string) {
	f := b.fix
	source := f.Source.Kind.String()
	if len(f.Edits) == 0 {
		source = "-"
	}
	fmt.Printf(fixRow, strings.TrimPrefix(name, "testdata/"), f.Status, f.Verdict(), source, f.Judged,
		f.Compiled, fmt.Sprintf("%.1f", b.ms), fmt.Sprintf("%.2f", b.cpu.own),
		fmt.Sprintf("%.2f", b.cpu.compilers))
}

// printQuantiles prints the median, the 95th percentile and the maximum of a list, which it sorts.
// An empty list prints nothing.
func printQuantiles(what string, of []float64, unit string) {
	slices.Sort(of)
	if n := len(of); n > 0 {
		fmt.Printf("%s: median %.2f, 95th %.2f, worst %.2f %s\n", what, of[n/2], of[n*95/100], of[n-1],
			unit)
	}
}

// repaired runs heddle fix without a cache and returns its result and its CPU time. Each call has a
// new cache directory, so that compilers run every time.
func repaired(path, kernel string, opt fix.Options) (*fix.Result, cpuTime, error) {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return nil, cpuTime{}, err
	}
	defer os.RemoveAll(dir)
	opt.Common = driver.Options{Limit: 20, Kernel: kernel,
		Lower: lower.Options{CacheDir: dir}}
	start := cpuSeconds()
	res, err := fix.File(context.Background(), opt,
		driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
	if err != nil {
		return nil, cpuTime{}, fmt.Errorf("%s: %w", path, err)
	}
	end := cpuSeconds()
	return res, cpuTime{end.own - start.own, end.compilers - start.compilers}, nil
}
