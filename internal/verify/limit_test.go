package verify

import (
	"context"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
)

// warpThread describes a thread of a kernel for one block of one warp. %t is its index, %o four
// times that, and %x four times the index of its neighbour; n and m are parameters.
func warpThread(t *testing.T, body string, lockStep bool) *thread.Thread {
	t.Helper()
	return blockThread(t, body, lockstep.Options{Lockstep: lockStep}, 32)
}

// blockThread is warpThread for a block of some threads.
func blockThread(t *testing.T, body string, opt lockstep.Options, size uint32) *thread.Thread {
	t.Helper()
	k := kernels.PTX(t, ".version 8.7\n.target sm_100\n.address_size 64\n"+
		".visible .entry k(.param .u64 A, .param .u32 n, .param .u32 m)\n{\n\t"+
		".reg .b32 %t, %o, %x, %n, %m, %v<9>;\n"+
		"\t.reg .b64 %A, %d<9>;\n\t.reg .pred %p;\n\t.shared .align 4 .b8 s[256];\n"+
		"\tld.param.u64 %A, [A];\n\tcvta.to.global.u64 %A, %A;\n\tld.param.u32 %n, [n];\n"+
		"\tld.param.u32 %m, [m];\n\tmov.u32 %t, %tid.x;\n\tshl.b32 %o, %t, 2;\n\txor.b32 %x, %o, 4;\n\t"+body+
		"\n\tret;\n}\n").Funcs[0]
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	opt.Geometry = event.Geometry{Grid: one, Block: event.Dim3{X: size, Y: 1, Z: 1}, Cluster: one}
	th, err := lockstep.Build(t.Context(), k, opt)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// proof verifies a thread with the solver of the project.
func proof(t *testing.T, th *thread.Thread, opt Options) *Result {
	t.Helper()
	opt.Solvers = []smt.Solver{&sat.Solver{Steps: 50_000_000}}
	return Kernel(t.Context(), th, opt)
}

// TestLockStep: lanes in lock step with their warp execute one instruction after another, so that
// two instructions are ordered, and one is not ordered with itself. Nothing orders an asynchronous
// copy before its wait (PTX ISA 8.9.1.1).
func TestLockStep(t *testing.T) {
	for _, x := range []struct {
		what, body    string
		plain, locked bool // verified, and in lock step
	}{
		{"own words", "st.shared.u32 [%o], 1;", true, true},
		{"one instruction, one word", "st.shared.u32 [s], %t;", false, false},
		{"two instructions", "st.shared.u32 [%o], 1;\n\tld.shared.u32 %v1, [%x];", false, true},
		{"a store of one lane and a load of all", "setp.eq.u32 %p, %t, 3;\n" +
			"\t@%p st.shared.u32 [s], 1;\n\tld.shared.u32 %v1, [s];", false, true},
		{"a store of two lanes and a load of all", "setp.lt.u32 %p, %t, 2;\n" +
			"\t@%p st.shared.u32 [s], %t;\n\tld.shared.u32 %v1, [s];", false, false},
		{"a copy and a load", "cvt.u64.u32 %d1, %o;\n\tadd.u64 %d1, %d1, %A;\n" +
			"\tcp.async.ca.shared.global [%o], [%d1], 4;\n\tld.shared.u32 %v1, [%x];", false, false},
	} {
		for _, lockStep := range []bool{false, true} {
			r := proof(t, warpThread(t, x.body, lockStep), Options{})
			want := x.plain
			if lockStep {
				want = x.locked
			}
			if r.Verified() != want {
				t.Errorf("%s, lock step %v: verified %v", x.what, lockStep, r.Verified())
				for i := range r.Findings {
					t.Log(r.Findings[i].String())
				}
			}
		}
	}
}

// TestLimit: a proof ends at the number of findings that is asked for; with none it finds all.
func TestLimit(t *testing.T) {
	const three = "st.shared.u32 [s], %t;\n\tst.shared.u32 [s+8], %t;\n\tst.shared.u32 [s+16], %t;"
	for limit, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 4: 3} {
		r := proof(t, warpThread(t, three, false), Options{Limit: limit})
		if len(r.Findings) != want || r.Verified() {
			t.Errorf("limit %d: %d findings, want %d", limit, len(r.Findings), want)
		}
	}
	// The array of a pointer that is loaded is unknown: that takes no query.
	const unknown = "setp.eq.u32 %p, %t, 0;\n\t@%p ld.global.u64 %d1, [%A];\n" +
		"\t@%p st.global.u32 [%d1], 1;\n\t@%p st.global.u32 [%d1+64], 1;"
	for limit, want := range map[int]int{0: 2, 1: 1, 2: 2, 3: 2} {
		sizes := func(*thread.Object) (uint64, bool) { return 0, false }
		r := proof(t, warpThread(t, unknown, false), Options{Limit: limit, AllBounds: true, Sizes: sizes})
		if n := len(r.Findings) + len(r.Unbounded); n != want {
			t.Errorf("limit %d: %d accesses to unknown arrays, want %d", limit, n, want)
		}
	}
}

