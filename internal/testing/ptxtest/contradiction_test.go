package ptxtest

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// tracedAndRun are the directories whose kernels TestRunsAgainstTraces looks at.
var tracedAndRun = []string{suiteDir + "/mbarrier", suiteDir + "/async", suiteDir + "/cluster",
	suiteDir + "/cancel", suiteDir + "/named", suiteDir + "/wgmma", traceDir}

// TestRunsAgainstTraces: what a trace verifies, no run may refute: of a kernel whose shared memory
// and barriers are verified for all inputs, no schedule shows an error other than one about global
// memory, which a trace leaves out. HEDDLE_LONG=1 for 100 schedules. Of kernels in which a trace
// finds a bug, the log says how many show one in these runs: a trace covers schedules that no seed
// takes.
func TestRunsAgainstTraces(t *testing.T) {
	seeds := 4
	if long.All() {
		seeds = 100
	}
	var verified, other, bugs, shown atomic.Int64
	t.Run("files", func(t *testing.T) {
		for _, dir := range tracedAndRun {
			for _, path := range kernels(t, dir) {
				name, _ := filepath.Rel(dir, path)
				t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
					long.Sample(t, 4)
					traced := verdictsOf(t, path, check.Options{Mode: check.Trace}, nil)
					errors := map[string][]string{}
					runs := verdictsOf(t, path, check.Options{SkipProof: true, Run: run.Options{Seeds: seeds}},
						errors)
					for k, v := range traced {
						switch v.Kind {
						case diag.Verified:
							verified.Add(1)
							for _, e := range errors[k] {
								t.Errorf("kernel %s is verified by a trace, and a run shows: %s", k, e)
							}
						case diag.Bug:
							bugs.Add(1)
							if runs[k].Kind == diag.Bug {
								shown.Add(1)
							} else {
								t.Logf("kernel %s: a trace finds a bug, and runs say %v", k, runs[k].Kind)
							}
						default:
							other.Add(1)
						}
					}
				})
			}
		}
	})
	t.Logf("%d schedules: %d kernels verified, %d others without a bug, %d with one, of which runs show %d",
		seeds, verified.Load(), other.Load(), bugs.Load(), shown.Load())
	if int(verified.Load()) < long.Least(100) || int(bugs.Load()) < long.Least(100) {
		t.Error("too few kernels")
	}
}

// verdictsOf examines a file and returns the verdicts by kernel. It adds the errors to errors that
// are not about global memory, if it is not nil.
func verdictsOf(t *testing.T, path string, opt check.Options, errors map[string][]string) map[string]diag.Verdict {
	t.Helper()
	text, err := Source(path)
	if err != nil {
		t.Fatal(err)
	}
	exp, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	n := opt.Run.Seeds
	opt.MaxSteps, opt.Files, opt.Limit = defaultSteps, source.NewSet(), 1000
	if err := options(&opt.Options, &opt.Run.Seeds, exp.Options); err != nil {
		t.Fatal(err)
	}
	opt.Run.Seeds = n
	sum, err := check.Files(context.Background(), opt, []string{path}, func(d diag.Diagnostic) {
		if d.Severity == diag.Error && d.Kernel != "" && errors != nil &&
			!strings.Contains(d.Message, "global") {
			errors[d.Kernel] = append(errors[d.Kernel], string(d.Code)+": "+d.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]diag.Verdict{}
	for _, v := range sum.Verdicts {
		out[v.Kernel] = v
	}
	return out
}
