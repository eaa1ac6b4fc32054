package ir

// This file follows K. Cooper, T. Harvey, K. Kennedy: "A Simple, Fast Dominance Algorithm" (2001):
// iterate over the reverse postorder and intersect the dominator paths of the predecessors, until
// nothing changes. Nodes are numbered by postorder, so an intersection climbs from the smaller
// number.
//
// Deviations: the tree is numbered in preorder afterwards, so that Dominates is two comparisons.

// DomTree is the dominator or the postdominator tree of a function.
type DomTree struct {
	idom     []BlockID // NoBlock: the root, or a block that the root does not reach
	pre, end []int32   // preorder number, and the largest one of the subtree; -1 if not reached
}

// IDom returns the immediate dominator (or postdominator) of b. NoBlock means none: b is the
// entry (is postdominated by the virtual exit only), or cannot be reached.
func (t *DomTree) IDom(b BlockID) BlockID { return t.idom[b] }

// Dominates reports whether a dominates (postdominates) b; every reached block does so for itself.
// It is false if either cannot be reached from the root.
func (t *DomTree) Dominates(a, b BlockID) bool {
	return t.pre[a] >= 0 && t.pre[b] >= 0 && t.pre[a] <= t.pre[b] && t.end[b] <= t.end[a]
}

// Dominators returns the dominator tree of f, which must have blocks.
func Dominators(f *Func) *DomTree {
	return newDomTree(idoms(blockGraph(f), 0), len(f.Blocks))
}

// idoms returns the immediate dominator of each node of g for paths from root: root for itself, -1
// for a node that is not reached.
func idoms(g graph, root int32) []int32 {
	post := postorder(g, root)
	num := make([]int32, len(g)) // postorder number; -1 if not reached
	for i := range num {
		num[i] = -1
	}
	for i, n := range post {
		num[n] = int32(i)
	}
	preds := g.reverse()
	idom := make([]int32, len(g))
	for i := range idom {
		idom[i] = -1
	}
	idom[root] = root
	for changed := true; changed; {
		changed = false
		for i := len(post) - 2; i >= 0; i-- { // reverse postorder, without the root
			n := post[i]
			best := int32(-1)
			for _, p := range preds[n] {
				switch {
				case num[p] < 0 || idom[p] < 0: // not reached, or not yet
				case best < 0:
					best = p
				default:
					best = intersect(idom, num, best, p)
				}
			}
			if idom[n] != best {
				idom[n] = best
				changed = true
			}
		}
	}
	return idom
}

// intersect returns the nearest common ancestor of a and b in the tree built so far. Ancestors have
// larger postorder numbers, so the node with the smaller number climbs (figure 3 of the paper).
func intersect(idom, num []int32, a, b int32) int32 {
	for a != b {
		for num[a] < num[b] {
			a = idom[a]
		}
		for num[b] < num[a] {
			b = idom[b]
		}
	}
	return a
}

// newDomTree numbers the tree that idom describes. Nodes from n on are virtual: they are in the
// tree, but no block has one as its immediate dominator.
func newDomTree(idom []int32, n int) *DomTree {
	t := &DomTree{idom: make([]BlockID, n), pre: make([]int32, len(idom)),
		end: make([]int32, len(idom))}
	children := make(graph, len(idom))
	root := int32(-1)
	for v, p := range idom {
		t.pre[v] = -1
		switch {
		case p == int32(v):
			root = p
		case p >= 0:
			children[p] = append(children[p], int32(v))
		}
	}
	for v := range t.idom {
		t.idom[v] = NoBlock
		if p := idom[v]; p >= 0 && int(p) < n && p != int32(v) {
			t.idom[v] = BlockID(p)
		}
	}
	// In a postorder of a tree the subtree of a node is the run of nodes that ends with it. Mirrored,
	// that is a preorder.
	post := postorder(children, root)
	for i, v := range post {
		t.pre[v] = int32(len(post) - 1 - i)
		t.end[v] = t.pre[v]
		for _, c := range children[v] {
			t.end[v] = max(t.end[v], t.end[c])
		}
	}
	return t
}
