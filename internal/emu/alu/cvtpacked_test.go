package alu

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"heddle/internal/isa"
)

// smallType is a format of at most 16 bits by its parameters: width with the sign, bits of fraction,
// bias, and the greatest encoding of a number.
type smallType struct {
	name                  string
	typ                   isa.Type
	width, fraction, bias int
	top                   uint64
	nan                   uint64 // what NaN converts to with .satfinite
	field                 int    // bits of a value in a register
}

// By PTX ISA 5.2.3 and 9.7.9.21: formats without NaN convert it to the positive greatest number.
var smallTypes = []smallType{
	{"e2m1x2", isa.E2M1x2, 4, 1, 1, 7, 7, 4}, {"e2m3x2", isa.E2M3x2, 6, 3, 1, 0x1f, 0x1f, 8},
	{"e3m2x2", isa.E3M2x2, 6, 2, 3, 0x1f, 0x1f, 8}, {"e4m3x2", isa.E4M3x2, 8, 3, 7, 0x7e, 0x7f, 8},
	{"e5m2x2", isa.E5M2x2, 8, 2, 15, 0x7b, 0x7f, 8},
	{"f16x2", isa.F16x2, 16, 10, 15, 0x7bff, 0x7fff, 16},
	{"bf16x2", isa.BF16x2, 16, 7, 127, 0x7f7f, 0x7fff, 16},
}

// value is the number of a magnitude, by the formula of the format; also of the magnitude behind the
// greatest one.
func (s *smallType) value(v uint64) float64 {
	exp, frac := int(v>>s.fraction), float64(v&(1<<s.fraction-1))
	if exp == 0 {
		return math.Ldexp(frac, 1-s.bias-s.fraction)
	}
	return math.Ldexp(frac+math.Ldexp(1, s.fraction), exp-s.bias-s.fraction)
}

// below is the greatest magnitude whose number is not above x, a number that is at most the one
// behind the greatest.
func (s *smallType) below(x float64) uint64 {
	return uint64(sort.Search(int(s.top)+1, func(v int) bool { return s.value(uint64(v+1)) > x }))
}

// convert rounds x to the nearest number, of two to the one with an even encoding, or stochastically
// with the given number of random bits; what is beyond the greatest number becomes that.
func (s *smallType) convert(x float64, relu bool, random uint64, bits int) uint64 {
	sign := uint64(0)
	switch {
	case x != x:
		return s.nan
	case relu && (x < 0 || math.Signbit(x)):
		return 0
	case math.Signbit(x):
		sign, x = 1<<(s.width-1), -x
	}
	if x >= s.value(s.top+1) {
		return sign | s.top
	}
	v := s.below(x)
	// How far x is on the way to the next number.
	part := (x - s.value(v)) / (s.value(v+1) - s.value(v))
	up := part > 0.5 || part == 0.5 && v&1 == 1
	if bits > 0 {
		up = uint64(math.Floor(math.Ldexp(part, bits)))+random >= 1<<bits
	}
	if up {
		v++
	}
	return sign | min(v, s.top)
}

// source draws a single-precision number of the size of a format's numbers, or any.
func (s *smallType) source(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return uint64(r.Uint32())
	case 1: // a number of the format, or the middle between two
		v := r.Uint64N(s.top + 1)
		x := float32((s.value(v) + s.value(v+r.Uint64N(2))) / 2)
		return uint64(math.Float32bits(x) | uint32(r.IntN(2))<<31)
	}
	x := float32(math.Ldexp(r.Float64()*2-1, r.IntN(10)-6) * s.value(s.top/2))
	return uint64(math.Float32bits(x))
}

// apply computes one lane.
func apply(f Func, src ...uint64) uint64 {
	var in [4]Lanes
	var out Lanes
	o := &Ops{D: [2]*Lanes{&out}}
	for i := range in {
		o.S[i] = &in[i]
		if i < len(src) {
			in[i][7] = src[i]
		}
	}
	f(o, 1<<7)
	return out[7]
}

