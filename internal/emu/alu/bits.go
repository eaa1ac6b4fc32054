package alu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Counting and searching bits: PTX ISA 9.7.1.14 to 9.7.1.18. The destination has 32 bits, also for
// 64-bit sources.

// bits32or64 selects by the width of the source.
func bits32or64(d *isa.Desc, w32, w64 Func) (Func, error) {
	switch {
	case d.Type == isa.B32 && d.Flags == 0:
		return w32, nil
	case d.Type == isa.B64 && d.Flags == 0:
		return w64, nil
	}
	return noForm(d)
}

// popc, clz and brev follow PTX ISA 9.7.1.14, 9.7.1.15 and 9.7.1.18. clz of zero is the width.
func popc(d *isa.Desc) (Func, error) { return bits32or64(d, popc32, popc64) }
func clz(d *isa.Desc) (Func, error)  { return bits32or64(d, clz32, clz64) }
func brev(d *isa.Desc) (Func, error) { return bits32or64(d, brev32, brev64) }

// popc32 counts the set bits of the low word; the result of all these functions is a .u32.
func popc32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) })
	o.done(mask)
}

func popc64(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
	o.done(mask)
}

// clz32 returns 32 for zero, and clz64 returns 64 (PTX ISA 9.7.1.15).
func clz32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) })
	o.done(mask)
}

func clz64(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a)) })
	o.done(mask)
}

// brev32 and brev64 reverse the order of the bits (PTX ISA 9.7.1.18).
func brev32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) })
	o.done(mask)
}

func brev64(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	each1(d, a, func(a uint64) uint64 { return bits.Reverse64(a) })
	o.done(mask)
}

// bfind is PTX ISA 9.7.1.16: the position of the most significant non-sign bit, all ones if there
// is none; with .shiftamt, the left shift that brings it to the top.
func bfind(d *isa.Desc) (Func, error) {
	t := d.Type
	if !only(d, isa.Shiftamt) || t != isa.U32 && t != isa.S32 && t != isa.U64 && t != isa.S64 {
		return noForm(d)
	}
	shiftamt := d.Has(isa.Shiftamt)
	isSigned, width := t.Signed(), 8*t.Size()
	drop := uint(64 - width)
	return lane1(func(a uint64) uint64 {
		a <<= drop // the value's top bit in bit 63, zeros below the value
		// For a negative number the position of the highest 0 bit is wanted: complement it.
		if isSigned && int64(a) < 0 {
			a = ^a >> drop << drop
		}
		if a == 0 {
			return 1<<32 - 1
		}
		lead := bits.LeadingZeros64(a)
		if shiftamt {
			return uint64(lead)
		}
		return uint64(width - 1 - lead)
	}), nil
}

// fns is PTX ISA 9.7.1.17. A base above 31 is undefined there; here it finds nothing.
func fns(d *isa.Desc) (Func, error) {
	if d.Type != isa.B32 || d.Flags != 0 {
		return noForm(d)
	}
	return lane3(func(a, b, c uint64) uint64 {
		return uint64(nthSet(uint32(a), uint32(b), int32(c)))
	}), nil
}

// nthSet returns the position of the n-th set bit from base on, where n is |offset|, upwards if
// offset is positive and downwards if it is negative. An offset of 0 tests the bit at base itself.
func nthSet(mask, base uint32, offset int32) uint32 {
	const none = 1<<32 - 1
	switch {
	case base > 31:
		return none
	case offset == 0:
		if mask>>base&1 == 1 {
			return base
		}
		return none
	}
	// The offset counts set bits including the one at base, upwards or downwards.
	step, count := 1, int64(offset)
	if offset < 0 {
		step, count = -1, -count
	}
	for pos := int(base); 0 <= pos && pos < 32; pos += step {
		if mask>>pos&1 == 1 {
			if count--; count == 0 {
				return uint32(pos)
			}
		}
	}
	return none
}
