package slice

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Unwritten returns the needed registers of fn that may be read before they are written. What they
// hold then is not defined, so that a trace begins with them unknown. A guarded write counts as
// none: the trace sees for itself in which lanes it happens.
func (s *Slice) Unwritten(fn *ir.Func) []ir.RegID { return s.funcs[fn].unwritten }

// Carry reports whether the slice reads the carry flag of fn. At its start, and behind a call, it
// is unknown.
func (s *Slice) Carry(fn *ir.Func) bool {
	f := s.funcs[fn]
	return f.needed[f.carry()]
}

// regSet is a set of needed registers, by their rank among these.
type regSet []uint64

// add, remove and has treat the rank of a register as the number of a bit.
func (s regSet) add(i int32)      { s[i/64] |= 1 << (i % 64) }
func (s regSet) remove(i int32)   { s[i/64] &^= 1 << (i % 64) }
func (s regSet) has(i int32) bool { return s[i/64]>>(i%64)&1 != 0 }

// join adds t to s and reports whether that was more than nothing.
func (s regSet) join(t regSet) (changed bool) {
	for i, w := range t {
		changed = changed || w&^s[i] != 0
		s[i] |= w
	}
	return changed
}

// liveness is a backward liveness analysis (Kildall, POPL 1973) of the needed registers, over
// the instructions of the slice: those that are live at the entry may be read before they are
// written. It ignores correlations between branches, so it may name registers that no execution
// reads early.
func (f *function) liveness() {
	rank := make([]int32, len(f.fn.Regs))
	f.rank = rank
	var regs []ir.RegID
	for r := range rank {
		rank[r] = -1
		if f.needed[r] {
			rank[r] = int32(len(regs))
			regs = append(regs, ir.RegID(r))
		}
	}
	words := (len(regs) + 63) / 64
	in := make([]regSet, len(f.fn.Blocks)) // live at the start of a block
	for i := range in {
		in[i] = make(regSet, words)
	}
	live := make(regSet, words)
	for changed := true; changed; {
		changed = false
		for i := len(in) - 1; i >= 0; i-- {
			clear(live)
			for _, s := range f.fn.Blocks[i].Succs {
				live.join(in[s])
			}
			f.liveBefore(f.fn.Blocks[i], rank, live)
			changed = in[i].join(live) || changed
		}
	}
	for _, v := range f.fn.Params { // written by the caller
		if v.InReg && rank[v.Reg] >= 0 {
			in[0].remove(rank[v.Reg])
		}
	}
	f.liveIn = in
	for i, r := range regs {
		if in[0].has(int32(i)) {
			f.unwritten = append(f.unwritten, r)
		}
	}
}

// liveBehind returns the needed registers that are live behind an instruction.
func (f *function) liveBehind(in *ir.Instr) regSet {
	b := f.fn.Blocks[f.block[in.Index]]
	live := make(regSet, len(f.liveIn[0]))
	for _, s := range b.Succs {
		live.join(f.liveIn[s])
	}
	for i, x := range b.Instrs {
		if x == in {
			rest := *b
			rest.Instrs = b.Instrs[i+1:]
			f.liveBefore(&rest, f.rank, live)
		}
	}
	return live
}

// liveBefore turns the set of registers that are live at the end of a block into that at its start.
// A return reads the results of the function that are registers.
func (f *function) liveBefore(b *ir.Block, rank []int32, live regSet) {
	use := func(r ir.RegID) {
		if i := rank[r]; i >= 0 {
			live.add(i)
		}
	}
	results := func() {
		for _, v := range f.fn.Results {
			if v.InReg {
				use(v.Reg)
			}
		}
	}
	if len(b.Succs) == 0 {
		results()
	}
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		if in.Action() == isa.ActReturn {
			results()
		}
		if !f.kept[in.Index] {
			continue
		}
		if in.Guard == ir.NoReg {
			for j := range in.Dst {
				in.Dst[j].EachReg(func(r ir.RegID) {
					if i := rank[r]; i >= 0 {
						live.remove(i)
					}
				})
			}
		} else {
			use(in.Guard)
		}
		for j := range in.Src {
			in.Src[j].EachReg(use)
		}
	}
}
