package place

import (
	"fmt"
	"slices"
)

// Alternatives returns the placements of at most most barriers that may be right by what an oracle said of the placement
// without any: each has a barrier on the way of each race, and none diverges. Places that are one (Node.Same) count as
// one barrier. It stops after limit placements.
func Alternatives(t *Tree, a *Answer, most, limit int) []Placement {
	s := &search{tree: t, text: newText(t), same: newSames(t), banned: map[Label]bool{}}
	s.ban(a.Divergences, Placement{})
	e := &enumeration{search: s, most: most, limit: limit, seen: map[string]bool{}}
	for i := range a.Races {
		if r := a.Races[i]; !r.OtherBlock {
			s.text.order(&r)
			for _, c := range s.text.constraints(&r) {
				e.ways = append(e.ways, slices.DeleteFunc(c.wide, func(l Label) bool { return t.Labels[l].Warp }))
			}
		}
	}
	e.extend(nil)
	return e.out
}

// enumeration is the state of one Alternatives.
type enumeration struct {
	*search
	ways        [][]Label
	most, limit int
	seen        map[string]bool
	out         []Placement
}

// extend adds barriers to places that were chosen: where a race asks for one, and then anywhere.
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
	open := slices.IndexFunc(e.ways, func(w []Label) bool { return len(without(w, p)) == len(w) })
	if open >= 0 {
		labels = e.ways[open]
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
