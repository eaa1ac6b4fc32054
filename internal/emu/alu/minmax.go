package alu

import "heddle/internal/isa"

// minmax returns the function of min and max: PTX ISA 9.7.1.12, 9.7.1.13 and, for floating point,
// 9.7.3.11, 9.7.3.12, 9.7.4.7 and 9.7.4.8. Integer types have no modifier except .relu of .s32 and
// .s16x2.
func minmax(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return minmaxFloat(d)
	}
	// Both instructions have the same forms, so the opcode selects the operator only.
	less := d.Row.Opcode == "min"
	if d.Flags == isa.Relu && (d.Type == isa.S32 || d.Type == isa.S16x2) {
		return minmaxRelu(d.Type, less), nil
	}
	if d.Flags != 0 {
		return noForm(d)
	}
	// pick returns the function of the opcode.
	pick := func(lo, hi Func) (Func, error) {
		if less {
			return lo, nil
		}
		return hi, nil
	}
	switch d.Type {
	case isa.U16:
		return pick(minU[uint16], maxU[uint16])
	case isa.U32:
		return pick(minU[uint32], maxU[uint32])
	case isa.U64:
		return pick(minU[uint64], maxU[uint64])
	case isa.S16:
		return pick(minS[uint16, int16], maxS[uint16, int16])
	case isa.S32:
		return pick(minS[uint32, int32], maxS[uint32, int32])
	case isa.S64:
		return pick(minS[uint64, int64], maxS[uint64, int64])
	case isa.U16x2:
		return pick(
			lane2(halves2(func(a, b uint64) uint64 { return min(a, b) })),
			lane2(halves2(func(a, b uint64) uint64 { return max(a, b) })))
	case isa.S16x2:
		return pick(
			lane2(halves2(func(a, b uint64) uint64 { return uint64(uint16(min(int16(a), int16(b)))) })),
			lane2(halves2(func(a, b uint64) uint64 { return uint64(uint16(max(int16(a), int16(b)))) })))
	}
	return noForm(d)
}

// minmaxRelu returns min and max with negative results replaced by 0. Halves are compared in 32
// bits, which hold every 16-bit value.
func minmaxRelu(t isa.Type, less bool) Func {
	choose := func(a, b int32) int32 {
		if less {
			return max(min(a, b), 0)
		}
		return max(a, b, 0)
	}
	if t == isa.S32 {
		return lane2(func(a, b uint64) uint64 { return uint64(uint32(choose(int32(a), int32(b)))) })
	}
	return lane2(halves2(func(a, b uint64) uint64 {
		return uint64(uint16(choose(int32(int16(a)), int32(int16(b)))))
	}))
}
