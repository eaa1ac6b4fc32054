package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/litmus"
)

// Verdict is the answer to the condition of a litmus test.
type Verdict uint8

// The verdicts.
const (
	Ok      Verdict = iota // the condition is as its quantifier says
	No                     // it is not
	Unknown                // not all executions were explored, and the others may decide it
)

var verdicts = [...]string{"Ok", "No", "Unknown"}

// String returns the word for the verdict in reports.
func (v Verdict) String() string { return verdicts[v] }

// Result is what the executions of a litmus test show.
type Result struct {
	Report
	Test    *litmus.Test
	Verdict Verdict
	States  []*Final // in the order of their values
}

// Final is a final state: the values of the terms that the test observes.
type Final struct {
	Terms      []litmus.Term
	Values     []int64
	Holds      bool // the condition's formula
	Executions int  // that may end like this
	Example    *Execution
}

// String prints the values.
func (f *Final) String() string {
	parts := make([]string, len(f.Terms))
	for i, t := range f.Terms {
		parts[i] = fmt.Sprintf("%s=%d", t.Name, f.Values[i])
	}
	return strings.Join(parts, " ")
}

// Value implements litmus.State.
func (f *Final) Value(t litmus.Term) int64 { return f.Values[slices.Index(f.Terms, t)] }

// judge collects a Result.
type judge struct {
	res    *Result
	terms  []litmus.Term
	states map[string]*Final
}

// Judge explores a litmus test and decides its condition. The error is that of Explore; the result
// then holds what was found until then.
func Judge(ctx context.Context, t *litmus.Test, opt Options) (*Result, error) {
	j := &judge{res: &Result{Test: t}, terms: litmus.Terms(t.Condition.Expr),
		states: map[string]*Final{}}
	for _, o := range t.Observed {
		if !slices.Contains(j.terms, o) {
			j.terms = append(j.terms, o)
		}
	}
	slices.SortFunc(j.terms, func(a, b litmus.Term) int { return strings.Compare(a.Name, b.Name) })
	report, err := Survey(ctx, FromLitmus(t), opt, j.visit)
	j.res.Report = *report
	j.finish()
	return j.res, err
}

// visit takes note of one execution.
func (j *judge) visit(e *Execution) {
	if e.End == Ended {
		j.final(e, &Final{Terms: j.terms, Values: make([]int64, len(j.terms))}, 0)
	}
}

// final takes note of the states in which an execution may end, from term i on.
func (j *judge) final(e *Execution, f *Final, i int) {
	if i == len(j.terms) {
		key := fmt.Sprint(f.Values)
		s := j.states[key]
		if s == nil {
			s = &Final{Terms: f.Terms, Values: slices.Clone(f.Values), Example: e}
			s.Holds = j.res.Test.Condition.Expr.Holds(s)
			j.states[key] = s
		}
		s.Executions++
		return
	}
	t := j.terms[i]
	if t.Thread >= 0 {
		f.Values[i] = e.Reg(t.Thread, t.Reg)
		j.final(e, f, i+1)
		return
	}
	for _, v := range e.Last(t.Loc) {
		f.Values[i] = v
		j.final(e, f, i+1)
	}
}

// finish decides the condition and sorts what was found.
func (j *judge) finish() {
	r := j.res
	for _, s := range j.states {
		r.States = append(r.States, s)
	}
	slices.SortFunc(r.States, func(a, b *Final) int { return slices.Compare(a.Values, b.Values) })
	r.Verdict = r.decide()
}

// decide answers the condition. One final state decides that it exists or that not all are as
// forall says; the opposite needs all executions.
func (r *Result) decide() Verdict {
	all := r.Stats.Truncated == 0 && !r.Stats.Stopped
	found := r.Decisive() != nil
	switch {
	case found == (r.Test.Condition.Quantifier == litmus.Exists) && (found || all):
		return Ok
	case found || all:
		return No
	}
	return Unknown
}

// Decisive returns the first final state that decides the condition: one in which the formula
// holds, or for forall one in which it does not. nil if there is none.
func (r *Result) Decisive() *Final {
	for _, s := range r.States {
		if s.Holds != (r.Test.Condition.Quantifier == litmus.Forall) {
			return s
		}
	}
	return nil
}

// Differences returns what a test states about itself and the result does not confirm.
func (r *Result) Differences() []string {
	var out []string
	say := func(what, want, got string) {
		if want != "" && want != got {
			out = append(out, fmt.Sprintf("expected %s=%s, found %s", what, want, got))
		}
	}
	yes := func(b bool) string {
		switch {
		case b:
			return "yes"
		case r.Stats.Truncated > 0 || r.Stats.Stopped:
			return "unknown"
		}
		return "no"
	}
	e := r.Test.Expect
	say("Expect", e.Verdict, r.Verdict.String())
	say("Race", e.Race, yes(len(r.Races) > 0))
	say("Hang", e.Hang, yes(r.Hang != nil))
	return out
}
