package kernel

import "heddle/internal/ir"

// liveness returns the registers that are live at the start of each block: those that some path
// reads before it surely overwrites them (the textbook backward analysis). A guarded write may
// leave the old value, so it reads its destination.
func liveness(f *ir.Func) []Bits {
	in := make([]Bits, len(f.Blocks))
	for i := range in {
		in[i] = NewBits(len(f.Regs))
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			b := f.Blocks[i]
			live := NewBits(len(f.Regs))
			for _, s := range b.Succs {
				live.Or(in[s])
			}
			for j := len(b.Instrs) - 1; j >= 0; j-- {
				stepBack(b.Instrs[j], live)
			}
			changed = in[i].Or(live) || changed
		}
	}
	return in
}

// stepBack moves live from behind an instruction to in front of it.
func stepBack(in *ir.Instr, live Bits) {
	if in.Guard == ir.NoReg {
		eachWritten(in, func(r ir.RegID) { live.Remove(int(r)) })
	}
	eachRead(in.Src, func(r ir.RegID) { live.Add(int(r)) })
	if in.Guard != ir.NoReg {
		live.Add(int(in.Guard))
		eachWritten(in, func(r ir.RegID) { live.Add(int(r)) })
	}
}

// eachWritten calls visit for each register that an instruction writes.
func eachWritten(in *ir.Instr, visit func(ir.RegID)) {
	var each func(ops []ir.Operand)
	each = func(ops []ir.Operand) {
		for i := range ops {
			switch o := &ops[i]; o.Kind {
			case ir.Register:
				if o.Reg != ir.NoReg {
					visit(o.Reg)
				}
			case ir.Vector:
				each(o.Elems)
			}
		}
	}
	each(in.Dst)
}

// eachRead calls visit for each register that source operands name, as values or in addresses.
func eachRead(ops []ir.Operand, visit func(ir.RegID)) {
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case ir.Register, ir.Mem:
			if o.Reg != ir.NoReg {
				visit(o.Reg)
			}
			if o.Kind == ir.Mem {
				eachRead(o.Elems, visit)
			}
		case ir.Vector:
			eachRead(o.Elems, visit)
		}
	}
}
