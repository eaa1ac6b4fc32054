package diag

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"heddle/internal/source"
)

// paths names files as tools want them: relative to a base directory if they lie below it, with slashes.
type paths struct{ base string }

// rel returns the name of a file relative to the base, and whether it lies below it. Other names are absolute.
func (p paths) rel(name string) (string, bool) {
	abs := name
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(p.base, abs)
	}
	if r, err := filepath.Rel(p.base, abs); err == nil && filepath.IsLocal(r) {
		return filepath.ToSlash(r), true
	}
	return filepath.ToSlash(abs), false
}

// uri returns a URI reference for a file, and whether it is relative to the base.
func (p paths) uri(name string) (string, bool) {
	r, below := p.rel(name)
	if below {
		return (&url.URL{Path: r}).String(), true
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(r, "/")}).String(), false
}

// region is a part of a file whose columns, from 1, count what a format wants; the end is exclusive. Zero is
// unknown.
type region struct{ line, col, endLine, endCol int }

// regionOf converts the byte columns of a span to UTF-16 code units where the text of the file is known.
func regionOf(files *source.Set, s source.Span) region {
	f := files.File(s.Start.File())
	if f == nil || s.Start.Line() == 0 {
		return region{}
	}
	r := region{line: s.Start.Line(), col: units(f, s.Start)}
	if s.End.IsValid() && s.End.File() == s.Start.File() && s.End.Line() > 0 && s.End.Col() > 0 {
		r.endLine, r.endCol = s.End.Line(), units(f, s.End)
	}
	if r.endLine < r.line || r.endLine == r.line && r.endCol <= r.col {
		r.endLine, r.endCol = 0, 0
	}
	return r
}

// units is the column of a position in UTF-16 code units.
func units(f *source.File, p source.Pos) int {
	line, ok := f.Line(p.Line())
	if !ok || p.Col() == 0 {
		return p.Col()
	}
	n := 1
	for i := 0; i < min(p.Col()-1, len(line)); {
		r, size := utf8.DecodeRuneInString(line[i:])
		n += max(utf16.RuneLen(r), 1)
		i += size
	}
	return n + max(p.Col()-1-len(line), 0)
}

// placeOf returns the file and the region of a span; for one that is nowhere the input, without a region. The
// name is empty if there is no input either.
func placeOf(files *source.Set, s source.Span, input string) (name string, r region) {
	if f := files.File(s.Start.File()); f != nil {
		return f.Name, regionOf(files, s)
	}
	return input, region{}
}
