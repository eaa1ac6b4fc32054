package explore

import "context"

// Report is what the executions of a program show, apart from its final states.
type Report struct {
	Stats Stats
	Races []*Race
	// Hang is an execution that does not end, if there is one.
	Hang *Execution
}

// Survey explores a program. The error is that of Explore; the report then holds what was found
// until then. visit, which may be nil, sees each execution.
func Survey(ctx context.Context, p *Program, opt Options, visit func(*Execution)) (*Report, error) {
	r, races := &Report{}, raceSet{}
	var err error
	if p.Locate != nil {
		began := opt.Restart
		opt.Restart = func() {
			*r, races = Report{}, raceSet{}
			if began != nil {
				began()
			}
		}
	}
	r.Stats, err = Explore(ctx, p, opt, func(e *Execution) {
		races.add(e)
		if e.End == Deadlock && r.Hang == nil {
			r.Hang = e
		}
		if visit != nil {
			visit(e)
		}
	})
	r.Races = races.sorted()
	return r, err
}
