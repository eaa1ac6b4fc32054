package invariant_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/invariant"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
)

// frame is the kernel around a loop: %t is the thread's index, %n and %m are scalar arguments, %k
// counts iterations.
const frame = `.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 A, .param .u32 n, .param .u32 m)
{
	.reg .pred %%p<10>;
	.reg .b32 %%t, %%n, %%m, %%k, %%x<20>;
	.reg .b64 %%A, %%d<9>;
	ld.param.u64 %%A, [A];
	ld.param.u32 %%n, [n];
	ld.param.u32 %%m, [m];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%k, 0;
	%s
L:	%s
	add.u32 %%k, %%k, 1;
	setp.lt.u32 %%p0, %%k, %%m;
	@%%p0 bra L;
	st.global.u32 [%%A], %%x1;
	st.global.u32 [%%A+4], %%x2;
	@%%p1 st.global.u32 [%%A+8], %%x2;
	@%%p2 st.global.u32 [%%A+12], %%x2;
	ret;
}
`

// The state of the loops below changes under a condition on n and the iteration that no closed form
// says.
const sometimes = `xor.b32 %x9, %k, %n;
	and.b32 %x9, %x9, 5;
	setp.eq.u32 %p5, %x9, 4;
	`

// ruleTest is a loop, a candidate of a rule that the loop keeps, and one that it does not.
type ruleTest struct {
	rule, before, body string
	holds, fails       string
}