// TestExists: a proof that asks only whether there are findings accepts what a proof with models
// accepts, also for an access beyond its array, whose model decides whether it counts.
func TestExists(t *testing.T) {
	sizes := func(*thread.Object) (uint64, bool) { return 64, true }
	const beyond = "setp.eq.u32 %p, %t, 0;\n\tmul.wide.u32 %d1, %n, 4;\n\tadd.u64 %d1, %d1, %A;\n" +
		"\t@%p st.global.u32 [%d1], 1;"
	for _, body := range []string{beyond, "st.global.u32 [%A], %t;", "@%p st.global.u32 [%A+60], 1;"} {
		th := func() *thread.Thread { return warpThread(t, body, false) }
		want := proof(t, th(), Options{Sizes: sizes}).Verified()
		r := proof(t, th(), Options{Sizes: sizes, Exists: true})
		if got := r.Verified(); got != want {
			t.Errorf("%s: verified %v, with models %v", body, got, want)
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Kind != Bounds && f.Model != nil {
				t.Errorf("%s: a finding of kind %v has a model", body, f.Kind)
			}
		}
	}
}

// TestUnusual: a finding that an ordinary parameter shows has such a parameter. If only a factor of
// 0, or a product that wraps around, makes threads meet, the finding says so.
func TestUnusual(t *testing.T) {
	const index = "mul.lo.u32 %v1, %t, %n;\n\tmul.wide.u32 %d1, %v1, 4;\n\tadd.u64 %d1, %d1, %A;\n" +
		"\tst.global.u32 [%d1], %t;"
	for _, x := range []struct {
		what, body string
		unusual    bool
	}{
		{"any parameter", "st.global.u32 [%A], %n;\n\tst.global.u32 [%A], %t;", false},
		{"a parameter of 3 and less", "div.u32 %v1, %t, %n;\n\tmul.wide.u32 %d1, %v1, 4;\n" +
			"\tadd.u64 %d1, %d1, %A;\n\tst.global.u32 [%d1], %t;", false},
		{"a parameter from 5 to 10", "setp.gt.u32 %p, %n, 4;\n\tsetp.lt.and.u32 %p, %n, 11, %p;\n" +
			"\t@%p st.global.u32 [%A], %t;", false},
		{"a factor of 0, or a product that wraps", index, true},
		// The only factors of 1031 * 1033, primes, that are above 2^10 and below the product.
		{"factors above 2^10", "setp.gt.u32 %p, %n, 1024;\n\tsetp.gt.and.u32 %p, %m, 1024, %p;\n" +
			"\tmul.lo.u32 %v1, %n, %m;\n\tsetp.eq.and.u32 %p, %v1, 1065023, %p;\n" +
			"\t@%p st.global.u32 [%A], %t;", false},
		{"a parameter of 2^30", "setp.gt.u32 %p, %n, 0x40000000;\n\t@%p st.global.u32 [%A], %t;", true},
	} {
		r := proof(t, warpThread(t, x.body, false), Options{})
		if len(r.Findings) == 0 {
			t.Errorf("%s: verified", x.what)
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Unusual != x.unusual {
				t.Errorf("%s: unusual %v: %s", x.what, f.Unusual, f.String())
			}
		}
	}
}

