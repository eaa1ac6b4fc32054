package place

import (
	"context"
	"math"
	"slices"

	"heddle/internal/place/maxsat"
)

// clause demands a barrier after one of its labels: a constraint minus the labels that the oracle
// showed not to help.
type clause struct {
	of     *constraint
	labels []Label
}

// choice is a race whose paths are unknown: one of the paper's P for each constraint, the first of
// which is P^0.
type choice struct {
	race   *Race
	paths  []*constraint
	failed [][]bool // assignments to P under which the race still exists
}

// problem holds the constraints that are known so far.
type problem struct {
	clauses []clause
	choices []*choice
}

// solution is a placement of minimal cost.
type solution struct {
	p    Placement
	cost float64

	optimal bool // no placement that satisfies the constraints costs less
}

// maxAhead caps the distance of a barrier from the access behind it, in slots.
const maxAhead = 15

// solve returns a placement of minimal cost that satisfies pr and has no barrier after a banned
// label; nil if there is none. Among placements of equal cost it takes one that changes the fewest
// barriers and statements of the input, and among those one whose barriers are closest to the
// accesses that they hold back. A barrier behind the block of one that diverges is no new barrier:
// it moved there.
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
			ahead[one] = min(ahead[one], c.ahead(l))
			out = append(out, at[one])
		}
		return out
	}
	for _, c := range pr.clauses {
		m.AddHard(lits(c.labels, c.of)...)
	}
	none := &constraint{ahead: func(Label) int { return 0 }}
	for _, l := range s.kept().Labels() {
		m.AddHard(lits([]Label{l}, none)...)
	}
	chosen := map[*choice][]maxsat.Lit{} // the P of each
	for _, ch := range pr.choices {
		for _, w := range ch.paths {
			p := m.NewVar()
			chosen[ch] = append(chosen[ch], p)
			m.AddHard(append(lits(w.narrow, w), -p)...) // lines 7 and 9 of Algorithm 1
		}
		s.combinations(&m, ch, chosen[ch])
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

// combinations constrains which P of a race may hold together: lines 11, 12 and 29 of Algorithm 1.
// Line 29 excludes the one assignment that failed; here another P must hold, because fewer separate
// no more.
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

// satisfied returns the P that a placement makes true; the solver's own values may differ. These
// are the P whose constraint it satisfies, and those of the loops around one that holds across
// iterations.
func (ch *choice) satisfied(p Placement) []bool {
	on := make([]bool, len(ch.paths))
	for i := len(ch.paths) - 1; i >= 0; i-- {
		on[i] = slices.ContainsFunc(ch.paths[i].narrow, func(l Label) bool { return p[l] }) ||
			i > 0 && i+1 < len(on) && on[i+1]
	}
	return on
}

// weigh adds the soft clauses: line 3 of Algorithm 1, with ties broken by smaller weights.
func (s *search) weigh(
	m *maxsat.Problem, labels []Label, at map[Label]maxsat.Lit, ahead map[Label]int,
) {
	n := int64(len(labels))
	change := (maxAhead+1)*n + 1
	unit := change * (3*n + 1) // outweighs all changes and distances together
	sum := 0.0
	for _, l := range labels {
		sum += s.price(l)
	}
	// The sum of all weights must stay below 2^63, with room for rounding.
	room := math.Exp2(61) / (math.Max(sum, 1) * float64(unit))
	scale := math.Min(1<<20, math.Exp2(math.Floor(math.Log2(room))))
	moved := s.moved()
	for _, l := range labels {
		price := max(1, int64(math.Round(s.price(l)*scale)))
		w := min(price, math.MaxInt64/(unit*(n+1))) * unit
		switch standing := s.tree.Labels[l].Barrier; {
		case moved[l] && !s.opt.Strip:
		case !standing || s.opt.Strip:
			w += change
		default: // removing it is a change, keeping it is not
			m.AddSoft(change, at[l])
		}
		if s.tree.Labels[l].Same > 0 && !s.tree.Labels[l].Barrier { // prefer the kernel to its callees
			w += change
		}
		if p := s.tree.Labels[l].Parent; p != None && s.tree.Labels[p].Bare {
			w += change
		}
		m.AddSoft(w+int64(ahead[l])+1, -at[l])
	}
}

// moved returns the places to which barriers that diverge move first: each behind the innermost
// block around it that has a place which does not diverge, in the same loops.
func (s *search) moved() map[Label]bool {
	out := map[Label]bool{}
	for l := range s.tree.Standing() {
		if !s.banned[l] {
			continue
		}
		for b := s.tree.Labels[l].Parent; b != None && s.tree.Labels[b].Kind != Loop; {
			if s.text.open(b) && !s.banned[b] {
				out[s.same.first(b)] = true
				break
			}
			b = s.tree.Labels[b].Parent
		}
	}
	return out
}

// price returns the cost of a barrier at a place in the source, summed over all its labels.
func (s *search) price(l Label) float64 {
	sum := 0.0
	for _, k := range s.same.of(l) {
		sum += s.opt.Cost.Of(s.tree, k)
	}
	return sum
}
