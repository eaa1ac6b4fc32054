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
			res, err := fix.File(context.Background(), fix.Options{Common: driver.Options{Limit: 20}}, driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
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
	return ms(most), fmt.Sprintf("mean %.1f ms; with all checks at most %.0f ms; %d kernels repaired", ms(sum)/float64(max(len(best), 1)), ms(whole), len(best)), nil
}

// fixFiles are our own kernels that may be broken and are no tests of one rule each.
var fixFiles = []string{"testdata/fix/*.*", "testdata/verify/programs/*.cu", "testdata/sync/*.cu", "examples/*.c[ul]"}

// fixTable prints what heddle fix does to each broken kernel of our own, alone, with nothing in a cache: texts that
// were judged, forms in the source that were compiled, and times. "repair" is the wall time of the search and of the
// edits, without the checks of candidates, the best of the rounds; "own" and "compilers" are CPU times of all of it,
// reading and compiling of the file included, of the round that took the least.
func fixTable(only string, rounds int) error {
	const row = "%-36s %-13s %8v %8v %6v %8v %9v %9v %8v\n"
	fmt.Printf(row, "kernel", "status", "verdict", "source", "judged", "compiled", "repair ms", "own s", "compilers s")
	var files []string
	for _, pattern := range fixFiles {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			return fmt.Errorf("no kernels in %s: run it at the top of the repository (%v)", pattern, err)
		}
		files = append(files, list...)
	}
	var proper, whole []float64
	for _, path := range files {
		inFile, inName, _ := strings.Cut(only, ":")
		if !strings.Contains(path, inFile) {
			continue
		}
		res, _, err := repaired(path, "", fix.Options{})
		if err != nil {
			return err
		}
		for i := range res.Fixes {
			name := path + ":" + strings.SplitN(res.Fixes[i].Kernel, "(", 2)[0]
			if !strings.Contains(res.Fixes[i].Kernel, inName) || res.Fixes[i].Status == fix.NothingToFix {
				continue
			}
			var f *fix.Kernel
			var cpu cpuTime
			ms := 0.0
			for n := range rounds {
				res, t, err := repaired(path, res.Fixes[i].Kernel, fix.Options{Source: true})
				if err != nil {
					return err
				}
				if len(res.Fixes) != 1 {
					return fmt.Errorf("%s: %d results", name, len(res.Fixes))
				}
				f = &res.Fixes[0]
				p := float64((f.Total - f.Checks - f.Compiles).Microseconds()) / 1000
				if n == 0 || p < ms {
					ms = p
				}
				if n == 0 || t.own+t.compilers < cpu.own+cpu.compilers {
					cpu = t
				}
			}
			source := f.Source.Kind.String()
			if len(f.Edits) == 0 {
				source = "-"
			}
			fmt.Printf(row, strings.TrimPrefix(name, "testdata/"), f.Status, f.Verdict(), source, f.Judged, f.Compiled, fmt.Sprintf("%.1f", ms), fmt.Sprintf("%.2f", cpu.own), fmt.Sprintf("%.2f", cpu.compilers))
			proper, whole = append(proper, ms), append(whole, cpu.own+cpu.compilers)
		}
	}
	say := func(what string, of []float64, unit string) {
		slices.Sort(of)
		if n := len(of); n > 0 {
			fmt.Printf("%s: median %.2f, 95th %.2f, worst %.2f %s\n", what, of[n/2], of[n*95/100], of[n-1], unit)
		}
	}
	say("repair proper", proper, "ms")
	say("all of it", whole, "CPU s")
	return nil
}

// repaired runs heddle fix, and says how much CPU time it took.
func repaired(path, kernel string, opt fix.Options) (*fix.Result, cpuTime, error) {
	dir, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return nil, cpuTime{}, err
	}
	defer os.RemoveAll(dir)
	opt.Common = driver.Options{Limit: 20, Kernel: kernel, Lower: lower.Options{CacheDir: dir}}
	start := cpuSeconds()
	res, err := fix.File(context.Background(), opt, driver.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
	if err != nil {
		return nil, cpuTime{}, fmt.Errorf("%s: %w", path, err)
	}
	end := cpuSeconds()
	return res, cpuTime{end.own - start.own, end.compilers - start.compilers}, nil
}
