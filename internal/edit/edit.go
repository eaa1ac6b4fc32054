// Package edit applies text edits to files and prints them as unified diffs.
package edit

import "heddle/internal/source"

// Edit replaces the text of Span by New. An empty Span inserts.
type Edit struct {
	Span source.Span
	New  string
}
