package alu

import (
	"math"

	"heddle/internal/isa"
)

// Single values, for instructions that are no loops over lanes: matrix products, atomics,
// reductions.

// ReadFloat returns how to read the low bits of a register as a number of the format of that PTX
// name; nil if it is none that is known here. A double holds all of them exactly. A .tf32 register
// keeps single precision with the lower 13 bits ignored (PTX ISA 5.2.3).
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
		return readF8(e4m3)
	case "e5m2":
		return readF8(e5m2)
	}
	return nil
}

func readF8(f *format) func(v uint64) float64 {
	var table [256]float64
	for v := range table {
		table[v] = f64(double.pack(isa.RN, unpackF8(f, uint64(v)), false))
	}
	return func(v uint64) float64 { return table[v&0xff] }
}

// RoundFloat returns how to round a double to the format of that PTX name, to nearest; NaN is
// canonical.
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
	if mode == isa.NoRounding {
		mode = isa.RN
	}
	return (&arith{format: double, mode: mode}).fmaScalar
}

// AtomicFloat returns what atom and red do to a number of a 16-bit type or a pair of them (PTX ISA
// 9.7.13.5, .noftz: subnormal numbers are kept); nil if they do not have the operation. The text
// does not say what their min and max make of NaN: as with min and max, the operand that is a
// number counts (9.7.4.7).
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

// ExtremeF32 returns min or max of two numbers in single precision, as redux.sync folds them (PTX
// ISA 9.7.13.12): with abs of their magnitudes, with nanProp NaN if one is NaN.
func ExtremeF32(less, abs, nanProp bool) func(a, b uint64) uint64 {
	k := &chooser{format: single, less: less, nanProp: nanProp}
	if !abs {
		return k.choose
	}
	return func(a, b uint64) uint64 { return k.choose(a&^single.sign, b&^single.sign) }
}
