package irgen

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// The table of steps obeys its own constraints, and each constraint names steps.
func TestPassOrder(t *testing.T) {
	at := func(name string) int {
		return slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
	}
	for _, o := range passOrder {
		if a, b := at(o[0]), at(o[1]); a < 0 || b < 0 || a >= b {
			t.Errorf("%s must come before %s: they are at %d and %d", o[0], o[1], a, b)
		}
	}
}

// Module can stop after any step: it does not panic, and where a step says that the module is
// whole, it has no faults.
func TestStopAfterEachPass(t *testing.T) {
	files, err := filepath.Glob("../../testdata/suite/*/*.ptx")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passes {
			set := source.NewSet()
			file, err := set.Add("k.ptx", text)
			if err != nil {
				t.Fatal(err)
			}
			tree, errs := ptx.Parse(file)
			if len(errs) > 0 {
				t.Fatalf("%s: %v", path, errs[0])
			}
			g := newGen(set, tree)
			g.runPasses(tree, p.name)
			if len(g.errs) > 0 {
				t.Fatalf("%s: after %s: %v", path, p.name, g.errs[0])
			}
			if p.whole {
				for _, err := range ir.CheckModule(g.mod) {
					t.Errorf("%s: after %s: %v", path, p.name, err)
				}
			}
		}
	}
}
