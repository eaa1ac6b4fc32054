package place

import (
	"context"
	"fmt"
	"slices"
)

// Algorithm is a way to search.
type Algorithm uint8

const (
	// Exact keeps two sets of constraints: those of the paper, which suffice where control does not jump, and those
	// that every placement must satisfy. A placement of the first that costs no more than the best of the second is
	// the best there is; otherwise the second is tried first, and each placement that the oracle rejects strengthens
	// it (implicit hitting sets: Moreno-Centeno and Karp, Operations Research 2013). An oracle that does not know
	// the ways of a race is searched as by Paper.
	Exact Algorithm = iota
	// Paper is Algorithm 1.
	Paper
	// Naive is the paper's baseline (section IV.B): all barriers, less those that diverge, less one after the other
	// that is not needed.
	Naive
)

// Options are the choices of a search.
type Options struct {
	Algorithm Algorithm
	Cost      Cost
	Strip     bool // the barriers that stand have no preference over others of the same cost
	MaxCalls  int  // of the oracle; 0: DefaultMaxCalls
}

// DefaultMaxCalls is the default of Options.MaxCalls.
const DefaultMaxCalls = 200

// Reason is why a barrier stands: what it separates.
type Reason struct {
	Race  *Race
	Level int   // 0: within an iteration of all loops around both; j: across iterations of the j-th
	Loop  Label // that loop, or None
}

// Stuck is a race that no barrier can separate.
type Stuck struct {
	Race  *Race
	Level int
	Loop  Label
	Cause Cause
}

// Cause says why a race is Stuck.
type Cause uint8

const (
	NoPlace     Cause = iota // there is no place between the two accesses, as with a statement that races with itself
	ClosedPlace              // no place between them can take a barrier
	Diverges                 // not all threads reach the places between them together
	Useless                  // the oracle says that barriers at all places between them do not help
)

// Result is what a search came to.
type Result struct {
	Found     bool // the oracle has nothing to say against Placement
	Placement Placement
	Verified  bool   // the oracle proves it
	Unknown   string // what the oracle could not say of it
	Optimal   bool   // with regard to what the oracle said, no cheaper placement is right
	Cost      float64
	Calls     int // of the oracle
	Reasons   map[Label][]Reason
	Stuck     []Stuck // if not Found
	GaveUp    string  // if not Found and not Stuck
	// OtherBlocks are races between blocks, which no barrier of a block separates; they do not count for Found.
	OtherBlocks []Race
}

// search is the state of one Synthesize.
type search struct {
	tree   *Tree
	text   *text
	same   *sames
	opt    Options
	oracle Oracle
	banned map[Label]bool // a barrier there diverges
	known  map[key]*constraint
	raced  map[[2]Label]*choice
	must   problem // what every placement satisfies
	enough problem // the paper's constraints
	inform bool    // the oracle knows the ways of all races so far
	res    *Result
}

