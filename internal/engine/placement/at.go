package placement

import (
	"maps"
	"strings"

	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// at is the position at which the text changes if the barrier after a label is inserted or removed;
// of a barrier that stays, its own. It is found by asking for the edit: a barrier may need braces,
// so its place is not always the end of the statement before it.
func (f *found) at(l placer.Label) source.Pos {
	from := f.marked.origins[l]
	span := f.marked.node(l).Span
	if from.fn.Tree.Labels[from.l].Barrier {
		return span.Start
	}
	with := maps.Clone(from.fn.Tree.Standing())
	with[from.l] = true
	placements := map[*syntax.Func]placer.Placement{from.fn: with}
	text := func(*syntax.Func, placer.Label) string { return "barrier" }
	files, err := f.marked.unit.Edits(placements, text)
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
