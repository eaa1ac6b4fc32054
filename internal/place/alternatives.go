package place

import (
	"fmt"
	"slices"
)

// Alternatives returns placements of at most most barriers that may be correct, given the oracle's
// answer to the placement without barriers: each has a barrier on every path of every race, and
// none is known to diverge. Labels at one place in the source (Node.Same) count as one barrier. It
// stops after limit placements.
func Alternatives(t *Tree, a *Answer, most, limit int) []Placement {
	s := &search{tree: t, text: newText(t), same: newSames(t), banned: map[Label]bool{}}
	s.ban(a.Divergences, Placement{})
	e := &enumeration{search: s, most: most, limit: limit, seen: map[string]bool{}}
	for i := range a.Races {
		if r := a.Races[i]; !r.OtherBlock {
			s.text.order(&r)
			for _, c := range s.text.constraints(&r) {
				warp := func(l Label) bool { return t.Labels[l].Warp }
				e.paths = append(e.paths, slices.DeleteFunc(c.wide, warp))
			}
		}
	}
	e.extend(nil)
	return e.out
}

// enumeration is the state of one call of Alternatives.
type enumeration struct {
	*search
	paths       [][]Label // the labels on each path of a race
	most, limit int
	seen        map[string]bool
	out         []Placement
}

// extend adds one barrier to the chosen places: on the first path that has none, or anywhere once
// every path has one.
func (e *enumeration) extend(chosen []Label) {
	key := fmt.Sprint(chosen)
	if e.seen[key] || len(e.out) >= e.limit {
		return
	}
	e.seen[key] = true
	p := Placement{}
	for _, l := range chosen {
		for _, k := range e.same.of(l) {
			p[k] = true
		}
	}
	labels := []Label(nil)
	bare := func(path []Label) bool { return len(without(path, p)) == len(path) }
	open := slices.IndexFunc(e.paths, bare)
	if open >= 0 {
		labels = e.paths[open]
	} else {
		e.out = append(e.out, p)
		for l := range e.tree.Labels {
			if e.text.open(Label(l)) {
				labels = append(labels, Label(l))
			}
		}
	}
	if len(chosen) == e.most {
		return
	}
	for _, l := range labels {
		if one := e.same.first(l); !e.banned[l] && !slices.Contains(chosen, one) {
			more := append(slices.Clone(chosen), one)
			slices.Sort(more)
			e.extend(more)
		}
	}
}
