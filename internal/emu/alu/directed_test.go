package alu

import (
	"math/rand/v2"
	"testing"
)

// Directed rounding on doubles against the arithmetic in software, which the rational oracle
// checks: many operands, of all exponents, and pairs that are close, cancel, overflow or underflow.
func TestDirectedSingle(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	pick := func() uint64 {
		switch r.IntN(5) {
		case 0:
			return operand(r) & 0xffffffff
		case 1: // near the limits
			return uint64(r.IntN(2))<<31 | []uint64{0, 0x00800000, 0x7f000000, 0x3f800000,
				0x7f7ffff0}[r.IntN(5)] + uint64(r.IntN(32))
		}
		return uint64(r.Uint32())
	}
	for _, text := range []string{
		"add.rz.f32", "add.rm.f32", "add.rp.f32", "sub.rz.f32", "sub.rm.ftz.f32", "sub.rp.sat.f32",
		"mul.rz.f32", "mul.rm.f32", "mul.rp.ftz.sat.f32",
		"fma.rz.f32", "fma.rm.f32", "fma.rp.f32", "fma.rm.ftz.sat.f32", "mad.rp.f32", "div.rz.f32",
		"div.rm.f32", "div.rp.ftz.f32",
		"rcp.rz.f32", "rcp.rm.ftz.f32", "rcp.rp.f32", "sqrt.rz.f32", "sqrt.rm.f32", "sqrt.rp.f32",
	} {
		d := desc(t, text)
		c, f := newArith(single, d), lookup(t, text)
		soft := map[string]scalar3{
			"add": func(a, b, _ uint64) uint64 { return c.addScalar(a, b) },
			"sub": func(a, b, _ uint64) uint64 { return c.subScalar(a, b) },
			"mul": func(a, b, _ uint64) uint64 { return c.mulScalar(a, b) },
			"div": func(a, b, _ uint64) uint64 { return c.divScalar(a, b) },
			"fma": c.fmaScalar, "mad": c.fmaScalar,
			"rcp":  func(a, _, _ uint64) uint64 { return c.rcpScalar(a) },
			"sqrt": func(a, _, _ uint64) uint64 { return c.sqrtScalar(a) },
		}[d.Row.Opcode]
		for range 3000 {
			var s state
			for l := range s.s[0] {
				a, b, z := pick(), pick(), pick()
				switch r.IntN(6) {
				case 0:
					b = a ^ 1<<31&-uint64(r.IntN(2)) ^ uint64(r.IntN(4))
				case 1: // z cancels the product
					z = mulNearest(a, b) ^ 1<<31 ^ uint64(r.IntN(2))
				}
				s.s[0][l], s.s[1][l], s.s[2][l] = a, b, z
			}
			got := run(f, s, full)
			for l := range got.d[0] {
				if want := soft(s.s[0][l], s.s[1][l], s.s[2][l]); got.d[0][l] != want {
					t.Fatalf("%s %#x, %#x, %#x = %#x, want %#x", text, s.s[0][l], s.s[1][l], s.s[2][l],
						got.d[0][l], want)
				}
			}
		}
	}
}

func mulNearest(a, b uint64) uint64 { return packF32(f32(a) * f32(b)) }
