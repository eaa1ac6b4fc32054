package alu

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// cvtOracle is a conversion between scalar types by PTX ISA 9.7.9.21.
func cvtOracle(d *isa.Desc, a uint64) uint64 {
	x := cvtSource(d, a)
	if !d.Type.IsFloat() {
		return cvtToInt(d, x)
	}
	l := layouts[d.Type]
	var r uint64
	switch {
	case x.nan && d.Has(isa.Sat):
		return 0
	case x.nan && d.Type == isa.F64 && d.SType == isa.F64:
		return a | 1<<51
	case x.nan && d.Type == isa.F64: // unspecified; cvtfloat.go keeps sign and payload
		from := layouts[d.SType]
		return l.zero(x.neg) | 0xfff<<51 | a&(1<<(from.precision-1)-1)<<(53-from.precision)
	case x.nan:
		return canonical(d.Type)
	case x.inf:
		r = l.infinity(x.neg)
	case x.rat.Sign() == 0:
		r = l.zero(x.neg)
	default:
		r = l.round(x.rat, d.Round)
	}
	return cvtFinish(d, l, r)
}

// cvtSource is the value that is converted: truncated to the source type, flushed, rounded to an
// integer.
func cvtSource(d *isa.Desc, a uint64) value {
	if !d.SType.IsFloat() {
		n := bigInt(d.SType, a)
		return value{rat: new(big.Rat).SetInt(n), neg: n.Sign() < 0}
	}
	l := layouts[d.SType]
	x := l.decode(a & ones(uint64(l.width)))
	if x.rat != nil && d.SType == isa.F32 && d.Has(isa.FTZ) {
		x.rat = flushed(l, x)
	}
	if x.rat != nil && isa.RNI <= d.Round && d.Round <= isa.RPI {
		x.rat = new(big.Rat).SetInt(roundInt(x.rat, map[isa.Rounding]isa.Rounding{
			isa.RNI: isa.RN, isa.RZI: isa.RZ, isa.RMI: isa.RM, isa.RPI: isa.RP}[d.Round]))
	}
	return x
}

// cvtToInt clamps floats and, with .sat, integers; other integers wrap.
func cvtToInt(d *isa.Desc, x value) uint64 {
	lo, hi := limits(d.Type)
	width := 8 * d.Type.Size()
	switch {
	case x.nan && d.SType != isa.F64 && width != 64:
		return 0
	case x.nan:
		return 1 << (width - 1)
	case x.inf && x.neg:
		return reduce(lo, width)
	case x.inf:
		return reduce(hi, width)
	case d.SType.IsFloat() || d.Has(isa.Sat):
		return reduce(clampBig(x.rat.Num(), lo, hi), width)
	}
	return reduce(x.rat.Num(), width)
}

// cvtFinish applies .satfinite, .ftz, .sat and .relu to a result that is no NaN.
func cvtFinish(d *isa.Desc, l layout, r uint64) uint64 {
	x := l.decode(r)
	if x.inf && d.Has(isa.Satfinite) {
		r--
	}
	if d.Type == isa.F32 && d.Has(isa.FTZ) && !x.inf && flushed(l, x).Sign() == 0 {
		r = l.zero(x.neg)
	}
	switch {
	case x.neg && (d.Has(isa.Sat) || d.Has(isa.Relu)):
		return 0
	case d.Has(isa.Sat) && realOrder(l, x).Cmp(big.NewRat(1, 1)) > 0:
		return one(d.Type)
	}
	return r
}

func TestCvtScalar(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	tested := 0
	for _, text := range forms() {
		d := desc(t, text)
		scalar := func(ty isa.Type) bool { _, ok := layouts[ty]; return ok || isInt(ty) }
		if !strings.HasPrefix(text, "cvt.") || d.Row.Opcode != "cvt" || !scalar(d.Type) ||
			!scalar(d.SType) {
			continue
		}
		tested++
		f := lookup(t, text)
		var s, out Lanes
		o := &Ops{D: [2]*Lanes{&out}, S: [4]*Lanes{&s}}
		for range 8 {
			for l := range 32 {
				s[l] = cvtOperand(r, d.SType)
			}
			f(o, full)
			for l := range 32 {
				if exp := cvtOracle(d, s[l]); out[l] != exp {
					t.Fatalf("%s %#x = %#x, want %#x", text, s[l], out[l], exp)
				}
			}
		}
	}
	if tested < 400 {
		t.Errorf("only %d forms tested", tested)
	}
}

// cvtOperand draws a source: for floats also values near the limits of the integer types and ties.
func cvtOperand(r *rand.Rand, t isa.Type) uint64 {
	l, ok := layouts[t]
	if !ok {
		return operand(r)
	}
	if r.IntN(2) == 0 {
		return floatOperand(r, t)
	}
	x := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1),
		uint([]int{0, 1, 7, 8, 15, 16, 31, 32, 63, 64}[r.IntN(10)])))
	x.Add(x, big.NewRat(int64(r.IntN(9)-4), 4))
	if x.Sign() == 0 {
		return l.zero(r.IntN(2) == 0)
	}
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	return l.round(x, isa.RN)
}

