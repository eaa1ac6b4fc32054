package alu

import (
	"math"
	"math/rand/v2"
	"testing"

	"heddle/internal/isa"
)

// Every number of the small formats, by the definition of IEEE 754 or of PTX ISA 5.2.3: .e4m3 has
// no infinities and one magnitude that is NaN, 0x7f; of fewer bits all are numbers.
func TestReadFloat(t *testing.T) {
	for _, c := range []struct {
		name            string
		width, fraction int
		bias            int
		noInfinity      bool
		allNumbers      bool
	}{{"f16", 16, 10, 15, false, false}, {"bf16", 16, 7, 127, false, false},
		{"e5m2", 8, 2, 15, false, false}, {"e4m3", 8, 3, 7, true, false},
		{"e2m1", 4, 1, 1, true, true}, {"e2m3", 6, 3, 1, true, true}, {"e3m2", 6, 2, 3, true, true}} {
		read := ReadFloat(c.name)
		for v := range uint64(1) << c.width {
			frac := v & (1<<c.fraction - 1)
			exp := int(v >> c.fraction & (1<<(c.width-1-c.fraction) - 1))
			top := 1<<(c.width-1-c.fraction) - 1
			want := math.Ldexp(float64(frac)+math.Ldexp(1, c.fraction), exp-c.bias-c.fraction)
			switch {
			case exp == 0:
				want = math.Ldexp(float64(frac), 1-c.bias-c.fraction)
			case c.noInfinity && !c.allNumbers && exp == top && frac == 1<<c.fraction-1,
				!c.noInfinity && exp == top && frac != 0:
				want = math.NaN()
			case !c.noInfinity && exp == top:
				want = math.Inf(1)
			}
			if v>>(c.width-1) == 1 {
				want = -want
			}
			got := read(v | 1<<40)
			if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Fatalf("%s %#x is %g, want %g", c.name, v, got, want)
			}
		}
	}
	// .ue8m0 has powers of two and one NaN; .ue4m3 is .e4m3 without a sign.
	for v := range uint64(256) {
		got, want := ReadFloat("ue8m0")(v), math.Ldexp(1, int(v)-127)
		if v == 255 && !math.IsNaN(got) || v < 255 && got != want {
			t.Errorf("ue8m0 %#x is %g, want %g", v, got, want)
		}
		got, want = ReadFloat("ue4m3")(v), ReadFloat("e4m3")(v&0x7f)
		if got != want && (got == got || want == want) {
			t.Errorf("ue4m3 %#x is %g, want %g", v, got, want)
		}
	}
	if got := ReadFloat("tf32")(0x3f801fff); got != 1 { // the lower 13 bits do not count
		t.Errorf("tf32: %g", got)
	}
	if got := ReadFloat("tf32")(0x3f802000); got != 1+0x1p-10 {
		t.Errorf("tf32: %g", got)
	}
	if ReadFloat("u8") != nil || RoundFloat("e4m3") != nil {
		t.Error("formats that are none")
	}
}

// A number rounded to a format is the one that the rational oracle gives.
func TestRoundFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(121, 122))
	for range 20000 {
		for name, ty := range map[string]isa.Type{"f16": isa.F16, "bf16": isa.BF16, "f32": isa.F32} {
			v := floatOperand(r, isa.F64)
			if r.IntN(2) == 0 { // of the size of the format's numbers
				v = math.Float64bits(math.Ldexp(r.Float64()-0.5, r.IntN(60)-40))
			}
			x := layouts[isa.F64].decode(v)
			want := uint64(0)
			switch l := layouts[ty]; {
			case x.nan:
				want = canonical(ty)
			case x.inf:
				want = l.infinity(x.neg)
			case x.rat.Sign() == 0:
				want = l.zero(x.neg)
			default:
				want = l.round(x.rat, isa.RN)
			}
			if got := RoundFloat(name)(math.Float64frombits(v)); got != want {
				t.Fatalf("%g as %s = %#x, want %#x", math.Float64frombits(v), name, got, want)
			}
		}
	}
}

// Atomic additions of 16-bit numbers round once and keep subnormal numbers; pairs are two of them.
func TestAtomicFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(123, 124))
	for range 5000 {
		for ty, pair := range map[isa.Type]isa.Type{isa.F16: isa.F16x2, isa.BF16: isa.BF16x2} {
			a, b, c, d := floatOperand(r, ty), floatOperand(r, ty), floatOperand(r, ty), floatOperand(r, ty)
			sum := func(a, b uint64) uint64 { return fusedOracle(ty, isa.RN, a, one(ty), b) }
			if got := AtomicFloat(isa.FnAdd, ty)(a, b); got != sum(a, b) {
				t.Fatalf("%v %#x + %#x = %#x, want %#x", ty, a, b, got, sum(a, b))
			}
			if got, want := AtomicFloat(isa.FnAdd, pair)(a|c<<16, b|d<<16),
				sum(a, b)|sum(c, d)<<16; got != want {
				t.Fatalf("%v: %#x, want %#x", pair, got, want)
			}
		}
	}
	for _, fn := range []isa.Fn{isa.FnAnd, isa.FnExch, isa.FnInc} {
		if AtomicFloat(fn, isa.F16) != nil {
			t.Errorf("atom.%v.f16 exists", fn)
		}
	}
	if AtomicFloat(isa.FnAdd, isa.F32) != nil {
		t.Error("f32 has a function of its own")
	}
}
