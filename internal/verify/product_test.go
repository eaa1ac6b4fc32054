package verify

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
)

// TestProductFacts: what is said of the products holds of all indices and sizes that the
// assumptions allow, so that a query loses no model by it.
func TestProductFacts(t *testing.T) {
	c := smt.New()
	th := &thread.Thread{Context: c}
	for i, d := range []string{"x", "y", "z"} {
		th.Tid[i], th.Ctaid[i] = c.Var("p!tid."+d, 32), c.Var("b!ctaid."+d, 32)
		th.Ntid[i], th.Nctaid[i] = c.Var("g!ntid."+d, 32), c.Var("g!nctaid."+d, 32)
	}
	p := newProver(t.Context(), th, Options{})
	value := func(s *smt.Substitution, a, b smt.Term) smt.Term { return s.Apply(c.Mul(a, b)) }
	q := []smt.Term{
		c.Ult(value(p.far[0], th.Ctaid[0], th.Ntid[0]), value(p.far[1], th.Ctaid[0], th.Ntid[0])),
		c.Ult(value(p.far[0], th.Tid[1], th.Ntid[0]), value(p.far[1], th.Tid[1], th.Ntid[0])),
	}
	facts, without := p.products(q, p.far)
	if len(facts) == 0 || without.Len() != 4 {
		t.Fatalf("%d facts, %d products", len(facts), without.Len())
	}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Uint64Range(1, 1024).Draw(t, "size")
		grid := rapid.Uint64Range(1, (1<<31-1)/size).Draw(t, "grid")
		rows := rapid.Uint64Range(1, 1024/size).Draw(t, "rows")
		below := func(n uint64, name string) uint64 {
			return rapid.OneOf(rapid.Uint64Range(0, n-1), rapid.SampledFrom([]uint64{0, n - 1})).Draw(t, name)
		}
		m := &smt.Model{Vars: map[string]uint64{"g!ntid.x": size}}
		for _, suffix := range []string{"$1", "$2"} {
			block, row := below(grid, "block"), below(rows, "row")
			m.Vars["b!ctaid.x"+suffix], m.Vars["p!tid.y"+suffix] = block, row
			m.Vars["product"+suffix+".x"], m.Vars["product"+suffix+".t"] = block*size, row*size
		}
		e := c.Evaluate(m)
		for _, f := range facts {
			if !e.Holds(f) {
				t.Fatalf("%s does not hold of %v", c.String(f), m.Vars)
			}
		}
		for _, x := range q {
			if e.Value(x) != e.Value(without.Apply(x)) {
				t.Fatalf("%s is another formula without products", c.String(x))
			}
		}
	})
}

// TestProductsOccur: a variable stands for a product only if those of both threads occur in the
// query: otherwise there is nothing to gain.
func TestProductsOccur(t *testing.T) {
	c := smt.New()
	th := &thread.Thread{Context: c}
	for i, d := range []string{"x", "y", "z"} {
		th.Tid[i], th.Ctaid[i] = c.Var("p!tid."+d, 32), c.Var("b!ctaid."+d, 32)
		th.Ntid[i], th.Nctaid[i] = c.Var("g!ntid."+d, 32), c.Var("g!nctaid."+d, 32)
	}
	p := newProver(t.Context(), th, Options{})
	var products [2]smt.Term
	for i := range products {
		products[i] = p.far[i].Apply(c.Mul(th.Ctaid[0], th.Ntid[0]))
	}
	for _, x := range []struct {
		what string
		of   []smt.Term
		want int // variables
	}{
		{"none", []smt.Term{c.Var("v", 32), c.Var("w", 32)}, 0},
		{"the first", []smt.Term{products[0], c.Var("w", 32)}, 0},
		{"the second", []smt.Term{c.Var("v", 32), products[1]}, 0},
		{"both", products[:], 2},
	} {
		facts, without := p.products([]smt.Term{c.Ult(x.of[0], x.of[1])}, p.far)
		if without.Len() != x.want || (len(facts) > 0) != (x.want > 0) {
			t.Errorf("%s: %d variables, %d facts, want %d variables", x.what, without.Len(), len(facts),
				x.want)
		}
	}
}

// TestSpread: two blocks' products are one size apart, so that offsets below the size cannot meet.
// Nothing follows if no product occurs.
func TestSpread(t *testing.T) {
	c := smt.New()
	th := &thread.Thread{Context: c}
	for i, d := range []string{"x", "y", "z"} {
		th.Tid[i], th.Ctaid[i] = c.Var("p!tid."+d, 32), c.Var("b!ctaid."+d, 32)
		th.Ntid[i], th.Nctaid[i] = c.Var("g!ntid."+d, 32), c.Var("g!nctaid."+d, 32)
	}
	p := newProver(t.Context(), th, Options{Solvers: []smt.Solver{&sat.Solver{}}})
	var at, below [2]smt.Term
	for i, s := range p.far {
		at[i] = s.Apply(c.Add(c.Mul(th.Ctaid[0], th.Ntid[0]), th.Tid[0]))
		below[i] = c.And(s.Apply(c.Ult(th.Tid[0], th.Ntid[0])), c.Ule(th.Ntid[0], c.Const(1024, 32)))
	}
	differ := c.Not(c.Eq(p.far[0].Apply(th.Ctaid[0]), p.far[1].Apply(th.Ctaid[0])))
	for _, x := range []struct {
		what  string
		query []smt.Term
		want  bool
	}{
		{"addresses that meet", []smt.Term{differ, below[0], below[1], c.Eq(at[0], at[1])}, true},
		{"offsets of any size", []smt.Term{differ, c.Eq(at[0], at[1])}, false},
		{"no product", []smt.Term{differ, c.Not(differ)}, false},
	} {
		if got := p.spread(&pair{query: x.query, threads: p.far}); got != x.want {
			t.Errorf("%s: disproved %v, want %v", x.what, got, x.want)
		}
	}
}
