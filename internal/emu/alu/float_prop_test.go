package alu

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"heddle/internal/isa"
)

var directions = map[isa.Rounding]string{isa.RN: ".rn", isa.RZ: ".rz", isa.RM: ".rm", isa.RP: ".rp"}

// modesOf lists the roundings of a type: PTX ISA 9.7.3.3, 9.7.4.1.
func modesOf(t isa.Type) []isa.Rounding {
	if t == isa.F16 || t == isa.BF16 {
		return []isa.Rounding{isa.RN}
	}
	return []isa.Rounding{isa.RN, isa.RZ, isa.RM, isa.RP}
}

// agree executes an instruction on 32 random lanes at a time against an oracle of one lane.
func agree(t *testing.T, seed uint64, text string, ty isa.Type, rounds int,
	oracle func(a, b, c uint64) uint64) {
	t.Helper()
	f, r := lookup(t, text), rand.New(rand.NewPCG(seed, 17))
	var s [3]Lanes
	var d Lanes
	o := &Ops{D: [2]*Lanes{&d}, S: [4]*Lanes{&s[0], &s[1], &s[2]}}
	for range rounds {
		for l := range 32 {
			for i := range s {
				s[i][l] = floatOperand(r, ty)
			}
			if r.IntN(8) == 0 { // operands that are close to each other cancel
				s[1][l] = s[0][l] ^ 1<<(layouts[ty].width-1) ^ uint64(r.IntN(3))
			}
		}
		f(o, full)
		for l := range 32 {
			a, b, c := s[0][l], s[1][l], s[2][l]
			if exp := oracle(a, b, c); d[l] != exp {
				t.Errorf("%s %#x, %#x, %#x = %#x, want %#x", text, a, b, c, d[l], exp)
				return
			}
		}
	}
}

func one(t isa.Type) uint64 {
	return layouts[t].round(big.NewRat(1, 1), isa.RN)
}

// PTX ISA 9.7.3.3 to 9.7.3.8, 9.7.3.13, 9.7.4.1 to 9.7.4.4: every operation is rounded once.
func TestIEEEOperations(t *testing.T) {
	for ty, l := range layouts {
		name, sign := "."+ty.String(), uint64(1)<<(l.width-1)
		rounds := 100
		if ty == isa.F64 {
			rounds = 12 // rationals of thousands of bits
		}
		for i, mode := range modesOf(ty) {
			m, seed := directions[mode], uint64(i)
			agree(t, seed, "add"+m+name, ty, rounds, func(a, b, _ uint64) uint64 {
				return fusedOracle(ty, mode, a, one(ty), b)
			})
			agree(t, seed, "sub"+m+name, ty, rounds, func(a, b, _ uint64) uint64 {
				if l.decode(b).nan {
					return fusedOracle(ty, mode, a, one(ty), b)
				}
				return fusedOracle(ty, mode, a, one(ty), b^sign)
			})
			agree(t, seed, "mul"+m+name, ty, rounds, func(a, b, _ uint64) uint64 {
				// Adding a zero of the product's own sign changes nothing.
				return fusedOracle(ty, mode, a, b, (a^b)&sign)
			})
			agree(t, seed, "fma"+m+name, ty, rounds, func(a, b, c uint64) uint64 {
				return fusedOracle(ty, mode, a, b, c)
			})
			if ty == isa.F16 || ty == isa.BF16 {
				continue
			}
			agree(t, seed, "div"+m+name, ty, rounds, func(a, b, _ uint64) uint64 {
				return quotientOracle(ty, mode, a, b)
			})
			agree(t, seed, "rcp"+m+name, ty, rounds, func(a, _, _ uint64) uint64 {
				return quotientOracle(ty, mode, one(ty), a)
			})
			agree(t, seed, "sqrt"+m+name, ty, rounds, func(a, _, _ uint64) uint64 {
				return rootOracle(ty, mode, a)
			})
		}
	}
}

// rootOracle is the square root of x: an integer square root of x scaled by an even power of two,
// to more bits than any format has; an inexact one gets a half more, so that no rounding takes it
// for exact.
func rootOracle(t isa.Type, mode isa.Rounding, a uint64) uint64 {
	l := layouts[t]
	x := l.decode(a)
	switch {
	case x.nan:
		return nanOracle(t, a)
	case x.rat != nil && x.rat.Sign() == 0:
		return a
	case x.neg:
		return canonical(t)
	case x.inf:
		return a
	}
	const scale = 2200 // even; x·2^scale is an integer
	n := new(big.Rat).Mul(x.rat, pow2(scale)).Num()
	root := new(big.Int).Sqrt(n)
	r := new(big.Rat).SetInt(root)
	if new(big.Int).Mul(root, root).Cmp(n) != 0 {
		r.Add(r, big.NewRat(1, 2))
	}
	return l.round(r.Mul(r, pow2(-scale/2)), mode)
}

