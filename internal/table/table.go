// Package table formats rows of text in columns for a terminal of a given width. It is used for
// lists whose last column is prose, such as the codes that heddle explain prints.
package table

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a list of rows of cells. The last column takes the rest of the width; its text wraps
// between words.
type Table struct {
	Indent int        // spaces before each row
	Rows   [][]string // rows may have different numbers of cells
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

const (
	gap      = 2  // spaces between columns
	leastEnd = 20 // width of the last column in a narrow terminal: shorter lines are unreadable
)

// Write writes the table for a terminal of width columns; 0 means unlimited. Columns are padded to
// the widest of their cells, counted in runes.
func (t *Table) Write(w io.Writer, width int) error {
	widths := t.widths()
	left := t.Indent
	for _, n := range widths {
		left += n + gap
	}
	room := 0
	if width > 0 {
		room = max(width-left, leastEnd)
	}
	b := bufio.NewWriter(w)
	for _, row := range t.Rows {
		line := strings.Repeat(" ", t.Indent)
		for i, cell := range row {
			if i < len(row)-1 {
				line += cell + strings.Repeat(" ", widths[i]+gap-utf8.RuneCountInString(cell))
				continue
			}
			for j, part := range Wrap(cell, room) {
				if j > 0 {
					line = strings.Repeat(" ", left)
				}
				b.WriteString(strings.TrimRight(line+part, " ") + "\n")
			}
		}
	}
	return b.Flush()
}

// widths returns the width of each column in runes. The last cell of a row does not count.
func (t *Table) widths() []int {
	var out []int
	for _, row := range t.Rows {
		for i, cell := range row[:max(len(row)-1, 0)] {
			if i == len(out) {
				out = append(out, 0)
			}
			out[i] = max(out[i], utf8.RuneCountInString(cell))
		}
	}
	return out
}

// Wrap splits text between words into lines of at most width characters; a longer word gets a line
// of its own. With width 0 the result is text as one line. Runs of white space become a single
// space.
func Wrap(text string, width int) []string {
	words := strings.Fields(text)
	if width <= 0 || len(words) == 0 {
		return []string{text}
	}
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width {
			*last += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
