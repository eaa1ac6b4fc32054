package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"heddle/internal/source"
)

// encoding is how characters of a line are counted (3.17, PositionEncodingKind).
type encoding uint8

const (
	utf16 encoding = iota // what every client has
	utf8Bytes
)

// units is the length of a text in characters of the protocol.
func (e encoding) units(s string) int {
	if e == utf8Bytes {
		return len(s)
	}
	n := 0
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// bytes is the offset in a line of a character; at most the length of the line.
func (e encoding) bytes(line string, character int) int {
	if e == utf8Bytes {
		return min(max(character, 0), len(line))
	}
	n := 0
	for i, r := range line {
		if n >= character {
			return i
		}
		if n++; r > 0xffff {
			n++
		}
	}
	return len(line)
}

// offset is the byte of a text at a position; a line that is not there is its end.
func (e encoding) offset(text string, p position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	line := text[at:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = strings.TrimSuffix(line[:i], "\r")
	}
	return at + e.bytes(line, p.Character)
}

// position is where a place of a file is. A line without column is its start.
func (e encoding) position(f *source.File, p source.Pos) position {
	out := position{Line: max(p.Line()-1, 0)}
	if line, ok := f.Line(p.Line()); ok {
		out.Character = e.units(line[:min(max(p.Col()-1, 0), len(line))])
	}
	return out
}

// span is the range of a span. One that is only a point becomes the word that starts there, so that an editor has
// something to underline.
func (e encoding) span(f *source.File, s source.Span) lspRange {
	r := lspRange{Start: e.position(f, s.Start)}
	if s.End.IsValid() && s.End > s.Start {
		r.End = e.position(f, s.End)
		return r
	}
	line, ok := f.Line(s.Start.Line())
	if !ok {
		r.End = r.Start
		return r
	}
	at := min(max(s.Start.Col()-1, 0), len(line))
	if s.Start.Col() == 0 { // only the line is known
		at = len(line) - len(strings.TrimLeft(line, " \t"))
		r.Start.Character = e.units(line[:at])
		r.End = position{r.Start.Line, e.units(strings.TrimRight(line, " \t"))}
		return r
	}
	n := wordLength(line[at:])
	r.End = position{r.Start.Line, r.Start.Character + e.units(line[at:at+n])}
	return r
}

// wordLength is the length of the word that a text starts with, or of its first character.
func wordLength(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	if n == 0 && s != "" {
		_, n = utf8.DecodeRuneInString(s)
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || c == '%' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pathOf is the file that a URI names; empty if it is of another scheme.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// uriOf is the URI of a file.
func uriOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
