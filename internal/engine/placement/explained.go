package placement

import (
	"context"
	"maps"
	"slices"

	"heddle/internal/diag"
)

// The explanations of a search: of the barriers of its result, or of those that stand if it has
// none, and of those that the result removes.

// explain says of each barrier of a search what it is for.
func (f *found) explain(ctx context.Context) {
	p := f.marked.tree.Standing()
	if f.result != nil && f.result.Found {
		p = f.result.Placement
	}
	x, err := newExplainer(f, p)
	if err == nil {
		err = x.observe(ctx)
	}
	if err != nil {
		u := &BarrierUse{}
		u.undecided(ctx, err)
		f.sync.Unexplained = u.Why
		return
	}
	var uses []*BarrierUse
	for _, g := range x.groups {
		uses = append(uses, x.use(ctx, g))
	}
	if maps.Equal(p, f.marked.tree.Standing()) {
		x.together(ctx, uses)
	}
	for i, g := range x.groups {
		f.barrier(g).Use = uses[i]
	}
	f.explainGone(ctx)
}

// barrier returns the barrier of the report that a group is. One that the search has no place for,
// or of a kernel without a result, is added.
func (f *found) barrier(g *group) *Barrier {
	for i := range f.sync.Barriers {
		if b := &f.sync.Barriers[i]; g.from.fn != nil && b.from == g.from {
			return b
		}
	}
	f.sync.Barriers = append(f.sync.Barriers, Barrier{At: g.pos, Place: f.placeOf(g), Kept: true,
		Warp: g.warp, from: g.from})
	return &f.sync.Barriers[len(f.sync.Barriers)-1]
}

// explainGone says of barriers that the result removes how often threads reach them in the kernel
// as it was. Whether it is proved without them is known later (settle).
func (f *found) explainGone(ctx context.Context) {
	if !f.sync.Removes() {
		return
	}
	x, err := newExplainer(f, f.marked.tree.Standing())
	if err != nil || x.observe(ctx) != nil {
		return
	}
	for i := range f.sync.Barriers {
		b := &f.sync.Barriers[i]
		same := func(g *group) bool { return b.from.fn != nil && g.from == b.from }
		at := slices.IndexFunc(x.groups, same)
		if !b.Gone || at < 0 {
			continue
		}
		b.Use = &BarrierUse{}
		if x.count(b.Use, x.groups[at]); x.strong {
			b.Use.Why = mayDecide
		}
	}
}

// settle completes what is said of the barriers that the result removes, once it is proved.
func (k *Kernel) settle() {
	var gone []*Barrier
	added := false
	for i := range k.Barriers {
		b := &k.Barriers[i]
		added = added || !b.Kept && !b.Gone
		if b.Gone && b.Use != nil {
			gone = append(gone, b)
		}
	}
	for _, b := range gone {
		u := b.Use
		switch {
		case k.Verdict.Kind != diag.Verified:
			u.Why = "the result is not proved without it"
		case u.Why == "":
			u.Need, u.Scope, u.Replaced = BarrierRedundant, k.Verdict.Scope, added
		}
		for _, other := range gone {
			if other != b && u.Need == BarrierRedundant {
				u.Together = append(u.Together, other.Place)
			}
		}
	}
}
