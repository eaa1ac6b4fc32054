package ptxtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// said is what a file says of its kernels: for all, or above each.
var (
	saidAll  = regexp.MustCompile(`(?m)^// expect: (\w+)`)
	saidEach = regexp.MustCompile(`(?m)^// (verified|race|divergence|unknown|repaired|not repaired|redundant|unchanged)(?:, unconfirmed)?: .*(?:\n//.*)*\n(?:__global__ void |(?:__)?kernel void |\.visible \.entry )(\w+)`)
)

func TestFixEverything(t *testing.T) {
	dirs := []string{suiteDir, traceDir, examplesDir, "../../../testdata/verify", "../../../testdata/sync", "../../../testdata/fix"}
	rows := map[string][]string{}
	for _, dir := range dirs {
		for i, path := range kernels(t, dir) {
			if os.Getenv("HEDDLE_LONG") == "" && i%16 != 0 {
				continue
			}
			if only := os.Getenv("ONLY"); only != "" && !strings.Contains(path, only) {
				continue
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(content)
			all := "unsaid"
			if m := saidAll.FindStringSubmatch(text); m != nil {
				all = m[1]
			}
			each := map[string]string{}
			for _, m := range saidEach.FindAllStringSubmatch(text, -1) {
				each[m[2]] = m[1]
			}
			opt := check.Options{Files: source.NewSet(), Limit: 20}
			if exp, err := Parse(text); err == nil {
				if err := options(&opt, exp.Options); err != nil {
					t.Fatal(err)
				}
			}
			res, err := check.FixFile(context.Background(), opt, check.FixOptions{}, check.Input{Input: lower.Input{Name: path}}, func(diag.Diagnostic) {})
			if err != nil {
				rows["error: "+err.Error()] = append(rows["error: "+err.Error()], path)
				continue
			}
			for j := range res.Fixes {
				f := &res.Fixes[j]
				want := all
				if w := each[launch.BaseName(f.Kernel)]; w != "" {
					want = w
				}
				name, _ := filepath.Rel("../../..", path)
				key := fmt.Sprintf("%-12s %s", want, f.Status)
				if f.Status == check.Repaired || f.Status == check.NothingToFix {
					key += " " + f.Verdict()
					if len(f.Redundant) > 0 {
						key += " redundant"
					}
				} else {
					key += ": " + f.Why
				}
				rows[key] = append(rows[key], fmt.Sprintf("%s:%s %dms proper %dms", name, launch.BaseName(f.Kernel), f.Total.Milliseconds(), (f.Total-f.Checks).Milliseconds()))
				t.Logf("%s | %s:%s | %d ms, proper %d us", key, name, launch.BaseName(f.Kernel), f.Total.Milliseconds(), (f.Total - f.Checks).Microseconds())
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		t.Logf("%4d %s\n\t%s", len(rows[k]), k, strings.Join(rows[k], "\n\t"))
	}
}
