package slice

import (
	"heddle/internal/ir"
)

// Computes reports whether a trace computes a register of fn, so that its value, or that it is
// unknown, is known where it is used.
func (s *Slice) Computes(fn *ir.Func, r ir.RegID) bool { return s.funcs[fn].needed[r] }

// Between returns the instructions of the blocks that control can reach from the end of block b
// without reaching join, in the order of the blocks.
func Between(fn *ir.Func, b *ir.Block, join ir.BlockID) []*ir.Instr {
	seen := make([]bool, len(fn.Blocks))
	work := append([]ir.BlockID(nil), b.Succs...)
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if at != join && !seen[at] {
			seen[at] = true
			work = append(work, fn.Blocks[at].Succs...)
		}
	}
	var out []*ir.Instr
	for i, block := range fn.Blocks {
		if seen[i] {
			out = append(out, block.Instrs...)
		}
	}
	return out
}
