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
		if err == nil {
			a, err = r.exchange(ctx, a, wide.actions)
		}
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

// without leaves out one action after the other, the costliest first.
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

// exchange puts one cheaper action in the place of two, as long as that helps: what cannot be left out may still have
// been the wrong choice.
func (r *repairer) exchange(ctx context.Context, a *attempt, all []action) (*attempt, error) {
	tried := 0
	for again := true; again; {
		again = false
		for i := 0; i < len(a.actions) && !again; i++ {
			for j := i + 1; j < len(a.actions) && !again; j++ {
				for _, c := range all {
					if c.cost >= a.actions[i].cost+a.actions[j].cost || a.actions[i].cost == 0 || a.actions[j].cost == 0 || tried >= maxExchanges ||
						slices.ContainsFunc(a.actions, func(x action) bool { return x.key == c.key }) {
						continue
					}
					var list []action
					for k, x := range a.actions {
						if k != i && k != j {
							list = append(list, x)
						}
					}
					tried++
					b, err := r.try(ctx, append(list, c), a.grade == Verified)
					if err != nil {
						return nil, err
					}
					if b != nil && b.grade >= a.grade {
						a, again = b, true
						break
					}
				}
			}
		}
	}
	return a, nil
}

// maxExchanges bounds what exchange tries. Most of it fails in the first run.
const maxExchanges = 60
