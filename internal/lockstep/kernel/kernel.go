// Package kernel computes the facts about a kernel that symbolic execution needs: its loops,
// liveness, the blocks that share a reach condition, the parts of memory that its barriers order,
// and the asynchronous copies that may be pending at an instruction. It knows nothing of terms.
//
// Facts are computed once and never change. Each is a textbook analysis of the control-flow graph,
// except for two: which blocks share a reach condition (reach.go), and which are convergent
// (converge.go, after Barracuda).
package kernel

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/thread"
)

// Facts are the facts about one kernel, into which all calls have been inlined.
type Facts struct {
	f     *ir.Func
	dom   *ir.DomTree
	loops *ir.LoopForest
	order []ir.BlockID

	live       []Bits
	reach      []ir.BlockID
	convergent Bits
	merges     Bits // where whole warps may merge, in lock step; else empty
	merged     Bits // where they do
	rank       map[*ir.Instr]int
	blockOf    map[*ir.Instr]ir.BlockID
	params     map[*ir.Var]bool

	parts       parts
	waits       map[*ir.Instr]bool
	pending     map[*ir.Instr][]*ir.Instr
	unsettled   map[*ir.Instr]bool
	groupCopies bool

	info     map[*ir.Loop]*Loop
	tagLoops []*ir.Loop
}

// Loop is what is known of a loop from its text.
type Loop struct {
	*ir.Loop
	Index    int  // among all loops, outer loops first
	Written  Bits // registers that the loop may write
	Barriers bool // it contains barriers or merge points that tags name
	Slot     int  // its place among the iterations of a tag, if Barriers
}

// Options say what is known of warps.
type Options struct {
	// Lockstep says that the lanes of a warp execute each instruction together.
	Lockstep bool
	// Merges are merge points that all lanes of a warp pass together, among those of MayMerge.
	Merges []ir.BlockID
}

// Analyze computes the facts. The error is a *thread.UnsupportedError.
func Analyze(f *ir.Func, opt Options) (*Facts, error) {
	if f.Blocks == nil {
		return nil, &thread.UnsupportedError{What: "a function without a body"}
	}
	k := &Facts{f: f, dom: ir.Dominators(f)}
	k.parts = k.findParts(opt)
	k.loops = ir.FindLoops(f, k.dom)
	if !k.loops.Reducible {
		return nil, &thread.UnsupportedError{What: ir.ExplainIrreducible(f, k.dom)}
	}
	k.order = k.loops.Order(f)
	k.params = map[*ir.Var]bool{}
	for _, v := range f.Params {
		k.params[v] = true
	}
	k.number()
	var err error
	if k.waits, err = findWaits(f); err != nil {
		return nil, err
	}
	k.pending = findPending(f)
	k.unsettled = k.findUnsettled()
	k.live = liveness(f)
	k.merges, k.merged = NewBits(len(f.Blocks)), NewBits(len(f.Blocks))
	if k.convergent = convergent(f, k.loops); k.groupCopies || heldUp(f, k.convergent) {
		clear(k.convergent)
	}
	if opt.Lockstep {
		k.merges = merges(f, k.loops, k.convergent)
	}
	for _, b := range opt.Merges {
		k.merged.Add(int(b))
	}
	k.reach = sharedReach(f, k.dom, k.loops, k.order)
	k.findLoops()
	return k, nil
}

// number gives the instructions their ranks and blocks.
func (k *Facts) number() {
	k.rank, k.blockOf = map[*ir.Instr]int{}, map[*ir.Instr]ir.BlockID{}
	for _, b := range k.order {
		for _, in := range k.f.Blocks[b].Instrs {
			k.rank[in], k.blockOf[in] = len(k.rank), b
		}
	}
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			k.groupCopies = k.groupCopies || IsCallOf(in, ShareCall)
		}
	}
}

