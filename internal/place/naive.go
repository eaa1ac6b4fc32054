package place

import "context"

// naive is the baseline of section IV.B: a barrier after each label, except those that diverge,
// minus each one that no race needs.
func (s *search) naive(ctx context.Context) error {
	p := Placement{}
	for l := range s.tree.Labels {
		if s.text.open(Label(l)) {
			p[Label(l)] = true
		}
	}
	var last *Answer
	for {
		if s.res.Calls >= s.opt.MaxCalls {
			s.res.GaveUp = "barriers still diverge after the diverging ones were removed"
			return nil
		}
		a, err := s.ask(ctx, p)
		if err != nil {
			return err
		}
		if !s.ban(a.Divergences, p) {
			last = a
			break
		}
		for l := range s.banned {
			delete(p, l)
		}
	}
	if len(last.Races) > 0 {
		for i := range last.Races {
			r := &last.Races[i]
			s.res.Stuck = append(s.res.Stuck, Stuck{Race: r, Loop: None, Cause: Useless})
		}
		return nil
	}
	return s.descend(ctx, p, last)
}

// descend removes barriers that are not needed from a placement that the oracle accepts, one after
// another in source order. last is the oracle's answer to that placement.
func (s *search) descend(ctx context.Context, p Placement, last *Answer) error {
	for _, l := range p.Labels() {
		if s.same.first(l) != l {
			continue
		}
		for _, k := range s.same.of(l) {
			delete(p, k)
		}
		a, err := s.ask(ctx, p)
		if err != nil {
			return err
		}
		if len(a.Races) > 0 || s.ban(a.Divergences, p) {
			for _, k := range s.same.of(l) {
				p[k] = true
			}
		} else {
			last = a
		}
	}
	s.accept(&solution{p: p}, last)
	return nil
}
