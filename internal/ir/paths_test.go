package ir

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPaths compares the order of instructions with its definition: for blocks of two instructions
// each, the same questions about a graph whose nodes are single instructions.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		one := &Func{Name: "one", Kernel: f.Kernel} // a block for each instruction
		node := map[*Instr]BlockID{}
		n := 0
		for _, b := range f.Blocks {
			b.Instrs = append([]*Instr{{Guard: NoReg, Desc: b.Instrs[0].Desc}}, b.Instrs...)
			b.Instrs[0].Row = nil
			for _, in := range b.Instrs {
				node[in] = BlockID(n)
				n++
			}
			first := &Block{ID: node[b.Instrs[0]], Succs: []BlockID{node[b.Instrs[1]]}}
			last := &Block{ID: node[b.Instrs[1]], Instrs: []*Instr{b.Instrs[1]}}
			for _, s := range b.Succs {
				last.Succs = append(last.Succs, 2*s)
			}
			one.Blocks = append(one.Blocks, first, last)
		}
		one.Link()
		for in, i := range node { // Link numbers the instructions of one
			in.Index = int(i)
		}
		paths, dom, post := NewPaths(f), Dominators(one), PostDominators(one)
		for a, i := range node {
			reached := reach(one, succs, NoBlock, one.Blocks[i].Succs...)
			for b, j := range node {
				if got := paths.Reaches(a, b); got != reached[j] {
					t.Fatalf("Reaches(%d, %d) = %v", i, j, got)
				}
				past := func(in *Instr) bool { return node[in]%3 == 1 }
				free := withoutNodes(one, i, func(n BlockID) bool { return n%3 == 1 })
				if got := paths.ReachesPast(a, b, past); got != free[j] {
					t.Fatalf("ReachesPast(%d, %d) = %v", i, j, got)
				}
				// what the entry does not reach is dominated by nothing, but within a block
				if got, want := paths.Dominates(a, b), dom.Dominates(i, j); got != want && i/2 != j/2 {
					t.Fatalf("Dominates(%d, %d) = %v, want %v", i, j, got, want)
				}
				if got, want := paths.PostDominates(a, b), post.Dominates(i, j); got != want {
					t.Fatalf("PostDominates(%d, %d) = %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

// withoutNodes is the definition of ReachesPast: the nodes that a path from one of them enters, of
// which only the last may be avoided.
func withoutNodes(f *Func, from BlockID, avoided func(BlockID) bool) map[BlockID]bool {
	seen := map[BlockID]bool{}
	var walk func(b BlockID)
	walk = func(b BlockID) {
		for _, s := range f.Blocks[b].Succs {
			if !seen[s] {
				if seen[s] = true; !avoided(s) {
					walk(s)
				}
			}
		}
	}
	walk(from)
	return seen
}
