package explore

import (
	"context"
	"fmt"
	"testing"

	"heddle/internal/memmodel"
)

// TestExampleOfPair: the example of a pair is the first execution that ends and in which a read
// misses the write; without such a one, the first of all.
func TestExampleOfPair(t *testing.T) {
	const write, read = 0, 1
	execution := func(end End, source int) *Execution {
		e := &Execution{End: end}
		e.Graph.Events = []memmodel.Event{{Op: memmodel.Write}, {Op: memmodel.Read}, {Op: memmodel.Write}}
		e.Graph.RF = []int{0, source, 0}
		return e
	}
	open, reads := execution(Deadlock, 2), execution(Ended, write)
	misses, later := execution(Ended, 2), execution(Ended, 2)
	for _, c := range []struct {
		in   []*Execution
		want *Execution
	}{
		{[]*Execution{open, reads}, open},
		{[]*Execution{reads, open}, reads},
		{[]*Execution{open, reads, misses, later, reads}, misses},
		{[]*Execution{misses, open, later}, misses},
	} {
		for _, p := range []memmodel.Pair{{First: write, Second: read}, {First: read, Second: write}} {
			x := exchanges{pairs: map[exchange]*Race{}}
			for _, e := range c.in {
				x.pair(e, exchange{}, p)
			}
			r := x.pairs[exchange{}]
			if r.Example != c.want || r.Pair != p || r.Executions != len(c.in) {
				t.Errorf("of %d executions, the example is another one", len(c.in))
			}
		}
	}
}

// TestSymmetryOfBranches: threads that differ in a constant do the same if it only decides a
// branch, and decides it the same way.
func TestSymmetryOfBranches(t *testing.T) {
	for _, c := range []struct {
		conds [2]int64
		want  int // permutations
	}{
		{[2]int64{0, 0}, 2},
		{[2]int64{1, 1}, 2},
		{[2]int64{3, 4}, 2},
		{[2]int64{0, 1}, 1}, // only the first stores
		{[2]int64{1, 0}, 1},
	} {
		addr := Const(0)
		code := []Inst{
			{Kind: Branch, Dst: -1, Args: []Operand{Reg(0)}, Target: 2, Site: 0,
				Eval: func(v []int64) (int64, bool) { return v[0], true }},
			{Kind: Store, Dst: -1, Addr: &addr, Size: 8, Args: []Operand{Const(7)}, Site: 1},
			{Kind: Load, Dst: 1, Addr: &addr, Size: 8, Site: 2},
		}
		p := &Program{
			Locate: func(_ int, _ *Inst, addr int64) (Location, error) {
				return Location{Name: "m", Addr: uint64(addr), Size: 8}, nil
			},
			Same: func(a, b *Inst) bool { return a.Site == b.Site },
		}
		for i, v := range c.conds {
			p.Threads = append(p.Threads, Thread{Name: fmt.Sprint("P", i), Regs: []int64{v, 0},
				Position: memmodel.Position{CTA: i}, Code: code})
		}
		var perms [][]int
		_, err := Explore(context.Background(), p, Options{Symmetry: true, perms: &perms},
			func(*Execution) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(perms) != c.want {
			t.Errorf("conditions %v: %d permutations, want %d", c.conds, len(perms), c.want)
		}
	}
}
