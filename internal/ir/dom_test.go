package ir

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/isa"
)

// randomFunc draws a CFG of up to 12 blocks with up to 3 successors each. A block without
// successors ends in ret, exit or trap; some others end in a guarded exit.
func randomFunc(t *rapid.T) *Func {
	n := rapid.IntRange(1, 12).Draw(t, "blocks")
	f := &Func{Name: "f", Kernel: rapid.Bool().Draw(t, "kernel")}
	for i := range n {
		b := &Block{ID: BlockID(i)}
		for range rapid.IntRange(0, 3).Draw(t, "successors") {
			b.Succs = append(b.Succs, BlockID(rapid.IntRange(0, n-1).Draw(t, "to")))
		}
		op, guard := "bra", NoReg
		switch {
		case len(b.Succs) == 0:
			op = rapid.SampledFrom([]string{"ret", "ret", "exit", "trap"}).Draw(t, "end")
		case len(b.Succs) == 1 && rapid.Bool().Draw(t, "guarded"):
			op, guard = rapid.SampledFrom([]string{"ret", "exit"}).Draw(t, "guarded end"), RegID(0)
		}
		b.Instrs = []*Instr{{Desc: isa.Desc{Row: &isa.Row{Opcode: op}}, Guard: guard}}
		f.Blocks = append(f.Blocks, b)
	}
	f.Link()
	return f
}

// reach is the definition of reachability: the blocks that a path from one of from enters, without
// entering block without.
func reach(f *Func, next func(*Block) []BlockID, without BlockID, from ...BlockID) map[BlockID]bool {
	seen := make(map[BlockID]bool)
	var walk func(b BlockID)
	walk = func(b BlockID) {
		if b == without || seen[b] {
			return
		}
		seen[b] = true
		for _, s := range next(f.Blocks[b]) {
			walk(s)
		}
	}
	for _, b := range from {
		walk(b)
	}
	return seen
}

func succs(b *Block) []BlockID { return b.Succs }
func preds(b *Block) []BlockID { return b.Preds }

// a dominates b if every path from the entry to b goes through a.
func TestDominators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		dom := Dominators(f)
		live := reach(f, succs, NoBlock, 0)
		for a := range f.Blocks {
			avoiding := reach(f, succs, BlockID(a), 0)
			for b := range f.Blocks {
				want := live[BlockID(a)] && live[BlockID(b)] && !avoiding[BlockID(b)]
				if got := dom.Dominates(BlockID(a), BlockID(b)); got != want {
					t.Fatalf("Dominates(b%d, b%d) = %v, want %v\n%s", a, b, got, want, f)
				}
			}
			checkIDom(t, f, dom, BlockID(a))
		}
	})
}

// The immediate dominator is the strict dominator that all other strict dominators dominate.
func checkIDom(t *rapid.T, f *Func, dom *DomTree, b BlockID) {
	want := NoBlock
	for a := range f.Blocks {
		a := BlockID(a)
		if a != b && dom.Dominates(a, b) && (want == NoBlock || dom.Dominates(want, a)) {
			want = a
		}
	}
	if got := dom.IDom(b); got != want {
		t.Fatalf("IDom(b%d) = b%d, want b%d\n%s", b, got, want, f)
	}
}

// exitsOf returns the blocks that lanes can leave the function from, by kind.
func exitsOf(f *Func, kinds ...exitKind) []BlockID {
	var out []BlockID
	for _, b := range f.Blocks {
		for _, k := range kinds {
			if exitOf(f, b) == k {
				out = append(out, b.ID)
			}
		}
	}
	return out
}

