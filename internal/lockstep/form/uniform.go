package form

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Uniformity says which registers hold the same value in all threads of a block whenever they are
// in lock-step, and which blocks all threads enter or none: φ needs one copy of such a register,
// and one test of v_active.
//
// It is a greatest fixpoint: everything is uniform but what a thread's own index, memory, other
// lanes, or control flow that is not uniform makes private. A register that a loop changes is
// private if threads leave the loop at different iterations, because then its blocks are not
// uniform.
type Uniformity struct {
	reg   []bool
	block []bool
}

// Reg reports whether all threads of a block agree on a register.
func (u *Uniformity) Reg(r ir.RegID) bool { return r != ir.NoReg && u.reg[r] }

// Block reports whether all threads of a block enter it together, or none.
func (u *Uniformity) Block(b ir.BlockID) bool { return u.block[b] }

// uniformity computes the fixpoint from above: it starts with everything uniform and removes until
// nothing changes, which ends because sets only shrink.
func uniformity(f *ir.Func) *Uniformity {
	u := &Uniformity{reg: make([]bool, len(f.Regs)), block: make([]bool, len(f.Blocks))}
	written := make([]bool, len(f.Regs))
	for _, b := range f.Blocks {
		u.block[b.ID] = true
		for _, in := range b.Instrs {
			eachReg(in.Dst, func(r ir.RegID) { written[r] = true })
		}
	}
	for r := range u.reg {
		u.reg[r] = written[r] // what nothing writes may hold anything
	}
	post := ir.PostDominators(f)
	split := make([]bool, len(f.Blocks)) // branches that send threads to different blocks
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if !u.block[b.ID] || !u.computesSame(in) {
					eachReg(in.Dst, func(r ir.RegID) {
						changed = changed || u.reg[r]
						u.reg[r] = false
					})
				}
			}
			if term := b.Terminator(); term != nil && !split[b.ID] && !u.choosesSame(term) {
				split[b.ID] = true
				for _, c := range influence(f, b, post.IDom(b.ID)) {
					changed = changed || u.block[c]
					u.block[c] = false
				}
			}
		}
	}
	return u
}

// influence returns the blocks that the branch at the end of b decides on: what its successors
// reach before they merge at its immediate postdominator. It is not asked whether b itself is
// uniform: the branch that decides on b has these blocks among its own.
func influence(f *ir.Func, b *ir.Block, merge ir.BlockID) []ir.BlockID {
	seen := make([]bool, len(f.Blocks))
	var walk []ir.BlockID
	add := func(succs []ir.BlockID) {
		for _, s := range succs {
			if s != merge && !seen[s] {
				seen[s] = true
				walk = append(walk, s)
			}
		}
	}
	add(b.Succs)
	for i := 0; i < len(walk); i++ {
		add(f.Blocks[walk[i]].Succs)
	}
	return walk
}

// choosesSame reports whether a terminator sends all threads to the same block.
func (u *Uniformity) choosesSame(term *ir.Instr) bool {
	if term.Guard != ir.NoReg && !u.reg[term.Guard] {
		return false
	}
	return term.Action() != isa.ActIndexedBranch || u.same(term.Src[:1])
}

// computesSame reports whether an instruction gives all threads that execute it together the same.
func (u *Uniformity) computesSame(in *ir.Instr) bool {
	if in.Guard != ir.NoReg && !u.reg[in.Guard] {
		return false
	}
	switch KindOf(in) {
	case Barrier:
		return true // the result of a reduction
	case Assign:
		return !in.ReadsCarry() && in.Row.Category != isa.Video && u.same(in.Src)
	}
	return false
}

// same reports whether all threads agree on operands.
func (u *Uniformity) same(ops []ir.Operand) bool {
	for i := range ops {
		o := &ops[i]
		switch {
		case o.Kind == ir.Register && !u.Reg(o.Reg),
			o.Kind == ir.Mem && o.Var == nil && o.Reg != ir.NoReg && !u.Reg(o.Reg),
			o.Kind == ir.Special && !sameInBlock(o.Sreg),
			(o.Kind == ir.Vector || o.Kind == ir.Mem) && !u.same(o.Elems):
			return false
		}
	}
	return true
}

// sameInBlock reports whether a special register is the same in all threads of a block, always.
func sameInBlock(s ir.Sreg) bool {
	return s >= ir.NtidX && s <= ir.NctaidZ || s == ir.WarpSz || s == ir.NWarpID || s == ir.GridID
}

// eachReg calls visit for each register that a list of operands holds as a value.
func eachReg(ops []ir.Operand, visit func(ir.RegID)) {
	for i := range ops {
		switch o := &ops[i]; {
		case o.Kind == ir.Register && o.Reg != ir.NoReg:
			visit(o.Reg)
		case o.Kind == ir.Vector:
			eachReg(o.Elems, visit)
		}
	}
}