// ruleTests has a test for each rule.
var ruleTests = []ruleTest{
	{ // 0 or 7: never negative; its negative is
		"non-negative", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "selp.u32 %x1, 7, %x1, %p5; selp.u32 %x2, -7, %x2, %p5;",
		"(not (bvslt %x1 (_ bv0 32)))", "(not (bvslt %x2 (_ bv0 32)))",
	},
	{ // the same in 8 bits, the least that a number has; a change to -7 is not kept
		"non-negative", ".reg .b8 %q1, %q2; mov.u32 %x1, 0; cvt.u8.u32 %q1, %x1; cvt.u8.u32 %q2, %x1;",
		sometimes + "mov.u32 %x1, 7; @%p5 cvt.u8.u32 %q1, %x1; mov.u32 %x2, -7; @%p5 cvt.u8.u32 %q2, %x2; cvt.u32.u8 %x1, %q1; cvt.u32.u8 %x2, %q2;",
		"(not (bvslt %q1 (_ bv0 8)))", "(not (bvslt %q2 (_ bv0 8)))",
	},
	{ // min only falls; max with m does not stay below the entry
		"entry-bound", "mov.u32 %x1, %n; mov.u32 %x2, %n;", sometimes + "and.b32 %x3, %k, %m; @%p5 min.u32 %x1, %x1, %x3; @%p5 max.u32 %x2, %x2, %x3;",
		"(not (bvult g!param:n+0:32 %x1))", "(not (bvult g!param:n+0:32 %x2))",
	},
	{ // at most one, and at most two, for each iteration
		"step-bound", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "@%p5 add.u32 %x1, %x1, 1; @%p5 add.u32 %x2, %x2, 3; @!%p5 add.u32 %x2, %x2, 1;",
		"(not (bvult k %x1))", "(not (bvult k %x2))",
	},
	{ // at most three for each iteration, until 3*k wraps around: proposed, and not kept
		"step-bound", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "@%p5 add.u32 %x1, %x1, 3; @%p5 add.u32 %x2, %x2, 7; @!%p5 add.u32 %x2, %x2, 9;",
		"", "(not (bvult (bvmul (_ bv3 32) k) %x1))",
	},
	{ // the same downwards
		"step-bound", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "@%p5 sub.u32 %x1, %x1, 3; @%p5 sub.u32 %x2, %x2, 7; @!%p5 sub.u32 %x2, %x2, 9;",
		"", "(not (bvult (bvmul (_ bv3 32) k) (bvmul (_ bv4294967295 32) %x1)))",
	},
	{ // incremented only below n: at most n, or where it began; not below n for ever
		"loop-bound", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "setp.lt.u32 %p6, %x1, %n; and.pred %p5, %p5, %p6; @%p5 add.u32 %x1, %x1, 1;",
		"(not (bvult g!param:n+0:32 %x1))", "(not (bvult %x1 g!param:n+0:32))",
	},
	{ // the same from 7 on, which may be more than n
		"loop-bound", "mov.u32 %x1, 7; mov.u32 %x2, 0;", sometimes + "setp.lt.u32 %p6, %x1, %n; " +
			"and.pred %p5, %p5, %p6; @%p5 add.u32 %x1, %x1, 1;",
		"(or (not (bvult g!param:n+0:32 %x1)) (= (_ bv7 32) %x1))",
		"(or (= (_ bv7 32) %x1) (not (bvult %x1 g!param:n+0:32)))",
	},
	{ // what x1 is in one iteration says what x4 was two iterations before
		"entry-bound", "mov.u32 %x1, 3; mov.u32 %x2, %n; mov.u32 %x4, %n;",
		sometimes + "st.global.u32 [%A+16], %x1; xor.b32 %x1, %x2, %n; mov.u32 %x2, %x4; " +
			"xor.b32 %x5, %n, 3; @%p5 mov.u32 %x4, %x5;", "(not (bvult (_ bv3 32) %x1))", "",
	},
	{ // two registers that change under conditions of their own: the second of them
		"guarded-form", "mov.u32 %x1, 1; mov.u32 %x2, 2;", "setp.lt.u32 %p5, %x1, %t; " +
			"@%p5 add.u32 %x1, %x1, 3; setp.lt.u32 %p6, %x2, %n; @%p6 add.u32 %x2, %x2, 5;",
		"(or (not (bvult %x2 g!param:n+0:32)) " +
			"(= (bvadd %x2 (_ bv4294967294 32)) (bvmul (_ bv5 32) k)))", "",
	},
	{ // a machine of states 0 and 3; the other counts on
		"constant-bound", "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "@%p5 mov.u32 %x1, 3; setp.eq.u32 %p6, %x9, 1; @%p6 mov.u32 %x1, 0; setp.eq.u32 %p7, %x9, 5; @%p7 add.u32 %x2, %x2, %x1;",
		"(not (bvult (_ bv3 32) %x1))", "(not (bvult (_ bv3 32) %x2))",
	},
	{ // the index of a thread is at most 63, and an argument is not
		"loop-bound", "mov.u32 %x1, %t; mov.u32 %x2, %n;", sometimes + "@%p5 mov.u32 %x1, 5; @%p5 mov.u32 %x2, 5; setp.gt.u32 %p6, %x1, 63; @%p6 add.u32 %x1, %x1, 1; setp.gt.u32 %p6, %x2, 63; @%p6 add.u32 %x2, %x2, 1;",
		"(not (bvult (_ bv63 32) %x1))", "(not (bvult (_ bv63 32) %x2))",
	},
	{ // doubled or left alone: a power of two, or 0 when the bit has left; 1, 4, 7 are not all such
		"power-of-two", "mov.u32 %x1, 1; mov.u32 %x2, 1;", sometimes + "@%p5 shl.b32 %x1, %x1, 1; @%p5 add.u32 %x2, %x2, 3;",
		"(= (_ bv0 32) (bvand %x1 (bvadd %x1 (_ bv4294967295 32))))", "(= (_ bv0 32) (bvand %x2 (bvadd %x2 (_ bv4294967295 32))))",
	},
	{ // one gives what the other takes
		"pair", "mov.u32 %x1, %n; mov.u32 %x2, 0;", sometimes + "@%p5 add.u32 %x1, %x1, %k; @%p5 sub.u32 %x2, %x2, %k;",
		"(= g!param:n+0:32 (bvadd %x1 %x2))", "(= %x1 (bvadd g!param:n+0:32 %x2))",
	},
	{ // two copies of the iteration in 8 bits, the least that a number has
		"pair", ".reg .b8 %q1, %q2; mov.u32 %x1, 0; cvt.u8.u32 %q1, %x1; cvt.u8.u32 %q2, %x1;",
		sometimes + "@%p5 cvt.u8.u32 %q1, %k; @%p5 cvt.u8.u32 %q2, %k; cvt.u32.u8 %x1, %q1; " +
			"cvt.u32.u8 %x2, %q2;",
		"(= %q1 %q2)", "",
	},
	{ // 64 = x1*x2 as long as x2 is not 0; halving 1 loses the bit, so the loop stops before
		"product", "mov.u32 %x1, 64; mov.u32 %x2, 1;", sometimes + "setp.gt.u32 %p6, %x1, 1; and.pred %p5, %p5, %p6; @%p5 shr.u32 %x1, %x1, 1; @%p5 shl.b32 %x2, %x2, 1;",
		"(= (_ bv64 32) (bvmul %x1 %x2))", "",
	},
	{ // the same in 8 bits
		"product", ".reg .b8 %q1, %q2; mov.u32 %x1, 64; cvt.u8.u32 %q1, %x1; mov.u32 %x2, 1; " +
			"cvt.u8.u32 %q2, %x2;",
		sometimes + "cvt.u32.u8 %x1, %q1; cvt.u32.u8 %x2, %q2; setp.gt.u32 %p6, %x1, 1; " +
			"and.pred %p5, %p5, %p6; shr.u32 %x3, %x1, 1; shl.b32 %x4, %x2, 1; " +
			"@%p5 cvt.u8.u32 %q1, %x3; @%p5 cvt.u8.u32 %q2, %x4;",
		"(= (_ bv64 8) (bvmul %q1 %q2))", "",
	},
	{ // one that halves under a condition, and one that doubles always, with a closed form
		"product", "mov.u32 %x1, 64; mov.u32 %x2, 1; mov.u32 %x3, 1;",
		sometimes + "setp.gt.u32 %p6, %x1, 1; and.pred %p5, %p5, %p6; @%p5 shr.u32 %x1, %x1, 1; " +
			"@%p5 shl.b32 %x2, %x2, 1; st.global.u32 [%A+16], %x3; shl.b32 %x3, %x3, 1;",
		"(= (_ bv64 32) (bvmul %x1 %x2))", "(= (_ bv64 32) (bvmul %x1 " +
			"(ite (bvult k (_ bv32 32)) (bvshl (_ bv1 32) k) (_ bv0 32))))",
	},
	{ // two flags that are set together; one alone is not always true
		"predicate", "setp.eq.u32 %p1, %n, 1; setp.eq.u32 %p2, %n, 1; mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes + "@%p5 setp.lt.u32 %p1, %x9, %m; @%p5 setp.lt.u32 %p2, %x9, %m;",
		"(= %p1 %p2)", "%p1",
	},
	{ // the same with 64 bits, and the count as a number of 64 bits
		"guarded-form", "cvt.u64.u32 %d2, %t; mov.u64 %d1, 1; mov.u32 %x2, 5;", "setp.lt.u64 %p5, %d1, %d2; @%p5 shl.b64 %d1, %d1, 1; " + sometimes + "@%p5 shl.b32 %x2, %x2, 1;",
		"(or (not (bvult %d1 ((_ zero_extend 32) p!tid.x))) (= %d1 (ite (bvult k (_ bv64 32)) (bvshl (_ bv1 64) ((_ zero_extend 32) k)) (_ bv0 64))))", "",
	},
	{ // the same by four bits in each iteration
		"guarded-form", "mov.u32 %x1, 1; mov.u32 %x2, 5;", "setp.lt.u32 %p5, %x1, %t; " +
			"@%p5 shl.b32 %x1, %x1, 4; " + sometimes + "@%p5 shl.b32 %x2, %x2, 1;",
		"(or (not (bvult %x1 p!tid.x)) (= %x1 (ite (bvult k (_ bv32 32)) " +
			"(bvshl (_ bv1 32) (bvmul (_ bv4 32) k)) (_ bv0 32))))", "",
	},
	{ // while x1 is below the thread's index it doubles with each iteration
		"guarded-form", "mov.u32 %x1, 1; mov.u32 %x2, 5;", "setp.lt.u32 %p5, %x1, %t; @%p5 shl.b32 %x1, %x1, 1; " + sometimes + "@%p5 shl.b32 %x2, %x2, 1;",
		"(or (not (bvult %x1 p!tid.x)) (= %x1 (ite (bvult k (_ bv32 32)) (bvshl (_ bv1 32) k) (_ bv0 32))))", "",
	},
}