// a postdominates b if every path from b out of the function goes through a. Blocks that no path
// leads out of are excluded, and so is what can reach them: there the pseudo edges count.
func TestPostDominators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		exits := exitsOf(f, returns, dies, mayDie)
		out := reach(f, preds, NoBlock, exits...)
		var stuck []BlockID
		for b := range f.Blocks {
			if !out[BlockID(b)] {
				stuck = append(stuck, BlockID(b))
			}
		}
		endless := reach(f, preds, NoBlock, stuck...)
		pdom := PostDominators(f)
		for a := range f.Blocks {
			avoiding := reach(f, preds, BlockID(a), exits...)
			for b := range f.Blocks {
				if endless[BlockID(b)] || endless[BlockID(a)] {
					continue
				}
				if got, want := pdom.Dominates(BlockID(a), BlockID(b)), !avoiding[BlockID(b)]; got != want {
					t.Fatalf("b%d postdominates b%d: %v, want %v\n%s", a, b, got, want, f)
				}
			}
			if !pdom.Dominates(BlockID(a), BlockID(a)) {
				t.Fatalf("b%d is not in the tree\n%s", a, f)
			}
			checkIDom(t, f, pdom, BlockID(a))
		}
	})
}

// Where lanes come together: for a block with a path to a ret, the first block after it that is on
// every such path; else the same with exit and trap; else with a guarded exit.
func TestPostDom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		got := PostDom(f)
		done := make(map[BlockID]bool)
		for _, kind := range []exitKind{returns, dies, mayDie} {
			var exits []BlockID
			for _, b := range exitsOf(f, kind) {
				if !done[b] {
					exits = append(exits, b)
				}
			}
			level := reach(f, preds, NoBlock, exits...)
			within := func(b *Block) []BlockID { // paths within the level
				var out []BlockID
				for _, p := range b.Preds {
					if !done[p] {
						out = append(out, p)
					}
				}
				return out
			}
			onAll := func(a, b BlockID) bool { return !reach(f, within, a, exits...)[b] }
			for b := range level {
				if done[b] {
					continue
				}
				want := NoBlock
				for a := range level {
					if a != b && !done[a] && onAll(a, b) && (want == NoBlock || onAll(want, a)) {
						want = a
					}
				}
				if got[b] != want {
					t.Fatalf("PostDom of b%d is b%d, want b%d\n%s", b, got[b], want, f)
				}
			}
			for b := range level {
				done[b] = true
			}
		}
	})
}

// Reducibility by T1-T2 (Hecht and Ullman): remove self-loops, merge a node into its only
// predecessor; the graph is reducible exactly if one node remains.
func reducible(f *Func) bool {
	live := reach(f, succs, NoBlock, 0)
	in := make(map[BlockID]map[BlockID]bool)
	for b := range live {
		in[b] = make(map[BlockID]bool)
	}
	for b := range live {
		for _, s := range f.Blocks[b].Succs {
			in[s][b] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for b, from := range in {
			delete(from, b) // T1
			if len(from) != 1 || b == 0 {
				continue
			}
			var into BlockID
			for p := range from {
				into = p
			}
			delete(in, b) // T2
			for _, others := range in {
				if others[b] {
					delete(others, b)
					others[into] = true
				}
			}
			changed = true
			break
		}
	}
	return len(in) == 1
}

func TestLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		dom := Dominators(f)
		lf := FindLoops(f, dom)
		if want := reducible(f); lf.Reducible != want {
			t.Fatalf("Reducible = %v, want %v\n%s", lf.Reducible, want, f)
		}
		for _, l := range lf.Loops {
			for _, b := range f.Blocks {
				// In the loop: the header, and what reaches a latch without the header.
				want := b.ID == l.Header
				if dom.Dominates(l.Header, b.ID) && b.ID != l.Header {
					avoiding := reach(f, succs, l.Header, b.ID)
					for _, latch := range l.Latches {
						want = want || avoiding[latch]
					}
				}
				if l.Contains(b.ID) != want {
					t.Fatalf("loop at b%d contains b%d: %v, want %v\n%s", l.Header, b.ID, !want, want, f)
				}
			}
			if l.Parent != nil && (!l.Parent.Contains(l.Header) || l.Depth != l.Parent.Depth+1) || l.Parent == nil && l.Depth != 1 {
				t.Fatalf("loop at b%d: wrong parent or depth %d", l.Header, l.Depth)
			}
		}
		for b, l := range lf.Of {
			for _, other := range lf.Loops {
				if other.Contains(BlockID(b)) && (l == nil || other.Depth > l.Depth) {
					t.Fatalf("Of[b%d] is not the innermost loop\n%s", b, f)
				}
			}
		}
	})
}

func TestReversePostorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		rpo := ReversePostorder(f)
		live := reach(f, succs, NoBlock, 0)
		if rpo[0] != 0 || len(rpo) != len(live) {
			t.Fatalf("%v does not list the %d reachable blocks from the entry on", rpo, len(live))
		}
		if at, lf := make(map[BlockID]int), FindLoops(f, Dominators(f)); lf.Reducible {
			for i, b := range rpo {
				at[b] = i
			}
			dom := Dominators(f)
			for _, b := range rpo {
				for _, s := range f.Blocks[b].Succs {
					if at[s] <= at[b] && !dom.Dominates(s, b) {
						t.Fatalf("b%d comes before its predecessor b%d\n%s", s, b, f)
					}
				}
			}
		}
	})
}

// TestLoopOrder: in the order of a reducible function each block comes before its successors, back
// edges excepted, and the blocks of each loop are next to each other. These two are the definition
// (Collingbourne et al., ESOP 2013, section 4).
func TestLoopOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFunc(t)
		dom := Dominators(f)
		lf := FindLoops(f, dom)
		if !lf.Reducible {
			t.Skip("an order of natural loops")
		}
		order, at := lf.Order(f), map[BlockID]int{}
		for i, b := range order {
			at[b] = i
		}
		if live := reach(f, succs, NoBlock, 0); len(order) != len(live) || len(at) != len(live) {
			t.Fatalf("%v does not list the %d reachable blocks once each", order, len(live))
		}
		for _, b := range order {
			for _, s := range f.Blocks[b].Succs {
				if at[s] <= at[b] && !dom.Dominates(s, b) {
					t.Fatalf("b%d comes before its predecessor b%d in %v\n%s", s, b, order, f)
				}
			}
		}
		for _, l := range lf.Loops {
			for i := range l.Blocks {
				if b := order[at[l.Header]+i]; !l.Contains(b) {
					t.Fatalf("b%d divides the loop of b%d in %v\n%s", b, l.Header, order, f)
				}
			}
		}
	})
}

// TestLoopOrderOfExits: b1 is a loop whose exit b2 is its first successor, so that a reverse
// postorder has b2 before the rest of the loop, b3.
func TestLoopOrderOfExits(t *testing.T) {
	f := &Func{Name: "f", Blocks: []*Block{{Succs: []BlockID{1}}, {Succs: []BlockID{3, 2}}, {},
		{Succs: []BlockID{1}}}}
	f.Link()
	got := FindLoops(f, Dominators(f)).Order(f)
	if want := []BlockID{0, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if rpo := ReversePostorder(f); slices.Equal(rpo, got) {
		t.Errorf("%v: the loop is not divided, so that this tests nothing", rpo)
	}
}

func BenchmarkDominators(b *testing.B) {
	// A ladder of 5000 diamonds, each within a loop.
	f := &Func{Name: "f"}
	for i := 0; i < 20000; i += 4 {
		id := BlockID(i)
		f.Blocks = append(f.Blocks,
			&Block{Succs: []BlockID{id + 1, id + 2}}, &Block{Succs: []BlockID{id + 3}},
			&Block{Succs: []BlockID{id + 3}}, &Block{Succs: []BlockID{id, id + 4}})
	}
	f.Blocks = append(f.Blocks, &Block{})
	f.Link()
	b.ReportAllocs()
	for b.Loop() {
		Dominators(f)
		PostDom(f)
	}
}
