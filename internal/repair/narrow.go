package repair

import (
	"cmp"
	"context"
	"slices"
)

// narrow leaves out what is not needed, the costliest first. What no proof was found for is narrowed by runs alone, and
// then looked at once more: a counterexample makes one more run.
func (r *repairer) narrow(ctx context.Context, wide *attempt) (*attempt, error) {
	for range r.opt.Rounds {
		a, err := r.without(ctx, wide)
		if err != nil || a.grade == Verified || len(a.actions) == len(wide.actions) {
			return a, err
		}
		j, err := r.look(ctx, a.patch.Text, true)
		if err != nil {
			return nil, err
		}
		if j.Grade >= wide.grade {
			a.judgement, a.grade = j, j.Grade
			return a, nil
		}
		clear(r.seen) // there are more runs now
	}
	return wide, nil
}

func (r *repairer) without(ctx context.Context, a *attempt) (*attempt, error) {
	list := slices.Clone(a.actions)
	slices.SortStableFunc(list, func(a, b action) int { return cmp.Compare(b.cost, a.cost) })
	var leave func(part []action) error
	leave = func(part []action) error {
		if len(part) == 0 {
			return nil
		}
		var rest []action
		for _, x := range a.actions {
			if !slices.ContainsFunc(part, func(p action) bool { return p.key == x.key }) {
				rest = append(rest, x)
			}
		}
		b, err := r.try(ctx, rest, a.grade == Verified)
		if err != nil {
			return err
		}
		if b != nil && b.grade >= a.grade {
			a = b
			return nil
		}
		if len(part) == 1 {
			return nil
		}
		if err := leave(part[:len(part)/2]); err != nil {
			return err
		}
		return leave(part[len(part)/2:])
	}
	return a, leave(list)
}