func build(t *testing.T, before, body string) *lockstep.Thread {
	t.Helper()
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	f := kernels.PTX(t, fmt.Sprintf(frame, before, body)).Funcs[0]
	th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: event.Geometry{Grid: one, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}})
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func solvers() []smt.Solver { return []smt.Solver{&sat.Solver{Steps: 10_000_000}} }

// TestRules: each rule proposes what its loop keeps, and Houdini drops what the loop does not keep;
// runs agree.
func TestRules(t *testing.T) {
	for _, tt := range ruleTests {
		t.Run(tt.rule, func(t *testing.T) {
			th := build(t, tt.before, tt.body)
			set := invariant.Find(t.Context(), th, solvers(), invariant.MaxSteps)
			found, formulas := map[string]bool{}, map[string]bool{}
			for _, c := range set.Candidates {
				if text := set.Text(c); formulas[text] || text == "true" || text == "false" {
					t.Errorf("proposed twice, or without need: %s", text)
				}
				formulas[set.Text(c)] = true
				if _, with, ok := strings.Cut(c.Died, " with "); ok { // what makes it false: arguments
					for _, v := range strings.Split(with, ", ") {
						if !strings.HasPrefix(v, "g!param:") && !strings.HasPrefix(v, "p!tid.x = ") {
							t.Errorf("%s: %s", set.Text(c), c.Died)
						}
					}
				}
				if c.Rule.Name == tt.rule {
					found[set.Text(c)] = true
				}
				// States of small machines: that a register is at most -7 is no bound.
				if text := set.Text(c); c.Rule.Name == "constant-bound" && strings.Contains(text, "_ bv429") {
					t.Errorf("proposed: %s", text)
				}
				switch text := set.Text(c); {
				case text == tt.holds && c.Died != "":
					t.Errorf("%s: %s", text, c.Died)
				case text == tt.fails && c.Died == "":
					t.Errorf("%s holds?", text)
				}
			}
			for _, text := range []string{tt.holds, tt.fails} {
				if text != "" && !found[text] {
					t.Errorf("not proposed: %s", text)
				}
			}
			if tt.holds != "" != set.Found() {
				t.Errorf("invariants found: %v", set.Found())
			}
			holdInRuns(t, th, set)
			if t.Failed() {
				for _, c := range set.Candidates {
					t.Log(c.Rule.Name, set.Text(c), c.Died)
				}
			}
		})
	}
}

