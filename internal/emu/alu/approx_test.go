package alu

import (
	"math"
	"math/rand/v2"
	"testing"

	"heddle/internal/isa"
)

// The tables of special values of PTX ISA 9.7.3.13 to 9.7.3.22 and 9.7.4.9, 9.7.4.10.
func TestApproxSpecials(t *testing.T) {
	const inf, ninf, nzero, nanIn, nanOut, one, none = 0x7f800000, 0xff800000, 0x80000000, 0x7fc12345,
		0x7fffffff, 0x3f800000, 0xbf800000
	for _, c := range []struct {
		text string
		want map[uint64]uint64
	}{
		{"rcp.approx.f32", map[uint64]uint64{ninf: nzero, nzero: ninf, 0: inf, inf: 0, nanIn: nanOut}},
		{"rcp.approx.ftz.f32", map[uint64]uint64{0x80000001: ninf, 1: inf, 0x7f7fffff: 0,
			0xff7fffff: nzero}},
		{"sqrt.approx.f32", map[uint64]uint64{ninf: nanOut, none: nanOut, nzero: nzero, 0: 0, inf: inf,
			nanIn: nanOut}},
		{"rsqrt.approx.f32", map[uint64]uint64{ninf: nanOut, none: nanOut, nzero: ninf, 0: inf, inf: 0,
			nanIn: nanOut}},
		{"sin.approx.f32", map[uint64]uint64{ninf: nanOut, nzero: nzero, 0: 0, inf: nanOut,
			nanIn: nanOut}},
		{"cos.approx.f32", map[uint64]uint64{ninf: nanOut, nzero: one, 0: one, inf: nanOut,
			nanIn: nanOut}},
		{"lg2.approx.f32", map[uint64]uint64{ninf: nanOut, none: nanOut, nzero: ninf, 0: ninf, inf: inf,
			nanIn: nanOut}},
		{"lg2.approx.ftz.f32", map[uint64]uint64{1: ninf, 0x80000001: ninf}},
		// 2^-149
		{"ex2.approx.f32", map[uint64]uint64{ninf: 0, nzero: one, 0: one, inf: inf, nanIn: nanOut,
			0xc3150000: 1}},
		{"ex2.approx.ftz.f32", map[uint64]uint64{0xc3150000: 0}},
		{"tanh.approx.f32", map[uint64]uint64{ninf: none, nzero: nzero, 0: 0, inf: one, nanIn: nanOut,
			1: 1}},
		{"tanh.approx.f16", map[uint64]uint64{0xfc00: 0xbc00, 0x8000: 0x8000, 0: 0, 0x7c00: 0x3c00,
			0x7e00: 0x7fff}},
		{"ex2.approx.f16", map[uint64]uint64{0xfc00: 0, 0x8000: 0x3c00, 0: 0x3c00, 0x7c00: 0x7c00,
			0x7e00: 0x7fff}},
		{"ex2.approx.ftz.bf16", map[uint64]uint64{0xff80: 0, 0x8001: 0x3f80, 1: 0x3f80, 0x7f80: 0x7f80,
			0x7fc0: 0x7fff}},
		{"rcp.approx.ftz.f64", map[uint64]uint64{0xfff << 52: 1 << 63, 1<<63 | 1<<33: 0xfff << 52,
			1 << 63: 0xfff << 52, 0: 0x7ff << 52,
			1 << 33: 0x7ff << 52, 0x7ff << 52: 0, 0x7ff8000000000000: 0x7fffffff00000000}},
		{"rsqrt.approx.ftz.f64", map[uint64]uint64{0xfff << 52: 0x7fffffff00000000,
			1<<63 | 1<<33: 0xfff << 52, 0: 0x7ff << 52,
			1 << 33: 0x7ff << 52, 0x7ff << 52: 0, 0x4010000012345678: 0x3fe0000000000000}},
	} {
		for in, exp := range c.want {
			want(t, c.text, exp, in)
		}
	}
	// 9.7.3.8: 2^126 < |b| < 2^128.
	want(t, "div.approx.f32", nanOut, inf, 0x7f000000)
	want(t, "div.approx.f32", nzero, 0xff000000, 0x7f000000)
	want(t, "div.full.f32", 0xbf800000, 0xff000000, 0x7f000000)
	want(t, "div.approx.f32", 0x40000000, 0x7e800000, 0x7e000000)
	want(t, "div.approx.ftz.f32", inf, one, 1)
}

