package race

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// know is what a thread knows of threads beyond its own block barrier: for every thread, its last
// clock that happens before now. It is a persistent radix tree over warp numbers: a node is never
// changed once two owners can reach it. So threads share what they learned from one release, and
// joining two trees stops at shared nodes. A node's base holds for all threads below it, which
// represents "all of block 7 up to clock 3" by a handful of nodes. This unifies Barracuda's block
// clocks and sparse vector clocks (§4.3.1).
//
// A tree is as high as its highest warp number needs, since most launches have few warps. The nil
// tree knows nothing.
type know struct {
	base  uint32 // of every thread below
	max   uint32 // largest clock of any thread below
	level uint8  // 0: one warp; each level above spans fanout times as many
	kids  *[fanout]*know
	lanes *[event.WarpSize]uint32 // level 0 only; nil if base is all

	// All threads of the first reach warps below are known up to floor. After a barrier of the whole
	// grid this answers most questions at the root.
	floor uint32
	reach uint64
}

// inner is a node with children, and leaf one with clocks of single lanes. What belongs to a node is
// allocated with it.
type (
	inner struct {
		know
		below [fanout]*know
	}
	leaf struct {
		know
		each [event.WarpSize]uint32
	}
)

// newInner returns a node with room for children.
func newInner(level uint8) *know {
	n := &inner{know: know{level: level}}
	n.kids = &n.below
	return &n.know
}

// newLeaf returns a node of one warp.
func newLeaf(base, most uint32, lanes *[event.WarpSize]uint32) *know {
	n := &leaf{know: know{base: base, max: most}, each: *lanes}
	n.lanes = &n.each
	return n.settle()
}

const (
	fanBits  = 4
	fanout   = 1 << fanBits
	topLevel = 8 // spans all 32 bits of a warp number
)

// spans reports whether a tree has a place for a warp.
func (k *know) spans(w event.Warp) bool { return uint64(w)>>(fanBits*k.level) == 0 }

// lift returns a tree of a level, or k if it is as high.
func (k *know) lift(level uint8) *know {
	for k.level < level {
		n := newInner(k.level + 1)
		n.max, n.kids[0] = k.max, k
		k = n.settle()
	}
	return k
}

// of returns the clock that the tree knows of a lane.
func (k *know) of(w event.Warp, lane int) uint32 {
	if k == nil || !k.spans(w) {
		return 0
	}
	best := uint32(0)
	for {
		best = max(best, k.base)
		if k.level == 0 {
			if k.lanes != nil {
				best = max(best, k.lanes[lane])
			}
			return best
		}
		if k.kids == nil || best >= k.max {
			return best
		}
		next := k.kids[uint32(w)>>(fanBits*(k.level-1))&(fanout-1)]
		if next == nil {
			return best
		}
		k = next
	}
}

// covers reports whether the tree knows clock c, which is not 0, of every lane of mask.
func (k *know) covers(w event.Warp, mask, c uint32) bool {
	if k == nil || !k.spans(w) {
		return false
	}
	for k != nil {
		switch {
		case k.base >= c:
			return true
		case k.max < c:
			return false
		case k.floor >= c && uint64(w)&(uint64(1)<<(fanBits*k.level)-1) < k.reach:
			return true
		case k.level == 0:
			for m := mask; m != 0; m &= m - 1 {
				if k.lanes[bits.TrailingZeros32(m)&31] < c {
					return false
				}
			}
			return true
		}
		k = kid(k, int(uint32(w)>>(fanBits*(k.level-1))&(fanout-1)))
	}
	return false
}

// settle sets floor and reach of a new node.
func (k *know) settle() *know {
	k.floor, k.reach = k.base, 1<<(fanBits*k.level)
	switch {
	case k.lanes != nil:
		low := ^uint32(0)
		for _, c := range k.lanes {
			low = min(low, c)
		}
		k.floor = max(k.floor, low)
	case k.kids != nil:
		low, reach := ^uint32(0), uint64(0)
		span := k.reach / fanout
		for _, kid := range k.kids {
			n, c := span, k.base
			if kid != nil {
				n, c = kid.reach, max(c, kid.floor)
			} else if k.base == 0 {
				break // nothing is known of those from here on
			}
			low, reach = min(low, c), reach+n
			if n < span {
				break
			}
		}
		k.floor, k.reach = low, reach
	}
	return k
}

// join returns a tree that knows what a or b knows. It returns a or b itself if the other adds
// nothing, which keeps trees shared.
func join(a, b *know) *know {
	if a != nil && b != nil && a.level != b.level {
		level := max(a.level, b.level)
		a, b = a.lift(level), b.lift(level)
	}
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	case b.max <= a.base:
		return a
	case a.max <= b.base:
		return b
	}
	// If the result knows no more than one of them, return that one: a thread that spins learns the
	// same again and again.
	base, most := max(a.base, b.base), max(a.max, b.max)
	isA, isB := base == a.base && most == a.max, base == b.base && most == b.max
	if a.level == 0 {
		var lanes [event.WarpSize]uint32
		joinLanes(&lanes, a.lanes, b.lanes)
		switch {
		case isA && a.lanes != nil && lanes == *a.lanes:
			return a
		case isB && b.lanes != nil && lanes == *b.lanes:
			return b
		}
		return newLeaf(base, most, &lanes)
	}
	var kids [fanout]*know
	for i := range kids {
		ka, kb := kid(a, i), kid(b, i)
		k := join(ka, kb)
		if k != nil && k.max <= base {
			k = nil
		}
		isA, isB = isA && k == ka, isB && k == kb
		kids[i] = k
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	n := newInner(a.level)
	n.base, n.max, *n.kids = base, most, kids
	return n.settle()
}

