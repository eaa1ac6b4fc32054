package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"heddle/internal/source"
)

// encoding is the unit in which columns count (3.17, PositionEncodingKind).
type encoding uint8

const (
	utf16     encoding = iota // the default, which every client supports
	utf8Bytes                 // used if the client offers it, since no conversion is needed
)

// units returns the length of s in the units of the negotiated position encoding, in which the
// protocol counts columns.
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

// bytes converts a column in units to a byte offset in a line, at most the length of the line.
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

// offset returns the byte offset of a position in a text. Positions after the end of a line or of
// the text mean its end.
func (e encoding) offset(text string, p position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	// The line break, LF or CRLF, does not belong to the line.
	line := text[at:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = strings.TrimSuffix(line[:i], "\r")
	}
	return at + e.bytes(line, p.Character)
}

// position converts a position of a file. Without a column it is the start of the line.
func (e encoding) position(f *source.File, p source.Pos) position {
	out := position{Line: max(p.Line()-1, 0)}
	if line, ok := f.Line(p.Line()); ok {
		out.Character = e.units(line[:min(max(p.Col()-1, 0), len(line))])
	}
	return out
}

// span converts a span to a range. A span without an end covers the word at its start, and a span
// without a column the text of its line, so that the editor has something to underline.
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

// wordLength returns the length in bytes of the word at the start of a text, or of its first
// character if it is not a word.
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

// isWord reports whether c can be part of an identifier in C, C++ or PTX.
func isWord(c byte) bool {
	return c == '_' || c == '%' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z'
}

// pathOf returns the file name of a file: URI, and "" for other schemes.
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

// uriOf returns the file: URI of a file name, which is made absolute.
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
