package verify_test

import (
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// TestUnordered: two strong accesses that nothing orders are found if event.Unordered counts them:
// one is relaxed or volatile (.volatile is .relaxed.sys, PTX ISA 8.4.2), and none is a
// read-modify-write. A store of a constant may raise a flag, and memory on which the kernel also
// uses acquire or release may belong to a protocol: these are listed apart.
func TestUnordered(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	for _, c := range []struct {
		store, between, load string
		found, apart         bool
	}{
		{"st.relaxed.cta.shared.u32 [s], %n", "", "ld.relaxed.cta.shared.u32 %n, [s]", true, false},
		{"st.volatile.shared.u32 [s], %n", "", "ld.volatile.shared.u32 %n, [s]", true, false},
		{"st.relaxed.cta.shared.u32 [s], %n", "bar.sync 0;", "ld.relaxed.cta.shared.u32 %n, [s]", false,
			false},
		{"st.release.cta.shared.u32 [s], %n", "", "ld.acquire.cta.shared.u32 %n, [s]", false, false},
		{"st.relaxed.cta.shared.u32 [s], %n", "", "atom.relaxed.cta.shared.add.u32 %n, [s], 1", false,
			false},
		{"st.relaxed.cta.shared.u32 [s], 1", "", "ld.relaxed.cta.shared.u32 %n, [s]", false, true},
		{"st.relaxed.cta.shared.u32 [s], %n", "", "ld.acquire.cta.shared.u32 %n, [s]", false, true},
		{"st.release.cta.shared.u32 [s], %n", "", "ld.relaxed.cta.shared.u32 %n, [s]", false, true},
	} {
		body := fmt.Sprintf(".shared .align 4 .b8 s[4];\nsetp.eq.u32 %%p1, %%t, 0;\n@%%p1 %s;\n%s\n@!%%p1 %s;",
			c.store, c.between, c.load)
		k := kernels.PTX(t, fmt.Sprintf(writers, body)).Funcs[0]
		th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: g})
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{
			Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
		for _, f := range append(r.Findings, r.Apart...) {
			if f.Kind != verify.Unordered {
				t.Errorf("%s, %s: %s", c.store, c.load, f.String())
			}
		}
		if got := len(r.Findings) > 0; got != c.found || len(r.Apart) > 0 != c.apart {
			t.Errorf("%s, %s %s: %d found, %d apart, want %v, %v", c.store, c.between, c.load,
				len(r.Findings), len(r.Apart), c.found, c.apart)
		}
	}
}