// TestSteps: a search with exactly the steps that it takes has the same result. With fewer it is
// not done, and keeps nothing that is not proved: nothing, if no rule was done.
func TestSteps(t *testing.T) {
	find := func(steps int64) *invariant.Set {
		tt := ruleTests[0]
		return invariant.Find(t.Context(), build(t, tt.before, tt.body), solvers(), steps)
	}
	all := find(invariant.MaxSteps)
	if !all.Done || !all.Found() {
		t.Fatalf("done %v, invariants %v", all.Done, all.Found())
	}
	enough := find(all.Steps)
	if !enough.Done || enough.Steps != all.Steps || enough.Queries != all.Queries {
		t.Errorf("%d steps are not enough: %d taken", all.Steps, enough.Steps)
	}
	for i, c := range enough.Candidates {
		if c.Died != all.Candidates[i].Died {
			t.Errorf("%s: %q, and with more steps %q", enough.Text(c), c.Died, all.Candidates[i].Died)
		}
	}
	if less := find(all.Steps - 1); less.Done {
		t.Error("done with too few steps")
	}
	if none := find(0); none.Done || none.Found() {
		t.Errorf("without steps: done %v, invariants %v", none.Done, none.Found())
	}
}

// TestCancelled: a search whose context has ended is not done and keeps nothing.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tt := ruleTests[0]
	set := invariant.Find(ctx, build(t, tt.before, tt.body), solvers(), invariant.MaxSteps)
	if set.Done || set.Found() {
		t.Errorf("done %v, invariants found %v", set.Done, set.Found())
	}
}

