package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/internal/source"
)

const (
	tabWidth   = 4
	maxExcerpt = 120 // maximum columns of source text per line
	lead       = 30  // columns kept before the marked place when a line is cut
)

// excerpt prints the line of a span, a mark below the span, and the label after the mark. If the
// text of the file is unknown, it prints the label only.
func (t *Text) excerpt(s source.Span, label string, st style) {
	t.source(s)
	t.mark(s, label, st)
}

// line returns the line of a span, if the text of the file is known.
func (t *Text) line(s source.Span) (string, bool) {
	f := t.files.File(s.Start.File())
	if f == nil || !s.IsValid() {
		return "", false
	}
	return f.Line(s.Start.Line())
}

// shown is the line of a span as it is printed: a long one is cut around the span.
func (t *Text) shown(s source.Span) string {
	line, _ := t.line(s)
	text, _, _ := layout(line, s)
	return text
}

// source prints the line of a span, with its number, if its text is known, and returns the text.
func (t *Text) source(s source.Span) string {
	if _, ok := t.line(s); !ok {
		return ""
	}
	text := t.shown(s)
	fmt.Fprintf(t.w, "%5d | %s\n", s.Start.Line(), text)
	return text
}

// mark prints a mark below a span of the line before, and a label.
func (t *Text) mark(s source.Span, label string, st style) {
	line, ok := t.line(s)
	if !ok {
		if label != "" {
			fmt.Fprintf(t.w, "      %s\n", t.paint(st, printable(label)))
		}
		return
	}
	_, from, to := layout(line, s)
	var mark []string
	if from >= 0 {
		mark = append(mark, strings.Repeat(" ", from)+
			t.paint(st, "^"+strings.Repeat("~", max(to-from-1, 0))))
	}
	if label != "" {
		mark = append(mark, t.paint(st, printable(label)))
	}
	if len(mark) > 0 {
		fmt.Fprintf(t.w, "      | %s\n", strings.Join(mark, " "))
	}
}

// layout expands tabs and unprintable characters of a line for display and returns the columns
// [from, to) of the span in the result; both are -1 if the column is unknown. A line that is too
// long is cut around the span.
func layout(line string, s source.Span) (text string, from, to int) {
	start := s.Start.Col() - 1
	end := start + 1
	if s.End.IsValid() && s.End.File() == s.Start.File() {
		switch {
		case s.End.Line() == s.Start.Line():
			end = s.End.Col() - 1
		case s.End.Line() > s.Start.Line():
			end = len(line)
		}
	}
	var b strings.Builder
	col := 0
	from, to = -1, -1
	var cells []int // the byte in b where each column starts, for cut
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		if i <= start && start < i+n {
			from = col
		}
		if i < end {
			to = col
		}
		out, w := cell(r, n, col)
		for range w {
			cells = append(cells, b.Len())
		}
		b.WriteString(out)
		col += w
		if i < end {
			to = col
		}
		i += n
	}
	if start >= len(line) && start >= 0 { // at or after the end of the line
		from = col
	}
	to = max(to, from+1)
	if from < 0 {
		from, to = -1, -1
	}
	return cut(b.String(), cells, from, to)
}

// cell returns the displayed form of a character of n bytes at a column, and its width in columns.
func cell(r rune, n, col int) (string, int) {
	switch {
	case r == '\t':
		w := tabWidth - col%tabWidth
		return strings.Repeat(" ", w), w
	case r == utf8.RuneError && n <= 1, unicode.IsControl(r),
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		return "\uFFFD", 1
	}
	return string(r), width(r)
}

// cut shortens a line to maxExcerpt columns around [from, to), adds "..." where text is missing,
// and returns the columns in the shortened line. cells[i] is the byte of text where column i
// starts.
func cut(text string, cells []int, from, to int) (string, int, int) {
	if len(cells) <= maxExcerpt {
		return text, from, to
	}
	first := 0
	if from > maxExcerpt-lead {
		first = min(from-lead, len(cells))
	}
	last := min(first+maxExcerpt, len(cells))
	end := len(text)
	if last < len(cells) {
		end = cells[last]
	}
	begin := len(text)
	if first < len(cells) {
		begin = cells[first]
	}
	out := text[begin:end]
	shift := -first
	if first > 0 {
		out, shift = "..."+out, shift+3
	}
	if last < len(cells) {
		out += "..."
	}
	if from < 0 {
		return out, -1, -1
	}
	return out, from + shift, min(to+shift, max(maxExcerpt+3, from+shift+1))
}

// wide lists the characters that terminals show in two columns: the blocks of East Asian Wide and
// Fullwidth characters and of emoji (Unicode Standard Annex 11). Narrow exceptions within the
// blocks are not listed, so the mark below such a line can be off by a column.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x17000, Hi: 0x18cff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// width returns the number of terminal columns of a character: 0 for combining marks, 2 for wide
// characters, else 1.
func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && unicode.Is(wide, r):
		return 2
	}
	return 1
}

// printable replaces control and format characters and invalid UTF-8 by U+FFFD: names and
// messages may quote any input, and must not send escape sequences to the terminal.
func printable(s string) string { return printableBut(s, "\t") }

// printableBut is printable for a text that keeps other control characters: those of keep.
func printableBut(s, keep string) string {
	clean := func(r rune) bool {
		return r != utf8.RuneError && !unicode.Is(unicode.Cf, r) &&
			(!unicode.IsControl(r) || strings.ContainsRune(keep, r))
	}
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if clean(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}
