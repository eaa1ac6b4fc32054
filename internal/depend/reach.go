package depend

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
)

// reaching says which definitions of registers reach which uses (Aho, Lam, Sethi, Ullman,
// "Compilers", section 9.2.4), and which branches choose between them.
type reaching struct {
	fn     *ir.Func
	defs   []definition
	of     [][]int                  // definitions of each register
	number map[definition]int       // the inverse of defs
	uses   map[*ir.Instr][]*merged  // for registers with several definitions
	merges map[string]*merged       // by register and definitions
	single []*merged                // for each register with at most one definition
	ctl    []map[ir.BlockID]bool    // see decidedBy
	exits  map[ir.BlockID]bool      // see loopExits
	block  map[*ir.Instr]ir.BlockID // of each instruction
	in     []bits                   // definitions at the start of each block
}

// definition is a place at which a register gets a value. in is nil for the entry of the function,
// where parameters have theirs.
type definition struct {
	in  *ir.Instr
	reg ir.RegID
}

// merged is a register at a place, with the definitions that reach it and the branches that select
// one of several.
type merged struct {
	reg     ir.RegID
	defs    []int
	choices []*ir.Instr
}

// eachUse visits the registers that an instruction reads, its guard included.
func eachUse(in *ir.Instr, visit func(ir.RegID)) {
	if in.Guard != ir.NoReg {
		visit(in.Guard)
	}
	for i := range in.Src {
		in.Src[i].EachReg(visit)
	}
	for i := range in.Dst {
		if in.Dst[i].Kind == ir.Mem {
			in.Dst[i].EachReg(visit)
		}
	}
}

// newReaching analyses a function.
func newReaching(fn *ir.Func) *reaching {
	r := &reaching{
		fn: fn, of: make([][]int, len(fn.Regs)), number: make(map[definition]int),
		uses: make(map[*ir.Instr][]*merged), merges: make(map[string]*merged),
		single: make([]*merged, len(fn.Regs)), block: make(map[*ir.Instr]ir.BlockID),
	}
	for _, list := range [2][]*ir.Var{fn.Params, fn.Results} {
		for _, p := range list {
			if p.InReg {
				r.add(definition{nil, p.Reg})
			}
		}
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			r.block[in] = b.ID
			for i := range in.Dst {
				if in.Dst[i].Kind != ir.Mem {
					in.Dst[i].EachReg(func(reg ir.RegID) { r.add(definition{in, reg}) })
				}
			}
		}
	}
	for reg := range r.single {
		if len(r.of[reg]) < 2 {
			r.single[reg] = &merged{reg: ir.RegID(reg), defs: r.of[reg]}
		}
	}
	if len(fn.Blocks) > 0 {
		r.ctl, r.exits = decidedBy(fn), loopExits(fn)
		r.flow()
		r.find()
	}
	return r
}

// add numbers a definition.
func (r *reaching) add(d definition) {
	if _, ok := r.number[d]; ok {
		return
	}
	n := len(r.defs)
	r.number[d], r.defs = n, append(r.defs, d)
	r.of[d.reg] = append(r.of[d.reg], n)
}

// def is the number of a definition by an instruction.
func (r *reaching) def(in *ir.Instr, reg ir.RegID) int { return r.number[definition{in, reg}] }

// entry is the number of the value that a register has at the entry.
func (r *reaching) entry(reg ir.RegID) int { return r.number[definition{nil, reg}] }

// at returns the definitions of a register that reach an instruction.
func (r *reaching) at(in *ir.Instr, reg ir.RegID) *merged {
	if m := r.single[reg]; m != nil {
		return m
	}
	for _, m := range r.uses[in] {
		if m.reg == reg {
			return m
		}
	}
	return r.merge(reg, r.of[reg])
}

// flow computes the definitions that reach the start of each block.
func (r *reaching) flow() {
	r.in = make([]bits, len(r.fn.Blocks))
	for d := range r.defs {
		if r.defs[d].in == nil {
			r.in[0].set(d)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range r.fn.Blocks {
			out := slices.Clone(r.in[b.ID])
			for _, in := range b.Instrs {
				r.step(in, &out)
			}
			for _, s := range b.Succs {
				changed = r.in[s].add(out) || changed
			}
		}
	}
}

// step changes the definitions that reach an instruction to those behind it. An instruction with a
// guard may leave its register as it was.
func (r *reaching) step(in *ir.Instr, at *bits) {
	for i := range in.Dst {
		if in.Dst[i].Kind == ir.Mem {
			continue
		}
		in.Dst[i].EachReg(func(reg ir.RegID) {
			if len(r.of[reg]) > 1 && in.Guard == ir.NoReg {
				for _, d := range r.of[reg] {
					at.clear(d)
				}
			}
			at.set(r.def(in, reg))
		})
	}
}

// find records the definitions that reach each use of a register that has several.
func (r *reaching) find() {
	for _, b := range r.fn.Blocks {
		at := slices.Clone(r.in[b.ID])
		for _, in := range b.Instrs {
			eachUse(in, func(reg ir.RegID) {
				if r.single[reg] != nil {
					return
				}
				var defs []int
				for _, d := range r.of[reg] {
					if at.has(d) {
						defs = append(defs, d)
					}
				}
				r.uses[in] = append(r.uses[in], r.merge(reg, defs))
			})
			r.step(in, &at)
		}
	}
}

// merge returns a register with a set of definitions, and finds the branches on which some of them
// depend and others do not. Branches that leave a loop are no choice between values: they decide
// how often a definition is executed.
func (r *reaching) merge(reg ir.RegID, defs []int) *merged {
	key := fmt.Sprint(reg, defs)
	if m := r.merges[key]; m != nil {
		return m
	}
	m := &merged{reg: reg, defs: defs}
	r.merges[key] = m
	if len(defs) < 2 {
		return m
	}
	count := make(map[ir.BlockID]int)
	for _, d := range defs {
		if in := r.defs[d].in; in != nil {
			for b := range r.ctl[r.block[in]] {
				count[b]++
			}
		}
	}
	for b := range r.fn.Blocks {
		id := ir.BlockID(b)
		if n := count[id]; n > 0 && n < len(defs) && !r.exits[id] {
			m.choices = append(m.choices, r.fn.Blocks[b].Last())
		}
	}
	return m
}

// decidedBy returns, for each block, the blocks whose last branch decides whether it is executed,
// directly or through another branch (Ferrante, Ottenstein, Warren, section 3.1).
func decidedBy(fn *ir.Func) []map[ir.BlockID]bool {
	out := make([]map[ir.BlockID]bool, len(fn.Blocks))
	for i := range out {
		out[i] = make(map[ir.BlockID]bool)
	}
	pdom := ir.PostDominators(fn)
	for _, b := range fn.Blocks {
		if len(b.Succs) < 2 {
			continue
		}
		join := pdom.IDom(b.ID)
		for _, s := range b.Succs {
			for at := s; at != join && at != ir.NoBlock; at = pdom.IDom(at) {
				out[at][b.ID] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range out {
			for b := range out[i] {
				for c := range out[b] {
					if !out[i][c] {
						out[i][c], changed = true, true
					}
				}
			}
		}
	}
	return out
}

// loopExits returns the blocks that end in a branch out of a loop.
func loopExits(fn *ir.Func) map[ir.BlockID]bool {
	out := make(map[ir.BlockID]bool)
	for _, l := range ir.FindLoops(fn, ir.Dominators(fn)).Loops {
		for _, b := range l.Blocks {
			for _, s := range fn.Blocks[b].Succs {
				if !l.Contains(s) {
					out[b] = true
				}
			}
		}
	}
	return out
}
