package repair

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const hopper = ".version 8.8\n.target sm_90a"

// stepper is a repairer for a kernel, and how its instructions are found.
func stepper(t *testing.T, body string) (*repairer, *Kernel) {
	t.Helper()
	k := kernelOf(t, hopper, body)
	return &repairer{x: New(k), opt: Options{Cost: DefaultCost}}, k
}

// A proxy fence for a store in a loop belongs behind the loop, in front of the barrier, and only
// then behind the store. In front of an arrival of some threads it would not be by all that store.
func TestProxyFencePlaces(t *testing.T) {
	for _, c := range []struct{ what, body, first string }{
		{"behind a loop", "L:\nst.shared.u32 [s], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 8;\n" +
			"@%p1 bra L;\nbar.sync 0;\n", "bar.sync"},
		{"in front of an arrival", "st.shared.u32 [s], %r1;\nadd.u32 %r1, %r1, 1;\n" +
			"mbarrier.arrive.shared.b64 _, [s+8];\n", "mbarrier.arrive"},
		{"not in a branch", "st.shared.u32 [s], %r1;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bra L;\n" +
			"mbarrier.arrive.shared.b64 _, [s+8];\nL:\n", "setp"},
		{"not behind a barrier of the warp", "st.shared.u32 [s], %r1;\nadd.u32 %r1, %r1, 1;\n" +
			"bar.warp.sync -1;\nbar.sync 0;\n", "bar.warp.sync"},
	} {
		r, k := stepper(t, c.body)
		f := located{Finding: Finding{Kind: Proxy, Memory: "shared::cta"}, a: instrs(k, "st.shared")[0]}
		list := r.stepsFor(f)
		if len(list) == 0 {
			t.Fatalf("%s: no step", c.what)
		}
		if got := list[0].what.At; !strings.HasPrefix(got.Text(), c.first) {
			t.Errorf("%s: the first place is at %s, want %s", c.what, got.Text(), c.first)
		}
	}
}

// The parity of a wait becomes a bit of a counter of its loop, and never a constant: with the
// parity of the phase before the first, a wait passes at once.
func TestOtherParities(t *testing.T) {
	r, k := stepper(t, "mov.u32 %r1, 0;\nL:\nW:\nmbarrier.try_wait.parity.shared.b64 %p1, [s], 0;\n"+
		"@!%p1 bra W;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 8;\n@%p2 bra L;\n")
	wait := instrs(k, "mbarrier.try_wait")[0]
	counted := false
	for _, a := range r.parityOf(wait) {
		plan := &Plan{Texts: map[int]string{}}
		a.add(plan)
		text := plan.Texts[wait.Index]
		if strings.Contains(text, "[s], 0") || strings.Contains(text, "[s], 1") {
			t.Errorf("a constant parity: %s", text)
		}
		counted = counted || strings.Contains(text, "and.b32 \t%fix1_parity, %r1, 1;")
	}
	if !counted {
		t.Error("the first bit of the counter is not offered")
	}
}

// Among the objects for which a thread may wait, the one at which others arrive and for which
// nobody waits comes first.
func TestLikelyObjects(t *testing.T) {
	r, k := stepper(t, "mbarrier.init.shared.b64 [s], 1;\nmbarrier.init.shared.b64 [s+8], 1;\n"+
		"mbarrier.init.shared.b64 [s+16], 1;\nmbarrier.arrive.shared.b64 _, [s+8];\n"+
		"W:\nmbarrier.try_wait.parity.shared.b64 %p1, [s+8], 0;\n@!%p1 bra W;\n"+
		"mbarrier.arrive.shared.b64 _, [s+16];\nld.shared.u32 %r1, [s+32];\n")
	var got []string
	for _, o := range r.named(r.x.where(instrs(k, "ld.shared")[0]), nil, waitable) {
		got = append(got, o.text)
	}
	if want := "[s+16] [s+8] [s]"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Threads that arrive at an object do not arrive there once more for others.
func TestArrivesOnce(t *testing.T) {
	r, k := stepper(t, "@%p1 bra END;\nst.shared.u32 [s+32], %r1;\nmbarrier.arrive.shared.b64 %d2, [s];\n"+
		"W:\nmbarrier.try_wait.shared.b64 %p2, [s], %d2;\n@!%p2 bra W;\nEND:\n")
	f := located{Finding: Finding{Kind: Stuck, Arrivals: 32}, a: instrs(k, "mbarrier.try_wait")[0]}
	for _, a := range r.arrivals(f) {
		t.Errorf("offered: %s before %s", a.what.What, a.what.At.Text())
	}
}

// Lanes for which the kernel has no predicate arrive under a new one: the first lanes of warps if no
// more arrivals are missing than a block has warps, thread 0 if one is.
func TestArrivalLanes(t *testing.T) {
	for missing, want := range map[int][]Lanes{1: {FirstLane, FirstThread}, 2: {FirstLane},
		mostWarps: {FirstLane}, mostWarps + 1: nil} {
		r, k := stepper(t, "st.shared.u32 [s+32], %r1;\nW:\n"+
			"mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;\n@!%p2 bra W;\n")
		f := located{Finding: Finding{Kind: Stuck, Arrivals: missing}, a: instrs(k, "mbarrier.try_wait")[0]}
		got := map[Lanes]string{}
		for _, a := range r.arrivals(f) {
			plan := new(Plan)
			if a.add(plan); len(plan.Inserts) > 0 && plan.Inserts[0].Use.Lanes != 0 {
				got[plan.Inserts[0].Use.Lanes] = plan.Inserts[0].Text
			}
		}
		if l := slices.Sorted(maps.Keys(got)); !slices.Equal(l, want) {
			t.Errorf("%d missing: by lanes %v, want %v", missing, l, want)
		}
		for lanes, register := range map[Lanes]string{FirstLane: "%laneid;", FirstThread: "%tid.z;"} {
			if text := got[lanes]; text != "" && (!strings.Contains(text, register) ||
				!strings.Contains(text, "@%fix1_only mbarrier.arrive")) {
				t.Errorf("%d missing, %v: %s", missing, lanes, text)
			}
		}
	}
}
