package memory

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/thread"
)

// targets says where each memory instruction led in the last pass; absent: anywhere in its space.
type targets struct {
	of    map[*ir.Instr][]*thread.Object
	moved bool // in this pass one led elsewhere
}

// Leads notes to which arrays a memory instruction may lead: all of its space if one of the places
// is unknown.
func (m *Model) Leads(in *ir.Instr, places []Place) {
	t := &m.targets
	var objects []*thread.Object
	for _, p := range places {
		switch {
		case p.Object == nil:
			if _, known := t.of[in]; known {
				delete(t.of, in)
				t.moved = true
			}
			return
		case !slices.Contains(objects, p.Object):
			objects = append(objects, p.Object)
		}
	}
	if was, known := t.of[in]; !known || !slices.Equal(was, objects) {
		t.of[in] = objects
		t.moved = true
	}
}

// dirtiness says which arrays the kernel writes, and which loads may see a write of their own
// thread since the last barrier. It is a forward data-flow analysis over sets of arrays, from where
// the accesses led in the last pass. It is sound when the fixpoint is reached: then this pass leads
// accesses to the same arrays.
type dirtiness struct {
	written map[*thread.Object]bool
	any     map[event.Space]bool // a store may lead to any array of the space
	at      map[*ir.Instr]bool   // instructions that may access an array that is dirty there
	objects int                  // element number objects of a set stands for all arrays
	start   []kernel.Bits        // by block
}

// Written reports whether the kernel may write an array.
func (m *Model) Written(o *thread.Object) bool { return m.dirty.written[o] || m.dirty.any[o.Space] }

// writtenKnown reports whether a store is known to lead to an array.
func (m *Model) writtenKnown(o *thread.Object) bool { return m.dirty.written[o] }

// dirtyAt reports whether the thread may have written an array since the last barrier when it
// reaches a block.
func (d *dirtiness) dirtyAt(b ir.BlockID, o *thread.Object) bool {
	set := d.start[b]
	return o.Index >= d.objects || set.Has(o.Index) || set.Has(d.objects)
}

func (m *Model) findDirty() *dirtiness {
	d := &dirtiness{
		written: map[*thread.Object]bool{}, any: map[event.Space]bool{}, at: map[*ir.Instr]bool{},
		objects: len(m.byKey),
	}
	f := m.k.Func()
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if kernel.IsStore(in) {
				d.store(in, m.targets.of)
			}
		}
	}
	step := func(in *ir.Instr, set kernel.Bits) { m.stepDirty(in, set, d.objects) }
	d.start = kernel.Forward(f, d.objects+1, step)
	for i, b := range f.Blocks {
		set := d.start[i].Clone()
		for _, in := range b.Instrs {
			objects, known := m.targets.of[in]
			dirty := !known || set.Has(d.objects)
			for _, o := range objects {
				dirty = dirty || set.Has(o.Index)
			}
			d.at[in] = dirty
			step(in, set)
		}
	}
	return d
}

// store notes where a store leads.
func (d *dirtiness) store(in *ir.Instr, targets map[*ir.Instr][]*thread.Object) {
	objects, known := targets[in]
	for _, o := range objects {
		d.written[o] = true
	}
	if known {
		return
	}
	for _, s := range []event.Space{event.Global, event.Shared} {
		if in.Space == s || in.Space == event.Generic || in.Space == event.NoSpace {
			d.any[s] = true
		}
	}
}

// stepDirty is the transfer function: a store makes its arrays dirty, a barrier cleans those that
// it orders.
func (m *Model) stepDirty(in *ir.Instr, set kernel.Bits, all int) {
	switch {
	case kernel.IsStore(in):
		objects, known := m.targets.of[in]
		for _, o := range objects {
			set.Add(o.Index)
		}
		if !known {
			set.Add(all)
		}
	case kernel.IsBlockBarrier(in) && in.Guard == ir.NoReg:
		by := m.k.Orders(in)
		if by == event.OrdersAll {
			clear(set)
			return
		}
		for _, o := range m.byKey {
			if by != event.OrdersNone && kernel.OrdersSpace(by, o.Space) {
				set.Remove(o.Index)
			}
		}
	}
}
