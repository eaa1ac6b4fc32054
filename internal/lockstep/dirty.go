package lockstep

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// dirtiness says which arrays a kernel writes, and which loads may see a write of their own thread since the
// last barrier.
type dirtiness struct {
	written map[*Object]bool
	any     map[event.Space]bool // a store may go to any array of the space
	at      map[*ir.Instr]bool   // loads
	objects int
	start   []bitset // by block: of the objects, and one bit for any
}

// anywhere reports whether an array may have been written by the thread since the last barrier when it comes to a block.
func (d *dirtiness) anywhere(b ir.BlockID, o *Object) bool {
	set := d.start[b]
	n := d.objects
	return o.index >= n || set.has(o.index) || set.has(n)
}

// findDirty computes it from where the accesses went in the last pass.
func findDirty(x *exec) *dirtiness {
	d := &dirtiness{written: map[*Object]bool{}, any: map[event.Space]bool{}, at: map[*ir.Instr]bool{}}
	for _, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			if !isStore(in) {
				continue
			}
			objects, known := x.target[in]
			for _, o := range objects {
				d.written[o] = true
			}
			if known {
				continue
			}
			for _, s := range []event.Space{event.Global, event.Shared} {
				if in.Space == s || in.Space == event.Generic || in.Space == event.NoSpace {
					d.any[s] = true
				}
			}
		}
	}
	n := len(x.objects)
	at := make([]bitset, len(x.f.Blocks)) // the start of each block; bit n: any
	for i := range at {
		at[i] = newBitset(n + 1)
	}
	flow := func(b *ir.Block, set bitset, visit func(*ir.Instr, bitset)) {
		for _, in := range b.Instrs {
			visit(in, set)
			switch {
			case isStore(in):
				objects, known := x.target[in]
				for _, o := range objects {
					set.add(o.index)
				}
				if !known {
					set.add(n)
				}
			case isBlockBarrier(in) && in.Guard == ir.NoReg:
				d.clean(x, x.ordersOf(in), set)
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
	d.objects, d.start = n, at
	for i, b := range x.f.Blocks {
		flow(b, append(bitset(nil), at[i]...), func(in *ir.Instr, set bitset) {
			objects, known := x.target[in]
			dirty := !known || set.has(n)
			for _, o := range objects {
				dirty = dirty || set.has(o.index)
			}
			d.at[in] = dirty
		})
	}
	return d
}

// clean takes the arrays out of set whose writes a barrier that orders part of memory ends an interval of.
func (d *dirtiness) clean(x *exec, by event.Orders, set bitset) {
	if by == event.OrdersAll {
		clear(set)
		return
	}
	if by == event.OrdersNone {
		return
	}
	for _, o := range x.objects {
		if ordersPart(by, partOf(o.Space)) {
			set.remove(o.index)
		}
	}
}

// aim notes which arrays a memory instruction may go to: all of its space if one of the places is not known.
func (x *exec) aim(in *ir.Instr, places []place) {
	var objects []*Object
	for _, p := range places {
		switch {
		case p.object == nil:
			if _, known := x.target[in]; known {
				delete(x.target, in)
				x.moved = true
			}
			return
		case !slices.Contains(objects, p.object):
			objects = append(objects, p.object)
		}
	}
	if was, known := x.target[in]; !known || !slices.Equal(was, objects) {
		x.target[in] = objects
		x.moved = true
	}
}
