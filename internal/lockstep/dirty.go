package lockstep

import (
	"heddle/internal/event"
	"heddle/internal/ir"
)

// dirtiness says which arrays a kernel writes, and which loads may see a write of their own thread since the
// last barrier.
type dirtiness struct {
	written map[*Object]bool
	any     map[event.Space]bool // a store may go to any array of the space
	at      map[*ir.Instr]bool   // loads
}

// findDirty computes it from where the accesses went in the last pass.
func findDirty(x *exec) *dirtiness {
	d := &dirtiness{written: map[*Object]bool{}, any: map[event.Space]bool{}, at: map[*ir.Instr]bool{}}
	index := map[*Object]int{}
	for _, o := range x.objects {
		index[o] = len(index)
	}
	for _, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			if !isStore(in) {
				continue
			}
			if o := x.target[in]; o != nil {
				d.written[o] = true
				continue
			}
			for _, s := range []event.Space{event.Global, event.Shared} {
				if in.Space == s || in.Space == event.Generic || in.Space == event.NoSpace {
					d.any[s] = true
				}
			}
		}
	}
	n := len(index)
	at := make([]bitset, len(x.f.Blocks)) // the start of each block; bit n: any
	for i := range at {
		at[i] = newBitset(n + 1)
	}
	flow := func(b *ir.Block, set bitset, visit func(*ir.Instr, bitset)) {
		for _, in := range b.Instrs {
			visit(in, set)
			switch {
			case isStore(in) && x.target[in] != nil:
				set.add(index[x.target[in]])
			case isStore(in):
				set.add(n)
			case isBlockBarrier(in) && in.Guard == ir.NoReg:
				clear(set)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i, b := range x.f.Blocks {
			set := append(bitset(nil), at[i]...)
			flow(b, set, func(*ir.Instr, bitset) {})
			for _, s := range b.Succs {
				changed = at[s].or(set) || changed
			}
		}
	}
	for i, b := range x.f.Blocks {
		flow(b, append(bitset(nil), at[i]...), func(in *ir.Instr, set bitset) {
			if o := x.target[in]; o == nil || set.has(n) || set.has(index[o]) {
				d.at[in] = true
			}
		})
	}
	return d
}