// The exact sum is next to a midpoint of single precision, and the sum in double precision is that
// midpoint: rounding it again goes wrong (9.7.3.6: the result is rounded once). Below the normal
// numbers the midpoints lie elsewhere.
func TestFmaF32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	wrong := [2]int{}
	for i := range 4000 {
		// (1 + k·2^-23)(1 - k·2^-23) is 1 less k²·2^-46, times half a unit in the last place of c.
		k := uint64(r.IntN(256))
		a, b, c := 0x33800000+k, 0x3f800000-2*k, 0x3f800000+r.Uint64N(1<<23) // 2^-24, 1, 1
		if i&1 == 1 {
			a, b, c = 0x1a000000+k, 0x1a000000-2*k, r.Uint64N(1<<23) // 2^-75, 2^-75, subnormal
		}
		a |= r.Uint64() & (1 << 31)
		c |= r.Uint64() & (1 << 31)
		exp := fusedOracle(isa.F32, isa.RN, a, b, c)
		want(t, "fma.rn.f32", exp, a, b, c)
		want(t, "fma.rn.sat.f32", single.saturate(exp), a, b, c)
		if twice := packF32(float32(float64(f32(a))*float64(f32(b)) + float64(f32(c)))); twice != exp {
			wrong[i&1]++
		}
	}
	if wrong[0] == 0 || wrong[1] == 0 {
		t.Error("no case tells one rounding from two")
	}
}

// .ftz flushes operands and results to zeros of their sign; .sat clamps to [0, 1] and makes NaN +0.
func TestFlushAndSaturate(t *testing.T) {
	for _, ty := range []isa.Type{isa.F32, isa.F16} {
		l := layouts[ty]
		flush := func(v uint64) uint64 {
			if x := l.decode(v); x.rat != nil && new(big.Rat).Abs(x.rat).Cmp(pow2(l.minExp)) < 0 {
				return l.zero(x.neg)
			}
			return v
		}
		sat := func(v uint64) uint64 {
			switch x := l.decode(v); {
			case x.nan || x.neg:
				return 0
			case x.inf || x.rat.Cmp(big.NewRat(1, 1)) > 0:
				return one(ty)
			}
			return v
		}
		fma := func(a, b, c uint64) uint64 { return fusedOracle(ty, isa.RN, a, b, c) }
		name := "." + ty.String()
		agree(t, 1, "fma.rn.ftz"+name, ty, 60, func(a, b, c uint64) uint64 {
			return flush(fma(flush(a), flush(b), flush(c)))
		})
		agree(t, 2, "fma.rn.sat"+name, ty, 60, func(a, b, c uint64) uint64 { return sat(fma(a, b, c)) })
		agree(t, 3, "add.ftz.sat"+name, ty, 60, func(a, b, _ uint64) uint64 {
			return sat(flush(fma(flush(a), one(ty), flush(b))))
		})
		agree(t, 4, "mul.ftz"+name, ty, 60, func(a, b, _ uint64) uint64 {
			a, b = flush(a), flush(b)
			return flush(fma(a, b, (a^b)&(1<<(l.width-1))))
		})
	}
	agree(t, 5, "fma.rn.relu.f16", isa.F16, 60, func(a, b, c uint64) uint64 {
		v := fusedOracle(isa.F16, isa.RN, a, b, c)
		if v>>15 == 1 {
			return 0
		}
		return v
	})
}

// Packed operations are the scalar one on each element.
func TestPackedIsScalarTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct {
		packed, scalar string
		ty             isa.Type
		n              uint
	}{
		{"add.f16x2", "add.f16", isa.F16, 16}, {"mul.bf16x2", "mul.bf16", isa.BF16, 16},
		{"fma.rn.relu.f16x2", "fma.rn.relu.f16", isa.F16, 16},
		{"sub.rz.f32x2", "sub.rz.f32", isa.F32, 32},
		{"fma.rp.ftz.f32x2", "fma.rp.ftz.f32", isa.F32, 32},
		{"min.NaN.f16x2", "min.NaN.f16", isa.F16, 16},
		{"neg.ftz.f16x2", "neg.ftz.f16", isa.F16, 16}, {"abs.bf16x2", "abs.bf16", isa.BF16, 16},
		{"tanh.approx.f16x2", "tanh.approx.f16", isa.F16, 16},
	} {
		for range 200 {
			var lo, hi, both [3]uint64
			for i := range lo {
				lo[i], hi[i] = floatOperand(r, c.ty), floatOperand(r, c.ty)
				both[i] = lo[i] | hi[i]<<c.n
			}
			want(t, c.packed, eval(t, c.scalar, lo[:]...)|eval(t, c.scalar, hi[:]...)<<c.n, both[:]...)
		}
	}
}
