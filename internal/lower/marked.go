package lower

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// clang reads files with marks through a virtual file overlay, under their own names, so that
// includes and the names in diagnostics stay the same. Marks have no line breaks, so lines stay the
// same too; columns are corrected where they are read (debugloc.go).

// markedFile is a file with its marks inserted.
type markedFile struct {
	name  string
	text  []byte          // with the marks
	shift map[int][]shift // by line
	// the file in whose text the marks were inserted, if that has marks itself
	under *markedFile
}

// shift is the displacement by a mark of the text after it in the line.
type shift struct {
	col  int // column of the mark in the text without marks
	from int // column at which the mark starts in the text with marks
	size int // bytes of the mark
}

// mark inserts the marks into the text of a file.
func mark(m Marked) (*markedFile, error) {
	f := &markedFile{name: m.Name, shift: make(map[int][]shift)}
	line, start, at, grown := 1, 0, 0, 0 // grown: bytes of the marks in this line so far
	for _, k := range m.Marks {
		if k.Offset < at || k.Offset > len(m.Content) || strings.ContainsAny(k.Text, "\r\n") {
			return nil, fmt.Errorf("%s: the mark %q at byte %d is out of order, outside the file, or "+
				"contains a line break", m.Name, k.Text, k.Offset)
		}
		for i := start; i < k.Offset; i++ {
			if m.Content[i] == '\n' {
				line, start, grown = line+1, i+1, 0
			}
		}
		col := k.Offset - start + 1
		f.shift[line] = append(f.shift[line], shift{col, col + grown, len(k.Text)})
		grown += len(k.Text)
		f.text = append(append(f.text, m.Content[at:k.Offset]...), k.Text...)
		at = k.Offset
	}
	f.text = append(f.text, m.Content[at:]...)
	return f, nil
}

// column converts a column of the text with marks to the text without any. A column inside a mark
// becomes that of the mark.
func (f *markedFile) column(line, col int) int {
	for ; f != nil; f = f.under {
		col = f.before(line, col)
	}
	return col
}

// before is column for the marks of f alone.
func (f *markedFile) before(line, col int) int {
	shifts := f.shift[line]
	i := sort.Search(len(shifts), func(i int) bool { return shifts[i].from > col })
	if i == 0 {
		return col
	}
	s := shifts[i-1]
	if col < s.from+s.size {
		return s.col
	}
	return col - (s.from + s.size - s.col)
}

// setMarked prepares the marked files of a compilation. If the input was written to a temporary
// file, the marks are inserted there. It fails if marks are out of order or contain line breaks.
func (b *build) setMarked(marked []Marked) error {
	if len(marked) == 0 {
		return nil
	}
	b.marked = make(map[string]*markedFile)
	over := make(map[string][]byte)
	for _, m := range marked {
		f, err := mark(m)
		if err != nil {
			return err
		}
		path := m.Name
		if m.Name == b.name {
			path = b.path
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		b.marked[abs] = f
		over[abs] = f.text
	}
	var err error
	b.overlay, err = writeOverlay(b.tmp, "marked", over)
	return err
}

// writeOverlay writes texts, given by absolute path, to files in dir, and returns the options with
// which clang reads them instead of the files at these paths.
func writeOverlay(dir, name string, texts map[string][]byte) ([]string, error) {
	var paths []string
	for p := range texts {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var y strings.Builder
	y.WriteString("{ \"version\": 0, \"use-external-names\": false, \"roots\": [\n")
	for n, abs := range paths {
		path := filepath.Join(dir, fmt.Sprintf("%s%d", name, n))
		if err := os.WriteFile(path, texts[abs], 0o644); err != nil {
			return nil, err
		}
		if n > 0 {
			y.WriteString(",\n")
		}
		fmt.Fprintf(&y, "{ \"type\": \"file\", \"name\": %q, \"external-contents\": %q }", abs, path)
	}
	y.WriteString("\n]}\n")
	overlay := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(overlay, []byte(y.String()), 0o644); err != nil {
		return nil, err
	}
	return []string{"-ivfsoverlay", overlay}, nil
}
