package diag

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"heddle/internal/source"
)

// paths converts file names for other tools: slashes as separators, and relative to a base
// directory for files below it. CI systems match findings with repository files by these names.
type paths struct{ base string }

// rel returns the name of a file relative to the base, or its absolute name and false if it is not
// below the base.
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

// uri returns a URI reference for a file (RFC 3986), and whether it is relative to the base.
func (p paths) uri(name string) (string, bool) {
	r, below := p.rel(name)
	if below {
		return (&url.URL{Path: r}).String(), true
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(r, "/")}).String(), false
}

// region is a part of a file. Lines and columns start at 1, columns count UTF-16 code units, the
// end is exclusive, and zero is unknown.
type region struct{ line, col, endLine, endCol int }

// regionOf converts a span, whose columns count bytes. Where the text of the file is unknown,
// columns stay byte columns, which differ only on lines with non-ASCII text.
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

// units returns the column of a position in UTF-16 code units.
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

// placeOf returns the file and the region of a span. For an invalid span it returns the input
// without a region; the name is empty if there is no input either.
func placeOf(files *source.Set, s source.Span, input string) (name string, r region) {
	if f := files.File(s.Start.File()); f != nil {
		return f.Name, regionOf(files, s)
	}
	return input, region{}
}
