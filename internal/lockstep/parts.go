package lockstep

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Barriers of OpenCL order the part of memory that their flags name (OpenCL C 3.0, 6.15.8): local memory, global
// memory, both or none. All of them are waited at, so that divergence is a matter of each. But an interval of an access to a
// part of memory ends only at a barrier that orders that part. So a thread has three tags: the last barrier of
// any kind, the last that orders shared, and the last that orders global memory. Threads that pass the same
// barriers pass the same of each kind, so that what is said of tags holds of each of the three. A kernel all of
// whose barriers order all memory has only the first.

// Numbers of the parts.
const (
	partAll = iota
	partShared
	partGlobal
	numParts
)

// partsOf is how many tags the threads of a kernel need.
func partsOf(f *ir.Func) int {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if isBlockBarrier(in) && in.Orders != event.OrdersAll {
				return numParts
			}
		}
	}
	return 1
}

// partOf is the part that a space is in.
func partOf(s event.Space) int {
	if s == event.Shared {
		return partShared
	}
	return partGlobal
}

// orders names the part of memory that a space is in.
func orders(s event.Space) event.Orders {
	if s == event.Shared {
		return event.OrdersShared
	}
	return event.OrdersGlobal
}

// ordersPart reports whether a barrier that orders by ends the intervals of a part.
func ordersPart(by event.Orders, part int) bool {
	switch {
	case by == event.OrdersAll || part == partAll:
		return true
	case by == event.OrdersShared:
		return part == partShared
	case by == event.OrdersGlobal:
		return part == partGlobal
	}
	return false
}

// Tag.Barrier has tagWidth bits: 0 for the kernel's entry, exitTag for the end of a thread, else the barrier's
// instruction number plus 1. Iterations are as wide.
const (
	tagWidth = 32
	exitTag  = 1<<tagWidth - 1
)

// tagLen is the number of terms of a tag.
func (x *exec) tagLen() int { return 1 + len(x.slots) }

// tagOf returns the terms of the tag of a part, to be changed in place.
func (x *exec) tagOf(st *state, part int) []smt.Term {
	n := x.tagLen()
	return st.tags[part*n : (part+1)*n]
}

// tag returns the last barrier that orders some part of memory; with OrdersAll, the last that the thread waited at.
func (x *exec) tag(st *state, by event.Orders) Tag {
	part := partAll
	if x.parts > 1 && by != event.OrdersAll {
		if part = partGlobal; by == event.OrdersShared {
			part = partShared
		}
	}
	t := slices.Clone(x.tagOf(st, part))
	return Tag{Barrier: t[0], Iters: t[1:]}
}
