package verify

import (
	"testing"
	"time"

	"heddle/internal/event"
	"heddle/internal/irgen"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/source"
	"os"
	"fmt"
)

func TestTry(t *testing.T) {
	path := os.Getenv("TRY")
	if path == "" { t.Skip() }
	low, err := lower.File(t.Context(), path, lower.Options{})
	if err != nil { t.Fatal(err) }
	set := source.NewSet()
	file, _ := set.Add("lowered.ptx", low.PTX)
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 { t.Fatal(errs[0]) }
	module, errs := irgen.Module(set, tree)
	if len(errs) > 0 { t.Fatal(errs[0]) }
	for _, k := range module.Funcs {
		if !k.Kernel { continue }
		start := time.Now()
		g := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
		if b := os.Getenv("BLOCK"); b != "" { fmt.Sscanf(b, "%d,%d", &g.Block.X, &g.Block.Y) }
		th, err := lockstep.Build(k, lockstep.Options{Geometry: g})
		if err != nil { fmt.Println(k.Demangled, err); continue }
		built := time.Since(start)
		r := Kernel(t.Context(), th, Options{Solvers: []smt.Solver{&sat.Solver{Time: 5*time.Second}}})
		fmt.Println(k.Demangled, "verified", r.Verified(), "terms", th.Context.Len(), "build", built, "all", time.Since(start), r.Stats, th.Approximate)
		for i, f := range r.Findings { if i < 6 { fmt.Println("   ", f.String(), loc(set, f)) } }
	}
}
func loc(set *source.Set, f Finding) string {
	s := ""
	if f.A != nil && f.A.Loc != nil { s += " " + f.A.Loc.Pos.String() }
	if f.B != nil && f.B.Loc != nil { s += " " + f.B.Loc.Pos.String() }
	return s
}
