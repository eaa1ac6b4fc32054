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

// Retried returns instructions that a thread may execute between two tests of a wait, of which a
// trace executes one alone: those of blocks from which control reaches a test without executing
// anything of the slice but branches.
func (s *Slice) Retried(fn *ir.Func, test *ir.Instr) []*ir.Instr {
	f := s.funcs[fn]
	quiet := func(b *ir.Block) bool {
		for _, in := range b.Instrs {
			if s.Role(fn, in) != Skip && !in.IsTerminator() {
				return false
			}
		}
		return true
	}
	again := make([]bool, len(fn.Blocks)) // blocks with a test of a wait, or that lead to one
	for i := range f.retries {
		again[f.block[i]] = f.retries[i] || again[f.block[i]]
	}
	tests := append([]bool(nil), again...)
	for changed := true; changed; {
		changed = false
		for i, b := range fn.Blocks {
			for _, to := range b.Succs {
				if !again[i] && again[to] && quiet(b) {
					again[i], changed = true, true
				}
			}
		}
	}
	seen := make([]bool, len(fn.Blocks))
	work := append([]ir.BlockID(nil), fn.Blocks[f.block[test.Index]].Succs...)
	var out []*ir.Instr
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[at] || !again[at] || tests[at] {
			continue
		}
		seen[at] = true
		out = append(out, fn.Blocks[at].Instrs...)
		work = append(work, fn.Blocks[at].Succs...)
	}
	return out
}
