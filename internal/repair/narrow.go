package repair

import (
	"cmp"
	"context"
	"slices"
)

// narrow drops actions that are not needed, the costliest first. Without a proof, runs alone
// decide; the result is then judged once more with proof, whose counterexample becomes another run.
//
// It finds a plan of which no single action can be left out, not the cheapest plan: the judge is
// asked far less often than all subsets would need.
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
		clear(r.seen) // the judge makes one run more now
	}
	return wide, nil
}

// without drops one action after another, the costliest first, by bisection: it tries to drop a
// list of actions together, and splits the list if that fails. With k of n actions needed, the
// judge is asked about k log n times.
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

// weaken replaces each action by the weakest at its place with which the judge is as satisfied: a
// narrower scope, or acquire-release order instead of sequential consistency. Runs and most proofs
// do not tell such fences apart, so only a result that all executions of a launch have decided is
// weakened.
func (r *repairer) weaken(ctx context.Context, a *attempt) (*attempt, error) {
	if a.grade != Explored {
		return a, nil
	}
	for i := range a.actions {
		for _, w := range a.actions[i].weaker {
			list := slices.Clone(a.actions)
			list[i] = w
			b, err := r.try(ctx, list, false)
			if err != nil {
				return nil, err
			}
			if b != nil && b.grade >= a.grade {
				a = b
				break
			}
		}
	}
	return a, nil
}

// exchange replaces two actions by one cheaper action as long as the judge accepts that: actions
// that cannot be dropped may still be the wrong choice.
func (r *repairer) exchange(ctx context.Context, a *attempt, all []action) (*attempt, error) {
	tried := 0
	for again := true; again; {
		again = false
		for i := 0; i < len(a.actions) && !again; i++ {
			for j := i + 1; j < len(a.actions) && !again; j++ {
				for _, c := range all {
					x, y := a.actions[i].cost, a.actions[j].cost
					used := func(x action) bool { return x.key == c.key }
					if c.cost >= x+y || x == 0 || y == 0 || tried >= maxExchanges ||
						slices.ContainsFunc(a.actions, used) {
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

// maxExchanges bounds the plans that exchange tries. Most fail in the first run.
const maxExchanges = 60
