package explore

import "context"

// Report is what the executions of a program show, apart from its final states.
type Report struct {
	Stats Stats
	Races []*Race
	// Unordered are pairs of a strong store and a strong load of a kernel that exchange data and that
	// nothing orders (exchange.go).
	Unordered []*Race
	// Hang is an execution that does not end, if there is one.
	Hang *Execution
}

// Survey explores a program. The error is that of Explore; the report then holds what was found
// until then. visit, which may be nil, sees each execution.
func Survey(ctx context.Context, p *Program, opt Options, visit func(*Execution)) (*Report, error) {
	r, races, pairs := &Report{}, raceSet{}, newExchanges(p)
	var err error
	if p.Locate != nil {
		began := opt.Restart
		opt.Restart = func() {
			*r, races = Report{}, raceSet{}
			if pairs != nil {
				pairs.reset()
			}
			if began != nil {
				began()
			}
		}
	}
	r.Stats, err = Explore(ctx, p, opt, func(e *Execution) {
		races.add(e)
		if pairs != nil {
			pairs.add(e)
		}
		if e.End == Deadlock && r.Hang == nil {
			r.Hang = e
		}
		if visit != nil {
			visit(e)
		}
	})
	r.Races = races.sorted()
	if pairs != nil {
		r.Unordered = pairs.list()
	}
	return r, err
}
