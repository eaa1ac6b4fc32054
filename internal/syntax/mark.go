package syntax

import (
	"fmt"
	"slices"

	"heddle/internal/source"
)

// Mark is text that goes into a file for one compilation, before the byte at Offset.
type Mark struct {
	Offset int
	Text   string
}

// FileMarks are the marks of one file, in ascending order of Offset.
type FileMarks struct {
	File  *source.File
	Marks []Mark
}

// Marks returns the text that makes every point of the unit visible in the PTX. It has no line breaks.
//
// The mark is an inline assembly statement that the compiler may neither drop nor move past accesses to memory; what it
// holds is a pragma, which is a hint to whoever does not know it (PTX ISA 11.4.7). A barrier that stands is marked
// before it.
func (u *Unit) Marks() []FileMarks {
	var out []FileMarks
	if u.PTX { // OfPTX has put the points where they belong
		return nil
	}
	for _, file := range u.Files {
		fm := FileMarks{File: file}
		for _, f := range u.Funcs {
			if f.File == file {
				fm.Marks = append(fm.Marks, f.marks()...)
			}
		}
		// Functions do not overlap, but for lambda expressions within statements, at whose offsets nothing else is.
		slices.SortStableFunc(fm.Marks, func(a, b Mark) int { return a.Offset - b.Offset })
		out = append(out, fm)
	}
	return out
}

func (f *Func) marks() []Mark {
	var out []Mark
	for _, p := range f.pieces {
		m := Mark{Offset: p.offset}
		switch p.what {
		case openBrace:
			m.Text = "{"
		case closeBrace:
			m.Text = "}"
		case pointHere:
			m.Text = markText("point", f.Point(p.label))
		case standing:
			m.Text = markText("barrier", f.Point(p.label)) // the word of the pragma, not the opcode
		}
		out = append(out, m)
	}
	return out
}

func markText(kind string, n int) string {
	return fmt.Sprintf(`__asm__ __volatile__(".pragma \"heddle.%s %d\";" ::: "memory");`, kind, n)
}
