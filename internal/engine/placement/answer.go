package placement

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	placer "heddle/internal/place"
	"heddle/internal/source"
)

// undecidedBarrierError is the error of a divergence at a barrier that no placement controls. The
// search cannot remove such a barrier.
type undecidedBarrierError struct{}

// Error names both causes, since the oracle does not tell which it is.
func (*undecidedBarrierError) Error() string {
	return "a barrier diverges that is not one of the kernel's own statements: " +
		"it is in a called function, or it does not cover the whole block"
}

// answer collects the objections of an oracle to a placement.
//
// Races are merged by statement, since a placement can only separate statements: those of all
// instructions that a statement was compiled to, of all kernels of a template, and of all runs.
type answer struct {
	m     *marked
	p     placer.Placement
	a     placer.Answer
	races map[[2]placer.Label]int // by statements: where in a.Races
	shown map[[2]source.Span]bool // instructions that race in a run; of two warps?
	cut   bool                    // there may be more races
}

func newAnswer(m *marked, p placer.Placement) *answer {
	return &answer{m: m, p: p, races: map[[2]placer.Label]int{}, shown: map[[2]source.Span]bool{}}
}

// race adds a race. Races between the same two statements are one. A merged race keeps the union of
// its paths, and is within one warp only if all its parts are. A part with unknown paths makes them
// unknown. Races with other blocks are only listed.
func (a *answer) race(r placer.Race, spaces ...event.Space) {
	key := [2]placer.Label{r.A, r.B}
	for _, s := range spaces {
		if !slices.Contains(a.m.spaces[key], s) {
			a.m.spaces[key] = append(a.m.spaces[key], s)
		}
	}
	if r.OtherBlock {
		same := func(o placer.Race) bool { return o.OtherBlock && o.Why() == r.Why() }
		if !slices.ContainsFunc(a.a.Races, same) {
			a.a.Races = append(a.a.Races, r)
		}
		return
	}
	i, known := a.races[key]
	if !known {
		a.races[key] = len(a.a.Races)
		a.a.Races = append(a.a.Races, r)
		return
	}
	old := &a.a.Races[i]
	old.OneWarp = old.OneWarp && r.OneWarp
	if old.Paths == nil || r.Paths == nil {
		old.Paths = nil
		return
	}
	for j := range old.Paths {
		old.Paths[j] |= r.Paths[j]
	}
}

// diverge adds a divergence between two barriers, or between a barrier and the end of the kernel.
// One of the two is not reached by all threads: of labels in blocks of different depth, the deeper
// one. The error means that neither barrier is one of the placement.
func (a *answer) diverge(x, y *ir.Instr) error {
	var labels []placer.Label
	for _, in := range []*ir.Instr{x, y} {
		if in == nil {
			continue
		}
		l, ok := a.m.barriers[in.Span]
		if w, two := a.m.warp[l]; ok && two && !a.p[l] {
			l = w
		}
		if ok && a.p[l] {
			labels = append(labels, l)
		}
	}
	if len(labels) == 0 {
		return &undecidedBarrierError{}
	}
	if len(labels) == 2 {
		t := &a.m.tree
		switch dx, dy := t.Depth(labels[0]), t.Depth(labels[1]); {
		case dx < dy:
			labels = labels[1:]
		case dx > dy:
			labels = labels[:1]
		}
	}
	a.a.Divergences = append(a.a.Divergences, labels...)
	return nil
}

// objection reports whether the placement has a race or a divergence within a block.
func (a *answer) objection() bool {
	inBlock := func(r placer.Race) bool { return !r.OtherBlock }
	return len(a.a.Divergences) > 0 || slices.ContainsFunc(a.a.Races, inBlock)
}
