package launch

import "heddle/internal/ir"

// A kernel that needs the position of a block among all blocks, or of a thread among those of its
// block, reads all three dimensions and combines them: x + nx * (y + ny * z). So do the ranks of
// cooperative groups. It works the same in every shape with as many blocks or threads, and is no
// kernel of several dimensions: it is launched in one.

// ranks says for a function whether it uses y and z of the index of the block or of the thread for
// such positions only.
type ranks struct{ block, thread bool }

// ranksOf examines the uses of the special registers in f.
func ranksOf(f *ir.Func) ranks {
	holds, defs := make(map[ir.RegID]ir.Sreg), make(map[ir.RegID]int)
	each := func(visit func(*ir.Instr)) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				visit(in)
			}
		}
	}
	each(func(in *ir.Instr) {
		for _, d := range in.Dst {
			if d.Kind == ir.Register {
				defs[d.Reg]++
			}
		}
		if isMove(in) {
			holds[in.Dst[0].Reg] = in.Src[0].Sreg
		}
	})
	r := ranks{block: true, thread: true}
	sreg := func(o *ir.Operand) ir.Sreg {
		switch {
		case o.Kind == ir.Special:
			return o.Sreg
		case o.Kind == ir.Register:
			return holds[o.Reg]
		}
		return ir.NoSreg
	}
	each(func(in *ir.Instr) {
		if isMove(in) && defs[in.Dst[0].Reg] == 1 {
			return
		}
		for i := range in.Src {
			switch s := sreg(&in.Src[i]); s {
			case ir.CtaidY, ir.CtaidZ:
				r.block = r.block && isRank(in, sreg, ir.CtaidY)
			case ir.TidY, ir.TidZ:
				r.thread = r.thread && isRank(in, sreg, ir.TidY)
			}
		}
	})
	return r
}

// isMove reports whether in copies a special register to a register.
func isMove(in *ir.Instr) bool {
	return in.Row != nil && in.Row.Opcode == "mov" && len(in.Dst) == 1 && len(in.Src) == 1 &&
		in.Dst[0].Kind == ir.Register && in.Src[0].Kind == ir.Special
}

// isRank reports whether in computes y + ny * z, where y is the second dimension of an index.
func isRank(in *ir.Instr, sreg func(*ir.Operand) ir.Sreg, y ir.Sreg) bool {
	size := ir.NtidY
	if y == ir.CtaidY {
		size = ir.NctaidY
	}
	if in.Row == nil || in.Row.Opcode != "mad" || len(in.Src) != 3 || sreg(&in.Src[2]) != y {
		return false
	}
	a, b := sreg(&in.Src[0]), sreg(&in.Src[1])
	return a == size && b == y+1 || b == size && a == y+1
}