// Corners, and the packed conversions, from the text of PTX ISA 9.7.9.21 and 9.7.9.22.
func TestCvtCorners(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		src  []uint64
	}{
		// NaN: zero if the source is not .f64 and the destination not 64 bits wide, else the top bit.
		{"cvt.rzi.s32.f32", 0, []uint64{0x7fc00000}},
		{"cvt.rzi.u64.f32", 1 << 63, []uint64{0x7fc00000}},
		{"cvt.rzi.s32.f64", 1 << 31, []uint64{0x7ff8000000000000}},
		{"cvt.rzi.u8.f64", 0x80, []uint64{0x7ff8000000000000}},
		// Clamped by default.
		{"cvt.rzi.s32.f32", 0x7fffffff, []uint64{0x4f000000}},
		{"cvt.rzi.u32.f32", 0, []uint64{0xbf800000}},
		{"cvt.rzi.s8.f32", 0x80, []uint64{0xc3960000}},
		{"cvt.rni.s32.f32", 2, []uint64{0x40200000}},          // 2.5: to even
		{"cvt.rmi.s32.f32", 0xfffffffd, []uint64{0xc0200000}}, // -2.5
		{"cvt.rpi.ftz.s32.f32", 0, []uint64{1}},
		{"cvt.rpi.s32.f32", 1, []uint64{1}},
		// 9.4.1: a wider register is truncated to the source type.
		{"cvt.s32.s8", 0xffffffff, []uint64{0x1ff}},
		{"cvt.u32.u8", 0xff, []uint64{0x1ff}},
		{"cvt.s64.s32", 0xffffffff80000000, []uint64{0x80000000}},
		{"cvt.u64.s32", 0xffffffff80000000, []uint64{0x80000000}},
		{"cvt.sat.u8.s32", 0, []uint64{0xffffffff}},
		{"cvt.sat.s8.u32", 0x7f, []uint64{0xffffffff}},
		// a goes to the upper half.
		{"cvt.rn.f16x2.f32", 0x3c00c000, []uint64{0x3f800000, 0xc0000000}},
		{"cvt.rn.relu.bf16x2.f32", 0x3f800000, []uint64{0x3f800000, 0xc0000000}},
		{"cvt.rn.f16x2.f32", 0x7c007fff, []uint64{0x47800000, 0x7fc00000}},
		{"cvt.rz.f16.f32", 0x7bff, []uint64{0x47800000}},
		{"cvt.rn.satfinite.f16.f32", 0xfbff, []uint64{0xff800000}},
		{"cvt.rn.satfinite.f16.f32", 0x7fff, []uint64{0xffc00000}},
		// .tf32: ten bits of fraction; .rna takes ties away from zero, .rn to even.
		{"cvt.rna.tf32.f32", 0x3f802000, []uint64{0x3f801000}},
		{"cvt.rn.tf32.f32", 0x3f800000, []uint64{0x3f801000}},
		{"cvt.rz.tf32.f32", 0x3f800000, []uint64{0x3f801fff}},
		// 8-bit formats: OCP 8-bit floating point; .e4m3 reaches 448 and has no infinity, .e5m2 57344.
		{"cvt.rn.satfinite.e4m3x2.f32", 0x7e38, []uint64{0x43e00000, 0x3f800000}},
		{"cvt.rn.satfinite.e4m3x2.f32", 0xfe7f, []uint64{0xff800000, 0x7fc00000}},
		// 2^-9 is the least; 2^-10 a tie
		{"cvt.rn.satfinite.e4m3x2.f32", 0x0100, []uint64{0x3b000000, 0x3a800000}},
		{"cvt.rn.satfinite.e5m2x2.f32", 0x7bbc, []uint64{0x7f7fffff, 0xbf800000}},
		{"cvt.rn.satfinite.relu.e5m2x2.f16x2", 0x3c00, []uint64{0x3c00bc00}},
		{"cvt.rn.f16x2.e4m3x2", 0x5f007fff, []uint64{0x7e7f}},
		{"cvt.rn.f16x2.e4m3x2", 0x1800bc00, []uint64{0x01b8}},
		{"cvt.rn.f16x2.e5m2x2", 0x7c003c00, []uint64{0x7c3c}},
		// cvt.pack: b in the lower field, a above it, c above that.
		{"cvt.pack.sat.s16.s32", 0x7fff8000, []uint64{100000, 0xfff00000}},
		{"cvt.pack.sat.u8.s32.b32", 0x0506ff00, []uint64{300, 0xffffffff, 0x0506}},
		{"cvt.pack.sat.s2.s32.b32", 0b1_01_10, []uint64{5, 0xffff0000, 1}},
		{"cvt.pack.sat.u4.s32.b32", 0x3f2, []uint64{99, 2, 3}},
	} {
		want(t, c.text, c.want, c.src...)
	}
}
