package verify_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// TestLoad: what is found, what is given up and why does not depend on how busy the machine is,
// since all limits are steps. They are so few here that many queries, and searches for invariants,
// are given up.
func TestLoad(t *testing.T) {
	module, facts := kernels.File(t, "../../testdata/verify/loops.cu", lower.Options{})
	outcome := func() string {
		var out strings.Builder
		for _, k := range module.Funcs {
			if !k.Kernel || !strings.Contains(k.Name, "bitonic") && !strings.Contains(k.Name, "row_fill") && !strings.Contains(k.Name, "haar") {
				continue
			}
			cfg, errs := launch.Resolve(k, launch.Request{}, facts)
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: cfg.Geometry})
			if err != nil {
				t.Fatal(err)
			}
			list := func() []smt.Solver { return []smt.Solver{&sat.Solver{Steps: 3_000}} }
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: list(), Pool: smt.NewPool(4, list, nil)})
			fmt.Fprintf(&out, "%s: %d pairs, %d by the simplifier, %d by a solver\n", k.Name, r.Stats.Pairs, r.Stats.BySimplifier, r.Stats.BySolver)
			for i := range r.Findings {
				fmt.Fprintln(&out, r.Findings[i].String())
			}
			if r.Invariants != nil {
				for _, c := range r.Invariants.Candidates {
					fmt.Fprintln(&out, r.Invariants.Text(c), c.Died)
				}
			}
		}
		return out.String()
	}
	quiet := outcome()
	if n := strings.Count(quiet, "undecided after 3000 steps"); n < 10 {
		t.Errorf("only %d queries are given up: the test shows little", n)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	defer stop.Store(true)
	for range 3 {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	if busy := outcome(); busy != quiet {
		t.Errorf("on an idle machine:\n%s\non a busy one:\n%s", quiet, busy)
	}
}
