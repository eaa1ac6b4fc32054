// Package table lays out rows in columns for a terminal of a given width.
package table

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells. The last column takes the width that is left: its text is broken between words.
type Table struct {
	Indent int
	Rows   [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

const (
	gap      = 2  // between columns
	leastEnd = 20 // of the last column: in less, breaking lines helps nobody
)

// Write prints the table for a terminal of width columns; 0 is as wide as it takes.
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

// widths are those of all columns but the last.
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

// Wrap breaks text between words into lines of at most width characters, where words allow it; with width 0 it is one line.
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