// kid returns child i of k; nil if k has none.
func kid(k *know, i int) *know {
	if k.kids == nil {
		return nil
	}
	return k.kids[i]
}

// joinLanes sets n to the pointwise maximum of two arrays, either of which may be nil.
func joinLanes(n, a, b *[event.WarpSize]uint32) {
	if a == nil {
		a, b = b, a
	}
	if a != nil {
		*n = *a
	}
	if b != nil {
		for i, v := range b {
			n[i] = max(n[i], v)
		}
	}
}

// from returns what k knows of warps from w on, but for some of them.
func (k *know) from(w event.Warp, without []event.Warp) *know {
	if k == nil {
		return nil
	}
	return k.since(uint64(w), 0, without)
}

// since is from for the subtree whose first warp is at.
func (k *know) since(w, at uint64, without []event.Warp) *know {
	span := uint64(1) << (fanBits * k.level)
	whole := at >= w && !slices.ContainsFunc(without, func(v event.Warp) bool {
		return at <= uint64(v) && uint64(v) < at+span
	})
	switch {
	case whole:
		return k
	case at+span <= w || k.kids == nil:
		return nil
	}
	n := newInner(k.level)
	for i, kid := range k.kids {
		if kid != nil {
			if kid = kid.since(w, at+uint64(i)*span/fanout, without); kid != nil {
				n.kids[i], n.max = kid, max(n.max, kid.max)
			}
		}
	}
	if n.max == 0 {
		return nil
	}
	return n.settle()
}

// only returns what k knows of some warps, in ascending order, but for clocks that whole ranges of
// warps have passed. It is k itself if there is nothing else in it.
func (k *know) only(warps []event.Warp) *know { return k.below(0, warps) }

// below is only for the subtree whose first warp is at, among warps that are not before it.
func (k *know) below(at uint64, warps []event.Warp) *know {
	switch {
	case k == nil || len(warps) == 0:
		return nil
	case k.level == 0 && uint64(warps[0]) == at:
		return k
	case k.kids == nil:
		return nil
	}
	span := uint64(1) << (fanBits * (k.level - 1))
	n, all := newInner(k.level), k.base == 0
	for i, kid := range k.kids {
		end := at + uint64(i+1)*span
		some := 0
		for some < len(warps) && uint64(warps[some]) < end {
			some++
		}
		if got := kid.below(end-span, warps[:some]); got != nil {
			n.kids[i], n.max = got, max(n.max, got.max)
		}
		all = all && n.kids[i] == kid
		warps = warps[some:]
	}
	switch {
	case all:
		return k
	case n.max == 0:
		return nil
	}
	return n.settle()
}

// withWarps returns k and the knowledge of clock c of all lanes of the warps from lo to hi-1.
func (k *know) withWarps(lo, hi event.Warp, c uint32) *know {
	if lo >= hi || c == 0 || k != nil && k.floor >= c && uint64(hi) <= k.reach {
		return k
	}
	return k.high(hi-1).put(uint64(lo), uint64(hi), c, nil)
}

// withLanes returns k and the knowledge of clocks of lanes of one warp; zero clocks add nothing.
func (k *know) withLanes(w event.Warp, lanes *[event.WarpSize]uint32) *know {
	c := uint32(0)
	for _, v := range lanes {
		c = max(c, v)
	}
	if c == 0 {
		return k
	}
	return k.high(w).put(uint64(w), uint64(w)+1, c, lanes)
}

// high returns a tree that has a place for a warp.
func (k *know) high(w event.Warp) *know {
	if k == nil {
		k = new(know)
	}
	level := k.level
	for level < topLevel && uint64(w)>>(fanBits*level) != 0 {
		level++
	}
	return k.lift(level)
}

// put returns a copy of a tree with clock c of the warps lo to hi-1, or with lanes if they are one
// warp.
func (k *know) put(lo, hi uint64, c uint32, lanes *[event.WarpSize]uint32) *know {
	return k.path(k.level, lo, hi, 0, c, lanes)
}

// path returns a copy of the path to the warps lo to hi-1 with clock c, or with lanes if they are
// one warp. from is the first warp below k.
func (k *know) path(level uint8, lo, hi, from uint64, c uint32,
	lanes *[event.WarpSize]uint32) *know {
	if k == nil {
		k = &none
	}
	span := uint64(1) << (fanBits * level)
	most := max(k.max, c)
	if level == 0 && lanes != nil {
		var all [event.WarpSize]uint32
		joinLanes(&all, k.lanes, lanes)
		return newLeaf(k.base, most, &all)
	}
	if lo <= from && from+span <= hi {
		n := *k
		n.level, n.max, n.base = level, most, max(k.base, c)
		return n.settle()
	}
	n := newInner(level)
	n.base, n.max = k.base, most
	if k.kids != nil {
		*n.kids = *k.kids
	}
	step := span / fanout
	for i := (max(lo, from) - from) / step; i < fanout && from+i*step < hi; i++ {
		if kid := n.kids[i]; !kid.knowsAll(c, lanes) {
			n.kids[i] = kid.path(level-1, lo, hi, from+i*step, c, lanes)
		}
	}
	return n.settle()
}

// none knows nothing.
var none know

// knowsAll reports whether k already knows clock c of all threads below it.
func (k *know) knowsAll(c uint32, lanes *[event.WarpSize]uint32) bool {
	return k != nil && k.base >= c && lanes == nil
}
