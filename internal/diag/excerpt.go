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
	maxExcerpt = 120 // columns of source text that are shown
	lead       = 30  // of them before the marked place, in a line that is cut
)

// excerpt prints the line of a span with a mark below it and the label behind the mark. Without the text of
// the file only the label is printed.
func (t *Text) excerpt(s source.Span, label string, st style) {
	var line string
	ok := false
	if f := t.files.File(s.Start.File()); f != nil && s.IsValid() {
		line, ok = f.Line(s.Start.Line())
	}
	if !ok {
		if label != "" {
			fmt.Fprintf(t.w, "      %s\n", t.paint(st, printable(label)))
		}
		return
	}
	text, from, to := layout(line, s)
	fmt.Fprintf(t.w, "%5d | %s\n", s.Start.Line(), text)
	var mark []string
	if from >= 0 {
		mark = append(mark, strings.Repeat(" ", from)+t.paint(st, "^"+strings.Repeat("~", max(to-from-1, 0))))
	}
	if label != "" {
		mark = append(mark, t.paint(st, printable(label)))
	}
	if len(mark) > 0 {
		fmt.Fprintf(t.w, "      | %s\n", strings.Join(mark, " "))
	}
}

// layout expands a line for display and returns the columns [from, to) of the span in it; from is negative
// if the column is not known. A long line is cut around the span.
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
	var cells []int // the byte in b where each column starts; for cutting
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
	if start >= len(line) && start >= 0 { // at or behind the end of the line
		from = col
	}
	to = max(to, from+1)
	if from < 0 {
		from, to = -1, -1
	}
	return cut(b.String(), cells, from, to)
}

// cell returns how a character of n bytes is shown at a column, and how many columns it takes.
func cell(r rune, n, col int) (string, int) {
	switch {
	case r == '\t':
		w := tabWidth - col%tabWidth
		return strings.Repeat(" ", w), w
	case r == utf8.RuneError && n <= 1, unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		return "\uFFFD", 1
	}
	return string(r), width(r)
}

// cut shortens a line that is too long for a terminal, and moves the columns with it.
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

// wide are the ranges of characters that terminals show in two columns: the blocks of East Asian Wide and
// Fullwidth characters and of emoji (Unicode Standard Annex 11), without the single exceptions in them.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x17000, Hi: 0x18cff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && unicode.Is(wide, r):
		return 2
	}
	return 1
}

// printable replaces what could disturb a terminal: names and messages may quote any input.
func printable(s string) string {
	clean := func(r rune) bool {
		return r != utf8.RuneError && (!unicode.IsControl(r) || r == '\t') && !unicode.Is(unicode.Cf, r)
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