// TestStepsOfHardRules: if steps run out among the candidates of hard rules, those of the others,
// which are proved before, are kept.
func TestStepsOfHardRules(t *testing.T) {
	i := slices.IndexFunc(ruleTests, func(r ruleTest) bool { return r.rule == "product" })
	find := func(steps int64) *invariant.Set {
		return invariant.Find(t.Context(), build(t, ruleTests[i].before, ruleTests[i].body), solvers(), steps)
	}
	all := find(invariant.MaxSteps)
	enough, less := find(all.Steps), find(all.Steps-1)
	if !all.Done || !enough.Done || less.Done {
		t.Fatalf("done %v, with as many steps %v, and with a step less %v", all.Done, enough.Done,
			less.Done)
	}
	for i, c := range less.Candidates {
		d := all.Candidates[i]
		if hard := c.Rule.Name == "product"; !hard && c.Died != d.Died {
			t.Errorf("%s: %q, and with more steps %q", less.Text(c), c.Died, d.Died)
		} else if hard && c.Died == "" {
			t.Errorf("%s is kept, though steps ran out", less.Text(c))
		}
	}
}

// unsat is a solver that answers that nothing has a model.
type unsat struct{ calls int }

// Name is the solver's name.
func (u *unsat) Name() string { return "unsat" }

// Solve counts the query.
func (u *unsat) Solve(context.Context, *smt.Context, []smt.Term) smt.Answer {
	u.calls++
	return smt.Answer{Status: smt.Unsat, By: u.Name()}
}

// TestQueries: a counterexample drops all candidates that are false in it, so that there are fewer
// queries than dropped candidates; and what has no counterexample is not asked again with more
// axioms. Of this loop a solver is asked only what an iteration preserves, since the registers are
// constants at the entry: once in a first round, and once more because candidates were dropped there.
func TestQueries(t *testing.T) {
	tt := ruleTests[0]
	set := invariant.FindUntraced(t.Context(), build(t, tt.before, tt.body), solvers())
	dropped := 0
	for _, c := range set.Candidates {
		if c.Died != "" {
			dropped++
		}
	}
	if set.Queries >= dropped {
		t.Errorf("%d queries drop %d candidates", set.Queries, dropped)
	}
	u := &unsat{}
	invariant.FindUntraced(t.Context(), build(t, tt.before, tt.body), []smt.Solver{u})
	if u.calls == 0 || u.calls > 2 {
		t.Errorf("%d queries without a model, in two rounds", u.calls)
	}
}

// holdInRuns: what survives is true at the header in every iteration of runs with random arguments.
// The run is made from the terms of one iteration, without axioms: it knows nothing of induction.
func holdInRuns(t *testing.T, th *lockstep.Thread, set *invariant.Set) {
	t.Helper()
	rnd := rand.New(rand.NewSource(1))
	small := []uint64{0, 1, 2, 3, 4, 5, 7, 31, 40, 1 << 31, 1<<32 - 1}
	c := th.Context
	if len(th.Loops) != 1 {
		t.Fatalf("%d loops", len(th.Loops))
	}
	l, visits := &th.Loops[0], 0
	for range 60 {
		m := &smt.Model{Vars: map[string]uint64{}, Funcs: map[string]map[string]uint64{}}
		for _, name := range []string{"g!param:n+0:32", "g!param:m+0:32"} {
			m.Vars[name] = small[rnd.Intn(len(small))]
		}
		m.Vars["p!tid.x"] = uint64(rnd.Intn(64))
		now := make([]uint64, len(l.Slots))
		for i, s := range l.Slots {
			now[i] = c.Evaluate(m).Value(s.Init)
		}
		for k := range uint64(40) {
			m.Vars[c.Name(l.Counter)] = k
			put := func(t smt.Term, v uint64) {
				if m.Funcs[c.Name(t)] == nil {
					m.Funcs[c.Name(t)] = map[string]uint64{}
				}
				m.Funcs[c.Name(t)][smt.Key([]uint64{k})] = v
			}
			put(l.Act, 1)
			for i, s := range l.Slots {
				if !s.Closed {
					put(s.Symbol, now[i])
				}
			}
			e := c.Evaluate(m)
			visits++
			for _, x := range set.Candidates {
				if x.Died == "" && !e.Holds(x.At()) {
					t.Fatalf("%s is false in iteration %d of n = %d, m = %d, thread %d", set.Text(x), k, m.Vars["g!param:n+0:32"], m.Vars["g!param:m+0:32"], m.Vars["p!tid.x"])
				}
			}
			if !e.Holds(l.Back) {
				break
			}
			for i, s := range l.Slots {
				now[i] = e.Value(s.Next)
			}
		}
	}
	if visits < 300 {
		t.Errorf("only %d visits of the header", visits)
	}
}

