// Package source holds what every diagnostic needs: files, positions, spans and inline stacks.
//
// It imports no other package of heddle, and does not depend on any language.
package source

import "fmt"

// Pos is a place in a file of a Set: file, line and column in 8 bytes. The zero Pos is "no
// position".
//
// Lines and columns count from 1; a column counts bytes, as compilers do. 28 bits of line and 20 of
// column are enough for generated PTX. Larger numbers saturate, so that a very long line yields a
// less exact column but never a wrong line.
type Pos uint64

const (
	colBits  = 20
	lineBits = 28
	maxCol   = 1<<colBits - 1
	maxLine  = 1<<lineBits - 1
)

// FileID identifies a file of a Set. The zero FileID means no file.
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

// IsValid reports whether p is a position in a file.
func (p Pos) IsValid() bool { return p.File() != 0 }

// String formats p as line:col without the name of the file, for tests and debugging.
func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line(), p.Col())
}

// Span is the half-open range [Start, End) of one file. End is the zero Pos if only the start is
// known.
type Span struct {
	Start, End Pos // End is after Start, or equal to it for an empty range
}

// IsValid reports whether s is a range of a file.
func (s Span) IsValid() bool { return s.Start.IsValid() }

// Frame is one level of a source location: a position, the function that contains it, and the frame
// that the function was inlined into. A location is its innermost Frame. Frames are immutable once
// built, and are shared by all instructions with the same location.
type Frame struct {
	Func   string // the function as the user wrote it (demangled); empty if unknown
	Pos    Pos    // of the instruction, or of the call that was inlined
	Parent *Frame // the call site that this frame was inlined into; nil at the outermost
	// Library says that the position is in a library (CUB, Thrust): reports give the user's call of it.
	Library bool
}

// Depth returns the number of frames from f outwards; 0 for nil.
func (f *Frame) Depth() int {
	n := 0
	for ; f != nil; f = f.Parent {
		n++
	}
	return n
}
