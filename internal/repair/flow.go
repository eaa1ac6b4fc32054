package repair

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// set is a bit set of blocks, or of registers.
type set []uint64

func newSet(n int) set              { return make(set, (n+63)/64) }
func (s set) remove(b ir.BlockID)   { s[b/64] &^= 1 << (b % 64) }
func (s set) has(b ir.BlockID) bool { return s[b/64]>>(b%64)&1 != 0 }
func (s set) add(b ir.BlockID)      { s[b/64] |= 1 << (b % 64) }
func (s set) equal(t set) bool      { return slices.Equal(s, t) }
func (s set) clone() set            { return slices.Clone(s) }
func (s set) intersect(t set) {
	for i := range s {
		s[i] &= t[i]
	}
}

// include adds the elements of t, and reports whether any was new.
func (s set) include(t set) (fresh bool) {
	for i := range s {
		if t[i]&^s[i] != 0 {
			s[i] |= t[i]
			fresh = true
		}
	}
	return fresh
}
func (s set) len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// flow holds the analyses of a kernel's control flow. Postdominators and control dependence ignore
// paths that cannot reach the end of the kernel, such as those to a trap.
type flow struct {
	f        *ir.Func
	dom      *ir.DomTree
	loops    *ir.LoopForest
	rpo      []ir.BlockID
	post     []set          // postdominators of each block, itself included
	leaves   []bool         // a path leads to the end of the kernel
	controls [][]ir.BlockID // the blocks on whose branch each block is control dependent
	uniform  []bool         // all threads enter the block equally often, by the analysis
	in       []set          // the registers that may vary between threads at its beginning
	varying  set            // the same at the current instruction
}

func newFlow(f *ir.Func) *flow {
	w := &flow{f: f, dom: ir.Dominators(f), rpo: ir.ReversePostorder(f)}
	w.loops = ir.FindLoops(f, w.dom)
	w.postdominators()
	w.controlDependence()
	w.uniformity(nil)
	return w
}

// ends reports whether threads may exit at the end of b. A trap ends the whole kernel and is not an
// exit.
func ends(b *ir.Block) bool {
	switch t := b.Terminator(); {
	case t == nil:
		return len(b.Succs) == 0
	default:
		return t.Leaves()
	}
}

// postdominators iterates from full sets down to the greatest fixpoint, against the direction of
// the edges. Every block postdominates one that cannot reach the end, vacuously; leaves tells them
// apart.
func (w *flow) postdominators() {
	n := len(w.f.Blocks)
	w.leaves = make([]bool, n)
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			b := w.f.Blocks[i]
			ok := ends(b) || slices.ContainsFunc(b.Succs, func(s ir.BlockID) bool { return w.leaves[s] })
			if ok && !w.leaves[i] {
				w.leaves[i], changed = true, true
			}
		}
	}
	full := newSet(n)
	for i := range n {
		full.add(ir.BlockID(i))
	}
	w.post = make([]set, n)
	for i := range n {
		w.post[i] = full.clone()
	}
	for changed := true; changed; {
		changed = false
		for i := len(w.rpo) - 1; i >= 0; i-- {
			b := w.f.Blocks[w.rpo[i]]
			s := newSet(n)
			if !ends(b) {
				s = full.clone()
				for _, t := range b.Succs {
					if w.leaves[t] {
						s.intersect(w.post[t])
					}
				}
			}
			s.add(b.ID)
			if !s.equal(w.post[b.ID]) {
				w.post[b.ID], changed = s, true
			}
		}
	}
}

// controlDependence follows Ferrante, Ottenstein and Warren, "The program dependence graph and its
// use in optimization" (TOPLAS 1987): b depends on u if it postdominates a successor of u and does
// not strictly postdominate u.
func (w *flow) controlDependence() {
	n := len(w.f.Blocks)
	w.controls = make([][]ir.BlockID, n)
	for _, u := range w.rpo {
		b := w.f.Blocks[u]
		edges := len(b.Succs)
		if ends(b) {
			edges++
		}
		if edges < 2 {
			continue
		}
		on := newSet(n)
		for _, s := range b.Succs {
			if w.leaves[s] {
				for i, x := range w.post[s] {
					on[i] |= x
				}
			} else { // it never reaches the end: only threads that branch there enter it
				on.add(s)
			}
		}
		for i := range n {
			v := ir.BlockID(i)
			if on.has(v) && (v == u || !w.post[u].has(v)) {
				w.controls[v] = append(w.controls[v], u)
			}
		}
	}
}

