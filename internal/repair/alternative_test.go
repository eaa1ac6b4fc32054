package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// TestSamePlace: two places are one to a user if neither an access to memory that threads share nor
// a synchronization is between them. The places are in front of not and neg.
func TestSamePlace(t *testing.T) {
	const a, b = "not.b32 %r7, %r7;\n", "neg.s32 %r8, %r8;\n"
	for body, want := range map[string]bool{
		a + b:                                     true,
		a + "add.u32 %r1, %r1, 1;\n" + b:          true,
		a + "ld.param.u64 %d2, [A];\n" + b:        true,
		a + "ld.const.u32 %r1, [c];\n" + b:        true,
		a + "st.local.u32 [l], %r1;\n" + b:        true,
		a + "ld.global.u32 %r1, [%d1];\n" + b:     false,
		a + "st.shared.u32 [s], %r1;\n" + b:       false,
		a + "st.u32 [%d1], %r1;\n" + b:            false,
		a + "red.global.add.u32 [%d1], 1;" + b:    false,
		a + "bar.sync 0;\n" + b:                   false,
		a + "bar.warp.sync -1;\n" + b:             false,
		a + "membar.gl;\n" + b:                    false,
		a + "cp.async.wait_all;\n" + b:            false,
		a + "call f, ();\n" + b:                   false,
		"bar.sync 0;\n" + a + b + "bar.sync 0;\n": true,
		// Blocks that always follow each other.
		a + "bra L;\nL:\n" + b:                                                     true,
		a + "ld.global.u32 %r1, [%d1];\nbra L;\nL:\n" + b:                          false,
		a + "bra L;\nL:\nld.global.u32 %r1, [%d1];\n" + b:                          false,
		"ld.global.u32 %r1, [%d1];\n" + a + "bra L;\nL:\n" + b + "bar.sync 0;\n":   true,
		a + "@%p1 bra L;\nadd.u32 %r1, %r1, 1;\nL:\n" + b:                          false,
		a + "@%p1 bra L;\n" + b + "L:\n":                                           false,
		a + "@%p1 bra L;\nadd.u32 %r1, %r1, 1;\nbra M;\nL:\n" + b + "M:\n":         false,
		"@%p1 bra L;\n" + a + "L:\n" + b:                                           false,
		"@%p1 bra L;\n" + a + "bra M;\nL:\nbar.sync 0;\nbra N;\nM:\n" + b + "N:\n": true,
		"@%p1 bra L;\n" + a + "bra M;\nL:\n" + b + "bra N;\nM:\nbar.sync 0;\nN:\n": false,
	} {
		k := kernelOf(t, modern+"\n.const .b32 c = 1;\n.func f()\n{\n\tret;\n}",
			".local .b32 l;\n"+body+"add.u32 %r2, %r2, 1;\n")
		r := &repairer{x: New(k)}
		at := func(op string) action { return action{what: Change{At: instrs(k, op)[0]}} }
		not, neg := at("not"), at("neg")
		if x, y := r.samePlace(not, neg), r.samePlace(neg, not); x != want || y != want {
			t.Errorf("%s\none place %v, and %v in the other order; want %v", body, x, y, want)
		}
	}
	// An empty block has no instruction at which to place a change.
	k := kernelOf(t, modern, "not.b32 %r7, %r7;\n")
	r := &repairer{x: New(k)}
	some, none := action{what: Change{At: instrs(k, "not")[0]}}, action{}
	if r.samePlace(some, none) || r.samePlace(none, some) || !r.samePlace(none, none) {
		t.Error("an action without an instruction is at the place of one with an instruction")
	}
}

// stores returns a kernel with n accesses in a row, and actions for barriers in front of each.
func stores(t *testing.T, n int) (*Kernel, *repairer, []action) {
	t.Helper()
	k := kernelOf(t, modern, strings.Repeat("st.global.u32 [%d1], 1;\n", n))
	r := &repairer{x: New(k), opt: Options{Cost: DefaultCost}, seen: map[judged]*Judgement{}}
	var list []action
	for _, in := range instrs(k, "st.global") {
		list = append(list, r.x.barrierAction(DefaultCost, r.x.where(in)))
	}
	return k, r, list
}

