package place

import (
	"math"
	"slices"
)

// Cost is the cost model of section III.C: a barrier costs LC^loops * IC^conds, for the loops and
// conditions around it.
type Cost struct {
	Loop float64 // LC: assumed iterations of a loop
	Cond float64 // IC: assumed probability that a condition holds
}

// warpShare is the cost of a warp barrier relative to a block barrier, at which all warps wait.
const warpShare = 0.1

// unevenShare is the cost of a barrier that diverges for other arguments. It outweighs two conditions
// around it.
const unevenShare = 5

// DefaultCost holds the constants of the paper.
var DefaultCost = Cost{Loop: 100, Cond: 0.5}

// Of returns the cost of a barrier after l: measured if a run counted it, else by the model.
func (c Cost) Of(t *Tree, l Label) float64 {
	v := 1.0
	if t.Labels[l].Warp {
		v = warpShare
	}
	if t.Labels[l].Uneven {
		v *= unevenShare
	}
	if trips := t.Labels[l].Trips; trips > 0 {
		return v * trips
	}
	for b := t.Labels[l].Parent; b != None; b = t.Labels[b].Parent {
		switch t.Labels[b].Kind {
		case Loop:
			v *= c.Loop
		case Cond:
			// A place in a statement without braces costs what the one behind it costs, which is better
			// to read.
			if b != t.Labels[l].Parent || !t.Labels[b].Bare || t.Labels[l].Barrier {
				v *= c.Cond
			}
		}
	}
	return v
}

// Total returns the cost of a placement.
func (c Cost) Total(t *Tree, p Placement) float64 {
	sum := 0.0
	for _, l := range p.Labels() { // in order, so that the sum is always rounded alike
		sum += c.Of(t, l)
	}
	return sum
}

// Labels returns the labels of a placement in ascending order.
func (p Placement) Labels() []Label {
	var out []Label
	for l, in := range p {
		if in {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// Standing returns the placement of the barriers in the input.
func (t *Tree) Standing() Placement {
	p := Placement{}
	for l := range t.Labels {
		if t.Labels[l].Barrier {
			p[Label(l)] = true
		}
	}
	return p
}

// less reports whether cost a is below b by more than rounding errors.
func less(a, b float64) bool { return a < b-1e-9*math.Max(1, math.Abs(b)) }
