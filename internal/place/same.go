package place

// sames groups the labels that are one place in the source.
type sames struct {
	labels [][]Label // by Node.Same
	t      *Tree
}

func newSames(t *Tree) *sames {
	s := &sames{t: t}
	for l := range t.Labels {
		n := t.Labels[l].Same
		for n >= len(s.labels) {
			s.labels = append(s.labels, nil)
		}
		if n > 0 {
			s.labels[n] = append(s.labels[n], Label(l))
		}
	}
	return s
}

// first returns the representative of all labels that share the place of l.
func (s *sames) first(l Label) Label {
	if n := s.t.Labels[l].Same; n > 0 {
		return s.labels[n][0]
	}
	return l
}

// of returns all labels that share the place of l.
func (s *sames) of(l Label) []Label {
	if n := s.t.Labels[l].Same; n > 0 {
		return s.labels[n]
	}
	return []Label{l}
}