// TestLanesInLoop: an operation of all lanes of a warp in a loop needs that all of them execute the
// same iterations (PTX ISA 9.7.9.6: the behavior is undefined if a lane of the mask does not).
func TestLanesInLoop(t *testing.T) {
	const shuffle = "L:\n\tshfl.sync.idx.b32 %v2, %t, 0, 31, -1;\n\t"
	const halve = "and.b32 %v3, %v1, 1;\n\tsetp.eq.u32 %p, %v3, 0;\n\t@%p shr.u32 %v1, %v1, 1;\n\t" +
		"@!%p sub.u32 %v1, %v1, 1;\n\tsetp.ne.u32 %p, %v1, 0;\n\t@%p bra L;"
	const count = "sub.u32 %v1, %v1, 1;\n\tsetp.ne.u32 %p, %v1, 0;\n\t@%p bra L;"
	for _, x := range []struct {
		what, body string
		want       bool
	}{
		{"a count that all lanes share", "mov.u32 %v1, %n;\n" + shuffle + count, true},
		{"a count of the lane", "add.u32 %v1, %t, 1;\n" + shuffle + count, false},
		{"a number that all lanes share is halved", "mov.u32 %v1, %n;\n" + shuffle + halve, true},
		{"a number of the lane is halved", "add.u32 %v1, %t, 1;\n" + shuffle + halve, false},
		{"a flag that all lanes load", "L:\n\tshfl.sync.idx.b32 %v2, %t, 0, 31, -1;\n" +
			"\tld.global.u32 %v1, [%A];\n\tsetp.ne.u32 %p, %v1, 0;\n\t@%p bra L;", true},
		{"a flag of the lane", "mul.wide.u32 %d1, %t, 4;\n\tadd.u64 %d1, %d1, %A;\n" +
			"L:\n\tshfl.sync.idx.b32 %v2, %t, 0, 31, -1;\n" +
			"\tld.global.u32 %v1, [%d1];\n\tsetp.ne.u32 %p, %v1, 0;\n\t@%p bra L;", false},
	} {
		r := proof(t, warpThread(t, x.body, false), Options{})
		if r.Verified() != x.want {
			t.Errorf("%s: verified %v", x.what, r.Verified())
			for i := range r.Findings {
				t.Log(r.Findings[i].String(), r.Findings[i].Reason)
			}
		}
	}
}

// TestUnbounded: that an index stays within its array is an assumption where a counterexample is
// missing, needs unusual parameters, or depends on data. Other findings are kept.
func TestUnbounded(t *testing.T) {
	m := &smt.Model{}
	for _, x := range []struct {
		f    Finding
		kept bool
	}{
		{Finding{Kind: Bounds, Model: m}, true},
		{Finding{Kind: Bounds}, false},
		{Finding{Kind: Bounds, Model: m, Data: true}, false},
		{Finding{Kind: Bounds, Model: m, Unusual: true}, false},
		{Finding{Kind: Bounds, Model: m, Data: true, Unusual: true}, false},
		{Finding{Kind: Race}, true},
		{Finding{Kind: Race, Model: m, Data: true, Unusual: true}, true},
	} {
		r := &Result{Findings: []Finding{x.f}}
		r.unbounded()
		if kept := len(r.Findings) == 1; kept != x.kept || len(r.Findings)+len(r.Unbounded) != 1 {
			t.Errorf("%+v: %d findings, %d assumptions", x.f, len(r.Findings), len(r.Unbounded))
		}
	}
}

// TestSeparatedPairs: two accesses with a barrier between them cost no query in a kernel without
// loops.
func TestSeparatedPairs(t *testing.T) {
	const store, barrier, load = "st.shared.u32 [%o], 1;\n\t", "bar.sync 0;\n\t",
		"ld.shared.u32 %v1, [%x];"
	pairs := func(body string) int {
		return proof(t, warpThread(t, body, false), Options{}).Stats.Pairs
	}
	if with, without := pairs(store+barrier+load), pairs(store+barrier); with != without {
		t.Errorf("%d pairs, and %d without the load", with, without)
	}
	if with, without := pairs(store+load), pairs(store); with != without+1 {
		t.Errorf("without a barrier %d pairs, and %d without the load", with, without)
	}
}