// TestExchangeable: an alternative does the same as what it replaces, for the same cost, and at
// another place than all of the plan.
func TestExchangeable(t *testing.T) {
	_, r, list := stores(t, 3)
	old, used, free := list[0], list[1], list[2]
	changed := func(change func(*action)) action {
		a := free
		change(&a)
		return a
	}
	none := changed(func(a *action) { a.cost = 0 })
	for _, c := range []struct {
		what   string
		old, c action
		want   bool
	}{
		{"another place", old, free, true},
		{"another cost", old, changed(func(a *action) { a.cost = 2 }), false},
		{"another kind", old, changed(func(a *action) { a.what.What = "a warp barrier" }), false},
		{"a place of the plan", old, used, false},
		{"its own place", old, old, false},
		{"the key of an action of the plan", old, changed(func(a *action) { a.key = used.key }), false},
		{"the place of an action of the plan", old,
			changed(func(a *action) { a.what.At = used.what.At }), false},
		{"how, and not where", none, none, false},
	} {
		if got := r.exchangeable(c.old, c.c, []action{old, used}); got != c.want {
			t.Errorf("%s: exchangeable %v", c.what, got)
		}
	}
}

// A graded judge gives each text a grade: without is that without a proof.
type graded struct{ proof, without Grade }

func (g graded) Judge(_ context.Context, _ []byte, proof bool) (*Judgement, error) {
	if proof {
		return &Judgement{Grade: g.proof}, nil
	}
	return &Judgement{Grade: g.without}, nil
}

// TestAlternatives: alternatives are as good as the best plan, three at most, and found with at
// most eight calls of the judge. A proof is asked for only if the best plan has one.
func TestAlternatives(t *testing.T) {
	for _, c := range []struct {
		what        string
		best        Grade
		judge       graded
		alternative int
		calls       int
	}{
		{"all are proved", Verified, graded{Verified, Clean}, 3, 3},
		{"none is proved", Verified, graded{Clean, Clean}, 0, 8},
		{"the best is not proved, a proof is not asked for", Clean, graded{Buggy, Clean}, 3, 3},
		{"others are better", Clean, graded{Buggy, Verified}, 3, 3},
		{"others are worse", Clean, graded{Verified, Unknown}, 0, 8},
	} {
		_, r, list := stores(t, 12)
		r.judge = c.judge
		best := &attempt{actions: list[:1], all: list, plan: &Plan{}, grade: c.best}
		alternatives := r.alternatives(t.Context(), best)
		if len(alternatives) != c.alternative || r.asked != c.calls {
			t.Errorf("%s: %d alternatives by %d calls, want %d by %d", c.what, len(alternatives),
				r.asked, c.alternative, c.calls)
		}
		for i, a := range alternatives { // in the order of the actions
			if at := a.Changes[0].At; len(a.Changes) != 1 || at != list[i+1].what.At {
				t.Errorf("%s: alternative %d changes %v", c.what, i, a.Changes)
			}
		}
	}
	// Either of two barriers may move to a third place: that place is offered once.
	_, r, list := stores(t, 3)
	r.judge = graded{Clean, Clean}
	best := &attempt{actions: list[:2], all: list, plan: &Plan{}, grade: Clean}
	if got := r.alternatives(t.Context(), best); len(got) != 1 {
		t.Errorf("%d alternatives for one other place", len(got))
	}
}

// TestAlternativeOfRepair: where two gaps between accesses can have the barrier, one of them has it
// and the other is the alternative.
func TestAlternativeOfRepair(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nld.global.u32 %r2, [%d1+8];\n"+
		"ld.global.u32 %r1, [%d1];\n")
	a, _ := k.File.Offset(instrs(k, "st.global")[0].Span.Start)
	b, _ := k.File.Offset(instrs(k, "ld.global")[1].Span.Start)
	race := []Finding{{Kind: Race, A: a, B: b, Reach: InBlock, Shown: true}}
	res, err := Repair(t.Context(), k, judgeFunc(func(text string) *Judgement {
		store, load := strings.Index(text, "st.global"), strings.LastIndex(text, "ld.global")
		if strings.Contains(text[store:load], "bar.sync") {
			return &Judgement{Grade: Verified}
		}
		return &Judgement{Grade: Buggy, Findings: race}
	}), Options{})
	if err != nil || res.Patch == nil || len(res.Alternatives) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	at := []*ir.Instr{res.Changes[0].At, res.Alternatives[0].Changes[0].At}
	if loads := instrs(k, "ld.global"); !slices.Contains(at, loads[0]) || !slices.Contains(at,
		loads[1]) {
		t.Errorf("barriers at %v", fmt.Sprint(at))
	}
}
