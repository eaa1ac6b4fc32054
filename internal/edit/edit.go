// Package edit applies text edits to files and prints them as unified diffs.
package edit

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"heddle/internal/source"
)

// Edit replaces the text of Span by New. A Span whose End is its Start, or unknown, inserts.
type Edit struct {
	Span source.Span
	New  string
}

// change is an Edit by byte offsets.
type change struct {
	start, end int
	new        string
	edit       int // index in the caller's list
}

// OverlapError says that two edits cannot both be applied.
type OverlapError struct {
	File          string
	First, Second source.Span
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s: edits at %v-%v and %v-%v overlap", e.File, e.First.Start, e.First.End, e.Second.Start, e.Second.End)
}

// Apply returns the content of f with all edits applied at once: the spans of all of them are places in the
// original. Insertions at one place keep the order of the list, and come before a replacement that starts
// there. It fails if a span is not in f or edits overlap.
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

// Check reports whether the edits can be applied to f.
func Check(f *source.File, edits []Edit) error {
	_, err := resolve(f, edits)
	return err
}

// resolve turns edits into changes, in the order of the text and free of overlaps.
func resolve(f *source.File, edits []Edit) ([]change, error) {
	if f.Content == nil && len(edits) > 0 {
		return nil, fmt.Errorf("%s: the text of the file is not known", f.Name)
	}
	changes := make([]change, 0, len(edits))
	for i, e := range edits {
		start, ok := offset(f, e.Span.Start)
		end := start
		if ok && e.Span.End.IsValid() {
			end, ok = offset(f, e.Span.End)
		}
		if !ok || end < start {
			return nil, fmt.Errorf("%s: the edit at %v-%v is not in the file", f.Name, e.Span.Start, e.Span.End)
		}
		changes = append(changes, change{start, end, e.New, i})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end // an insertion before a replacement of the same start
	})
	for i := 1; i < len(changes); i++ {
		if prev := changes[i-1]; changes[i].start < prev.end || changes[i].start == prev.start && prev.end > prev.start {
			return nil, &OverlapError{f.Name, edits[prev.edit].Span, edits[changes[i].edit].Span}
		}
	}
	return changes, nil
}

// offset is f.Offset for positions that are exact: a column that has saturated is none.
func offset(f *source.File, p source.Pos) (int, bool) {
	if p == source.MakePos(p.File(), p.Line(), math.MaxInt) {
		return 0, false
	}
	return f.Offset(p)
}
