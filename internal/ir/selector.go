package ir

import "strings"

// A register operand of a video instruction may have a selector, which selects a byte or
// half-word: r.b0, r.h10 (PTX ISA 9.7.18). It is kept in Val, which registers do not use otherwise, as
// the bytes of its text.

// SetSelector gives a register operand a selector of at most eight letters; ok is false for a
// longer one.
func (o *Operand) SetSelector(s string) (ok bool) {
	o.Val = 0
	for i := len(s) - 1; i >= 0; i-- {
		o.Val = o.Val<<8 | uint64(s[i])
	}
	return len(s) <= 8
}

// Selector returns the selector of a register operand of a video instruction, without the dot;
// empty if there is none.
func (o *Operand) Selector() string {
	var b strings.Builder
	for v := o.Val; o.Kind == Register && v != 0; v >>= 8 {
		b.WriteByte(byte(v))
	}
	return b.String()
}
