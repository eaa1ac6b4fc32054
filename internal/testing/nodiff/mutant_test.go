package nodiff

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
	"heddle/internal/verify"
)

// TestVerifiedMutantsAreClean breaks the synchronization of kernels that are verified: each barrier
// is removed, moved across its neighbour, or guarded by each condition that the kernel computes. If
// a mutant is verified nonetheless, no run may show a bug.
func TestVerifiedMutantsAreClean(t *testing.T) {
	if testing.Short() {
		t.Skip("many proofs")
	}
	seen, mutants, alive := 0, 0, 0
	for _, dir := range []string{"../../../testdata/verify", "../../../testdata/suite/shared",
		"../../../testdata/suite/divergence", "../../../testdata/suite/memory"} {
		for _, path := range kernelFiles(t, dir) {
			program := filepath.Base(filepath.Dir(path)) == "programs"
			if program && !long.All() || !long.Keep(filepath.Base(path), 2) {
				continue
			}
			m, facts := kernels.File(t, path, lower.Options{})
			for _, k := range m.Funcs {
				if !k.Kernel || k.Blocks == nil {
					continue
				}
				cfg, errs := launch.Resolve(k, launch.Request{}, facts)
				if cfg == nil || len(errs) > 0 || cfg.Geometry.ThreadsPerBlock() > 128 || !proved(t, k, cfg) {
					continue
				}
				eachMutant(k, func(what string) {
					seen++
					if (!long.All() || program && strings.Contains(what, " under ")) && seen%4 != 0 {
						return // there are many, much alike
					}
					mutants++
					if !proved(t, k, cfg) {
						return
					}
					alive++
					var seen seenBugs
					if seen.look(t, k, cfg, 3, false); seen != (seenBugs{}) {
						t.Errorf("%s, %s: %s is verified, but a run finds %s%s", filepath.Base(path), k.Demangled,
							what, seen.race, seen.deadlock)
					}
				})
			}
		}
	}
	t.Logf("%d mutants, %d still verified", mutants, alive)
	if mutants < 50 || alive > mutants/2 {
		t.Errorf("%d mutants, %d still verified: the test shows little", mutants, alive)
	}
}

func proved(t *testing.T, k *ir.Func, cfg *launch.Config) bool {
	t.Helper()
	k.Link()
	th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: cfg.Geometry})
	if err != nil {
		return false
	}
	sizes := func(o *lockstep.Object) (uint64, bool) { // of variables, as the engine has them
		known := o.Var.Space != event.Param && !o.Var.Unsized && o.Var.Size > 0
		return uint64(o.Var.Size), known
	}
	r := verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Benign: event.BenignNone,
		Sizes: sizes, Solvers: []smt.Solver{&sat.Solver{Steps: 20_000_000}}})
	return r.Verified() && len(r.Unbounded) == 0 // else it assumes that accesses stay in their arrays
}

// eachMutant changes k, calls visit, and restores k.
func eachMutant(k *ir.Func, visit func(what string)) {
	for _, b := range k.Blocks {
		whole := b.Instrs
		for i, in := range whole {
			if in.Op() != "bar.sync" && in.Op() != "bar" && in.Op() != "barrier" || in.Guard != ir.NoReg {
				continue
			}
			b.Instrs = slices.Delete(slices.Clone(whole), i, i+1)
			visit(in.Text() + " taken out")
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(whole) && !whole[j].IsTerminator() {
					b.Instrs = slices.Clone(whole)
					b.Instrs[i], b.Instrs[j] = b.Instrs[j], b.Instrs[i]
					visit(in.Text() + " moved over " + whole[j].Text())
				}
			}
			b.Instrs = whole
			for r := range k.Regs {
				if k.Regs[r].Type == isa.Pred {
					in.Guard = ir.RegID(r)
					visit(in.Text() + " under " + k.Regs[r].Name)
					in.Guard = ir.NoReg
				}
			}
		}
		b.Instrs = whole
	}
	k.Link()
}
