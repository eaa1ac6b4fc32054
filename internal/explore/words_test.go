package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// two is a test of two threads of different CTAs of one device, with instructions separated by
// semicolons.
func two(t *testing.T, init, a, b string) *Program {
	t.Helper()
	return programOf(t, init, "P0@cta 0,gpu 0", a, "P1@cta 1,gpu 0", b)
}

// programOf is two for two threads with their places.
func programOf(t *testing.T, init, p0, a, p1, b string) *Program {
	t.Helper()
	first, second := strings.Split(a, ";"), strings.Split(b, ";")
	text := "PTX t\n{" + init + "}\n" + p0 + " | " + p1 + " ;\n"
	for i := range max(len(first), len(second)) {
		x, y := "", ""
		if i < len(first) {
			x = strings.TrimSpace(first[i])
		}
		if i < len(second) {
			y = strings.TrimSpace(second[i])
		}
		text += x + " | " + y + " ;\n"
	}
	test, err := readTest(text + "exists x=0")
	if err != nil {
		t.Fatal(err)
	}
	return FromLitmus(test)
}

// TestMissing: what would order the accesses of a race. Each expectation follows from the patterns
// of PTX ISA 8.8, the scopes of 8.7 and, for the last one, Fence-SC order (8.10.2).
func TestMissing(t *testing.T) {
	const writer = "st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu y, 1"
	const reader = "ld.relaxed.gpu r0, y; bne r0, 1, END; fence.acq_rel.gpu; ld.weak r1, x; END:"
	cut := func(s, what string) string { return strings.Replace(s, what, "", 1) }
	narrow := func(s string) string { return strings.ReplaceAll(s, "fence.acq_rel.gpu", "fence.acq_rel.cta") }
	for _, c := range []struct{ name, a, b, want string }{
		{"release", cut(writer, "fence.acq_rel.gpu; "), reader,
			"a fence.acq_rel.gpu behind st.weak x, 1 of P0"},
		{"acquire", writer, cut(reader, "fence.acq_rel.gpu; "),
			"a fence.acq_rel.gpu before ld.weak r1, x of P1"},
		{"both", cut(writer, "fence.acq_rel.gpu; "), cut(reader, "fence.acq_rel.gpu; "),
			"a fence.acq_rel.gpu behind st.weak x, 1 of P0 and another before ld.weak r1, x of P1"},
		{"scope", narrow(writer), narrow(reader),
			"a scope that includes the other thread, .gpu, on both sides"},
		{"weak flag", strings.Replace(writer, "relaxed.gpu", "weak", 1),
			strings.Replace(reader, "relaxed.gpu", "weak", 1),
			"strong accesses, .relaxed.gpu, to what the threads communicate by"},
		{"all", "st.weak x, 1; st.weak y, 1", "ld.weak r0, y; bne r0, 1, END; ld.weak r1, x; END:",
			"strong accesses, .relaxed.gpu, to what the threads communicate by, a fence.acq_rel.gpu " +
				"behind st.weak x, 1 of P0 and another before ld.weak r1, x of P1"},
		{"nothing helps", "st.weak x, 1", "ld.weak r1, x", ""},
		{"store, then load", "st.relaxed.gpu y, 1; ld.relaxed.gpu r0, z; bne r0, 0, END; st.weak x, 1; END:",
			"st.relaxed.gpu z, 1; ld.relaxed.gpu r0, y; bne r0, 0, END; st.weak x, 2; END:",
			"a fence.sc.gpu between the strong store of each thread and what it loads then"},
	} {
		rep, err := Survey(t.Context(), two(t, "x=0; y=0; z=0;", c.a, c.b), Options{}, nil)
		if err != nil {
			t.Fatal(c.name, err)
		}
		// The race of x: in "weak flag" and "all" there is one of y as well.
		got, found := "", false
		for _, r := range rep.Races {
			if r.Example.Cells()[r.Example.Graph.Events[r.Pair.First].Loc].Name == "x" {
				got, found = r.Missing(), true
			}
		}
		if !found || got != c.want {
			t.Errorf("%s: race %v, missing %q, expected %q", c.name, found, got, c.want)
		}
	}
	// Threads of one CTA need no more than its scope.
	p := programOf(t, "x=0; y=0;", "P0@cta 0,gpu 0", "st.weak x, 1; st.relaxed.cta y, 1", "P1@cta 0,gpu 0",
		"ld.relaxed.cta r0, y; bne r0, 1, END; fence.acq_rel.cta; ld.weak r1, x; END:")
	rep, err := Survey(t.Context(), p, Options{}, nil)
	if err != nil || len(rep.Races) != 1 {
		t.Fatal(rep.Races, err)
	}
	if got, want := rep.Races[0].Missing(), "a fence.acq_rel.cta behind st.weak x, 1 of P0"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// steps prints the order in which an execution is shown.
func steps(e *Execution) string {
	var parts []string
	for _, s := range e.Steps() {
		parts = append(parts, fmt.Sprintf("%d %s", s.Thread, s.Text))
	}
	return strings.Join(parts, ", ")
}

// TestSteps: a source precedes its reads, and the arrivals at a barrier what follows it. What reads
// from its own future in program order has no such order, and is shown all the same.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *Program
		want func(*Execution) bool
		text string
	}{
		{"message", two(t, "x=0;", "ld.relaxed.gpu r0, x", "st.relaxed.gpu x, 1"),
			func(e *Execution) bool { return e.Reg(0, 0) == 1 },
			"1 st.relaxed.gpu x, 1, 0 ld.relaxed.gpu r0, x"},
		{"initial value", two(t, "x=0;", "ld.relaxed.gpu r0, x", "st.relaxed.gpu x, 1"),
			func(e *Execution) bool { return e.Reg(0, 0) == 0 },
			"0 ld.relaxed.gpu r0, x, 1 st.relaxed.gpu x, 1"},
		{"barrier", programOf(t, "x=0; y=0;", "P0@cta 0,gpu 0", "bar.cta.sync 1, 0; st.weak x, 1",
			"P1@cta 0,gpu 0", "st.weak y, 1; bar.cta.sync 1, 0"), func(*Execution) bool { return true },
			"0 bar.cta.sync 1, 0, 1 st.weak y, 1, 1 bar.cta.sync 1, 0, 0 st.weak x, 1"},
		{"load buffering", two(t, "x=0; y=0;", "ld.relaxed.gpu r0, x; st.relaxed.gpu y, 1",
			"ld.relaxed.gpu r0, y; st.relaxed.gpu x, 1"),
			func(e *Execution) bool { return e.Reg(0, 0) == 1 && e.Reg(1, 0) == 1 },
			"0 ld.relaxed.gpu r0, x, 0 st.relaxed.gpu y, 1, 1 ld.relaxed.gpu r0, y, 1 st.relaxed.gpu x, 1"},
	} {
		shown := 0
		_, err := Explore(t.Context(), c.p, Options{}, func(e *Execution) {
			if !c.want(e) {
				return
			}
			shown++
			if got := steps(e); got != c.text {
				t.Errorf("%s: %s, expected %s", c.name, got, c.text)
			}
		})
		if err != nil || shown != 1 {
			t.Errorf("%s: %d executions, %v", c.name, shown, err)
		}
	}
}