// TestQueriesBySolver: a query counts for the solver that decided it, or for nobody.
func TestQueriesBySolver(t *testing.T) {
	th := warpThread(t, "st.shared.u32 [%o], 1;\n\tld.shared.u32 %v1, [%x];", false)
	q := proof(t, th, Options{}).Stats.Queries
	if q["embedded"] == nil || q["embedded"].Sat == 0 || q["nobody"] != nil {
		t.Errorf("decided: %v", q)
	}
	q = Kernel(t.Context(), th, Options{Solvers: []smt.Solver{&sat.Solver{Gates: 1}}}).Stats.Queries
	if q["nobody"] == nil || q["nobody"].Unknown == 0 || q["embedded"] != nil {
		t.Errorf("undecided: %v", q)
	}
}

// TestOver: a proof ends when it has taken more steps than it may, or when its context ends.
func TestOver(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx          context.Context
		taken, limit int64
		want         string
	}{
		{t.Context(), 99, 100, ""}, {t.Context(), 100, 100, ""}, {t.Context(), 101, 100, "out of steps"},
		{t.Context(), 101, 0, ""}, {ended, 99, 100, "out of time"},
	} {
		p := &prover{ctx: c.ctx, opt: Options{Steps: c.limit}, res: &Result{Stats: Stats{Steps: c.taken}}}
		if got := p.over(); got != c.want {
			t.Errorf("%d of %d steps: %q, want %q", c.taken, c.limit, got, c.want)
		}
	}
}

// TestLanesBehindLoop: a lane that has left the kernel holds up no operation of its warp, and an
// operation in a loop before does not keep it there (docs/support.md). Another one behind does.
func TestLanesBehindLoop(t *testing.T) {
	const loop = "mov.u32 %v1, %n;\nL:\n\tshfl.sync.idx.b32 %v2, %t, 0, 31, -1;\n" +
		"\tsub.u32 %v1, %v1, 1;\n\tsetp.ne.u32 %p, %v1, 0;\n\t@%p bra L;\n"
	const exit = "\tsetp.ge.u32 %p, %t, 7;\n\t@%p ret;\n\tbar.warp.sync -1;\n"
	const around = "\tsetp.ge.u32 %p, %t, 7;\n\t@%p bra E;\n\tbar.warp.sync -1;\nE:\n"
	for _, x := range []struct {
		what, body string
		want       bool
	}{
		{"exit", loop + exit, true},
		{"exit behind a barrier", "bar.warp.sync -1;\n" + exit, true},
		{"exit behind masks that differ", "setp.ge.u32 %p, %t, 7;\n\tselp.u32 %v1, 0xffffff80, -1, %p;\n" +
			"\tbar.warp.sync %v1;", false},
		{"no exit, and nothing behind", loop + around, true},
		{"no exit, and a barrier behind", loop + around + "\tbar.warp.sync -1;", false},
		{"no exit, and a loop behind", around + loop, false},
	} {
		r := proof(t, warpThread(t, x.body, false), Options{})
		if r.Verified() != x.want {
			t.Errorf("%s: verified %v", x.what, r.Verified())
		}
	}
}

// TestOneWarp: of a race that the option asks about it is found out whether its threads always
// belong to one warp.
func TestOneWarp(t *testing.T) {
	for _, x := range []struct {
		what, body string
		ask, want  bool
	}{
		{"neighbours", "add.u64 %d1, %A, 0;\n\tmul.wide.u32 %d2, %x, 1;\n\tadd.u64 %d1, %d1, %d2;\n" +
			"\tst.global.u32 [%d1], 0;\n\tmul.wide.u32 %d2, %o, 1;\n\tadd.u64 %d1, %A, %d2;\n" +
			"\tst.global.u32 [%d1], 1;", true, true},
		{"neighbours, not asked", "st.global.u32 [%A], %t;", false, false},
		{"all threads", "st.global.u32 [%A], %t;", true, false},
	} {
		th := blockThread(t, x.body, lockstep.Options{}, 64)
		opt := Options{Ways: true, OnlyIntraBlock: true}
		if x.ask {
			opt.OneWarp = func(*Finding) bool { return true }
		}
		r := proof(t, th, opt)
		if len(r.Findings) == 0 {
			t.Errorf("%s: verified", x.what)
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.OneWarp != x.want {
				t.Errorf("%s: %s: in one warp %v, want %v", x.what, f.String(), f.OneWarp, x.want)
			}
		}
	}
}
