package verify_test

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// threadOf describes a kernel of testdata/ways.cu in blocks of 32 threads.
func threadOf(t *testing.T, name string) *lockstep.Thread {
	t.Helper()
	m, _ := kernels.File(t, "testdata/ways.cu", lower.Options{})
	for _, f := range m.Funcs {
		if f.Kernel && f.Name == name {
			g := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
			th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: g})
			if err != nil {
				t.Fatal(err)
			}
			return th
		}
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

func options() verify.Options {
	return verify.Options{OnlyIntraBlock: true, Ways: true, Solvers: []smt.Solver{&sat.Solver{}}}
}

// In which iterations the read A and the write B of each kernel race; what can be is said beside
// the kernel. A is the first of the two in the body.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		name string
		ways []verify.Way
	}{
		{"straight", []verify.Way{verify.Same}},
		{"same_iteration", []verify.Way{verify.Same, 0}},
		{"next_iteration", []verify.Way{0, verify.BThenA}},
		{"previous_iteration", []verify.Way{0, verify.AThenB}},
		{"two_apart", []verify.Way{0, verify.Farther}},
		{"any_iteration", []verify.Way{verify.Same, verify.BThenA | verify.AThenB | verify.Farther}},
		{"outer", []verify.Way{0, verify.BThenA, 0}},
		{"inner", []verify.Way{0, 0, verify.BThenA}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Kernel(t.Context(), threadOf(t, c.name), options())
			n := 0
			for i := range r.Findings {
				f := &r.Findings[i]
				if f.Kind != verify.Race || f.A == f.B {
					continue
				}
				n++
				if len(f.Ways) != len(c.ways) {
					t.Fatalf("%v: ways %v, want %v", f, f.Ways, c.ways)
				}
				for j := range c.ways {
					if f.Ways[j] != c.ways[j] {
						t.Errorf("%v: level %d: %b, want %b", f, j, f.Ways[j], c.ways[j])
					}
				}
			}
			if n != 1 {
				t.Errorf("%d races, want one: %v", n, r.Findings)
			}
		})
	}
}

// Which barriers some thread reaches in an iteration in which another does not.
func TestDiverging(t *testing.T) {
	for _, c := range []struct {
		name string
		want int // of the two barriers, how many diverge
	}{{"even", 0}, {"some", 1}, {"trips", 1}, {"left", 1}, {"ends", 0}} {
		r := verify.Diverging(t.Context(), threadOf(t, c.name), options())
		if len(r.Findings) != c.want {
			t.Errorf("%s: %v; want %d", c.name, r.Findings, c.want)
		}
	}
}