// uniformity finds the blocks that all threads enter equally often, by propagating which registers
// may vary between threads: a register varies after its definition if an operand does, or if not
// all threads execute the definition. Forced are blocks that not all threads enter for certain:
// every branch that controls one of them may diverge. The result is an assumption that the judge
// checks: memory is taken to hold the same value for all threads that load it.
func (w *flow) uniformity(forced []ir.BlockID) {
	n := len(w.f.Blocks)
	w.uniform = make([]bool, n)
	w.in = make([]set, n)
	branches := make([]bool, n) // may diverge
	for i := range n {
		w.uniform[i] = true
		w.in[i] = newSet(len(w.f.Regs))
	}
	for _, b := range forced {
		for _, u := range w.controls[b] {
			branches[u] = true
		}
	}
	w.varying = newSet(len(w.f.Regs))
	for changed := true; changed; {
		changed = false
		for _, id := range w.rpo {
			b := w.f.Blocks[id]
			splits := func(u ir.BlockID) bool { return branches[u] || !w.uniform[u] }
			if w.uniform[id] && slices.ContainsFunc(w.controls[id], splits) {
				w.uniform[id], changed = false, true
			}
			copy(w.varying, w.in[id])
			for _, in := range b.Instrs {
				if in == b.Terminator() && !branches[id] && w.differs(in) {
					branches[id], changed = true, true
				}
				w.define(in, !w.uniform[id])
			}
			for _, s := range b.Succs {
				changed = w.in[s].include(w.varying) || changed
			}
		}
	}
}

// differs reports whether threads may take different edges at a terminator. A direct branch without
// a guard takes the same edge in all threads.
func (w *flow) differs(t *ir.Instr) bool {
	if t.Guard != ir.NoReg && w.varying.has(ir.BlockID(t.Guard)) {
		return true
	}
	return t.Action() == isa.ActIndexedBranch && w.operand(t.Src[0])
}

// define propagates through one instruction. A guarded definition may leave the old value. It errs
// towards "varies" for results of shuffles, asynchronous copies, textures, matrix operations and
// calls, and towards "same" for plain loads, which the judge checks.
func (w *flow) define(in *ir.Instr, differ bool) {
	if len(in.Dst) == 0 {
		return
	}
	reduction := false
	switch in.Row.Category {
	case isa.WarpOp, isa.Async, isa.Texture, isa.Matrix, isa.Stack:
		differ = true
	case isa.Barrier:
		reduction = in.Action() == isa.ActNumberedBarrier // which gives all threads the same
		differ = differ || !reduction
	case isa.Memory:
		differ = differ || in.Row.Effect != isa.Reads || in.Order.Strong() || w.private(in)
	case isa.Control:
		differ = true // the result of a call
	}
	differ = differ || in.Guard != ir.NoReg && w.varying.has(ir.BlockID(in.Guard)) ||
		!reduction && slices.ContainsFunc(in.Src, w.operand)
	for _, d := range in.Dst {
		regs := []ir.Operand{d}
		if d.Kind == ir.Vector {
			regs = d.Elems
		}
		for _, r := range regs {
			switch {
			case r.Kind != ir.Register || r.Reg == ir.NoReg:
			case differ:
				w.varying.add(ir.BlockID(r.Reg))
			case in.Guard == ir.NoReg:
				w.varying.remove(ir.BlockID(r.Reg))
			}
		}
	}
}

// private reports whether a load may access memory that each thread has for itself.
func (w *flow) private(in *ir.Instr) bool {
	return in.Space == event.Local || in.Space == event.Generic
}

// operand reports whether an operand may vary between threads.
func (w *flow) operand(o ir.Operand) bool {
	switch o.Kind {
	case ir.Register:
		return o.Reg != ir.NoReg && w.varying.has(ir.BlockID(o.Reg))
	case ir.Mem:
		return o.Reg != ir.NoReg && w.varying.has(ir.BlockID(o.Reg)) ||
			slices.ContainsFunc(o.Elems, w.operand)
	case ir.Vector:
		return slices.ContainsFunc(o.Elems, w.operand)
	case ir.Special:
		return !sameInBlock(o.Sreg)
	}
	return false
}

// sameInBlock reports whether all threads of a block always read the same value from a special
// register. The list is of registers that are equal by definition. A register that is missing here
// is taken to vary, which costs a transformation and is never wrong.
func sameInBlock(s ir.Sreg) bool {
	switch s {
	case ir.NtidX, ir.NtidY, ir.NtidZ, ir.CtaidX, ir.CtaidY, ir.CtaidZ,
		ir.NctaidX, ir.NctaidY, ir.NctaidZ, ir.NWarpID, ir.NSMID, ir.GridID,
		ir.ClusterCtaidX, ir.ClusterCtaidY, ir.ClusterCtaidZ,
		ir.ClusterNctaidX, ir.ClusterNctaidY, ir.ClusterNctaidZ,
		ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ,
		ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ, ir.ClusterCtaRank, ir.ClusterNctaRank,
		ir.IsExplicitCluster, ir.TotalSmemSize, ir.AggrSmemSize, ir.DynamicSmemSize,
		ir.EnvReg, ir.WarpSz:
		return true
	}
	return false
}
