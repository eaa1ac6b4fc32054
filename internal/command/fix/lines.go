package fix

import (
	"slices"
	"strings"

	"heddle/internal/edit"
)

// What a form changes, in lines: people compare patches by that.

// removesLines reports whether a form changes or removes lines, beyond those for kernels before.
func (s *sourceFixer) removesLines(f *sourceForm) bool {
	removed, _ := s.lines(f)
	return removed > 0
}

// changedLines is the number of lines that a form removes or adds, beyond those for kernels before.
func (s *sourceFixer) changedLines(f *sourceForm) int {
	removed, added := s.lines(f)
	return removed + added
}

// lines counts the lines that the edits of a form remove and add. Its edits replace full lines.
func (s *sourceFixer) lines(f *sourceForm) (removed, added int) {
	for _, e := range f.edits {
		if slices.Contains(s.edits, e) {
			continue
		}
		r, a := s.linesOf(e)
		removed, added = removed+r, added+a
	}
	return removed, added
}

func (s *sourceFixer) linesOf(e edit.Edit) (removed, added int) {
	from, _ := s.user.Offset(e.Span.Start)
	to, _ := s.user.Offset(e.Span.End)
	return strings.Count(string(s.user.Content[from:to]), "\n"), strings.Count(e.New, "\n")
}
