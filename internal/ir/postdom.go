package ir

import "heddle/internal/isa"

// Postdominators are the dominators of the reversed CFG, rooted at a virtual exit. What has an edge
// to the virtual exit differs between the textbook tree (PostDominators) and reconvergence
// (PostDom).
//
// A block from which no path leaves the function gets a path by a pseudo edge from one block of the
// loop that holds it, as in LLVM's GenericDomTreeConstruction: the block that the depth-first
// search leaves first, which is usually the latch.

// exitKind says how a block leaves the function, ordered by how much it counts for reconvergence.
type exitKind uint8

const (
	returns exitKind = iota // ret
	// exit, trap, a call that does not return, for all lanes that reach it
	dies
	mayDie      // the same under a guard, with a fall-through
	neverLeaves // pseudo edges of endless loops
	noExit
)

// exitOf returns how block b leaves the function. A guarded ret of a kernel ends lanes as exit
// does; in a device function the lanes merge again at the call.
func exitOf(f *Func, b *Block) exitKind {
	t := b.Terminator()
	if t == nil {
		if len(b.Succs) == 0 {
			return returns
		}
		return noExit
	}
	guarded := t.Guard != NoReg
	switch t.Action() {
	case isa.ActReturn:
		if guarded && f.Kernel { // lanes end here, as by exit
			return mayDie
		}
		return returns
	case isa.ActExit, isa.ActTrap:
		if guarded {
			return mayDie
		}
		return dies
	case isa.ActCall:
		return dies
	}
	return noExit
}

// PostDominators returns the postdominator tree of f over all exits of the function: ret, exit
// and trap, guarded ones too. Every block is in the tree, also those that the entry does not reach.
func PostDominators(f *Func) *DomTree {
	class := func(b *Block) exitKind {
		if exitOf(f, b) == noExit {
			return noExit
		}
		return returns
	}
	return newDomTree(idoms(exitGraph(f, class), int32(len(f.Blocks))), len(f.Blocks))
}

// PostDom returns for each block where the lanes of a warp that diverge at its end reconverge: its immediate postdominator, or NoBlock for the end of the function.
//
// Lanes that end (exit, trap, a call that does not return, a guarded ret of a kernel) reconverge
// with no others, and the others do not wait for them; so a path that leads only to such an end is
// ignored for every block that has a path to a ret. The same holds for endless loops. PostDominators gives the
// textbook tree.
func PostDom(f *Func) []BlockID {
	g := exitGraph(f, func(b *Block) exitKind { return exitOf(f, b) })
	return newDomTree(idoms(g, int32(len(f.Blocks))), len(f.Blocks)).idom
}

// exitGraph returns the reversed CFG with the virtual exit as its last node. Exits of a better kind
// are taken first: a block's level is the first kind of exit that it reaches, and only edges
// between blocks of one level are kept.
func exitGraph(f *Func, class func(*Block) exitKind) graph {
	n := len(f.Blocks)
	forward := blockGraph(f)
	back := forward.reverse()
	kind := make([]exitKind, n)
	for i, b := range f.Blocks {
		kind[i] = class(b)
	}
	level := make([]exitKind, n)
	reaches := make([]bool, n)
	exits := make([]int32, 0, n)
	settle := func(k exitKind, from ...int32) {
		exits = append(exits, from...)
		for _, b := range back.mark(reaches, from...) {
			level[b] = k
		}
	}
	for k := returns; k < neverLeaves; k++ {
		var from []int32
		for b := range kind {
			if kind[b] == k && !reaches[b] {
				from = append(from, int32(b))
			}
		}
		settle(k, from...)
	}
	for _, b := range postorderAll(forward) {
		if !reaches[b] {
			settle(neverLeaves, b)
		}
	}
	g := make(graph, n+1)
	g[n] = exits
	for v := range back {
		for _, u := range back[v] {
			if level[u] == level[v] {
				g[v] = append(g[v], u)
			}
		}
	}
	return g
}

// postorderAll is postorder from node 0, and then from each node not yet seen.
func postorderAll(g graph) []int32 {
	super := append(append(make(graph, 0, len(g)+1), g...), nil)
	for i := range g {
		super[len(g)] = append(super[len(g)], int32(i))
	}
	order := postorder(super, int32(len(g)))
	return order[:len(order)-1]
}
