package emu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Unknown bits of registers. Compilers keep several small values in one register: of a struct with
// a flag and padding, the padding has never been written, and `(padding << 8 | flag) & 1` is the
// flag. So for each register that is unknown there are the bits that may be, in any of its lanes
// that is unknown. The others are those of its value. Operations that move bits, or combine those of
// one place, keep them apart; of all others every bit of an unknown result is unknown.
//
// It misses sums, which carry from an unknown bit upwards only, and values in memory.

// typeBits returns the bits of a type.
func typeBits(t isa.Type) uint64 {
	if n := t.Size(); n > 0 && n < 8 {
		return 1<<(8*n) - 1
	}
	return ^uint64(0)
}

// unknownBits returns the bits of the result of an instruction that may be unknown in the lanes of
// u; 0 if none is.
func (x *exec) unknownBits(in *inst, u uint32) uint64 {
	const all = ^uint64(0)
	u &= x.m
	t := in.ir.Type
	if u == 0 || in.d[0] < 0 || in.d[1] >= 0 || in.pd[0] >= 0 || in.sources == 0 || t.IsFloat() ||
		t.Size() > 8 || in.misc != nil && (in.misc.open != 0 || in.misc.origin != 0) ||
		x.unk.preds[in.ps[0].slot]|x.unk.preds[in.ps[1].slot] != 0 || in.ir.UsesCarry() ||
		in.ir.Has(isa.Sat) {
		return all
	}
	of := func(i int) uint64 {
		if s := &in.s[i]; s.c == nil && x.unk.regs[s.r] != 0 {
			return x.unk.bits[s.r]
		}
		return 0
	}
	constant := func(i int) (uint64, bool) {
		if in.sources != 2 || in.s[i].c == nil {
			return 0, false
		}
		return in.s[i].c[0] & typeBits(t), true
	}
	switch in.ir.Operation() {
	case isa.Move:
		if in.sources == 1 {
			return of(0) & typeBits(t)
		}
	case isa.Conversion:
		from := in.ir.SType
		extends := from.Signed() && t.Size() > from.Size() || t.Signed() && t.Size() < 4
		if in.sources == 1 && !from.IsFloat() && from.Size() > 0 && !extends {
			return of(0) & typeBits(from) & typeBits(t)
		}
	case isa.Conjunction:
		if in.sources != 2 {
			break
		}
		k := (of(0) | of(1)) & typeBits(t)
		for i := range 2 {
			if c, ok := constant(i); ok {
				k &= c
			}
		}
		return k
	case isa.Disjunction, isa.ExclusiveOr:
		if in.sources == 2 {
			return (of(0) | of(1)) & typeBits(t)
		}
	case isa.LeftShift:
		if c, ok := constant(1); ok && c < 64 {
			return of(0) << c & typeBits(t)
		}
	case isa.RightShift:
		if c, ok := constant(1); ok && c < 64 && !t.Signed() {
			return of(0) & typeBits(t) >> c
		}
	case isa.Product:
		c, ok := constant(1)
		if ok && in.ir.Fn != isa.FnHi && !t.Signed() && bits.OnesCount64(c) == 1 {
			k := of(0) & typeBits(t) << bits.TrailingZeros64(c)
			if in.ir.Fn != isa.FnWide {
				k &= typeBits(t)
			}
			return k
		}
	}
	return all
}