// Conversions to pairs of narrow numbers, against a search among all numbers of the format.
func TestCvtToPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(131, 132))
	for _, s := range smallTypes[:5] {
		for _, relu := range []string{"", ".relu"} {
			for _, from := range []string{"f32", "f16x2", "bf16x2"} {
				text := "cvt.rn.satfinite" + relu + "." + s.name + "." + from
				f := lookup(t, text)
				for range 3000 {
					x, y := s.source(r), s.source(r)
					src := []uint64{x, y}
					switch from {
					case "f16x2":
						x, y = x>>8&0xffff, y>>8&0xffff
						src = []uint64{x<<16 | y}
						x, y = uint64(math.Float32bits(float32(half.float(x)))),
							uint64(math.Float32bits(float32(half.float(y))))
					case "bf16x2":
						x, y = x&^0xffff, y&^0xffff
						src = []uint64{x | y>>16}
					}
					one := func(v uint64) uint64 {
						return s.convert(float64(math.Float32frombits(uint32(v))), relu != "", 0, 0)
					}
					if got, want := apply(f, src...), one(x)<<s.field|one(y); got != want {
						t.Fatalf("%s %#x = %#x, want %#x", text, src, got, want)
					}
				}
			}
		}
	}
}

// All pairs of narrow numbers, converted to half precision, which has all of them.
func TestCvtFromPacked(t *testing.T) {
	f16 := &smallTypes[5]
	for _, s := range smallTypes[:3] {
		for _, relu := range []string{"", ".relu"} {
			f := lookup(t, "cvt.rn"+relu+".f16x2."+s.name)
			for a := range uint64(1) << s.width {
				b := (a + 5) % (1 << s.width)
				one := func(v uint64) uint64 {
					x := s.value(v & s.top)
					if v > s.top {
						x = -x
					}
					if v > s.top && x == 0 {
						x = math.Copysign(0, -1)
					}
					return f16.convert(x, relu != "", 0, 0)
				}
				if got, want := apply(f, a<<s.field|b), one(a)<<16|one(b); got != want {
					t.Fatalf("%s%s %#x, %#x = %#x, want %#x", s.name, relu, a, b, got, want)
				}
			}
		}
	}
}

// Scale factors are powers of two. "Destination sign is not supported": the magnitude is rounded.
// The least power is 2^-127.
func TestCvtScale(t *testing.T) {
	r := rand.New(rand.NewPCG(133, 134))
	for _, mode := range []string{"rz", "rp"} {
		for _, sat := range []string{"", ".satfinite"} {
			wide := lookup(t, "cvt."+mode+sat+".ue8m0x2.f32")
			packed := lookup(t, "cvt."+mode+sat+".ue8m0x2.bf16x2")
			one := func(v uint64) uint64 {
				x := math.Abs(float64(math.Float32frombits(uint32(v))))
				if x != x {
					return 255
				}
				n := uint64(0)
				for n < 254 && math.Ldexp(1, int(n)-127) < x {
					n++
				}
				p := math.Ldexp(1, int(n)-127)
				switch {
				case math.IsInf(x, 1) || p < x && mode == "rp": // beyond 2^127
					if sat != "" {
						return 254
					}
					return 255
				case p > x && mode == "rz" && n > 0:
					return n - 1
				}
				return n
			}
			for range 3000 {
				a, b := uint64(r.Uint32()), uint64(r.Uint32())
				if r.IntN(3) == 0 {
					a, b = a&0x80ffffff, []uint64{0, 0x7f800000, 0x7f000000, 0x7f000001, 0x400000, 0x400001,
						0x3fffff, 0x7fc00000}[r.IntN(8)]
				}
				if got, want := apply(wide, a, b), one(a)<<8|one(b); got != want {
					t.Fatalf("%s%s %#x, %#x = %#x, want %#x", mode, sat, a, b, got, want)
				}
				a, b = a&^0xffff, b&^0xffff
				if got, want := apply(packed, a|b>>16), one(a)<<8|one(b); got != want {
					t.Fatalf("%s%s.bf16x2 %#x, %#x = %#x, want %#x", mode, sat, a, b, got, want)
				}
			}
		}
	}
	f := lookup(t, "cvt.rn.bf16x2.ue8m0x2")
	for v := range uint64(256) {
		got := apply(f, v<<8|127)
		x := float64(math.Float32frombits(uint32(got & 0xffff0000)))
		if v < 255 && x != math.Ldexp(1, int(v)-127) || v == 255 && got>>16 != 0x7fff ||
			got&0xffff != 0x3f80 {
			t.Errorf("bf16x2 of %#x is %#x", v, got)
		}
	}
}

