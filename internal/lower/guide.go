package lower

import (
	"heddle/internal/lazyregexp"
)

// Deduction guides in device code. To nvcc a guide belongs to both sides; clang before version 22
// takes one without attributes for a function of the host, and rejects its use in device code. The
// notes of its errors name the guides, which get both attributes in the text that clang reads.
// Those of CCCL get them by a macro (cccl.go).

// guideNoteRE matches the text of clang's note about a guide that does not belong to the device.
var guideNoteRE = lazyregexp.New(
	`^(candidate function.* not viable: call to __host__ function from __(global|device)__ function|` +
		`'<deduction guide for .* declared here)`)

// guideMark is what a guide begins with for both sides.
const guideMark = "__host__ __device__ "

// guideAt reports whether the name of a deduction guide, T(...) -> T<...>, begins at an offset.
func guideAt(src []byte, at int) bool {
	name := identRE.Find(src[min(at, len(src)):])
	if len(name) == 0 {
		return false
	}
	s := &declScanner{src: src}
	open := s.skipBlank(at + len(name))
	if open >= len(src) || src[open] != '(' {
		return false
	}
	end := s.skipTo(open+1, ")")
	if end < 0 {
		return false
	}
	arrow := s.skipBlank(end + 1)
	return arrow+2 <= len(src) && string(src[arrow:arrow+2]) == "->"
}

// rewriteGuide gives the deduction guide at a place of clang's text of a file both attributes. It
// returns false if there is none, or it has them.
func (b *build) rewriteGuide(file string, line, col int) bool {
	f, at := b.gridFileAt(file, line, col)
	return f != nil && guideAt(f.content, at) && f.insert(at, guideMark)
}
