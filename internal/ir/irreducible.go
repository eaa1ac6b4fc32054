package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Irreducible returns the parts of f whose control flow is not reducible: each is a set of blocks
// that lie on cycles together which no back edge closes, so that it has several entries. Blocks
// ascend.
func Irreducible(f *Func, dom *DomTree) [][]BlockID {
	rpo := ReversePostorder(f)
	forward := make(graph, len(f.Blocks)) // without back edges
	for _, u := range rpo {
		for _, v := range f.Blocks[u].Succs {
			if !dom.Dominates(v, u) {
				forward[u] = append(forward[u], int32(v))
			}
		}
	}
	var out [][]BlockID
	for _, c := range components(forward, rpo) {
		if len(c) > 1 { // an edge from a block to itself is a back edge
			out = append(out, c)
		}
	}
	return out
}

// components returns the strongly connected components of the part of g that holds nodes
// (Kosaraju's algorithm).
func components(g graph, nodes []BlockID) [][]BlockID {
	var order []int32
	seen := make([]bool, len(g))
	for _, n := range nodes {
		if !seen[n] {
			order = append(order, postorderFrom(g, int32(n), seen)...)
		}
	}
	reverse := g.reverse()
	seen = make([]bool, len(g))
	var out [][]BlockID
	for i := len(order) - 1; i >= 0; i-- {
		if seen[order[i]] {
			continue
		}
		var c []BlockID
		for _, n := range reverse.mark(seen, order[i]) {
			c = append(c, BlockID(n))
		}
		slices.Sort(c)
		out = append(out, c)
	}
	return out
}

// ExplainIrreducible says in words which blocks of f have no reducible control flow, and where they
// can be entered; "" if there are none.
func ExplainIrreducible(f *Func, dom *DomTree) string {
	var parts []string
	for _, c := range Irreducible(f, dom) {
		var entries, rest []string
		for _, b := range c {
			outside := func(p BlockID) bool { return !slices.Contains(c, p) }
			if b == 0 || slices.ContainsFunc(f.Blocks[b].Preds, outside) {
				entries = append(entries, f.BlockText(b))
			} else {
				rest = append(rest, f.BlockText(b))
			}
		}
		text := "a cycle that can be entered at " + strings.Join(entries, " and at ")
		if len(rest) > 0 {
			text += ", with " + strings.Join(rest, ", ")
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "irreducible control flow: " + strings.Join(parts, "; ")
}

// BlockText names a block for people: its label, and where its first instruction comes from.
func (f *Func) BlockText(id BlockID) string {
	b := f.Blocks[id]
	name := b.Label
	if name == "" {
		name = fmt.Sprintf("block %d", id)
	}
	if f.Module == nil || f.Module.Files == nil {
		return name
	}
	for _, in := range b.Instrs {
		switch {
		case in.Loc != nil && in.Loc.Pos.IsValid():
			return fmt.Sprintf("%s (%s)", name, f.Module.Files.Format(in.Loc.Pos))
		case in.Span.IsValid():
			return fmt.Sprintf("%s (%s)", name, f.Module.Files.Format(in.Span.Start))
		}
	}
	return name
}
