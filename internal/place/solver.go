package place

import (
	"context"
	"math"
	"slices"

	"heddle/internal/place/maxsat"
)

// clause asks for a barrier after one of its labels: a constraint, less what an oracle showed not to help.
type clause struct {
	of     *constraint
	labels []Label
}

// choice is a race of which the ways are not known: one of the paper's P for each constraint, of which the first is P^0.
type choice struct {
	race   *Race
	ways   []*constraint
	failed [][]bool // assignments to P under which the race was still there
}

// problem is what a placement must satisfy, as far as it is known.
type problem struct {
	clauses []clause
	choices []*choice
}

// solution is a placement of least cost.
type solution struct {
	p    Placement
	cost float64

	optimal bool // whatever satisfies the constraints costs as much
}

// maxAhead bounds how far a barrier's distance from the access behind it counts.
const maxAhead = 15

// solve returns a placement of least cost that satisfies pr and has no barrier after a banned label; nil if there is
// none. Among those of one cost it takes one that changes the fewest barriers of the input, and among those one
// whose barriers stand closest to the access that they hold back.
func (s *search) solve(ctx context.Context, pr *problem) (*solution, error) {
	m := maxsat.Problem{}
	at := map[Label]maxsat.Lit{}
	ahead := map[Label]int{}
	lits := func(labels []Label, c *constraint) []maxsat.Lit {
		var out []maxsat.Lit
		for _, l := range labels {
			if s.banned[l] {
				continue
			}
			one := s.same.first(l)
			if at[one] == 0 {
				at[one], ahead[one] = m.NewVar(), maxAhead
			}
			ahead[one] = min(ahead[one], c.ahead[l])
			out = append(out, at[one])
		}
		return out
	}
	for _, c := range pr.clauses {
		m.AddHard(lits(c.labels, c.of)...)
	}
	ways := map[*choice][]maxsat.Lit{}
	for _, ch := range pr.choices {
		for _, w := range ch.ways {
			p := m.NewVar()
			ways[ch] = append(ways[ch], p)
			m.AddHard(append(lits(w.narrow, w), -p)...) // lines 7 and 9 of Algorithm 1
		}
		s.combinations(&m, ch, ways[ch])
	}
	var labels []Label
	for l := range at {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	s.weigh(&m, labels, at, ahead)
	model, _, err := maxsat.Solve(ctx, &m)
	if model == nil || err != nil {
		return nil, err
	}
	sol := &solution{p: Placement{}}
	for _, l := range labels {
		if model.Holds(at[l]) {
			for _, k := range s.same.of(l) {
				sol.p[k] = true
			}
		}
	}
	sol.cost = s.opt.Cost.Total(s.tree, sol.p)
	return sol, nil
}

// combinations says which P of a race may hold together: lines 11, 12 and 29 of Algorithm 1. Line 29 excludes the one
// assignment that did not do; here another P must hold, because fewer do no better.
func (s *search) combinations(m *maxsat.Problem, ch *choice, p []maxsat.Lit) {
	for i := 1; i < len(p); i++ {
		for j := i + 1; j < len(p); j++ {
			m.AddHard(-p[i], -p[j])
		}
	}
	for _, was := range ch.failed {
		var other []maxsat.Lit
		for i, on := range was {
			if !on {
				other = append(other, p[i])
			}
		}
		m.AddHard(other...)
	}
}

// satisfied returns the P that a placement makes true, which the solver's own values need not be: those whose
// constraint it satisfies, and for one across iterations of a loop those of the loops around it, which it holds.
func (ch *choice) satisfied(p Placement) []bool {
	on := make([]bool, len(ch.ways))
	for i := len(ch.ways) - 1; i >= 0; i-- {
		on[i] = slices.ContainsFunc(ch.ways[i].narrow, func(l Label) bool { return p[l] }) ||
			i > 0 && i+1 < len(on) && on[i+1]
	}
	return on
}

// weigh adds the soft clauses: line 3 of Algorithm 1, with ties decided.
func (s *search) weigh(m *maxsat.Problem, labels []Label, at map[Label]maxsat.Lit, ahead map[Label]int) {
	n := int64(len(labels))
	change := (maxAhead+1)*n + 1
	unit := change * (2*n + 1) // more than all changes and distances together
	sum := 0.0
	for _, l := range labels {
		sum += s.price(l)
	}
	scale := math.Min(1<<20, math.Exp2(math.Floor(math.Log2(math.Exp2(61)/(math.Max(sum, 1)*float64(unit))))))
	for _, l := range labels {
		price := max(1, int64(math.Round(s.price(l)*scale)))
		w := min(price, math.MaxInt64/(unit*(n+1))) * unit
		switch standing := s.tree.Labels[l].Barrier; {
		case !standing || s.opt.Strip:
			w += change
		default: // that it stays is no change, that it goes is one
			m.AddSoft(change, at[l])
		}
		if s.tree.Labels[l].Same > 0 && !s.tree.Labels[l].Barrier { // rather in the kernel than in what it calls
			w += change
		}
		m.AddSoft(w+int64(ahead[l])+1, -at[l])
	}
}

// price is the cost of a barrier at a place of the source.
func (s *search) price(l Label) float64 {
	sum := 0.0
	for _, k := range s.same.of(l) {
		sum += s.opt.Cost.Of(s.tree, k)
	}
	return sum
}
