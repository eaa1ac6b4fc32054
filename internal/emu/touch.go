package emu

import (
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/order"
)

// What a launch of a program touches, for the order between launches. It is collected beside the
// events, since launches without a detector need it too.

// touchOf returns how a launch accesses memory by an instruction, seen from other launches: strong
// accesses count as such if their scope includes those (PTX ISA 8.5). An atomic operation that only
// reads counts as a write, as in event.Conflict.
func (m *memOp) touchOf() order.Access {
	strong := m.order.Strong() && m.scope >= event.GPU
	switch {
	case m.kind == event.Read && strong:
		return order.StrongRead
	case m.kind == event.Read:
		return order.Read
	case strong:
		return order.StrongWrite
	}
	return order.Write
}

// dense reports whether lanes whose addresses grow by step access one piece of memory.
func dense(step, wide uint64) bool { return step == 0 || step == wide }

// touch notes the access of the lanes of m at x.addr.
func (x *exec) touch(mo *memOp, m uint32) {
	a, wide := mo.touchOf(), mo.wide
	if mo.order > event.Relaxed && mo.scope >= event.GPU {
		x.touched.Fenced = true
	}
	if row := uint64(x.ev.Row); row != 0 && dense(x.ev.Step, wide) {
		for l := uint64(0); l < event.WarpSize; l += row {
			if l > 0 && x.addr[l] == x.addr[l-row] {
				continue // the same as the row before, which is not shorter
			}
			lanes := min(row, event.WarpSize-l) // the last row may be shorter
			x.touched.Mark(a, x.addr[l], wide+(lanes-1)*x.ev.Step)
		}
		return
	}
	first := bits.TrailingZeros32(m) & 31
	from := x.addr[first]
	to := from + wide
	for t := m & (m - 1); t != 0; t &= t - 1 {
		at := x.addr[bits.TrailingZeros32(t)&31]
		if at == to {
			to += wide
			continue
		}
		if at >= from && at+wide <= to {
			continue
		}
		x.touched.Mark(a, from, to-from)
		from, to = at, at+wide
	}
	x.touched.Mark(a, from, to-from)
}

// touchCopy notes what asynchronous copies read.
func (x *exec) touchCopy(c *lateCopy) {
	x.touched.Origin = x.origin + uint32(x.site(c.in))
	for t := c.mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if c.read[l] > 0 {
			x.touched.Mark(order.Read, c.from[l], uint64(c.read[l]))
		}
	}
}