// TestSynchronizing: base causality order passes from a release to the acquire that observes it,
// and by no pair besides. Barriers are left out.
func TestSynchronizing(t *testing.T) {
	p := two(t, "x=0; y=0;", "st.weak x, 1; st.release.gpu y, 1; ld.weak r1, x",
		"ld.weak r2, y; ld.acquire.gpu r0, y; ld.relaxed.gpu r1, y")
	seen := map[string]int{}
	_, err := Explore(t.Context(), p, Options{}, func(e *Execution) {
		var pairs []string
		for _, q := range e.Synchronizing() {
			pairs = append(pairs, e.Inst(q.First).Text+" to "+e.Inst(q.Second).Text)
		}
		seen[strings.Join(pairs, ", ")]++
	})
	const release = "st.release.gpu y, 1 to ld.acquire.gpu r0, y"
	if err != nil || len(seen) != 2 || seen[release] == 0 || seen[""] == 0 {
		t.Errorf("%v, %v", seen, err)
	}
	p = programOf(t, "x=0;", "P0@cta 0,gpu 0", "st.weak x, 1; bar.cta.sync 1, 0", "P1@cta 0,gpu 0",
		"bar.cta.sync 1, 0; ld.weak r0, x")
	_, err = Explore(t.Context(), p, Options{}, func(e *Execution) {
		if got := e.Synchronizing(); len(got) > 0 {
			t.Errorf("a barrier: %v", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOutcomes: the final states of two threads that each read x and store one more: 1 if both read
// 0, else 2. y has one value, and z nobody accesses.
func TestOutcomes(t *testing.T) {
	const add = "ld.relaxed.gpu r0, x; add r0, r0, 1; st.relaxed.gpu x, r0; st.relaxed.gpu y, 7"
	p := two(t, "x=0; y=0; z=3;", add, add)
	for _, c := range []struct {
		names         []string
		want, missing string
	}{
		{nil, "x=1; x=2", "[]"},
		{[]string{"y", "x"}, "x=1 y=7; x=2 y=7", "[]"},
		{[]string{"z"}, "z=3", "[]"},
		{[]string{"q"}, "", "[q]"},
	} {
		o := &Outcomes{Names: c.names}
		total := 0
		s, err := Explore(t.Context(), p, Options{}, o.Visit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range o.List() {
			total += f.Executions
			got = append(got, f.String())
		}
		if strings.Join(got, "; ") != c.want || fmt.Sprint(o.Missing()) != c.missing ||
			total != s.Executions {
			t.Errorf("%v: %q, missing %v, %d of %d executions, expected %q and %s", c.names, got,
				o.Missing(), total, s.Executions, c.want, c.missing)
		}
		o.Reset()
		if len(o.List()) > 0 {
			t.Errorf("%v: %v after a reset", c.names, o.List())
		}
	}
	// A race leaves several last values.
	o := &Outcomes{}
	if _, err := Explore(t.Context(), two(t, "x=0;", "st.weak x, 1", "st.weak x, 2"), Options{},
		o.Visit); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.List() {
		got = append(got, f.String())
	}
	if !slices.Equal(got, []string{"x=1", "x=2"}) {
		t.Errorf("%q after a race", got)
	}
}

// TestOutcomesLater: a location that only some executions access has its initial value in the
// others, and a thread that does not end has no final state.
func TestOutcomesLater(t *testing.T) {
	o := &Outcomes{}
	p := addressedTwo(Inst{Kind: Load, Dst: 0}, Inst{Kind: Store, Dst: -1, Args: []Operand{Const(1)}})
	_, err := Survey(t.Context(), p, Options{Restart: o.Reset}, o.Visit)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.List() {
		got = append(got, f.String())
	}
	// Thread 0 reads m0 as 0 or 1, and stores 5 at what it read, plus 1.
	if want := []string{"m1=0 m2=5", "m1=5 m2=0"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// addressedTwo is a program in which thread 0 executes first on location 0 and then stores 5 behind
// the location that it read, and thread 1 executes second on location 0.
func addressedTwo(first, second Inst) *Program {
	p := &Program{Locate: func(_ int, _ *Inst, addr int64) (Location, error) {
		return Location{Name: fmt.Sprint("m", addr/8+addr%8), Addr: uint64(8 * (addr/8 + addr%8)), Size: 8}, nil
	}}
	zero, read := Const(0), Reg(0)
	first.Addr, first.Size, second.Addr, second.Size = &zero, 8, &zero, 8
	store := Inst{Kind: Store, Dst: -1, Addr: &read, Offset: 8, Size: 8, Args: []Operand{Const(5)}}
	for i, code := range [][]Inst{{first, store}, {second}} {
		th := Thread{Name: fmt.Sprint("P", i), Code: code, Regs: make([]int64, 1)}
		th.Position.CTA = i
		p.Threads = append(p.Threads, th)
	}
	return p
}
