package syntax

import (
	"fmt"
	"slices"

	"heddle/internal/source"
)

// Mark is text that is inserted into a file for one compilation.
type Mark struct {
	Offset int    // byte offset; the text goes before this byte
	Text   string // without line breaks, so that line numbers do not change
}

// FileMarks holds the marks of one file.
type FileMarks struct {
	File  *source.File
	Marks []Mark // in ascending order of Offset
}

// Marks returns marks that make every point of the unit visible in the PTX. PTX has no source to
// mark.
//
// A mark is an inline assembly statement that the compiler may neither remove nor move across
// memory accesses. It contains a pragma, which tools ignore if they do not know it (PTX ISA
// 11.4.7). The mark of an existing barrier precedes the barrier.
func (u *Unit) Marks() []FileMarks {
	var out []FileMarks
	if u.PTX { // OfPTX has already inserted the points
		return nil
	}
	for _, file := range u.Files {
		fm := FileMarks{File: file}
		for _, f := range u.Funcs {
			if f.File == file {
				fm.Marks = append(fm.Marks, f.marks()...)
			}
		}
		// Functions overlap only with lambda expressions inside their statements, where they have no
		// marks.
		slices.SortStableFunc(fm.Marks, func(a, b Mark) int { return a.Offset - b.Offset })
		out = append(out, fm)
	}
	return out
}

// marks returns the marks of one function.
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
		if p.offset > 0 && isWord(f.File.Content[p.offset-1]) { // the name of a macro
			m.Text = " " + m.Text
		}
		out = append(out, m)
	}
	return out
}

// markText returns the inline assembly that marks a point. It is volatile and clobbers memory, as a
// barrier does, so that the compiler keeps the accesses on both sides of it apart.
func markText(kind string, n int) string {
	return fmt.Sprintf(`__asm__ __volatile__(".pragma \"heddle.%s %d\";" ::: "memory");`, kind, n)
}
