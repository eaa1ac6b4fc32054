package proc

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"heddle/internal/smt"
)

// fake returns a Solver whose program is a shell script.
func fake(t *testing.T, script string) *Solver {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "solver")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &Solver{Path: path}
	t.Cleanup(s.Close)
	return s
}

func query(c *smt.Context) []smt.Term {
	x := c.Var("x", 32)
	return []smt.Term{c.Eq(c.Mul(x, x), c.Const(49, 32)), c.Ult(c.Const(8, 32), x)}
}

func TestBadSolvers(t *testing.T) {
	for name, tc := range map[string]struct{ script, reason string }{
		"hangs":       {"sleep 100", "out of time"},
		"never reads": {"exec sleep 100 </dev/null", "ended without an answer"},
		"crashes":     {"head -c 10 >/dev/null; exit 139", "ended without an answer"},
		"prints garbage": {"cat >/dev/null & echo 'Segmentation violation'; wait",
			"unexpected output"},
		"sat, then no more": {"echo sat; head -c 400 >/dev/null", "ended without an answer"},
		"sat, bad model":    {"echo sat; echo '((|x| banana))'; cat >/dev/null", "unexpected output"},
		"unknown":           {"echo unknown; cat >/dev/null", "it does not know"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake(t, tc.script)
			s.Time = 500 * time.Millisecond
			c := smt.New()
			start := time.Now()
			a := s.Solve(context.Background(), c, query(c))
			if a.Status != smt.Unknown || !strings.Contains(a.Reason, tc.reason) &&
				a.Reason != "out of time" {
				t.Errorf("answer %v %q, want unknown with %q", a.Status, a.Reason, tc.reason)
			}
			if time.Since(start) > 20*time.Second {
				t.Errorf("returned after %v", time.Since(start))
			}
		})
	}
}

// A wrong "sat" is not accepted: the model is evaluated on the original query.
func TestLyingSolver(t *testing.T) {
	s := fake(t, "echo sat; echo '((|x| #x00000005))'; cat >/dev/null")
	s.Time = 5 * time.Second
	c := smt.New()
	a := c.Decide(context.Background(), query(c), s)
	if a.Status != smt.Unknown || !strings.Contains(a.Reason, "does not satisfy") {
		t.Errorf("answer %v %q", a.Status, a.Reason)
	}
}

func TestMissingProgram(t *testing.T) {
	s := &Solver{Path: filepath.Join(t.TempDir(), "none")}
	c := smt.New()
	if a := s.Solve(context.Background(), c, query(c)); a.Status != smt.Unknown || a.Reason == "" {
		t.Errorf("answer %v %q", a.Status, a.Reason)
	}
}

func TestCancelled(t *testing.T) {
	s := fake(t, "sleep 100")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	c := smt.New()
	if a := s.Solve(ctx, c, query(c)); a.Status != smt.Unknown || a.Reason != "cancelled" {
		t.Errorf("answer %v %q", a.Status, a.Reason)
	}
	if s.running != nil {
		t.Error("the process was not ended")
	}
}

// After a query that exceeded its time limit, the solver answers the next one.
func TestRestart(t *testing.T) {
	s := Find(Z3)
	if s == nil {
		t.Skip("no z3")
	}
	defer s.Close()
	c := smt.New()
	hard := c.Eq(c.Mul(c.Var("p", 64), c.Var("q", 64)), c.Const(3000000019*3999999979, 64))
	big := c.Ult(c.Const(3, 64), c.Var("p", 64))
	s.Time = 30 * time.Millisecond
	first := s.Solve(context.Background(), c,
		[]smt.Term{hard, big, c.Ult(c.Var("p", 64), c.Const(1<<32, 64)),
			c.Ult(c.Var("q", 64), c.Const(1<<32, 64))})
	if first.Status == smt.Unknown && first.Reason != "out of time" {
		t.Errorf("first: %v %q", first.Status, first.Reason)
	}
	s.Time = 20 * time.Second
	if a := s.Solve(context.Background(), c,
		[]smt.Term{c.Ult(c.Var("p", 64), c.Const(5, 64))}); a.Status != smt.Sat {
		t.Errorf("second: %v %q", a.Status, a.Reason)
	}
}

// The values of a query with shared terms are asked for by name: written out, the argument of f would
// have 2^40 variables.
func TestSharedModel(t *testing.T) {
	s := Find(Z3)
	if s == nil {
		t.Skip("no z3")
	}
	defer s.Close()
	s.Time = 20 * time.Second
	c := smt.New()
	x := c.Var("x", 32)
	deep := x
	for i := range 40 {
		deep = c.BvXor(c.Mul(deep, deep), c.Const(uint64(i)+1, 32))
	}
	f := c.Apply(c.Declare("f", 32, 32), deep)
	q := []smt.Term{c.Eq(f, c.Const(7, 32)), c.Eq(x, c.Const(3, 32))}
	if a := c.Decide(context.Background(), q, s); a.Status != smt.Sat || !c.Satisfies(a.Model, q) {
		t.Errorf("answer %v %q, want a model", a.Status, a.Reason)
	}
}

func TestLiteral(t *testing.T) {
	for text, want := range map[string]uint64{
		"((|x| #x0f))":                           15,
		"((|x| #b101))":                          5,
		"((|x y| true))":                         1,
		"(((|f| |x| #x00) false))":               0,
		"((|x| (_ bv77 32)))":                    77,
		"(((bvadd |x| (_ bv1 32)) (_ bv78 32)))": 78,
	} {
		if got, err := literal(text); err != nil || got != want {
			t.Errorf("literal(%s) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "sat", "(error \"x\")", "((|x| ))", "((|x| #xzz))",
		"((|x| (_ bvq 3)))"} {
		if got, err := literal(text); err == nil {
			t.Errorf("literal(%s) = %d, no error", text, got)
		}
	}
}
