package ir

// Link sets the predecessors of all blocks from their successors, and numbers blocks and
// instructions. It must be called last by code that builds or changes a function's blocks; before
// that Preds, ID, Index and NumInstrs are stale.
func (f *Func) Link() {
	n := 0
	for i, b := range f.Blocks {
		b.ID = BlockID(i)
		b.Preds = b.Preds[:0]
		for _, in := range b.Instrs {
			in.Index = n
			n++
		}
	}
	f.NumInstrs = n
	for _, b := range f.Blocks {
		for _, s := range b.Succs {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, b.ID)
		}
	}
}

// Block returns the block that id names.
func (f *Func) Block(id BlockID) *Block { return f.Blocks[id] }

// Last returns the block's last instruction, or nil for an empty block.
func (b *Block) Last() *Instr {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[len(b.Instrs)-1]
}

// Terminator returns the block's last instruction if it can transfer control, else nil.
func (b *Block) Terminator() *Instr {
	if in := b.Last(); in != nil && in.IsTerminator() {
		return in
	}
	return nil
}

// IsTerminator reports whether an instruction must be the last of its block.
func (in *Instr) IsTerminator() bool {
	return in.EndsBlock() || in.IsCall() && in.Callee != nil && in.Callee.NoReturn && in.Guard == NoReg
}

// Op returns the opcode: the first word, or the words that make it an instruction of its own.
func (in *Instr) Op() string {
	if in.Row == nil {
		return ""
	}
	return in.Row.Opcode
}

// ReversePostorder returns the blocks that are reachable from the entry so that each comes before
// its successors, back edges excepted.
func ReversePostorder(f *Func) []BlockID {
	if len(f.Blocks) == 0 {
		return nil
	}
	order := postorder(blockGraph(f), 0)
	out := make([]BlockID, len(order))
	for i, b := range order {
		out[len(order)-1-i] = BlockID(b)
	}
	return out
}

// graph is a directed graph over 0..len-1: the form in which the algorithms of this package see the
// CFG, its reverse, and either with a virtual node.
type graph [][]int32

// blockGraph returns the CFG with blocks as nodes; an edge that occurs twice in Succs is there
// twice.
func blockGraph(f *Func) graph {
	g := make(graph, len(f.Blocks))
	for i, b := range f.Blocks {
		for _, s := range b.Succs {
			g[i] = append(g[i], int32(s))
		}
	}
	return g
}

// reverse returns the graph with each edge turned around.
func (g graph) reverse() graph {
	r := make(graph, len(g))
	for u, succs := range g {
		for _, v := range succs {
			r[v] = append(r[v], int32(u))
		}
	}
	return r
}

// postorder lists the nodes reachable from root, each after those that the depth-first search
// enters from it. It keeps its own stack: a generated function may have a path of many thousand
// blocks.
func postorder(g graph, root int32) []int32 {
	return postorderFrom(g, root, make([]bool, len(g)))
}

// postorderFrom is postorder over the nodes that are not seen, which it marks.
func postorderFrom(g graph, root int32, seen []bool) []int32 {
	type visit struct{ node, next int32 }
	seen[root] = true
	order := make([]int32, 0, len(g))
	stack := []visit{{node: root}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if int(top.next) == len(g[top.node]) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		s := g[top.node][top.next]
		top.next++
		if !seen[s] {
			seen[s] = true
			stack = append(stack, visit{node: s})
		}
	}
	return order
}

// mark sets seen for every node that can be reached from those of from, and returns those that were
// not marked before.
func (g graph) mark(seen []bool, from ...int32) []int32 {
	var fresh []int32
	visit := func(nodes []int32) {
		for _, n := range nodes {
			if !seen[n] {
				seen[n] = true
				fresh = append(fresh, n)
			}
		}
	}
	visit(from)
	for i := 0; i < len(fresh); i++ {
		visit(g[fresh[i]])
	}
	return fresh
}
