package symbol_test

import (
	"testing"

	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// TestInstances: the two threads of a pair share what the prefixes say that they share.
func TestInstances(t *testing.T) {
	c := smt.New()
	name := func(s *smt.Substitution, n string) string { return c.Name(s.Apply(c.Var(n, 32))) }
	block, grid := symbol.Instance(c, 1, false), symbol.Instance(c, 2, true)
	companion := symbol.Companion(c)
	for _, tt := range []struct{ name, block, grid, companion string }{
		{symbol.Private + "tid.x", "p!tid.x$1", "p!tid.x$2", "p!tid.x$2"},
		{symbol.Counter + "0", "p!#0$1", "p!#0$2", "p!#0$1"},
		{symbol.Block + "ctaid.x", "b!ctaid.x", "b!ctaid.x$2", "b!ctaid.x"},
		{symbol.Grid + "ntid.x", "g!ntid.x", "g!ntid.x", "g!ntid.x"},
		{symbol.Base + "0:A", "&0:A", "&0:A", "&0:A"},
	} {
		if got := name(block, tt.name); got != tt.block {
			t.Errorf("%s in thread 1 of a block is %s, want %s", tt.name, got, tt.block)
		}
		if got := name(grid, tt.name); got != tt.grid {
			t.Errorf("%s in thread 2 of two blocks is %s, want %s", tt.name, got, tt.grid)
		}
		if got := name(companion, tt.name); got != tt.companion {
			t.Errorf("%s in a companion is %s, want %s", tt.name, got, tt.companion)
		}
	}
}

// TestUniformity: a term is uniform if it has no private symbol but loop counters.
func TestUniformity(t *testing.T) {
	c := smt.New()
	u := symbol.NewUniformity(c)
	tid, ctaid := c.Var(symbol.Private+"tid.x", 32), c.Var(symbol.Block+"ctaid.x", 32)
	k := c.Var(symbol.Counter+"0", 32)
	for _, tt := range []struct {
		t    smt.Term
		want bool
	}{
		{ctaid, true}, {k, true}, {tid, false}, {c.Add(ctaid, k), true}, {c.Add(ctaid, tid), false},
		{symbol.Apply(c, symbol.Block+"f", 32, k), true}, {symbol.Apply(c, symbol.Block+"f", 32, tid), false},
		{symbol.Apply(c, symbol.Private+"f", 32, k), false}, {c.Ult(tid, ctaid), false}, {smt.True, true},
	} {
		for range 2 { // the second answer is remembered
			if got := u.Of(tt.t); got != tt.want {
				t.Errorf("%s: uniform is %v", c.String(tt.t), got)
			}
		}
	}
	if u.Of(ctaid, tid) {
		t.Error("two terms are uniform though one is not")
	}
}

// TestMemoryNames: a model's functions for memory are recognized, renamed or not, and no others.
func TestMemoryNames(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		index, width         int
		instances, isContent bool
	}{
		{symbol.MemoryName(symbol.Grid, 3, 32), 3, 32, false, true},
		{symbol.MemoryName(symbol.Block, 12, 8) + "$2", 12, 8, true, true},
		{symbol.EverName(1, 32), 0, 0, false, false},
		{symbol.ParamName(&ir.Var{Name: "n"}, 4, 32), 0, 0, false, false},
		{symbol.Private + "m:1:32", 0, 0, false, false},
	} {
		index, width, instances, ok := symbol.ParseMemory(tt.name)
		if ok != tt.isContent || ok && (index != tt.index || width != tt.width || instances != tt.instances) {
			t.Errorf("%s: %d %d %v %v", tt.name, index, width, instances, ok)
		}
	}
	if name := symbol.ParamName(&ir.Var{Name: "n"}, 4, 32); name != "g!param:n+4:32" || !symbol.IsParam(name) {
		t.Errorf("the name of a parameter, which models and reports use as a key, is %s", name)
	}
}
