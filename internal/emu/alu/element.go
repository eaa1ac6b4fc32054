package alu

import (
	"math"

	"heddle/internal/isa"
)

// Operations on single values, for instructions that are not loops over lanes: matrix products,
// atomics, reductions.

// ReadFloat returns the function that reads the low bits of a register as a number of the named PTX
// format; nil for an unknown name. A double represents all of them exactly. A .tf32 register has
// single precision with the lower 13 bits ignored (PTX ISA 5.2.3).
func ReadFloat(name string) func(v uint64) float64 {
	switch name {
	case "f16":
		return half.float
	case "bf16":
		return bfloat.float
	case "tf32":
		return func(v uint64) float64 { return float64(f32(v &^ 0x1fff)) }
	case "f32":
		return func(v uint64) float64 { return float64(f32(v)) }
	case "f64":
		return f64
	case "e4m3":
		return byTable(e4m3.decode)
	case "e5m2":
		return byTable(e5m2.decode)
	case "e2m1":
		return byTable(e2m1.decode)
	case "e2m3":
		return byTable(e2m3.decode)
	case "e3m2":
		return byTable(e3m2.decode)
	case "ue8m0":
		return byTable(scale)
	case "ue4m3": // of 7 bits; the bit above is padding
		return byTable(func(v uint64) number { return e4m3.decode(v & 0x7f) })
	}
	return nil
}

// byTable decodes by a table: there are 256 values of the low bits.
func byTable(decode func(v uint64) number) func(v uint64) float64 {
	var table [256]float64
	for v := range table {
		table[v] = f64(double.pack(isa.RN, decode(uint64(v)), false))
	}
	return func(v uint64) float64 { return table[v&0xff] }
}

// RoundFloat returns the function that rounds a double to the named PTX format, to nearest even.
// NaN becomes canonical.
func RoundFloat(name string) func(x float64) uint64 {
	switch name {
	case "f16":
		return half.nearest
	case "bf16":
		return bfloat.nearest
	case "f32":
		return func(x float64) uint64 { return packF32(float32(x)) }
	case "f64":
		return func(x float64) uint64 { return math.Float64bits(x) }
	}
	return nil
}

// FusedF64 returns fma.f64 with the given rounding.
func FusedF64(mode isa.Rounding) func(a, b, c uint64) uint64 {
	// Without a modifier the rounding is to nearest even.
	if mode == isa.NoRounding {
		mode = isa.RN
	}
	return (&arith{format: double, mode: mode}).fmaScalar
}

// AtomicFloat returns the operation of atom and red on a 16-bit type or a pair of them (PTX ISA
// 9.7.13.5, .noftz: subnormal numbers are supported); nil if there is none. The ISA does not define
// how their min and max treat NaN. As for the instructions min and max, the operand that is a
// number is returned (9.7.4.7).
func AtomicFloat(fn isa.Fn, t isa.Type) func(a, b uint64) uint64 {
	f := formatOf(t)
	if f != half && f != bfloat {
		return nil
	}
	switch fn {
	case isa.FnAdd:
		return packed2(t, (&arith{format: f, mode: isa.RN}).narrowAdd)
	case isa.FnMin, isa.FnMax:
		return packed2(t, (&chooser{format: f, less: fn == isa.FnMin}).choose)
	}
	return nil
}

// ExtremeF32 returns min or max of two single-precision numbers as redux.sync uses them (PTX ISA
// 9.7.13.12): of the magnitudes with abs; with nanProp, NaN if an operand is NaN.
func ExtremeF32(less, abs, nanProp bool) func(a, b uint64) uint64 {
	k := &chooser{format: single, less: less, nanProp: nanProp}
	if !abs {
		return k.choose
	}
	return func(a, b uint64) uint64 { return k.choose(a&^single.sign, b&^single.sign) }
}
