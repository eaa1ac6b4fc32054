package diag

import (
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"heddle/internal/source"
)

// fix returns a fix as artifact changes (3.55). It returns nil if an edit has no known file or
// region: part of a fix would be worse than none.
func (s *SARIF) fix(f *Fix) *sarif.Fix {
	out := sarif.NewFix().WithDescription(message(f.Message))
	changes := map[source.FileID]*sarif.ArtifactChange{}
	for i := range f.Edits {
		e := &f.Edits[i]
		l := s.location(e.Span, "")
		if l == nil || l.PhysicalLocation.Region == nil {
			return nil
		}
		id := e.Span.Start.File()
		if changes[id] == nil {
			changes[id] = sarif.NewArtifactChange().WithArtifactLocation(l.PhysicalLocation.ArtifactLocation)
			out.AddArtifactChange(changes[id])
		}
		// An insertion deletes an empty region, whose end equals its start (3.57.3).
		region := l.PhysicalLocation.Region
		if region.EndLine == nil {
			region.WithEndLine(*region.StartLine)
			if region.StartColumn != nil {
				region.WithEndColumn(*region.StartColumn)
			}
		}
		replace := sarif.NewReplacement().WithDeletedRegion(region)
		if e.New != "" {
			replace.WithInsertedContent(sarif.NewArtifactContent().WithText(e.New))
		}
		changes[id].AddReplacement(replace)
	}
	if len(changes) == 0 {
		return nil
	}
	return out
}
