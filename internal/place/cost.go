package place

import (
	"math"
	"slices"
)

// Cost is the cost model of section III.C: LC^loops * IC^conds for each barrier.
type Cost struct {
	Loop float64 // LC: how often a loop's body is taken to run
	Cond float64 // IC: how often a condition is taken to hold
}

// warpShare is what a barrier of the warp costs of one of the block, which all warps wait at.
const warpShare = 0.1

// DefaultCost has the paper's constants.
var DefaultCost = Cost{Loop: 100, Cond: 0.5}

// Of is the cost of a barrier after l: what was measured, else what the model says.
func (c Cost) Of(t *Tree, l Label) float64 {
	v := 1.0
	if t.Labels[l].Warp {
		v = warpShare
	}
	if trips := t.Labels[l].Trips; trips > 0 {
		return v * trips
	}
	for b := t.Labels[l].Parent; b != None; b = t.Labels[b].Parent {
		switch t.Labels[b].Kind {
		case Loop:
			v *= c.Loop
		case Cond:
			v *= c.Cond
		}
	}
	return v
}

// Total is the cost of a placement.
func (c Cost) Total(t *Tree, p Placement) float64 {
	sum := 0.0
	for _, l := range p.Labels() { // in order, so that the sum is the same each time
		sum += c.Of(t, l)
	}
	return sum
}

// Labels returns the labels of a placement, ascending.
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

// Standing is the placement of the barriers that the input has.
func (t *Tree) Standing() Placement {
	p := Placement{}
	for l := range t.Labels {
		if t.Labels[l].Barrier {
			p[Label(l)] = true
		}
	}
	return p
}

// less reports whether cost a is below b by more than rounding.
func less(a, b float64) bool { return a < b-1e-9*math.Max(1, math.Abs(b)) }
