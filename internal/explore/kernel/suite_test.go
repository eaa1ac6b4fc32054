package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/lower"
)

// jobs calls examine with each kernel of a file and its launch.
func jobs(t *testing.T, path string, examine func(*driver.Job)) {
	t.Helper()
	d := driver.New(driver.Options{Workers: 1}, func(g diag.Diagnostic) {
		if g.Severity == diag.Error {
			t.Errorf("%s: %s", path, g.Message)
		}
	})
	in := []driver.Input{{Input: lower.Input{Name: path}}}
	d.Run(t.Context(), in, func(_ context.Context, j *driver.Job) { examine(j) })
}

// survey explores a launch; nil if the kernel is not supported.
func survey(t *testing.T, j *driver.Job, opt explore.Options) (*explore.Report, error) {
	cfg := j.Resolve()
	if cfg == nil {
		t.Fatalf("%s has no launch", j.Kernel.Name)
	}
	p, err := Program(j.Kernel, cfg, func(in *ir.Instr) string {
		return j.Format(driver.Place(in).Start)
	})
	if err != nil {
		return nil, err
	}
	return explore.Survey(t.Context(), p, opt, nil)
}

var expectation = regexp.MustCompile(`(?m)^// expect: (\w+)`)

// TestSuite: the kernels of testdata/suite/litmus, whose expectations follow from the PTX ISA, and
// which the detector and the prover examine as well. A kernel that is clean there has no data race
// in any execution, and one with a bug has one. Launches that are too large are left out.
func TestSuite(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/suite/litmus/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	examined := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := expectation.FindStringSubmatch(string(text))[1]
		jobs(t, path, func(j *driver.Job) {
			rep, err := survey(t, j, explore.Options{Unroll: 4, MaxStates: 2000})
			var refused *UnsupportedError
			var limit *explore.LimitError
			if errors.As(err, &refused) || errors.As(err, &limit) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if rep.Stats.Stopped && len(rep.Races) == 0 {
				return // a launch of a whole block
			}
			examined++
			if racy := len(rep.Races) > 0; racy != (want == "bug") {
				t.Errorf("%s: %s: %d races, the suite expects %s", filepath.Base(path), j.Kernel.Name,
					len(rep.Races), want)
			}
		})
	}
	if examined < 45 {
		t.Errorf("only %d kernels were explored", examined)
	}
}
