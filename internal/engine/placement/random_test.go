package placement

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/lower"
	placer "heddle/internal/place"
	"heddle/internal/testing/long"
)

// randomSource generates the text of a kernel with some accesses to one array, in conditionals and
// loops.
func randomSource(r *rand.Rand) string {
	b := &strings.Builder{}
	b.WriteString("// heddle: grid=1 block=48\n__global__ void k(int *A)\n{\n    int t = threadIdx.x, x = 0;\n")
	left := 7
	index := func(depth int) string {
		s := fmt.Sprintf("(t + %d) %% 48", r.IntN(3))
		if depth > 0 && r.IntN(3) == 0 {
			s += fmt.Sprintf(" + %d * i%d", 1+47*r.IntN(2), r.IntN(depth))
		}
		return s
	}
	var block func(depth, nest int)
	block = func(depth, nest int) {
		in := strings.Repeat("    ", nest+1)
		for n := 1 + r.IntN(3); n > 0 && left > 0; n-- {
			left--
			switch k := r.IntN(8); {
			case k == 0 && nest < 3 && left > 0:
				cond := fmt.Sprintf("t %% %d == 0", 2+r.IntN(3))
				if depth > 0 && r.IntN(2) == 0 {
					cond = fmt.Sprintf("i%d > 0", r.IntN(depth))
				}
				fmt.Fprintf(b, "%sif (%s) {\n", in, cond)
				block(depth, nest+1)
				fmt.Fprintf(b, "%s}\n", in)
			case k < 3 && depth < 2 && nest < 3 && left > 0:
				fmt.Fprintf(b, "%sfor (int i%d = 0; i%d < %d; i%d++) {\n", in, depth, depth, 2+r.IntN(2), depth)
				block(depth+1, nest+1)
				fmt.Fprintf(b, "%s}\n", in)
			case k < 6:
				fmt.Fprintf(b, "%sx += A[%s];\n", in, index(depth))
			default:
				fmt.Fprintf(b, "%sA[%s] = x * 64 + t;\n", in, index(depth))
			}
		}
	}
	block(0, 0)
	fmt.Fprintf(b, "    A[4096 + t] = x;\n}\n")
	return b.String()
}

// On random kernels without inputs the static oracle's placement is right in runs too, none that
// runs pass is cheaper unless the static engine is not sure, and if no placement is right in runs,
// none is found. All placements are tried.
func TestSyncAgainstRuns(t *testing.T) {
	n := 5
	if long.All() {
		n = 150
	}
	r := rand.New(rand.NewPCG(1985, 10))
	found, missed, costlier := 0, 0, 0
	for i := range n {
		text := randomSource(r)
		m, stop := markedOf(t, text)
		tree := &m.tree
		static := &staticOracle{marked: m}
		res, err := placer.Synthesize(t.Context(), tree, static, placer.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		dynamic := &dynamicOracle{m}
		judge := func(p placer.Placement) *placer.Answer {
			a, err := dynamic.Check(t.Context(), p)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			return a
		}
		alone := func(p placer.Placement) bool { return len(judge(p).Divergences) == 0 }
		right := func(p placer.Placement) bool {
			a := judge(p)
			return len(a.Races) == 0 && len(a.Divergences) == 0
		}
		if res.Found && !right(res.Placement) {
			t.Fatalf("kernel %d: what is proved races in a run: %v\n%s", i, res.Placement.Labels(), text)
		}
		best := cheapest(tree, alone, right, res)
		switch {
		case res.Found && best < res.Cost:
			costlier++
			t.Logf("kernel %d: cost %g, in runs %g is enough\n%s", i, res.Cost, best, text)
		case !res.Found && best >= 0:
			missed++
			t.Logf("kernel %d: nothing found, in runs %g is enough: %+v\n%s", i, best, res, text)
		case res.Found:
			found++
		}
		stop()
	}
	t.Logf("%d kernels: %d with the cheapest placement, %d costlier, %d without that runs pass", n, found, costlier, missed)
	if costlier+missed > n/5 {
		t.Errorf("of %d kernels %d cost more than need be and %d are not solved", n, costlier, missed)
	}
}

// mostBarriers bounds the placements that are tried.
const mostBarriers = 3

// cheapest is the least cost of a placement that is right, of at most mostBarriers and below that
// of res if there is one; -1 if none is.
func cheapest(tree *placer.Tree, alone, right func(placer.Placement) bool, res *placer.Result) float64 {
	var open []placer.Label
	for l := range tree.Labels {
		if l > 0 && !tree.Labels[l].Closed && alone(placer.Placement{placer.Label(l): true}) {
			open = append(open, placer.Label(l))
		}
	}
	best := -1.0
	if res.Found {
		best = res.Cost
	}
	var try func(p placer.Placement, rest []placer.Label)
	try = func(p placer.Placement, rest []placer.Label) {
		cost := placer.DefaultCost.Total(tree, p)
		if best >= 0 && cost >= best {
			return
		}
		if right(p) {
			best = cost
			return
		}
		for i, l := range rest {
			if len(p) < mostBarriers {
				q := maps.Clone(p)
				q[l] = true
				try(q, rest[i+1:])
			}
		}
	}
	try(placer.Placement{}, open)
	return best
}

// markedOf compiles a text with one kernel, with its points.
func markedOf(t *testing.T, text string) (*marked, func()) {
	t.Helper()
	file := driver.Input{Input: lower.Input{Name: "random.cu", Content: []byte(text)}}
	s, err := open(Options{}, file, func(g diag.Diagnostic) { t.Errorf("%s\n%s", g.Message, text) })
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.compile(context.Background())
	if err != nil || in == nil {
		t.Fatalf("%v\n%s", err, text)
	}
	fn := s.unit.Funcs[0]
	kernels := []*ir.Func{in.IR.Kernel(fn.Mangled[0])}
	return newMarked(s, in, fn, kernels), s.prover.Close
}