// The error bounds that the ISA states, against functions computed here another way.
func TestApproxErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	relative := func(got, exact float64) float64 { return math.Abs(got-exact) / math.Abs(exact) }
	absolute := func(got, exact float64) float64 { return math.Abs(got - exact) }
	for _, c := range []struct {
		text   string
		lo, hi float64
		exact  func(x float64) float64
		diff   func(got, exact float64) float64
		bound  float64
	}{
		{"rcp.approx.f32", 0x1p-100, 0x1p100, func(x float64) float64 { return 1 / x }, relative,
			0x1p-23},
		{"sqrt.approx.f32", 0x1p-120, 0x1p120, math.Sqrt, relative, 0x1p-23},
		{"rsqrt.approx.f32", 0x1p-120, 0x1p120, func(x float64) float64 { return math.Pow(x, -0.5) },
			relative, math.Pow(2, -22.9)},
		{"sin.approx.f32", 1e-3, 2 * math.Pi,
			func(x float64) float64 { s, _ := math.Sincos(x); return s }, absolute, math.Pow(2, -20.5)},
		{"cos.approx.f32", 1e-3, 2 * math.Pi,
			func(x float64) float64 { _, c := math.Sincos(x); return c }, absolute, math.Pow(2, -20.5)},
		{"lg2.approx.f32", 0.5, 2, func(x float64) float64 { return math.Log(x) / math.Ln2 }, absolute,
			0x1p-22},
		{"lg2.approx.f32", 2, 0x1p120, func(x float64) float64 { return math.Log(x) / math.Ln2 },
			relative, 0x1p-22},
		{"ex2.approx.f32", 0x1p-10, 120, func(x float64) float64 { return math.Exp(x * math.Ln2) },
			relative, 0x1p-22},
		{"tanh.approx.f32", 0x1p-100, 20, func(x float64) float64 { return 1 - 2/(math.Expm1(2*x)+2) },
			absolute, 0x1p-11},
	} {
		for range 2000 {
			x := math.Exp(math.Log(c.lo) + r.Float64()*(math.Log(c.hi)-math.Log(c.lo)))
			in := uint64(math.Float32bits(float32(x)))
			got := float64(f32(eval(t, c.text, in)))
			exact := c.exact(float64(float32(x)))
			if exact != 0 && c.diff(got, exact) > c.bound {
				t.Fatalf("%s %g = %g, want %g within %g", c.text, float32(x), got, exact, c.bound)
			}
		}
	}
}

// The forms with a narrower first operand convert it exactly and round once: PTX ISA 9.7.5.
func TestMixedPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	exact := func(ty isa.Type, v uint64) uint64 {
		l := layouts[ty]
		switch x := l.decode(v); {
		case x.nan:
			return canonical(isa.F32)
		case x.inf:
			return layouts[isa.F32].infinity(x.neg)
		case x.rat.Sign() == 0:
			return layouts[isa.F32].zero(x.neg)
		default:
			return layouts[isa.F32].round(x.rat, isa.RN)
		}
	}
	for range 2000 {
		for _, ty := range []isa.Type{isa.F16, isa.BF16} {
			a, b, c := floatOperand(r, ty), floatOperand(r, ty), floatOperand(r, isa.F32)
			x, y, n := exact(ty, a), exact(ty, b), "."+ty.String()
			want(t, "add.f32"+n, fusedOracle(isa.F32, isa.RN, x, one(isa.F32), c), a, c)
			want(t, "sub.rp.f32"+n, fusedOracle(isa.F32, isa.RP, x, one(isa.F32), c^1<<31), a, c)
			want(t, "fma.rz.f32"+n, fusedOracle(isa.F32, isa.RZ, x, y, c), a, b, c)
		}
	}
	// The conversion is exact: the rational is the same.
	for v := range uint64(0x7c00) {
		if a, b := layouts[isa.F16].decode(v),
			layouts[isa.F32].decode(toSingle(half, v)); a.rat.Cmp(b.rat) != 0 {
			t.Fatalf("f16 %#x becomes %v, want %v", v, b.rat, a.rat)
		}
	}
}

