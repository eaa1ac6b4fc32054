package repair

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// TestExchange: two actions are replaced by one that costs less than both, if the judge accepts it.
// Those without a cost choose how a plan is carried out, and stay.
func TestExchange(t *testing.T) {
	_, r, list := stores(t, 4)
	judge := func(kept string) judgeFunc {
		return needing(Clean, func(has string) bool { return has == kept })
	}
	cost := func(a action, c float64) action { a.cost = c; return a }
	// The action in front of store i+1 is a barrier behind store i, which needing calls by letters.
	for _, c := range []struct {
		what    string
		actions []action
		all     []action
		accept  string // in place of the plan
		want    string
	}{
		{"one for two", list[1:3], list[1:4], "c", "c"},
		{"none is accepted", list[1:3], list[1:4], "x", "ab"},
		{"one for two of three", list[1:4], append(slices.Clone(list[1:4]), list[0]), "x", "abc"},
		{"one that costs as much", list[1:3], []action{cost(list[3], 2)}, "c", "ab"},
		{"one that costs a little less", list[1:3], []action{cost(list[3], 1.99)}, "c", "c"},
		{"the first costs nothing", []action{cost(list[1], 0), list[2]},
			[]action{cost(list[3], 0.5)}, "c", "ab"},
		{"the second costs nothing", []action{list[1], cost(list[2], 0)},
			[]action{cost(list[3], 0.5)}, "c", "ab"},
		{"one of the plan", list[1:3], list[1:3], "b", "ab"},
	} {
		r.judge, r.seen, r.asked = judge(c.accept), map[judged]*Judgement{}, 0
		a, err := r.exchange(t.Context(), &attempt{actions: c.actions, grade: Clean}, c.all)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range a.actions {
			got += string(rune('a' - 1 + slices.IndexFunc(list,
				func(y action) bool { return y.key == x.key })))
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	// A plan that is proved is replaced by a plan that is proved.
	for _, g := range []graded{{Verified, Clean}, {Clean, Clean}} {
		r.judge, r.seen = g, map[judged]*Judgement{}
		for _, has := range []Grade{Clean, Verified} {
			a, err := r.exchange(t.Context(), &attempt{actions: list[1:3], grade: has}, list)
			if err != nil || (len(a.actions) == 1) != (has == Clean || g.proof == Verified) {
				t.Errorf("%v instead of %v: %d actions, %v", g, has, len(a.actions), err)
			}
		}
	}
	// The calls are limited.
	_, r, list = stores(t, 30)
	r.judge = graded{Buggy, Buggy}
	if _, err := r.exchange(t.Context(), &attempt{actions: list[:15], grade: Clean},
		list); err != nil ||
		r.asked != maxExchanges {
		t.Errorf("%d plans tried, want %d; %v", r.asked, maxExchanges, err)
	}
}

// A counting judge says how often it was asked with and without a proof.
type counting struct {
	judge          judgeFunc
	proofs, others *int
	grade          Grade // of a text that judge accepts, without a proof
}

func (c counting) Judge(ctx context.Context, text []byte, proof bool) (*Judgement, error) {
	j, err := c.judge.Judge(ctx, text, proof)
	if proof {
		*c.proofs++
	} else {
		*c.others++
		if j.Grade >= Clean {
			j.Grade = c.grade
		}
	}
	return j, err
}

// TestNarrowAsks: a plan that is proved is narrowed by proofs. Otherwise runs decide, and the
// result is judged once more with a proof.
func TestNarrowAsks(t *testing.T) {
	for _, c := range []struct {
		grade        Grade
		proofs, runs bool
	}{{Verified, true, false}, {Clean, true, true}} {
		_, r, list := stores(t, 4)
		var proofs, others int
		r.opt.Rounds = 2
		r.judge = counting{needing(c.grade, func(kept string) bool {
			return strings.Contains(kept,
				"b")
		}),
			&proofs, &others, Clean}
		wide, err := r.try(t.Context(), list, true)
		if err != nil {
			t.Fatal(err)
		}
		proofs = 0
		a, err := r.narrow(t.Context(), wide)
		if err != nil || len(a.actions) != 1 || a.grade != c.grade {
			t.Fatalf("%v: %d actions, grade %v, %v", c.grade, len(a.actions), a.grade, err)
		}
		if (others > 0) != c.runs || c.runs && proofs != 1 || !c.runs && proofs < 2 {
			t.Errorf("grade %v: %d proofs, %d runs", c.grade, proofs, others)
		}
	}
}

// TestNarrowErrs: what keeps the judge from an answer is reported, also if it answers the next time.
func TestNarrowErrs(t *testing.T) {
	for bad := range 3 {
		_, r, list := stores(t, 4)
		r.opt.Rounds = 2
		accept := proofJudge(func(text string, _ bool) Grade {
			if strings.Count(text, "bar.sync") < 2 {
				return Buggy
			}
			return Clean
		})
		r.judge = accept
		wide, err := r.try(t.Context(), list, true)
		if err != nil {
			t.Fatal(err)
		}
		broken := &failing{judge: accept, good: bad, err: errors.New("no judge")}
		r.judge = broken
		clear(r.seen)
		if a, err := r.narrow(t.Context(), wide); !errors.Is(err, broken.err) {
			t.Errorf("after %d answers: %+v, %v, want the error of the judge", bad, a, err)
		}
	}
}

// A failing judge has no answer to one question.
type failing struct {
	judge Judge
	good  int // answers before it
	err   error
}

func (f *failing) Judge(ctx context.Context, text []byte, proof bool) (*Judgement, error) {
	if f.good--; f.good == -1 {
		return nil, f.err
	}
	return f.judge.Judge(ctx, text, proof)
}

// TestNarrowAgain: where a proof finds a bug in a narrow plan that runs accepted, the next round
// has a run more; without an end the wide plan remains.
func TestNarrowAgain(t *testing.T) {
	for _, rounds := range []int{1, 3} {
		_, r, list := stores(t, 4)
		r.opt.Rounds = rounds
		known := false // the counterexample is among the runs
		r.judge = proofJudge(func(text string, proof bool) Grade {
			kept := strings.Count(text, "bar.sync")
			switch {
			case kept >= 2:
				return Clean
			case proof:
				known = true
				return Buggy
			case known || kept == 0:
				return Buggy
			}
			return Clean
		})
		wide, err := r.try(t.Context(), list, true)
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.narrow(t.Context(), wide)
		want := map[int]int{1: len(list), 3: 2}[rounds]
		if err != nil || len(a.actions) != want || a.grade != Clean {
			t.Errorf("%d rounds: %d actions, want %d; %v", rounds, len(a.actions), want, err)
		}
	}
}

// A proofJudge judges by the text and by whether a proof is asked for.
type proofJudge func(text string, proof bool) Grade

func (f proofJudge) Judge(_ context.Context, text []byte, proof bool) (*Judgement, error) {
	return &Judgement{Grade: f(string(text), proof)}, nil
}

// TestApply: a barrier of the plan stands at its place where all threads arrive. Where some do not,
// those that do must not wait at it: it is at a place that all pass, except if the plan says that
// it is bare, or a barrier of a warp.
func TestApply(t *testing.T) {
	const body = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra E;\nnot.b32 %r1, %r1;\n" +
		"E:\n" +
		"neg.s32 %r1, %r1;\n"
	k := kernelOf(t, modern, body)
	x := New(k)
	some, all := x.where(instrs(k, "not")[0]), x.where(instrs(k, "neg")[0])
	for _, c := range []struct {
		what    string
		plan    Plan
		before  string // what stands in front of not and neg
		neg     string
		regions int
	}{
		{"where all are", Plan{Barriers: []Point{all}}, "", "bar.sync \t0;", 0},
		{"where some are", Plan{Barriers: []Point{some}}, "bra \t$fix1_stable0_1;\n$fix1_label0_1:",
			"", 1},
		{"bare", Plan{Bare: []Point{some}}, "bar.sync \t0;", "", 0},
		{"of a warp", Plan{Warps: []Point{some}}, "bar.warp.sync \t-1;", "", 0},
		{"where some are, and where all are", Plan{Barriers: []Point{some, all}},
			"bra \t$fix1_stable0_1;\n$fix1_label0_1:", "bar.sync \t0;", 1},
		{"something else", Plan{Inserts: []Insert{{At: some, Text: "membar.gl;"}}}, "membar.gl;", "", 0},
		{"another text", Plan{Texts: map[int]string{instrs(k, "mov")[0].Index: "mov.u32 %r2, 7;"}},
			"", "", 0},
	} {
		p, err := x.Apply(&c.plan)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		text := string(p.Text)
		not, neg := strings.Index(text, "not.b32"), strings.Index(text, "neg.s32")
		if got := strings.TrimSpace(text[:not]); c.before != "" && !strings.HasSuffix(got, c.before) {
			t.Errorf("%s: not %q in front of not:\n%s", c.what, c.before, text)
		}
		if got := strings.TrimSpace(text[not+len("not.b32 %r1, %r1;") : neg]); c.neg != "" !=
			strings.HasSuffix(got, "bar.sync \t0;") {
			t.Errorf("%s: %q in front of neg", c.what, got)
		}
		if strings.Contains(text, "%r2, 7;") != (len(c.plan.Texts) > 0) || len(p.Regions) != c.regions {
			t.Errorf("%s: %d regions\n%s", c.what, len(p.Regions), text)
		}
		if c.regions == 0 && strings.Contains(text, ".reg .pred \t%fix1") {
			t.Errorf("%s: registers for nothing\n%s", c.what, text)
		}
		parse(t, text)
	}
}

// TestApplySplit: a barrier that only some threads reach becomes one of all threads. It cannot
// become one where the rest of the control flow has barriers that count threads, or where nothing
// keeps threads away.
func TestApplySplit(t *testing.T) {
	const tid = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n"
	for _, c := range []struct{ what, body, refuse string }{
		{"in front of another", tid + "@%p1 bra E;\nbar.sync 0;\nnot.b32 %r1, %r1;\nbar.sync 0;\n" +
			"E:\n", ""},
		{"under a guard", tid + "@%p1 bar.sync 0;\n", ""},
		{"under a condition", tid + "@%p1 bra E;\nbar.sync 0;\nE:\n", ""},
		{"under a condition that seems the same for all", "ld.global.u32 %r2, [%d1];\n" +
			"setp.eq.u32 %p1, %r2, 0;\n@%p1 bra E;\nbar.sync 0;\nE:\n", ""},
		{"of all threads", "bar.sync 0;\n", "all threads already reach this barrier"},
		{"beside one that counts", tid + "@%p1 bra E;\nbar.sync 0;\nbar.sync 1, 32;\nE:\n",
			"all threads would have to execute together"},
		{"behind one that counts", tid + "bar.sync 1, 32;\n@%p1 bra E;\nbar.sync 0;\nE:\n", ""},
	} {
		k := kernelOf(t, modern, c.body)
		p, err := New(k).Apply(&Plan{Split: map[int]bool{instrs(k, "bar.sync 0",
			"bar.sync")[0].Index: true}})
		if strings.Contains(c.what, "counts") { // the second one is split
			for _, in := range instrs(k, "bar.sync") {
				if isBarrier(in) {
					p, err = New(k).Apply(&Plan{Split: map[int]bool{in.Index: true}})
				}
			}
		}
		var no *Unsupported
		if c.refuse != "" {
			if !errors.As(err, &no) || !strings.Contains(no.What, c.refuse) {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		after := parse(t, string(p.Text))
		y := New(after)
		for _, in := range Barriers(after.Func) {
			if y.strays(in) {
				t.Errorf("%s: some threads do not reach a barrier\n%s", c.what, p.Text)
			}
		}
		if n := len(Barriers(after.Func)); n != len(Barriers(k.Func)) {
			t.Errorf("%s: %d barriers\n%s", c.what, n, p.Text)
		}
	}
}

// TestSerial: branches share a barrier that all threads pass, or run one after another (AuCS,
// Algorithm 1), with a barrier for each.
func TestSerial(t *testing.T) {
	k := kernelOf(t, modern, "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra E;\n"+
		"not.b32 %r1, %r1;\nbra F;\nE:\nneg.s32 %r1, %r1;\nF:\n")
	x := New(k)
	both := []Point{x.where(instrs(k, "not")[0]), x.where(instrs(k, "neg")[0])}
	for serial, want := range map[bool]int{false: 1, true: 2} {
		p, err := x.Apply(&Plan{Barriers: both, Serial: serial})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(p.Text), "bar.sync"); n != want || p.Regions[0].Levels != want {
			t.Errorf("serial %v: %d barriers, %d levels\n%s", serial, n, p.Regions[0].Levels, p.Text)
		}
	}
}

// TestEnd: the code that a transformation adds is behind the body, which must not continue into it.
func TestEnd(t *testing.T) {
	const some = "\tmov.u32 %r2, %tid.x;\n\tsetp.eq.u32 %p1, %r2, 0;\n\t@%p1 bra E;\n" +
		"\tnot.b32 %r1, %r1;\nE:\n\tneg.s32 %r1, %r1;\n"
	for end, want := range map[string]int{"": 1, "\tret;\n": 1, "\texit;\n": 0} {
		k := parse(t, modern+"\n.address_size 64\n.visible .entry k()\n{\n\t.reg .pred %p<2>;\n"+
			"\t.reg .b32 %r<3>;\n"+some+end+"}\n")
		x := New(k)
		p, err := x.Apply(&Plan{Barriers: []Point{x.where(instrs(k, "not")[0])}})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(p.Text), "ret;"); n != want {
			t.Errorf("%q: %d returns\n%s", end, n, p.Text)
		}
	}
}

// TestEverywhere: barriers are offered next to what a finding names and where all threads arrive,
// and with a transformation everywhere. A barrier that diverges is kept at its own place.
func TestEverywhere(t *testing.T) {
	k := kernelOf(t, modern, "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\nst.shared.u32 [s], 1;\n"+
		"@%p1 bra E;\nbar.sync 0;\nld.shared.u32 %r1, [s];\nE:\nneg.s32 %r1, %r1;\n")
	load, bar := instrs(k, "ld.shared")[0], instrs(k, "bar.sync")[0]
	race := raceOf(k, InBlock, "st.shared", "ld.shared")
	stray := located{Finding{Kind: Divergence, Shown: true}, bar, nil}
	for _, c := range []struct {
		what  string
		split bool
		found []located
		want  []string
	}{
		{"a race, without a transformation", false, []located{race},
			[]string{"barrier at bra", "barrier at neg.s32", "barrier at st.shared.u32"}},
		{"a race", true, []located{race}, []string{"barrier at bra", "barrier at end",
			"barrier at ld.shared.u32", "barrier at neg.s32", "barrier at st.shared.u32"}},
		{"nothing that a barrier repairs", true, []located{{Finding{Kind: Other, Shown: true}, load,
			bar}},
			nil},
		{"a barrier that diverges", true, []located{stray}, []string{"barrier at bra",
			"barrier at neg.s32"}},
		{"the same, without a transformation", false, []located{stray},
			[]string{"barrier at bra", "barrier at neg.s32"}},
	} {
		if got := offered(k, everywhere(c.split), c.found...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		r := &repairer{x: New(k), opt: Options{Cost: DefaultCost}, found: c.found}
		keeps := slices.ContainsFunc(everywhere(c.split)(r),
			func(a action) bool { return a.what.At == bar })
		if keeps != (c.split && c.found[0].Kind == Divergence) {
			t.Errorf("%s: the barrier is kept: %v", c.what, keeps)
		}
		list := everywhere(c.split)(r)
		s := serial(r)
		if last := s[len(s)-1]; c.split && len(s) != len(list)+1 || last.key != "serial" ||
			last.cost != 0 {
			t.Errorf("%s: serial offers %v", c.what, last.key)
		}
	}
}

// TestNothing: a plan without actions helps only where barriers are removed.
func TestNothing(t *testing.T) {
	k := kernelOf(t, modern, "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bar.sync 0;\n")
	bar := instrs(k, "bar.sync")[0]
	for _, c := range []struct {
		f    Finding
		b    *ir.Instr
		want bool
	}{
		{Finding{Kind: Divergence, Shown: true}, nil, true},
		{Finding{Kind: Divergence}, nil, false},
		{Finding{Kind: Race, Shown: true}, bar, false},
	} {
		r := &repairer{x: New(k), found: []located{{c.f, bar, c.b}}}
		if got := nothing(r) != nil; got != c.want {
			t.Errorf("%v: %v", c.f, got)
		}
	}
}
