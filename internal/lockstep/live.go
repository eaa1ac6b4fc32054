package lockstep

import "heddle/internal/ir"

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }
func (b bitset) or(o bitset) bool { // reports a change
	changed := false
	for i := range b {
		n := b[i] | o[i]
		changed = changed || n != b[i]
		b[i] = n
	}
	return changed
}

// liveness returns the registers that are live at the start of each block.
func liveness(f *ir.Func) []bitset {
	in := make([]bitset, len(f.Blocks))
	for i := range in {
		in[i] = newBitset(len(f.Regs))
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			b := f.Blocks[i]
			live := newBitset(len(f.Regs))
			for _, s := range b.Succs {
				live.or(in[s])
			}
			for j := len(b.Instrs) - 1; j >= 0; j-- {
				step(b.Instrs[j], live)
			}
			changed = in[i].or(live) || changed
		}
	}
	return in
}

// step takes live back over one instruction.
func step(in *ir.Instr, live bitset) {
	if in.Guard == ir.NoReg { // a guarded write may leave the old value
		eachReg(in.Dst, true, func(r ir.RegID) { live.remove(int(r)) })
	}
	eachReg(in.Src, false, func(r ir.RegID) { live.add(int(r)) })
	if in.Guard != ir.NoReg {
		live.add(int(in.Guard))
		eachReg(in.Dst, true, func(r ir.RegID) { live.add(int(r)) })
	}
}

// eachReg calls visit for the registers that the operands name: as values (direct), or all but direct ones of
// a destination list.
func eachReg(ops []ir.Operand, direct bool, visit func(ir.RegID)) {
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case ir.Register:
			if o.Reg != ir.NoReg {
				visit(o.Reg)
			}
		case ir.Mem:
			if !direct && o.Reg != ir.NoReg {
				visit(o.Reg)
			}
			if !direct {
				eachReg(o.Elems, false, visit)
			}
		case ir.Vector:
			eachReg(o.Elems, direct, visit)
		}
	}
}