// TestEveryRuleIsTested: the table and the tests have the same rules, but those that only kernels
// with barriers and halved values show: testdata/verify/loops.cu; and candidates of the source,
// which TestGuesses of package verify has.
func TestEveryRuleIsTested(t *testing.T) {
	tested := "trips barrier-tag candidate"
	for _, tt := range ruleTests {
		tested += " " + tt.rule
	}
	for _, r := range invariant.Rules {
		if !strings.Contains(tested, r.Name) {
			t.Errorf("%s has no test", r.Name)
		}
		if r.Why == "" {
			t.Errorf("%s has no reason", r.Name)
		}
	}
}

// TestSameSteps: a search takes the same steps each time, since they decide what is undecided. Steps
// depend on the numbers of terms, and so on the order in which terms are made.
func TestSameSteps(t *testing.T) {
	want := ""
	for range 12 {
		th := build(t, ruleTests[0].before, ruleTests[0].body)
		l := &th.Loops[0]
		terms := []smt.Term{l.Act, l.Entry, l.Back}
		for _, s := range l.Slots {
			terms = append(terms, s.At, s.Next)
		}
		got := fmt.Sprint(terms, th.Axioms.For(terms, 3))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("terms %s, and before %s", got, want)
		}
	}
}

// TestComparisons: a comparison of the loop is proposed if it may change from iteration to
// iteration and neither side is loaded: the others are the same at each header, or unknown there.
func TestComparisons(t *testing.T) {
	th := build(t, "mov.u32 %x1, 0; mov.u32 %x2, 0;", sometimes+`setp.lt.u32 %p6, %n, %m;
	and.pred %p6, %p5, %p6;
	@%p6 add.u32 %x1, %x1, 1;
	mul.wide.u32 %d1, %k, 4;
	add.u64 %d1, %A, %d1;
	ld.global.u32 %x8, [%d1+64];
	setp.lt.u32 %p7, %x8, %n;
	@%p7 add.u32 %x2, %x2, 1;`)
	set := invariant.Find(t.Context(), th, solvers(), invariant.MaxSteps)
	c, l := th.Context, &th.Loops[0]
	known, bounds := append(symbols(l), l.Act), 0
	for _, x := range set.Candidates {
		moves, compares := false, x.Rule.Name == "loop-bound"
		c.Visit([]smt.Term{x.At()}, func(u smt.Term) {
			moves = moves || u == l.Counter
			if compares && c.Op(u) == smt.OpApp && !is(c, u, known) {
				t.Errorf("loaded: %s", set.Text(x))
			}
		})
		if !moves {
			t.Errorf("the same in each iteration: %s", set.Text(x))
		}
		if compares {
			bounds++
		}
	}
	if bounds == 0 {
		t.Error("no comparison is proposed")
	}
}

