package place

import (
	"context"
	"fmt"
	"slices"
)

// Algorithm selects how to search.
type Algorithm uint8

const (
	// Exact keeps two sets of constraints: those of the paper, which suffice where control does not
	// jump, and those that every placement must satisfy. A solution of the first that costs no more
	// than the optimum of the second is optimal. Otherwise the optimum of the second is tried first,
	// and each placement that the oracle rejects strengthens that set (implicit hitting sets:
	// Moreno-Centeno and Karp, Operations Research 2013). Races whose paths the oracle does not know
	// are treated as in Paper.
	Exact Algorithm = iota
	// Paper is Algorithm 1.
	Paper
	// Naive is the paper's baseline (section IV.B): all barriers, minus those that diverge, minus each
	// one that is not needed.
	Naive
)

// Options configure a search.
type Options struct {
	Algorithm Algorithm
	Cost      Cost
	Strip     bool // existing barriers are not preferred over others of the same cost
	Keep      bool // existing barriers stay, unless they diverge
	// Partial sets races apart that no barrier separates, and searches a placement for the others.
	Partial  bool
	MaxCalls int // calls of the oracle; 0: DefaultMaxCalls
}

// DefaultMaxCalls is used if Options.MaxCalls is 0.
const DefaultMaxCalls = 200

// Reason is a race that a barrier separates.
type Reason struct {
	Race  *Race
	Level int   // 0: within an iteration of all loops around both; j: across iterations of the j-th
	Loop  Label // that loop, or None
	Path  Path  // Near or Far; 0: unknown
}

// Stuck is a race that no barrier can separate.
type Stuck struct {
	Race  *Race
	Level int
	Loop  Label
	Cause Cause
}

// Cause is the reason why a race is Stuck.
type Cause uint8

const (
	NoPlace     Cause = iota // no place between the accesses, as for a statement racing with itself
	ClosedPlace              // no place between them can hold a barrier
	Diverges                 // not all threads reach the places between them together
	Useless                  // barriers at all places between them do not help, by the oracle
)

// Result is the result of a search.
type Result struct {
	Found     bool // the oracle accepts Placement
	Placement Placement
	Verified  bool   // the oracle proved it
	Unknown   string // why the oracle's proof is incomplete
	Optimal   bool   // by the oracle's answers, no cheaper placement is correct
	Cost      float64
	Calls     int // calls of the oracle
	Reasons   map[Label][]Reason
	Stuck     []Stuck // if not Found, or, with Options.Partial, races that remain
	GaveUp    string  // if not Found and not Stuck
	// OtherBlocks are races between blocks. No block barrier separates them, and Found ignores them.
	OtherBlocks []Race
}

// search is the state of one Synthesize.
type search struct {
	tree   *Tree
	text   *text
	same   *sames
	opt    Options
	oracle Oracle
	banned map[Label]bool // a barrier after it diverges
	known  map[key]*constraint
	raced  map[[2]Label]*choice
	apart  map[key]bool // paths of races that no barrier separates
	must   problem      // constraints that every placement satisfies
	enough problem      // the constraints of the paper
	inform bool         // the oracle named the paths of all races so far
	res    *Result
}