// Synthesize finds a placement of least cost to which the oracle has no objection. The error is the oracle's, or that
// of ctx.
func Synthesize(ctx context.Context, t *Tree, oracle Oracle, opt Options) (*Result, error) {
	if opt.Cost == (Cost{}) {
		opt.Cost = DefaultCost
	}
	if opt.MaxCalls == 0 {
		opt.MaxCalls = DefaultMaxCalls
	}
	s := &search{
		tree: t, text: newText(t), same: newSames(t), opt: opt, oracle: oracle, banned: map[Label]bool{}, known: map[key]*constraint{},
		raced: map[[2]Label]*choice{}, inform: true, res: &Result{Reasons: map[Label][]Reason{}},
	}
	var err error
	if opt.Algorithm == Naive {
		err = s.naive(ctx)
	} else {
		err = s.refine(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.finish()
	return s.res, nil
}

// ask has the oracle judge a placement.
func (s *search) ask(ctx context.Context, p Placement) (*Answer, error) {
	s.res.Calls++
	a, err := s.oracle.Check(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range a.Races {
		if r.A < 0 || r.B < 0 || int(r.A) >= len(s.tree.Labels) || int(r.B) >= len(s.tree.Labels) {
			return nil, fmt.Errorf("place: the oracle %s names a label that the tree does not have", s.oracle.Name())
		}
	}
	s.res.OtherBlocks = s.res.OtherBlocks[:0]
	inBlock := a.Races[:0:0]
	for _, r := range a.Races {
		if r.OtherBlock {
			s.res.OtherBlocks = append(s.res.OtherBlocks, r)
		} else {
			inBlock = append(inBlock, r)
		}
	}
	a.Races = inBlock
	return a, nil
}

// refine is REFINE of Algorithm 1.
func (s *search) refine(ctx context.Context) error {
	sol := &solution{p: Placement{}, optimal: true}
	for {
		if s.res.Calls >= s.opt.MaxCalls {
			s.res.GaveUp = fmt.Sprintf("no placement is accepted after %d attempts", s.res.Calls)
			return nil
		}
		a, err := s.ask(ctx, sol.p)
		if err != nil {
			return err
		}
		diverges := s.ban(a.Divergences, sol.p)
		if len(a.Races) == 0 && !diverges {
			s.accept(sol, a)
			return nil
		}
		if !diverges { // races of threads that have lost each other say nothing
			for i := range a.Races {
				s.learn(&a.Races[i], sol)
			}
		}
		if sol, err = s.next(ctx); err != nil || sol == nil {
			return err
		}
	}
}

// ban excludes the labels that diverge (line 25 of Algorithm 1), and those that the same threads reach. The paper
// excludes the whole block; where control jumps, or a condition holds for all threads in some iterations only, that is
// too much. It reports whether a barrier of p is among them.
func (s *search) ban(divs []Label, p Placement) bool {
	hit := false
	for _, l := range divs {
		hit = hit || p[l]
		for _, k := range append(s.text.sameThreads(l), l) {
			for _, m := range s.same.of(k) {
				s.banned[m] = true
			}
		}
	}
	return hit
}

// learn adds what a race asks for that is there under a solution.
func (s *search) learn(r *Race, sol *solution) {
	s.text.order(r)
	if r.Paths == nil || s.opt.Algorithm == Paper {
		s.inform = false
		ways := *r
		ways.Paths = nil
		s.learnChoice(&ways, sol)
		return
	}
	for _, c := range s.text.constraints(r) {
		old := s.known[c.key()]
		if old == nil {
			s.known[c.key()] = c
			old = c
		}
		// A barrier of sol that were on the way would have separated the two: one of the others must.
		s.must.clauses = append(s.must.clauses, clause{old, without(old.wide, s.text.useless(old, sol.p))})
		s.enough.clauses = append(s.enough.clauses, clause{old, without(old.narrow, sol.p)})
	}
}

// learnChoice adds a race of which only the place is known: lines 6 to 12, and 29 if it is not new.
func (s *search) learnChoice(r *Race, sol *solution) {
	k := [2]Label{r.A, r.B}
	ch := s.raced[k]
	if ch == nil {
		ch = &choice{race: r, ways: s.text.constraints(r)}
		s.raced[k] = ch
		s.enough.choices = append(s.enough.choices, ch)
	}
	ch.failed = append(ch.failed, ch.satisfied(sol.p))
	// What every placement must have: another barrier on some way.
	all := &constraint{race: r, loop: None, ahead: map[Label]int{}}
	for _, w := range ch.ways {
		all.wide = append(all.wide, w.wide...)
		for l, d := range w.ahead {
			all.ahead[l] = d
		}
	}
	slices.Sort(all.wide)
	all.wide = slices.Compact(all.wide)
	s.must.clauses = append(s.must.clauses, clause{all, without(all.wide, s.text.useless(all, sol.p))})
}

func without(labels []Label, p Placement) []Label {
	var out []Label
	for _, l := range labels {
		if !p[l] {
			out = append(out, l)
		}
	}
	return out
}

// next returns the placement to ask about next, or nil if there is none: then Stuck or GaveUp says why.
func (s *search) next(ctx context.Context) (*solution, error) {
	least, err := s.solve(ctx, &s.must)
	if err != nil {
		return nil, err
	}
	if least == nil {
		s.stuck()
		return nil, nil
	}
	least.optimal = true
	paper, err := s.solve(ctx, &s.enough)
	switch {
	case err != nil:
		return nil, err
	case paper == nil && s.opt.Algorithm == Paper:
		s.res.GaveUp = "no placement satisfies the constraints of all races"
		return nil, nil
	case paper == nil && !s.inform:
		return nil, s.everywhere(ctx)
	case paper == nil:
		return least, nil // the label intervals do not hold the place: control jumps
	case !s.inform || !less(least.cost, paper.cost):
		paper.optimal = !less(least.cost, paper.cost)
		return paper, nil
	}
	return least, nil
}

// everywhere ends a search in which the label intervals hold no solution and the ways of the races are not known: it
// asks about barriers at all places. If races are left then, no placement helps; if not, those that are not needed go.
func (s *search) everywhere(ctx context.Context) error {
	for {
		p := Placement{}
		for l := range s.tree.Labels {
			if s.text.open(Label(l)) && !s.banned[Label(l)] {
				p[Label(l)] = true
			}
		}
		a, err := s.ask(ctx, p)
		switch {
		case err != nil:
			return err
		case s.ban(a.Divergences, p):
			continue
		case len(a.Races) == 0:
			return s.descend(ctx, p, a)
		}
		for i := range a.Races {
			r := &a.Races[i]
			s.text.order(r)
			s.res.Stuck = append(s.res.Stuck, Stuck{Race: r, Loop: None, Cause: s.cause(r)})
		}
		return nil
	}
}

// cause says why barriers at all places do not separate a race of which the ways are not known.
func (s *search) cause(r *Race) Cause {
	cause := NoPlace
	for _, c := range s.text.constraints(r) {
		for _, l := range c.wide {
			if s.banned[l] {
				return Diverges
			}
			cause = Useless
		}
	}
	return cause
}

// accept ends a search with a placement to which the oracle has no objection.
func (s *search) accept(sol *solution, a *Answer) {
	s.res.Found, s.res.Placement, s.res.Verified, s.res.Unknown = true, sol.p, a.Verified, a.Unknown
	s.res.Optimal = sol.optimal
}

// stuck says which races cannot be separated: those of which no label is left.
func (s *search) stuck() {
	seen := map[key]bool{}
	for _, c := range s.must.clauses {
		k := c.of.key()
		k.path = 0 // to a user near and far are one
		if seen[k] || slices.ContainsFunc(c.labels, func(l Label) bool { return !s.banned[l] }) {
			continue
		}
		seen[k] = true
		st := Stuck{Race: c.of.race, Level: c.of.level, Loop: c.of.loop}
		switch {
		case slices.ContainsFunc(c.of.wide, func(l Label) bool { return s.banned[l] }):
			st.Cause = Diverges
		case len(c.of.wide) > 0:
			st.Cause = Useless
		case s.places(c.of):
			st.Cause = ClosedPlace
		}
		s.res.Stuck = append(s.res.Stuck, st)
	}
}

// places reports whether there are labels on the way of a constraint, none of them open.
func (s *search) places(c *constraint) bool {
	a, b := s.text.site(c.race.A), s.text.site(c.race.B)
	for i := 1; i < len(s.tree.Labels); i++ {
		if s.text.within(Label(i), c.loop) && s.text.between(c, a, b, Label(i)) {
			return true
		}
	}
	return false
}

// finish adds the cost and the reasons.
func (s *search) finish() {
	if !s.res.Found {
		return
	}
	s.res.Cost = s.opt.Cost.Total(s.tree, s.res.Placement)
	for _, l := range s.res.Placement.Labels() {
		s.res.Reasons[l] = s.reasons(l)
	}
}

// reasons returns what a barrier separates that no other does; if others do all of it too, what it separates.
func (s *search) reasons(l Label) []Reason {
	var alone, shared []Reason
	for _, c := range s.separations() {
		if !slices.Contains(c.labels, l) {
			continue
		}
		r := Reason{c.of.race, c.of.level, c.of.loop}
		others := slices.ContainsFunc(c.labels, func(m Label) bool { return m != l && s.res.Placement[m] })
		if others {
			shared = append(shared, r)
		} else {
			alone = append(alone, r)
		}
	}
	if len(alone) > 0 {
		return alone
	}
	for _, ch := range s.enough.choices { // outside the intervals of the paper, and right all the same
		for _, w := range ch.ways {
			if len(shared) == 0 && slices.Contains(w.wide, l) {
				shared = append(shared, Reason{w.race, w.level, w.loop})
			}
		}
	}
	return shared
}

// separations are the constraints that hold in the end, each once, with the labels that were taken to satisfy it.
func (s *search) separations() []clause {
	var out []clause
	seen := map[key]bool{}
	add := func(c clause) {
		if !seen[c.of.key()] {
			seen[c.of.key()] = true
			out = append(out, c)
		}
	}
	for i := len(s.must.clauses) - 1; i >= 0; i-- { // the last one knows most
		if c := s.must.clauses[i]; s.known[c.of.key()] != nil {
			add(c)
		}
	}
	for _, ch := range s.enough.choices {
		for i, on := range ch.satisfied(s.res.Placement) {
			if on {
				add(clause{ch.ways[i], ch.ways[i].narrow})
			}
		}
	}
	slices.Reverse(out)
	return out
}