// TestComparedConstants: a constant with which the loop compares one register bounds the others of
// its width too, here a copy that is made in some iterations. A constant of 64 bits bounds no
// register of 32 bits, as its lower half would.
func TestComparedConstants(t *testing.T) {
	th := build(t, "mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u64 %d1, 0;", sometimes+
		`setp.lt.u32 %p6, %x1, 40;
	setp.lt.u64 %p7, %d1, 0x200000017;
	and.pred %p7, %p5, %p7;
	and.pred %p6, %p6, %p7;
	@%p6 add.u32 %x1, %x1, 1;
	@!%p5 mov.u32 %x2, %x1;
	@%p7 add.u64 %d1, %d1, 1;`)
	set := invariant.Find(t.Context(), th, solvers(), invariant.MaxSteps)
	died := map[string]string{}
	for _, x := range set.Candidates {
		died[set.Text(x)] = x.Died
	}
	if why, ok := died["(not (bvult (_ bv40 32) %x2))"]; !ok || why != "" {
		t.Errorf("%%x2 <= 40: proposed %v, died: %q", ok, why)
	}
	for _, x := range []string{"%x1", "%x2"} {
		if _, ok := died["(not (bvult (_ bv23 32) "+x+"))"]; ok {
			t.Errorf("%s <= 23 is proposed", x)
		}
	}
}

// TestInnerResults: no candidate mentions what an inner loop computes in the iteration that is
// about to begin. The invariants of the inner loop are proved from those of the outer one, so a candidate
// of the outer loop that follows from them would be proved by itself. Results of an earlier loop
// are there at the header.
func TestInnerResults(t *testing.T) {
	const mix = `xor.b32 %x5, %x5, %n; mul.lo.u32 %x5, %x5, %m;
	add.u32 %x6, %x6, 1; setp.lt.u32 %p6, %x6, %m;`
	th := build(t, "mov.u32 %x2, 0; mov.u32 %x5, %t; mov.u32 %x6, 0;\nEARLY: "+mix+
		"@%p6 bra EARLY; mov.u32 %x1, %x5;", "mov.u32 %x5, %x1; mov.u32 %x6, 0;\nINNER: "+mix+
		"@%p6 bra INNER; setp.lt.u32 %p5, %x5, %n; @%p5 add.u32 %x1, %x1, 3;")
	var outer int
	var inner, early []smt.Term // what the loops compute
	for i := range th.Loops {
		l := &th.Loops[i]
		if len(l.Around) > 0 {
			outer = slices.IndexFunc(th.Loops, func(o thread.Loop) bool {
				return o.Counter == l.Around[0]
			})
			inner = append(inner, symbols(l)...)
		}
	}
	for i := range th.Loops {
		if len(th.Loops[i].Around) == 0 && i != outer {
			early = append(early, symbols(&th.Loops[i])...)
		}
	}
	if len(inner) == 0 || len(early) == 0 {
		t.Fatalf("results %v of the inner loop, %v of the earlier one", inner, early)
	}
	c, mentions := th.Context, false
	now := th.Loops[outer].Counter
	for _, x := range invariant.Find(t.Context(), th, solvers(), invariant.MaxSteps).Candidates {
		if x.Loop != outer {
			continue
		}
		c.Visit([]smt.Term{x.At()}, func(u smt.Term) {
			if is(c, u, inner) && c.Args(u)[0] == now {
				t.Errorf("of this iteration: %s", c.String(x.At()))
			}
			mentions = mentions || is(c, u, early)
		})
	}
	if !mentions {
		t.Error("no candidate mentions the earlier loop, whose result is the initial value of x1")
	}
}

// symbols returns the terms of a loop for values without a closed form.
func symbols(l *thread.Loop) (out []smt.Term) {
	for i := range l.Slots {
		if s := &l.Slots[i]; !s.Closed {
			out = append(out, s.Symbol)
		}
	}
	return out
}

// is reports whether a term applies the function of one of others.
func is(c *smt.Context, t smt.Term, others []smt.Term) bool {
	return c.Op(t) == smt.OpApp && slices.ContainsFunc(others, func(u smt.Term) bool {
		return c.Op(u) == smt.OpApp && c.Name(u) == c.Name(t)
	})
}