// Synthesize finds a placement of minimal cost that the oracle accepts. The error is the oracle's,
// or that of ctx.
func Synthesize(ctx context.Context, t *Tree, oracle Oracle, opt Options) (*Result, error) {
	if opt.Cost == (Cost{}) {
		opt.Cost = DefaultCost
	}
	if opt.MaxCalls == 0 {
		opt.MaxCalls = DefaultMaxCalls
	}
	s := &search{
		tree: t, text: newText(t), same: newSames(t), opt: opt, oracle: oracle,
		banned: map[Label]bool{}, known: map[key]*constraint{}, raced: map[[2]Label]*choice{},
		apart: map[key]bool{}, inform: true, res: &Result{Reasons: map[Label][]Reason{}},
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

// ask asks the oracle about a placement, and sets races between blocks apart.
func (s *search) ask(ctx context.Context, p Placement) (*Answer, error) {
	s.res.Calls++
	a, err := s.oracle.Check(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range a.Races {
		if r.A < 0 || r.B < 0 || int(r.A) >= len(s.tree.Labels) || int(r.B) >= len(s.tree.Labels) {
			return nil, fmt.Errorf("place: oracle %s names a label outside the tree", s.oracle.Name())
		}
	}
	s.res.OtherBlocks = s.res.OtherBlocks[:0]
	inBlock := a.Races[:0:0]
	for _, r := range a.Races {
		switch {
		case r.OtherBlock:
			s.res.OtherBlocks = append(s.res.OtherBlocks, r)
		case !s.isApart(r):
			inBlock = append(inBlock, r)
		}
	}
	a.Races = inBlock
	return a, nil
}

// kept are the barriers that every placement keeps.
func (s *search) kept() Placement {
	p := Placement{}
	if s.opt.Keep {
		for l := range s.tree.Standing() {
			if !s.banned[l] {
				p[l] = true
			}
		}
	}
	return p
}

// refine is REFINE of Algorithm 1.
func (s *search) refine(ctx context.Context) error {
	// The first question is about no barriers even if some are kept: a barrier may only diverge because
	// another one is missing.
	sol := &solution{p: Placement{}, optimal: true}
	for {
		if s.res.Calls >= s.opt.MaxCalls {
			s.res.GaveUp = fmt.Sprintf("no placement was accepted in %d attempts", s.res.Calls)
			return nil
		}
		a, err := s.ask(ctx, sol.p)
		if err != nil {
			return err
		}
		diverges := s.ban(a.Divergences, sol.p)
		left := without(s.kept().Labels(), sol.p) // after ban
		if len(a.Races) == 0 && !diverges && len(left) == 0 {
			s.accept(sol, a)
			return nil
		}
		if !diverges { // races after a divergence are meaningless
			for i := range a.Races {
				s.learn(&a.Races[i], sol)
			}
		}
		if sol, err = s.next(ctx); err != nil || sol == nil {
			return err
		}
	}
}

// ban excludes the labels that diverge (line 25 of Algorithm 1), and those that the same threads
// reach. The paper excludes the whole block; that is too much where control jumps, or where a
// condition is uniform in some iterations only. It reports whether a barrier of p is banned.
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

// learn adds the constraints of a race that exists under a solution.
func (s *search) learn(r *Race, sol *solution) {
	s.text.order(r)
	if r.Paths == nil || s.opt.Algorithm == Paper {
		s.inform = false
		all := *r
		all.Paths = nil
		s.learnChoice(&all, sol)
		return
	}
	for _, c := range s.text.constraints(r) {
		old := s.known[c.key()]
		if old == nil {
			s.known[c.key()] = c
			old = c
		}
		// A barrier of sol on the path would have separated the two accesses, so one of the other labels
		// must hold a barrier.
		left := without(old.wide, s.text.useless(old, sol.p))
		s.must.clauses = append(s.must.clauses, clause{old, left})
		s.enough.clauses = append(s.enough.clauses, clause{old, without(old.narrow, sol.p)})
	}
}

// learnChoice adds a race whose paths are unknown: lines 6 to 12, and line 29 if it is not new.
func (s *search) learnChoice(r *Race, sol *solution) {
	k := [2]Label{r.A, r.B}
	ch := s.raced[k]
	if ch == nil {
		ch = &choice{race: r, paths: s.text.constraints(r)}
		s.raced[k] = ch
		s.enough.choices = append(s.enough.choices, ch)
	}
	ch.failed = append(ch.failed, ch.satisfied(sol.p))
	// Every placement needs another barrier on some path.
	all := &constraint{race: r, loop: None}
	for _, w := range ch.paths {
		all.wide = append(all.wide, w.wide...)
	}
	all.ahead = func(l Label) int {
		least := maxAhead
		for _, w := range ch.paths {
			if _, on := slices.BinarySearch(w.wide, l); on {
				least = min(least, w.ahead(l))
			}
		}
		return least
	}
	slices.Sort(all.wide)
	all.wide = slices.Compact(all.wide)
	left := without(all.wide, s.text.useless(all, sol.p))
	s.must.clauses = append(s.must.clauses, clause{all, left})
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

// next returns the placement to ask about next, or nil if there is none: then Stuck or GaveUp holds
// the reason.
func (s *search) next(ctx context.Context) (*solution, error) {
	least, err := s.solve(ctx, &s.must)
	if err != nil {
		return nil, err
	}
	if least == nil {
		s.stuck()
		if !s.opt.Partial || !s.setApart() {
			return nil, nil
		}
		if least, err = s.solve(ctx, &s.must); err != nil { // each demand left has a place
			return nil, err
		}
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
		return least, nil // control jumps: no label interval holds the place
	case !s.inform || !less(least.cost, paper.cost):
		paper.optimal = !less(least.cost, paper.cost)
		return paper, nil
	}
	return least, nil
}

// everywhere ends a search in which the label intervals have no solution and the paths of the races
// are unknown: it asks about barriers at all places. If races remain, no placement helps; otherwise
// the barriers that are not needed are removed.
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
			s.putApart(&constraint{race: r})
		}
		if s.opt.Partial {
			a.Races = nil
			return s.descend(ctx, p, a)
		}
		return nil
	}
}

// isApart reports whether no barrier separates a race, on any of its paths.
func (s *search) isApart(r Race) bool {
	if len(s.apart) == 0 {
		return false
	}
	s.text.order(&r)
	other := func(c *constraint) bool { return !s.apart[c.key()] }
	return !slices.ContainsFunc(s.text.constraints(&r), other)
}

// setApart drops the demands that nothing can meet, and reports whether there were any. A demand of a
// race whose paths are unknown is one of all its paths.
func (s *search) setApart() bool {
	was := len(s.must.clauses)
	s.must.clauses = slices.DeleteFunc(s.must.clauses, func(c clause) bool {
		left := func(l Label) bool { return !s.banned[l] }
		if slices.ContainsFunc(c.labels, left) {
			return false
		}
		s.putApart(c.of)
		return true
	})
	s.enough.clauses = slices.DeleteFunc(s.enough.clauses, func(c clause) bool {
		return s.apart[c.of.key()]
	})
	s.enough.choices = slices.DeleteFunc(s.enough.choices, func(ch *choice) bool {
		return s.isApart(*ch.race)
	})
	return len(s.must.clauses) < was
}

// putApart sets a constraint apart, or all of its race if it stands for all its paths.
func (s *search) putApart(c *constraint) {
	s.apart[c.key()] = true
	if c.path == 0 {
		for _, w := range s.text.constraints(c.race) {
			s.apart[w.key()] = true
		}
	}
}

// cause returns why barriers at all places do not separate a race whose paths are unknown.
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

// accept ends a search with a placement that the oracle accepts.
func (s *search) accept(sol *solution, a *Answer) {
	s.res.Found, s.res.Placement, s.res.Verified, s.res.Unknown = true, sol.p, a.Verified, a.Unknown
	s.res.Optimal = sol.optimal
}

// stuck records the races that cannot be separated: those without any label left.
func (s *search) stuck() {
	seen := map[key]bool{}
	for _, c := range s.must.clauses {
		k := c.of.key()
		k.path = 0 // users do not distinguish near and far
		left := func(l Label) bool { return !s.banned[l] }
		if seen[k] || slices.ContainsFunc(c.labels, left) {
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

// places reports whether labels exist on the path of a constraint, none of them open.
func (s *search) places(c *constraint) bool {
	a, b := s.text.site(c.race.A), s.text.site(c.race.B)
	for i := 1; i < len(s.tree.Labels); i++ {
		if s.text.within(Label(i), c.loop) && s.text.between(c, a, b, Label(i)) {
			return true
		}
	}
	return false
}

// finish computes the cost and the reasons.
func (s *search) finish() {
	if !s.res.Found {
		return
	}
	s.res.Cost = s.opt.Cost.Total(s.tree, s.res.Placement)
	alone, shared := s.separated()
	for l := range s.res.Placement {
		if s.res.Reasons[l] = alone[l]; len(alone[l]) == 0 {
			s.res.Reasons[l] = append(shared[l], s.elsewhere(l, len(shared[l]))...)
		}
	}
}

// separated returns for each label the pairs that only the barrier after it separates, and those
// that others of the placement separate as well.
func (s *search) separated() (alone, shared map[Label][]Reason) {
	alone, shared = map[Label][]Reason{}, map[Label][]Reason{}
	for _, c := range s.separations() {
		on := slices.DeleteFunc(slices.Clone(c.labels), func(l Label) bool {
			return !s.res.Placement[l]
		})
		r := Reason{c.of.race, c.of.level, c.of.loop, c.of.path}
		for _, l := range on {
			if len(on) == 1 {
				alone[l] = append(alone[l], r)
			} else {
				shared[l] = append(shared[l], r)
			}
		}
	}
	return alone, shared
}

// elsewhere returns a pair with unknown paths that the barrier after l separates outside of the
// intervals of the paper, yet correctly, if there is no other reason for it.
func (s *search) elsewhere(l Label, others int) []Reason {
	for _, ch := range s.enough.choices {
		for _, w := range ch.paths {
			if others == 0 && slices.Contains(w.wide, l) {
				return []Reason{{w.race, w.level, w.loop, 0}}
			}
		}
	}
	return nil
}

// separations returns the constraints that the result satisfies, each once, with the labels that
// satisfy it.
func (s *search) separations() []clause {
	var out []clause
	seen := map[key]bool{}
	add := func(c clause) {
		if !seen[c.of.key()] {
			seen[c.of.key()] = true
			out = append(out, c)
		}
	}
	for i := len(s.must.clauses) - 1; i >= 0; i-- { // the last one is the strongest
		if c := s.must.clauses[i]; s.known[c.of.key()] != nil {
			add(c)
		}
	}
	for _, ch := range s.enough.choices {
		for i, on := range ch.satisfied(s.res.Placement) {
			if on {
				add(clause{ch.paths[i], ch.paths[i].narrow})
			}
		}
	}
	slices.Reverse(out)
	return out
}
