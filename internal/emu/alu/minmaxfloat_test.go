package alu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// minmaxOracle is the pseudocode of PTX ISA 9.7.3.11 and 9.7.4.7.
func minmaxOracle(d *isa.Desc, t isa.Type, a, b uint64) uint64 {
	l := layouts[t]
	sign := uint64(1) << (l.width - 1)
	if d.Has(isa.FTZ) {
		for _, v := range []*uint64{&a, &b} {
			if x := l.decode(*v); x.rat != nil && flushed(l, x).Sign() == 0 {
				*v &= sign
			}
		}
	}
	xorsign := (a ^ b) & sign
	if d.Has(isa.XorSign) {
		a, b = a&^sign, b&^sign
	}
	x, y := l.decode(a), l.decode(b)
	less := func(v, w value) bool { // "note: -0.0 < +0.0 here"
		if c := realOrder(l, v).Cmp(realOrder(l, w)); c != 0 {
			return c < 0
		}
		return v.neg && !w.neg
	}
	var r uint64
	switch {
	case x.nan && y.nan, d.Has(isa.NaNProp) && (x.nan || y.nan):
		return nanOracle(t, a, b)
	case x.nan:
		r = b
	case y.nan:
		r = a
	case less(x, y) == (d.Row.Opcode == "min"):
		r = a
	default:
		r = b
	}
	if d.Has(isa.XorSign) {
		r = r&^sign | xorsign
	}
	return r
}

func TestMinMaxFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, text := range forms() {
		d := desc(t, text)
		elem, packed := elementType(d.Type)
		if !d.Type.IsFloat() || packed || !strings.HasPrefix(text, "min.") && !strings.HasPrefix(text,
			"max.") {
			continue
		}
		for range 300 {
			a, b := comparands(r, elem)
			if r.IntN(4) == 0 {
				b = a ^ 1<<(layouts[elem].width-1)
			}
			want(t, text, minmaxOracle(d, elem, a, b), a, b)
		}
	}
	// 9.7.3.11: +0.0 > -0.0; one NaN gives the other operand, with .NaN the canonical NaN.
	want(t, "min.f32", 0x80000000, 0, 0x80000000)
	want(t, "max.f64", 0, 1<<63, 0)
	want(t, "min.f32", 0x3f800000, 0x7fc12345, 0x3f800000)
	want(t, "min.NaN.f32", 0x7fffffff, 0x7fc12345, 0x3f800000)
	want(t, "max.f32", 0x7fffffff, 0xffc12345, 0x7f812345)
	want(t, "max.xorsign.abs.f32", 0xc0000000, 0xc0000000, 0x3f800000)
	want(t, "min.ftz.f32", 0x80000000, 0x80000001, 0)
}

// PTX ISA 9.7.3.1, 9.7.3.2, 9.7.3.9, 9.7.3.10.
func TestSigns(t *testing.T) {
	want(t, "copysign.f32", 0xc0000000, 0x80000000, 0x40000000)
	want(t, "copysign.f64", 0x4000000000000000, 0x3ff0000000000000, 0xc000000000000000)
	want(t, "neg.f32", 0x80000000, 0)
	want(t, "neg.ftz.f32", 0, 0x80000001)
	want(t, "neg.f64", 0x3ff0000000000000, 0xbff0000000000000)
	want(t, "abs.f64", 0x7ff8000000000001, 0xfff8000000000001)
	want(t, "abs.ftz.f32", 0, 0x80000001)
	want(t, "abs.f16", 1, 0x8001)
	classes := map[string][]string{
		"finite": {"zero", "normal", "subnormal"}, "infinite": {"inf"},
		"number":     {"zero", "normal", "subnormal", "inf"},
		"notanumber": {"nan"}, "normal": {"zero", "normal"}, "subnormal": {"subnormal"},
	}
	values := map[string]map[string]uint64{
		"f32": {"zero": 0x80000000, "normal": 0xff7fffff, "subnormal": 0x007fffff, "inf": 0xff800000,
			"nan": 0x7f800001},
		"f64": {"zero": 1 << 63, "normal": 1 << 52, "subnormal": 1<<52 - 1, "inf": 0x7ff << 52,
			"nan": 0x7ff<<52 + 1},
	}
	for op, yes := range classes {
		for ty, vs := range values {
			for class, v := range vs {
				p := uint32(0)
				lookup(t, "testp."+op+"."+ty)(&Ops{S: [4]*Lanes{splat(v)}, PD: [2]*uint32{&p}}, 1)
				exp := uint32(0)
				for _, c := range yes {
					if c == class {
						exp = 1
					}
				}
				if p != exp {
					t.Errorf("testp.%s.%s %#x = %d, want %d", op, ty, v, p, exp)
				}
			}
		}
	}
}

// Double precision keeps NaN payloads, single precision has one NaN; see float.go.
func TestNaN(t *testing.T) {
	want(t, "add.f32", 0x7fffffff, 0xffc12345, 0x3f800000)
	want(t, "sub.f32", 0x7fffffff, 0x7f800000, 0x7f800000)
	want(t, "add.f64", 0x7ff8000000000005, 0x3ff0000000000000, 0x7ff0000000000005)
	want(t, "fma.rn.f64", 0xfff8000000000003, 0xfff0000000000003, 0x7ff8000000000007, 0)
	want(t, "mul.rz.f64", 0xfff8000000000000, 0, 0x7ff0000000000000)
	want(t, "add.sat.f32", 0, 0x7fc00000, 0)
	want(t, "add.sat.f32", 0x3f800000, 0x7f800000, 0)
	want(t, "fma.rn.bf16", 0x7fff, 0x7fc0, 0, 0)
}

// min and max of three inputs: PTX ISA 9.7.3.11.
func TestThreeInputs(t *testing.T) {
	const nan, one, two, minusThree, nzero, sub = 0x7fc00001, 0x3f800000, 0x40000000, 0xc0400000,
		0x80000000, 0x80000001
	for _, c := range []struct {
		text    string
		a, b, c uint64
		want    uint64
	}{
		{"min.f32", two, one, minusThree, minusThree}, {"min.f32", minusThree, one, two, minusThree},
		{"max.f32", one, two, minusThree, two},
		{"max.abs.f32", one, two, minusThree, 0x40400000},
		{"min.abs.f32", minusThree, two, minusThree, two},
		{"min.f32", nan, two, nan, two}, {"min.f32", nan, nan, two, two},
		{"min.f32", nan, nan, nan, 0x7fffffff},
		{"min.NaN.f32", one, two, nan, 0x7fffffff}, {"max.NaN.f32", nan, two, one, 0x7fffffff},
		{"min.f32", 0, nzero, 0, nzero}, {"max.f32", nzero, nzero, 0, 0},
		{"min.ftz.f32", sub, one, two, nzero},
	} {
		f, err := ThreeInputs(desc(t, c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := eval3(f, c.a|1<<40, c.b, c.c); got != c.want {
			t.Errorf("%s %#x, %#x, %#x = %#x, want %#x", c.text, c.a, c.b, c.c, got, c.want)
		}
	}
	for _, text := range []string{"min.f64", "min.f16", "add.f32", "min.xorsign.abs.f32", "max.s32"} {
		if _, err := ThreeInputs(desc(t, text)); err == nil {
			t.Errorf("%s has three inputs", text)
		}
	}
}
