// Package source holds what every diagnostic needs: files, positions, spans and inline stacks.
//
// It imports nothing of heddle and knows no language.
package source

import "fmt"

// Pos is a place in a file of a Set: file, line and column in 8 bytes. The zero Pos is "no position".
//
// Lines and columns count from 1; a column counts bytes, as compilers do. 28 bits of line and 20 of
// column are enough for generated PTX; what is larger saturates, so that a huge line yields a less
// exact column and never a wrong line.
type Pos uint64

const (
	colBits  = 20
	lineBits = 28
	maxCol   = 1<<colBits - 1
	maxLine  = 1<<lineBits - 1
)

// FileID names a file of a Set. The zero FileID is no file.
type FileID uint16

// MakePos packs a position. Line and column saturate at their limits.
func MakePos(file FileID, line, col int) Pos {
	line = min(max(line, 0), maxLine)
	col = min(max(col, 0), maxCol)
	return Pos(file)<<(lineBits+colBits) | Pos(line)<<colBits | Pos(col)
}

// File returns the file that p is in.
func (p Pos) File() FileID { return FileID(p >> (lineBits + colBits)) }

// Line returns the line, from 1; 0 if unknown.
func (p Pos) Line() int { return int(p>>colBits) & maxLine }

// Col returns the column in bytes, from 1; 0 if only the line is known.
func (p Pos) Col() int { return int(p) & maxCol }

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p.File() != 0 }

// String prints line:col without the file's name, for tests and debugging.
func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line(), p.Col())
}

// Span is a half-open range of one file. End may be the zero Pos when only the start is known.
type Span struct {
	Start, End Pos
}

// IsValid reports whether s names a place.
func (s Span) IsValid() bool { return s.Start.IsValid() }

// Frame is one level of a source location: the position and the function that holds it, and the frame
// that it was inlined into. The innermost frame comes first. A Frame is immutable once built, and is
// shared by all instructions of one place.
type Frame struct {
	Func   string // the function as the user wrote it (demangled); empty if unknown
	Pos    Pos
	Parent *Frame // the call site that this frame was inlined into; nil at the outermost
}

// Depth counts the frames from f outwards.
func (f *Frame) Depth() int {
	n := 0
	for ; f != nil; f = f.Parent {
		n++
	}
	return n
}
