package source

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
)

// File is one input text with its line table. It does not change: a file of which only the name was
// known and whose text is added later is another File with the same ID.
type File struct {
	ID      FileID // of the file in its Set
	Name    string // as on the command line, or in a .file directive
	Content []byte // nil if only the name of the file is known
	lines   []int  // offset of the first byte of each line
}

// Line returns the text of line n (from 1) without its line break, and whether the file has it.
func (f *File) Line(n int) (string, bool) {
	if f.Content == nil || n < 1 || n > len(f.lines) {
		return "", false
	}
	start, end := f.lines[n-1], len(f.Content)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return strings.TrimRight(string(f.Content[start:end]), "\r\n"), true
}

// NumLines returns the number of lines; 0 if the file has no content.
func (f *File) NumLines() int { return len(f.lines) }

// PosAt returns the position of the byte at offset, which may be the length of the file.
func (f *File) PosAt(offset int) Pos {
	line := sort.SearchInts(f.lines, offset+1)
	if line == 0 {
		return MakePos(f.ID, 1, offset+1)
	}
	return MakePos(f.ID, line, offset-f.lines[line-1]+1)
}

// PosNear is PosAt, but faster if the offset is in the given line: it skips the search for the
// line.
func (f *File) PosNear(offset, line int) Pos {
	if line < 1 || line >= len(f.lines) || offset < f.lines[line-1] || offset >= f.lines[line] {
		return f.PosAt(offset)
	}
	return MakePos(f.ID, line, offset-f.lines[line-1]+1)
}

// Offset returns the byte offset of p, and whether p is in the file.
func (f *File) Offset(p Pos) (int, bool) {
	if p.File() != f.ID || p.Line() < 1 || p.Line() > len(f.lines) || p.Col() < 1 {
		return 0, false
	}
	off := f.lines[p.Line()-1] + p.Col() - 1
	return off, off <= len(f.Content)
}

// Set holds the files of one run. It is safe for concurrent use.
type Set struct {
	mu     sync.RWMutex
	files  []*File // index = ID-1
	byName map[string]*File
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{byName: make(map[string]*File)} }

// Clone returns a set with the same files under the same IDs, to which files are added apart.
func (s *Set) Clone() *Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &Set{files: slices.Clone(s.files), byName: maps.Clone(s.byName)}
}

// maxFiles is the number of files that a FileID can identify.
const maxFiles = 1<<16 - 1

// Add adds a file with its content, or sets the content of a file that has none yet. If a file of
// that name with content exists, Add adds a second one, so that positions in the first stay valid.
// It fails when the set has 65535 files.
func (s *Set) Add(name string, content []byte) (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.byName[name]; f != nil && f.Content == nil {
		return s.fill(f, content), nil
	}
	return s.add(name, content)
}

// Fill sets the content of the file of that name, which it adds if it does not exist, and returns
// the file. If the file has content, that stays. It returns nil when the set is full.
func (s *Set) Fill(name string, content []byte) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f := s.byName[name]; {
	case f == nil:
		f, _ = s.add(name, content)
		return f
	case f.Content == nil:
		return s.fill(f, content)
	default:
		return f
	}
}

// fill replaces a file without content. The caller holds the lock.
func (s *Set) fill(f *File, content []byte) *File {
	g := &File{ID: f.ID, Name: f.Name, Content: content, lines: lineTable(content)}
	s.files[f.ID-1] = g
	s.byName[f.Name] = g
	return g
}

// Lookup returns the last added file of that name, or nil.
func (s *Set) Lookup(name string) *File {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[name]
}

// Named returns the file of that name, and adds it without content if it does not exist. It returns
// nil when the set is full.
func (s *Set) Named(name string) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.byName[name]; f != nil {
		return f
	}
	f, err := s.add(name, nil)
	if err != nil {
		return nil
	}
	return f
}

// add appends a file. The caller holds the lock.
func (s *Set) add(name string, content []byte) (*File, error) {
	if len(s.files) == maxFiles {
		return nil, fmt.Errorf("more than %d source files in one run; check fewer files at a time",
			maxFiles)
	}
	f := &File{ID: FileID(len(s.files) + 1), Name: name, Content: content}
	if content != nil {
		f.lines = lineTable(content)
	}
	s.files = append(s.files, f)
	s.byName[name] = f
	return f, nil
}

// File returns the file with that ID, or nil.
func (s *Set) File(id FileID) *File {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id == 0 || int(id) > len(s.files) {
		return nil
	}
	return s.files[id-1]
}

// Format formats p as file:line:col, without the parts that are unknown; "-" for no position.
func (s *Set) Format(p Pos) string {
	f := s.File(p.File())
	if f == nil {
		return "-"
	}
	switch {
	case p.Line() == 0:
		return f.Name
	case p.Col() == 0:
		return fmt.Sprintf("%s:%d", f.Name, p.Line())
	}
	return fmt.Sprintf("%s:%d:%d", f.Name, p.Line(), p.Col())
}

// lineTable returns the offset of the first byte of each line.
func lineTable(b []byte) []int {
	lines := make([]int, 1, len(b)/24+1)
	for i, c := range b {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	return lines
}
