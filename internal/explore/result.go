package explore

import (
	"context"
	"fmt"
	"slices"
)

// Report is what the executions of a program show, apart from its final states.
type Report struct {
	Stats Stats
	Races []*Race
	// Unordered are pairs of a strong store and a strong load of a kernel that exchange data and that
	// nothing orders (exchange.go).
	Unordered []*Race
	// Hang is an execution that does not end, if there is one.
	Hang *Execution
	// Faults are errors that end the program: failed assertions, traps, and accesses that no memory
	// allows. One of each instruction.
	Faults []*Fault
}

// Fault is an error of a thread that ends the program.
type Fault struct {
	Place
	What    string     // a clause: "accesses x at byte 8, which has 4 bytes"
	Example *Execution // one with it
}

// Describe names the instruction of the error: its text, thread and place.
func (f *Fault) Describe() string {
	th, in := f.Instruction()
	return fmt.Sprintf("%s (%s, %s)", in.Text, th.Name, in.At)
}

// Instruction returns the instruction of the error and its thread.
func (f *Fault) Instruction() (*Thread, *Inst) {
	th := &f.Example.prog.Threads[f.Thread]
	return th, &th.Code[f.Inst]
}

// fault adds the errors of an execution.
func (r *Report) fault(e *Execution) {
	for i := range e.st.threads {
		t := &e.st.threads[i]
		if t.status == failed && !slices.ContainsFunc(r.Faults, func(f *Fault) bool {
			return f.Inst == t.pc
		}) {
			r.Faults = append(r.Faults, &Fault{Place{i, t.pc}, t.error, e})
		}
	}
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
		if e.End == Failed {
			r.fault(e)
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
