package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Outcomes collects the final states of the executions in which every thread ends: the values of
// locations of area 0. A lost update shows as a second value.
type Outcomes struct {
	// Names selects locations by name, or by the name of the object that they are elements of; nil:
	// all.
	Names []string

	states map[string]*Outcome
	named  map[string]int64 // the initial values of the locations that have been seen
}

// Outcome is a final state.
type Outcome struct {
	Values     []Named // of the locations whose values differ between states, or that are named
	Executions int     // that may end like this
	Example    *Execution
}

// Named is the value of one location.
type Named struct {
	Name  string
	Value int64
}

// String prints the values.
func (o *Outcome) String() string {
	parts := make([]string, len(o.Values))
	for i, v := range o.Values {
		parts[i] = fmt.Sprintf("%s=%d", v.Name, v.Value)
	}
	return strings.Join(parts, " ")
}

// Reset forgets what was visited.
func (o *Outcomes) Reset() { o.states, o.named = map[string]*Outcome{}, map[string]int64{} }

// Visit takes note of one execution.
func (o *Outcomes) Visit(e *Execution) {
	if o.states == nil {
		o.Reset()
	}
	if e.End != Ended {
		return
	}
	var locs []int
	for l := range e.cells {
		if e.cells[l].Area == 0 && o.selects(e.cells[l].Name) {
			o.named[e.cells[l].Name] = e.cells[l].Value
			locs = append(locs, l)
		}
	}
	o.final(e, locs, nil)
}

// selects reports whether a location is to be shown.
func (o *Outcomes) selects(name string) bool {
	object, _, _ := strings.Cut(name, "[")
	return o.Names == nil || slices.Contains(o.Names, name) || slices.Contains(o.Names, object)
}

// final takes note of the states in which an execution may end, given the values of the first
// locations: several only after a data race.
func (o *Outcomes) final(e *Execution, locs []int, values []Named) {
	if len(values) < len(locs) {
		l := locs[len(values)]
		for _, v := range e.Last(l) {
			o.final(e, locs, append(slices.Clip(values), Named{e.cells[l].Name, v}))
		}
		return
	}
	// Locations are numbered in the order in which they are found.
	sorted := slices.SortedFunc(slices.Values(values), func(a, b Named) int {
		return strings.Compare(a.Name, b.Name)
	})
	key := fmt.Sprint(sorted)
	if o.states[key] == nil {
		o.states[key] = &Outcome{Values: sorted, Example: e}
	}
	o.states[key].Executions++
}

// Missing returns the names that no location has.
func (o *Outcomes) Missing() (out []string) {
	for _, n := range o.Names {
		found := false
		for name := range o.named {
			object, _, _ := strings.Cut(name, "[")
			found = found || n == name || n == object
		}
		if !found {
			out = append(out, n)
		}
	}
	return out
}

// List returns the final states in the order of their values. Without Names, locations that have
// the same value in all of them are left out.
func (o *Outcomes) List() []*Outcome {
	all := o.complete()
	differs := map[string]bool{}
	for _, s := range all {
		for i, v := range s.Values {
			if v != all[0].Values[i] {
				differs[v.Name] = true
			}
		}
	}
	for _, s := range all {
		s.Values = slices.DeleteFunc(s.Values, func(v Named) bool {
			return o.Names == nil && !differs[v.Name]
		})
	}
	slices.SortFunc(all, func(a, b *Outcome) int {
		return slices.CompareFunc(a.Values, b.Values, func(v, w Named) int {
			return cmp.Compare(v.Value, w.Value)
		})
	})
	return all
}

// complete returns copies of the states with a value for each location, in the order of the names:
// one that an execution does not access keeps its initial value.
func (o *Outcomes) complete() []*Outcome {
	names := slices.Sorted(maps.Keys(o.named))
	byValues := map[string]*Outcome{}
	var out []*Outcome
	for _, key := range slices.Sorted(maps.Keys(o.states)) {
		s := o.states[key]
		c := &Outcome{Example: s.Example}
		for _, n := range names {
			v := Named{n, o.named[n]}
			if i := slices.IndexFunc(s.Values, func(v Named) bool { return v.Name == n }); i >= 0 {
				v = s.Values[i]
			}
			c.Values = append(c.Values, v)
		}
		if same := byValues[fmt.Sprint(c.Values)]; same != nil {
			c = same
		} else {
			byValues[fmt.Sprint(c.Values)] = c
			out = append(out, c)
		}
		c.Executions += s.Executions
	}
	return out
}
