package ir

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestIrreducible: a function has irreducible parts exactly if FindLoops calls it irreducible, and
// each part is what it says: from each of its blocks every other can be reached within it, and
// control can enter it at two places.
func TestIrreducible(t *testing.T) {
	found := 0
	property := func(t *rapid.T) {
		f := randomFunc(t)
		dom := Dominators(f)
		parts := Irreducible(f, dom)
		if (len(parts) == 0) != FindLoops(f, dom).Reducible {
			t.Fatalf("parts %v, reducible %v\n%s", parts, FindLoops(f, dom).Reducible, f)
		}
		live := reach(f, succs, NoBlock, 0)
		for _, c := range parts {
			found++
			entries := 0
			for _, b := range c {
				inside := func(b *Block) []BlockID {
					return slices.DeleteFunc(slices.Clone(b.Succs), func(s BlockID) bool { return !slices.Contains(c, s) })
				}
				if got := reach(f, inside, NoBlock, b); len(got) != len(c) {
					t.Fatalf("b%d reaches %v of %v\n%s", b, got, c, f)
				}
				if b == 0 || slices.ContainsFunc(f.Blocks[b].Preds, func(p BlockID) bool { return live[p] && !slices.Contains(c, p) }) {
					entries++
				}
			}
			if entries < 2 {
				t.Fatalf("%v has %d entries\n%s", c, entries, f)
			}
		}
	}
	for round := 0; round < 50 && found == 0; round++ { // few random functions are irreducible
		rapid.Check(t, property)
	}
	if found == 0 {
		t.Error("no function was irreducible: the test shows nothing")
	}
}
