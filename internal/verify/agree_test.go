package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
	"heddle/internal/verify"
)

// TestSolversAgree: on every query of a kernel that the simplifier or the embedded solver decides,
// z3 says the same of the query as it was asked. HEDDLE_LONG takes all kernels.
func TestSolversAgree(t *testing.T) {
	z3, err := exec.LookPath("z3")
	if err != nil {
		t.Skip("no z3")
	}
	files := []string{"../../testdata/verify/indices.cu", "../../examples/scan.cu", "../../examples/reduce_racy.cu"}
	if long.All() {
		files = nil
		for _, pattern := range []string{"../../testdata/verify/*", "../../testdata/suite/*/*", "../../testdata/suite/*", "../../examples/*.c[ul]"} {
			more, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
	}
	total := 0
	for _, path := range files {
		switch filepath.Ext(path) {
		case ".cu", ".cl", ".ptx":
		default:
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { total += agree(t, z3, path) })
	}
	t.Logf("%d queries", total)
	if total < 20 {
		t.Errorf("only %d queries compared", total)
	}
}

// agree compares the queries of one file, and returns how many both decided.
func agree(t *testing.T, z3, path string) (compared int) {
	module, facts := kernels.File(t, path, lower.Options{})
	for _, k := range module.Funcs {
		if !k.Kernel || k.Blocks == nil {
			continue
		}
		cfg, errs := launch.Resolve(k, launch.Request{}, facts)
		if len(errs) > 0 {
			continue // a launch that is wrong on purpose
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		th, err := lockstep.Build(ctx, k, lockstep.Options{Geometry: cfg.Geometry})
		if err != nil {
			continue // not supported
		}
		var script bytes.Buffer
		var what []string
		script.WriteString("(set-option :timeout 5000)\n(set-logic ALL)\n")
		verify.Kernel(ctx, th, verify.Options{
			Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}},
			Record: func(f *verify.Finding, text []byte, a smt.Answer) {
				if a.Status == smt.Unknown || len(text) > 1<<20 {
					return
				}
				fmt.Fprintf(&script, "(push 1)\n%s(check-sat)\n(pop 1)\n", text)
				what = append(what, fmt.Sprintf("%s: %v by %s", f, a.Status, a.By))
			},
		})
		cmd := exec.Command(z3, "-in", "-smt2")
		cmd.Stdin = &script
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		answers := strings.Fields(string(out))
		if len(answers) != len(what) {
			t.Fatalf("z3 gave %d answers to %d queries:\n%s", len(answers), len(what), out)
		}
		for i, a := range answers {
			switch {
			case a == "unknown", a == "timeout":
			case !strings.Contains(what[i], ": "+a+" by "):
				t.Errorf("kernel %s: %s, z3 says %s", k.Name, what[i], a)
			default:
				compared++
			}
		}
	}
	return compared
}