// The half-precision functions, for every operand: PTX ISA 9.7.4.9 and 9.7.4.10. Subnormal results
// of ex2 on .f16 have no relative error of that size in the format; there half a unit in the last
// place is the best.
func TestApproxHalves(t *testing.T) {
	relative := func(got, exact float64) float64 { return math.Abs(got-exact) / math.Abs(exact) }
	absolute := func(got, exact float64) float64 { return math.Abs(got - exact) }
	for _, c := range []struct {
		text    string
		ty      isa.Type
		exact   func(x float64) float64
		diff    func(got, exact float64) float64
		bound   float64
		minimum float64 // least normal result
	}{
		{"tanh.approx.f16", isa.F16, math.Tanh, absolute, math.Pow(2, -10.987), 0},
		{"tanh.approx.bf16", isa.BF16, math.Tanh, absolute, 0x1p-8, 0},
		{"ex2.approx.f16", isa.F16, func(x float64) float64 { return math.Exp(x * math.Ln2) }, relative,
			math.Pow(2, -9.9), 0x1p-14},
		{"ex2.approx.ftz.bf16", isa.BF16, func(x float64) float64 { return math.Exp(x * math.Ln2) },
			relative, 0x1p-7, 0x1p-126},
	} {
		l := layouts[c.ty]
		for v := range uint64(1 << 16) {
			x := l.decode(v)
			if x.nan || x.inf {
				continue
			}
			in, _ := x.rat.Float64()
			exact := c.exact(in)
			got := l.decode(eval(t, c.text, v))
			switch {
			case got.inf && c.ty == isa.F16 && exact > 65519, got.inf && c.ty == isa.BF16 && exact > 3.39e38:
			case got.nan || got.inf:
				t.Fatalf("%s %g is no number, want %g", c.text, in, exact)
			default:
				y, _ := got.rat.Float64()
				if small := math.Abs(exact) < c.minimum; !small && c.diff(y, exact) > c.bound ||
					small && math.Abs(y-exact) > c.minimum {
					t.Fatalf("%s %g = %g, want %g within %g", c.text, in, y, exact, c.bound)
				}
			}
		}
	}
}

// div.approx and div.full: at most two units in the last place (PTX ISA 9.7.3.8), and sin and cos
// further out (9.7.3.18: 2^-14.7 within 100 pi).
func TestApproxWider(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for range 20000 {
		a, b := r.Uint32(), r.Uint32()
		x, y := math.Float32frombits(a), math.Float32frombits(b)
		q := float64(x) / float64(y)
		if m := math.Abs(float64(y)); x != x || y != y || m < 0x1p-126 || m > 0x1p126 ||
			math.Abs(q) < 0x1p-126 || math.Abs(q) > math.MaxFloat32 {
			continue
		}
		ulp := math.Ldexp(1, math.Ilogb(q)-23)
		for _, text := range []string{"div.approx.f32", "div.full.f32"} {
			if got := float64(f32(eval(t, text, uint64(a), uint64(b)))); math.Abs(got-q) > 2*ulp {
				t.Fatalf("%s %g / %g = %g, want %g", text, x, y, got, q)
			}
		}
		z := float32((r.Float64() - 0.5) * 200 * math.Pi)
		s, c := math.Sincos(float64(z))
		for text, exact := range map[string]float64{"sin.approx.f32": s, "cos.approx.f32": c} {
			if got := float64(f32(eval(t, text, uint64(math.Float32bits(z))))); math.Abs(
				got-exact) > math.Pow(2, -14.7) {
				t.Fatalf("%s %g = %g, want %g", text, z, got, exact)
			}
		}
	}
}
