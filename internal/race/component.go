package race

import "heddle/internal/event"

// Components: what a clock counts besides the operations of threads. The completion of an
// asynchronous operation is known to whoever waits for it, which need not be the thread that issued
// it. So each such operation belongs to a component, and its accesses have a value of the component
// as their epoch: a thread that knows this value is ordered behind them.
//
// A component is a lane of a warp that does not exist, so that know can hold its value. There is
// one
//
//   - for each slot of an mbarrier. Operations that signal it at the same time are in different
//     slots, and the operations in one slot have ascending values. A later one in a slot is issued
//     after an earlier one has signalled, so that it is in the same phase or a later one, and who
//     knows that a phase is complete knows it of the phases before;
//   - for the bulk groups of each thread: one for groups that are complete, and one for groups
//     whose sources were read;
//   - for the groups of matrix operations of each warp that are complete (matrix.go);
//   - for the operations of tcgen05 of each thread, or warp (tensor.go);
//   - for the copies (cp.async) of each thread, once an mbarrier tracks them.
type component struct {
	warp event.Warp
	lane uint8
}

// firstValue is where values of components begin. They are above every clock of a thread, so that a
// value is never taken for an epoch that a barrier of the block covers.
const firstValue = 1 << 31

// components hands out the warps that do not exist, behind those of the launch.
type components struct {
	first  event.Warp
	used   uint32
	issuer map[event.Warp]event.Warp // of those that belong to a warp
	tensor []event.Warp              // of those that say what is complete or ordered in tensor memory
	stores []event.Warp              // of those that have writes through the generic proxy
}

// next returns a new warp of 32 components.
func (c *components) next() event.Warp {
	c.used++
	return c.first + event.Warp(c.used-1)
}

// nextOf returns 32 components, one for each lane of w.
func (c *components) nextOf(w event.Warp) event.Warp {
	if c.issuer == nil {
		c.issuer = make(map[event.Warp]event.Warp)
	}
	v := c.next()
	c.issuer[v] = w
	return v
}

// real returns the warp whose operations an entry is about.
func (d *Detector) real(w uint32) event.Warp {
	if event.Warp(w) < d.comps.first {
		return event.Warp(w)
	}
	if r, ok := d.comps.issuer[event.Warp(w)]; ok {
		return r
	}
	return event.Warp(w)
}

// value returns the knowledge of a value of one component.
func (c component) value(v uint32) *know {
	var lanes [event.WarpSize]uint32
	lanes[c.lane] = v
	return (*know)(nil).withLanes(c.warp, &lanes)
}

// known reports whether k knows the value.
func (c component) known(k *know, v uint32) bool { return k.of(c.warp, int(c.lane)) >= v }
