package sync

import (
	"maps"
	"strings"

	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// at is where the text changes if the barrier after a label comes or goes; where it stands, if it
// stays.
func (f *found) at(l placer.Label) source.Pos {
	from := f.marked.origins[l]
	span := f.marked.node(l).Span
	if from.fn.Tree.Labels[from.l].Barrier {
		return span.Start
	}
	with := maps.Clone(from.fn.Tree.Standing())
	with[from.l] = true
	files, err := f.marked.unit.Edits(map[*syntax.Func]placer.Placement{from.fn: with}, func(*syntax.Func, placer.Label) string { return "barrier" })
	if err != nil || len(files) == 0 {
		return span.End
	}
	for _, e := range files[0].Edits {
		if strings.Contains(e.New, "barrier") {
			return e.Span.Start
		}
	}
	return span.End
}
