// Package edit applies text edits to files and formats them as unified diffs.
//
// All edits of a list refer to the original text, so their order does not matter, except for
// insertions at one position. Overlapping edits are an error: there is no order in which both could
// be meant.
package edit

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"heddle/internal/source"
)

// Edit replaces the text of Span by New. If the End of the Span equals its Start or is unknown, the
// edit is an insertion.
type Edit struct {
	Span source.Span // in the original text
	New  string      // empty to delete
}

// change is an Edit in byte offsets.
type change struct {
	start, end int // of the replaced bytes, half open
	new        string
	edit       int // index in the caller's list
}

// OverlapError reports two edits that cannot both be applied.
type OverlapError struct {
	File          string      // its name
	First, Second source.Span // of the edits, in the order of the text
}

// Error returns the file and the spans of both edits.
func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s: edits at %v-%v and %v-%v overlap", e.File, e.First.Start, e.First.End,
		e.Second.Start, e.Second.End)
}

// Apply returns the content of f with all edits applied. All spans refer to the original text.
// Insertions at one position keep the order of the list, and precede a replacement that starts
// there. Apply fails if a span is not in f, or with an *OverlapError if edits overlap.
func Apply(f *source.File, edits []Edit) ([]byte, error) {
	changes, err := resolve(f, edits)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	last := 0
	for _, c := range changes {
		out.Write(f.Content[last:c.start])
		out.WriteString(c.new)
		last = c.end
	}
	out.Write(f.Content[last:])
	return out.Bytes(), nil
}

// Check returns the error that Apply would return, without applying the edits.
func Check(f *source.File, edits []Edit) error {
	_, err := resolve(f, edits)
	return err
}

// resolve converts edits to changes that are in the order of the text and do not overlap.
func resolve(f *source.File, edits []Edit) ([]change, error) {
	if f.Content == nil && len(edits) > 0 {
		return nil, fmt.Errorf("%s: cannot edit a file whose text is not known", f.Name)
	}
	changes := make([]change, 0, len(edits))
	for i, e := range edits {
		start, ok := offset(f, e.Span.Start)
		end := start
		if ok && e.Span.End.IsValid() {
			end, ok = offset(f, e.Span.End)
		}
		if !ok || end < start {
			return nil, fmt.Errorf("%s: the edit at %v-%v is outside the file", f.Name, e.Span.Start,
				e.Span.End)
		}
		changes = append(changes, change{start, end, e.New, i})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end // an insertion precedes a replacement with the same start
	})
	for i := 1; i < len(changes); i++ {
		if prev := changes[i-1]; changes[i].start < prev.end || changes[i].start == prev.start &&
			prev.end > prev.start {
			return nil, &OverlapError{f.Name, edits[prev.edit].Span, edits[changes[i].edit].Span}
		}
	}
	return changes, nil
}

// offset is f.Offset for exact positions. It returns false for a column that has saturated, since
// the byte it means is not known.
func offset(f *source.File, p source.Pos) (int, bool) {
	if p == source.MakePos(p.File(), p.Line(), math.MaxInt) {
		return 0, false
	}
	return f.Offset(p)
}
