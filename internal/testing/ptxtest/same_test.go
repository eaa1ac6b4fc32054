package ptxtest

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// output returns the findings and verdicts that heddle check prints for a file, as JSON.
func output(ctx context.Context, path string, workers int) (string, error) {
	text, err := Source(path)
	if err != nil {
		return "", err
	}
	exp, err := Parse(text)
	if err != nil {
		return "", err
	}
	opt := check.Options{SkipProof: true}
	opt.MaxSteps, opt.Workers, opt.Files = defaultSteps, workers, source.NewSet()
	if err := options(&opt.Options, &opt.Run.Seeds, exp.Options); err != nil {
		return "", err
	}
	var out bytes.Buffer
	p := diag.NewJSON(&out, opt.Files)
	sum, err := check.Files(ctx, opt, []string{path}, func(d diag.Diagnostic) { _ = p.Finding(&d) })
	if err != nil {
		return "", err
	}
	for i := range sum.Verdicts {
		if err := p.Verdict(&sum.Verdicts[i]); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// TestSameOutput checks that the output does not depend on the number of cores, on map order or on
// timing: repeated runs on one and on two cores yield the same bytes.
func TestSameOutput(t *testing.T) {
	runs := 2
	if long.All() {
		runs = 50
	}
	for _, dir := range []string{suiteDir, examplesDir} {
		for _, path := range kernels(t, dir) {
			name, _ := filepath.Rel(dir, path)
			t.Run(name, func(t *testing.T) {
				long.Sample(t, 4)
				t.Parallel()
				first := ""
				for i := range runs {
					got, err := output(t.Context(), path, 1+i%2)
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						first = got
					}
					if got != first {
						t.Fatalf("run %d, on %d cores, differs:\n%s\nthe first was:\n%s", i, 1+i%2, got, first)
					}
				}
			})
		}
	}
}
