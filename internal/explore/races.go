package explore

import (
	"slices"

	"heddle/internal/memmodel"
)

// Race is a pair of instructions with a data race in some execution.
type Race struct {
	First, Second Place
	Executions    int
	// Example is one of them: if one side reads, one in which it does not see what the other writes,
	// if there is such an execution.
	Example *Execution
	Pair    memmodel.Pair // in the example
}

// Place is an instruction of a thread.
type Place struct{ Thread, Inst int }

// raceSet collects the races of a program.
type raceSet map[[2]Place]*Race

// add takes note of the races of one execution.
func (s raceSet) add(e *Execution) {
	place := func(ev int) Place { return Place{e.Graph.Events[ev].Thread, e.Sites[ev]} }
	for _, p := range e.Derived.Races() {
		key := [2]Place{place(p.First), place(p.Second)}
		if order(key[1], key[0]) < 0 {
			key[0], key[1] = key[1], key[0]
			p.First, p.Second = p.Second, p.First
		}
		r := s[key]
		if r == nil {
			r = &Race{First: key[0], Second: key[1], Example: e, Pair: p}
			s[key] = r
		} else if shows(e, p) && !shows(r.Example, r.Pair) {
			r.Example, r.Pair = e, p
		}
		r.Executions++
	}
}

// shows reports whether an execution shows what a race may lead to: it ends, and a read misses the
// write that it races with.
func shows(e *Execution, p memmodel.Pair) bool {
	misses := func(r, w int) bool {
		return e.Graph.Events[r].Op == memmodel.Read && e.Graph.RF[r] != w
	}
	return e.End == Ended && (misses(p.First, p.Second) || misses(p.Second, p.First))
}

// order compares places.
func order(a, b Place) int {
	if a.Thread != b.Thread {
		return a.Thread - b.Thread
	}
	return a.Inst - b.Inst
}

// sorted returns the races in the order of their places.
func (s raceSet) sorted() []*Race {
	var out []*Race
	for _, r := range s {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Race) int {
		if c := order(a.First, b.First); c != 0 {
			return c
		}
		return order(a.Second, b.Second)
	})
	return out
}

// Groups returns the races by the text and the place of their instructions, in the order of the
// first of each group: threads that execute the same code have the same race.
func (r *Report) Groups() [][]*Race { return Grouped(r.Races) }

// Grouped returns pairs in the groups of Groups.
func Grouped(races []*Race) [][]*Race {
	var out [][]*Race
	index := map[[4]string]int{}
	for _, race := range races {
		_, a := race.Instruction(race.First)
		_, b := race.Instruction(race.Second)
		key := [4]string{a.Text, a.At, b.Text, b.At}
		if other := [4]string{b.Text, b.At, a.Text, a.At}; slices.Compare(other[:], key[:]) < 0 {
			key = other
		}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], race)
	}
	return out
}