func (k *Facts) findLoops() {
	k.info = map[*ir.Loop]*Loop{}
	for i, l := range k.loops.Loops {
		info := &Loop{Loop: l, Index: i, Written: NewBits(len(k.f.Regs))}
		for _, b := range l.Blocks {
			info.Barriers = info.Barriers || k.merged.Has(int(b))
			for _, in := range k.f.Blocks[b].Instrs {
				eachWritten(in, func(r ir.RegID) { info.Written.Add(int(r)) })
				info.Barriers = info.Barriers || k.Tagged(in)
			}
		}
		if info.Barriers {
			info.Slot = len(k.tagLoops)
			k.tagLoops = append(k.tagLoops, l)
		}
		k.info[l] = info
	}
}

// Func returns the kernel.
func (k *Facts) Func() *ir.Func { return k.f }

// Order returns the blocks in reverse postorder, with those of each loop next to each other.
func (k *Facts) Order() []ir.BlockID { return k.order }

// Loops returns the loops, outer ones before inner ones.
func (k *Facts) Loops() []*ir.Loop { return k.loops.Loops }

// LoopOf returns the innermost loop around a block; nil if there is none.
func (k *Facts) LoopOf(b ir.BlockID) *ir.Loop { return k.loops.Of[b] }

// Loop returns what is known of a loop.
func (k *Facts) Loop(l *ir.Loop) *Loop { return k.info[l] }

// TagLoops returns the loops that tags name, by Loop.Slot. Their iterations are part of
// tags.
func (k *Facts) TagLoops() []*ir.Loop { return k.tagLoops }

// TagLen returns the number of terms of a tag.
func (k *Facts) TagLen() int { return 1 + len(k.tagLoops) }

// Dominator returns the immediate dominator of a block; ir.NoBlock for the entry.
func (k *Facts) Dominator(b ir.BlockID) ir.BlockID { return k.dom.IDom(b) }

// Live reports whether a register is live at the start of a block.
func (k *Facts) Live(b ir.BlockID, r int) bool { return k.live[b].Has(r) }

// Width returns the bits of a register as a term; 0: a predicate.
func (k *Facts) Width(r int) int { return Width(k.f.Regs[r].Type) }

// Width returns the bits of a register of type t as a term; 0: a predicate.
func Width(t isa.Type) int {
	if t == isa.Pred {
		return 0
	}
	return min(8*t.Size(), 64)
}

// SharedReach returns the block that dominates b and has the same reach condition; ir.NoBlock if
// there is none.
func (k *Facts) SharedReach(b ir.BlockID) ir.BlockID { return k.reach[b] }

// Convergent is Together for the block of an instruction.
func (k *Facts) Convergent(in *ir.Instr) bool { return k.Together(k.blockOf[in]) }

// Together reports whether all lanes of a warp that execute a block in the same iterations of the
// loops around it execute it together.
func (k *Facts) Together(b ir.BlockID) bool { return k.convergent.Has(int(b)) }

// MayMerge reports whether lanes in lock step that pass a block in the same iterations of the loops
// around it pass it together, and whether it is a merge point: where paths meet, or behind a loop.
func (k *Facts) MayMerge(b ir.BlockID) bool { return k.merges.Has(int(b)) }

// Merges reports whether all lanes of a warp pass a block together, as Options.Merges says.
func (k *Facts) Merges(b ir.BlockID) bool { return k.merged.Has(int(b)) }

// Rank orders instructions as one thread executes them, but for the iterations of loops: by Order of
// their blocks, and within a block as written.
func (k *Facts) Rank(in *ir.Instr) int { return k.rank[in] }

// BlockOf returns the block of an instruction.
func (k *Facts) BlockOf(in *ir.Instr) ir.BlockID { return k.blockOf[in] }

// IsParam reports whether a variable is a parameter of the kernel.
func (k *Facts) IsParam(v *ir.Var) bool { return k.params[v] }

// Pending returns the asynchronous copies that the thread may not have waited for when it executes
// an instruction.
func (k *Facts) Pending(in *ir.Instr) []*ir.Instr { return k.pending[in] }

// Unsettled reports whether a copy may be pending at a barrier of the warp.
func (k *Facts) Unsettled(in *ir.Instr) bool { return k.unsettled[in] }

// GroupCopies reports whether the threads of a group copy memory together, so that a store of one
// thread may be a store of another.
func (k *Facts) GroupCopies() bool { return k.groupCopies }