// Stochastic rounding: "the carry out of the integer addition of the supplied random bits to the
// truncated off bits of mantissa". A destination of 16 bits uses half of the bits for each value,
// the first the upper half; .f16 has 13 bits of them.
func TestCvtStochastic(t *testing.T) {
	r := rand.New(rand.NewPCG(135, 136))
	for _, s := range smallTypes[5:] {
		bits := map[isa.Type]int{isa.F16x2: 13, isa.BF16x2: 16}[s.typ]
		for _, relu := range []string{"", ".relu"} {
			text := "cvt.rs" + relu + ".satfinite." + s.name + ".f32"
			f := lookup(t, text)
			for range 10000 {
				a, b, random := s.source(r), s.source(r), uint64(r.Uint32())
				one := func(v, random uint64) uint64 {
					return s.convert(float64(math.Float32frombits(uint32(v))), relu != "",
						random&(1<<bits-1), bits)
				}
				got, want := apply(f, a, b, random), one(a, random>>16)<<16|one(b, random)
				if got != want {
					t.Fatalf("%s %#x, %#x, %#x = %#x, want %#x", text, a, b, random, got, want)
				}
			}
		}
	}
	// Without .satfinite what rounds beyond the greatest number is infinite: 65519 and all bits, 65520
	// and one half of the way.
	want(t, "cvt.rs.f16x2.f32", 0x7c007bff, 0x477fff00, 0x477fff00, 0xffff0000)
}

// Four values: the text gives the upper half of the random bits to the first two and the lower half
// to the others; for .e2m1 the upper bytes of both halves, and the lower ones.
func TestCvtStochasticFour(t *testing.T) {
	r := rand.New(rand.NewPCG(137, 138))
	types := map[isa.Type]string{isa.E2M1x2: "e2m1x4", isa.E2M3x2: "e2m3x4", isa.E3M2x2: "e3m2x4",
		isa.E4M3x2: "e4m3x4", isa.E5M2x2: "e5m2x4"}
	for _, s := range smallTypes[:5] {
		for _, relu := range []string{"", ".relu"} {
			d := desc(t, "cvt.rs"+relu+".satfinite."+types[s.typ]+".f32")
			upper, err := StochasticPair(d, false)
			if err != nil {
				t.Fatal(err)
			}
			lower, err := StochasticPair(d, true)
			if err != nil {
				t.Fatal(err)
			}
			for range 5000 {
				v := [4]uint64{s.source(r), s.source(r), s.source(r), s.source(r)}
				random := uint64(r.Uint32())
				fields, bits := [4]uint64{random >> 16, random >> 16, random & 0xffff, random & 0xffff}, 16
				if s.typ == isa.E2M1x2 {
					fields, bits = [4]uint64{random >> 24, random >> 8 & 255, random >> 16 & 255, random & 255}, 8
				}
				exp := uint64(0)
				for i := range v {
					x := float64(math.Float32frombits(uint32(v[i])))
					exp = exp<<s.field | s.convert(x, relu != "", fields[i], bits)
				}
				got := apply(JoinPairs(d), apply(upper, v[0], v[1], random), apply(lower, v[2], v[3], random))
				if got != exp {
					t.Fatalf("%s %#x, %#x = %#x, want %#x", d.Text(), v, random, got, exp)
				}
			}
		}
	}
	if _, err := StochasticPair(desc(t, "cvt.rn.satfinite.e2m1x2.f32"), false); err == nil {
		t.Error("a pair of a form with two values")
	}
}
