package alu

import (
	"math"
	"math/big"
	"math/rand/v2"

	"heddle/internal/isa"
)

// A second, slow implementation of floating-point rounding, on rational numbers, written from the
// definitions of IEEE 754-2019 4.3: the oracle of the property tests.

// layout is a format by its IEEE parameters.
type layout struct{ precision, minExp, maxExp, width int }

var layouts = map[isa.Type]layout{
	isa.F16:  {11, -14, 15, 16},
	isa.BF16: {8, -126, 127, 16},
	isa.F32:  {24, -126, 127, 32},
	isa.F64:  {53, -1022, 1023, 64},
}

// A value is a real number, or an infinity or a NaN; zeros have a sign.
type value struct {
	rat      *big.Rat // nil for infinities and NaN
	neg      bool
	inf, nan bool
}

func pow2(e int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
	if e < 0 {
		r.Inv(r)
	}
	return r
}

// decode reads the bits of a format.
func (l layout) decode(v uint64) value {
	fracBits := l.precision - 1
	frac := v & (1<<fracBits - 1)
	exp := int(v >> fracBits & (1<<(l.width-l.precision) - 1))
	out := value{neg: v>>(l.width-1)&1 == 1}
	switch {
	case exp == 1<<(l.width-l.precision)-1:
		out.inf, out.nan = frac == 0, frac != 0
		return out
	case exp == 0:
		exp = 1
	default:
		frac |= 1 << fracBits
	}
	out.rat = new(big.Rat).SetInt(new(big.Int).SetUint64(frac))
	out.rat.Mul(out.rat, pow2(exp-1+l.minExp-fracBits))
	if out.neg {
		out.rat.Neg(out.rat)
	}
	return out
}

// roundInt rounds a rational to an integer.
func roundInt(x *big.Rat, mode isa.Rounding) *big.Int {
	floor, rem := new(big.Int), new(big.Int)
	floor.DivMod(x.Num(), x.Denom(), rem) // Euclidean: rem >= 0, so that this is the floor
	if rem.Sign() == 0 {
		return floor
	}
	up := false
	switch half := rem.Lsh(rem, 1).Cmp(x.Denom()); mode {
	case isa.RM, isa.RMI:
	case isa.RP, isa.RPI:
		up = true
	case isa.RZ, isa.RZI:
		up = x.Sign() < 0
	case isa.RNA:
		up = half > 0 || half == 0 && x.Sign() > 0
	default:
		up = half > 0 || half == 0 && floor.Bit(0) == 1
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// exponent returns e with 2^e <= |x| < 2^(e+1).
func exponent(x *big.Rat) int {
	a := new(big.Rat).Abs(x)
	e := a.Num().BitLen() - a.Denom().BitLen()
	if a.Cmp(pow2(e)) < 0 {
		e--
	}
	return e
}

// round returns the bits of x ≠ 0 rounded to the format.
func (l layout) round(x *big.Rat, mode isa.Rounding) uint64 {
	sign := uint64(0)
	if x.Sign() < 0 {
		sign = 1 << (l.width - 1)
	}
	q := max(exponent(x), l.minExp) - l.precision + 1 // exponent of the last place
	n := roundInt(new(big.Rat).Mul(x, pow2(-q)), mode)
	n.Abs(n)
	limit := new(big.Rat).Mul(new(big.Rat).SetInt(n), pow2(q))
	fracBits := l.precision - 1
	infinity := uint64(1<<(l.width-l.precision)-1) << fracBits
	if limit.Cmp(pow2(l.maxExp+1)) >= 0 {
		// Rounded as if the exponent had no bound and too great: the modes that round the magnitude down
		// deliver the greatest finite number, the others infinity (IEEE 754 7.4).
		away := mode == isa.RN || mode == isa.RNA || mode == isa.RP && x.Sign() > 0 ||
			mode == isa.RM && x.Sign() < 0
		if away {
			return sign | infinity
		}
		return sign | infinity - 1
	}
	if n.BitLen() > l.precision { // carried to the next power of two
		n.Rsh(n, 1)
		q++
	}
	bits := n.Uint64()
	if n.BitLen() == l.precision {
		bits = bits&(1<<fracBits-1) | uint64(q+fracBits-l.minExp+1)<<fracBits
	}
	return sign | bits
}

// canonical is the NaN of an operation on numbers.
func canonical(t isa.Type) uint64 {
	switch t {
	case isa.F16, isa.BF16:
		return 0x7fff
	case isa.F32:
		return 0x7fffffff
	}
	return 0xfff8000000000000
}

// exactZero is the sign of a sum that is exactly zero: -0 only if both terms are, or, rounding
// down, unless both are +0 (IEEE 754 6.3).
func (l layout) zero(neg bool) uint64 {
	if neg {
		return 1 << (l.width - 1)
	}
	return 0
}

// fusedOracle is x·y+z.
func fusedOracle(t isa.Type, mode isa.Rounding, a, b, c uint64) uint64 {
	l := layouts[t]
	x, y, z := l.decode(a), l.decode(b), l.decode(c)
	neg := x.neg != y.neg
	isZero := func(v value) bool { return v.rat != nil && v.rat.Sign() == 0 }
	switch {
	case x.nan || y.nan || z.nan:
		return nanOracle(t, a, b, c)
	case x.inf && isZero(y) || y.inf && isZero(x):
		return canonical(t)
	case x.inf || y.inf:
		if z.inf && z.neg != neg {
			return canonical(t)
		}
		return l.infinity(neg)
	case z.inf:
		return l.infinity(z.neg)
	}
	sum := new(big.Rat).Mul(x.rat, y.rat)
	productZero := sum.Sign() == 0
	sum.Add(sum, z.rat)
	if sum.Sign() != 0 {
		return l.round(sum, mode)
	}
	switch {
	case productZero && neg == z.neg:
		return l.zero(neg)
	default:
		return l.zero(mode == isa.RM)
	}
}

func (l layout) infinity(neg bool) uint64 {
	return l.zero(neg) | uint64(1<<(l.width-l.precision)-1)<<(l.precision-1)
}

// nanOracle is the NaN of an operation with NaN operands: canonical, but the first NaN made quiet
// for .f64.
func nanOracle(t isa.Type, operands ...uint64) uint64 {
	if t != isa.F64 {
		return canonical(t)
	}
	for _, v := range operands {
		if math.IsNaN(math.Float64frombits(v)) {
			return v | 1<<51
		}
	}
	return canonical(t)
}

// quotientOracle is x/y.
func quotientOracle(t isa.Type, mode isa.Rounding, a, b uint64) uint64 {
	l := layouts[t]
	x, y := l.decode(a), l.decode(b)
	neg := x.neg != y.neg
	switch {
	case x.nan || y.nan:
		return nanOracle(t, a, b)
	case x.inf && y.inf:
		return canonical(t)
	case x.inf:
		return l.infinity(neg)
	case y.inf:
		return l.zero(neg)
	case y.rat.Sign() == 0 && x.rat.Sign() == 0:
		return canonical(t)
	case y.rat.Sign() == 0:
		return l.infinity(neg)
	case x.rat.Sign() == 0:
		return l.zero(neg)
	}
	return l.round(new(big.Rat).Quo(x.rat, y.rat), mode)
}

// floatOperand draws a value of a format: special values, subnormals, numbers near each other and
// near the ends of the range, and any bits at all.
func floatOperand(r *rand.Rand, t isa.Type) uint64 {
	l := layouts[t]
	fracBits := l.precision - 1
	maxBiased := 1<<(l.width-l.precision) - 1
	exp := uint64(r.IntN(maxBiased + 1))
	frac := r.Uint64() & (1<<fracBits - 1)
	switch r.IntN(8) {
	case 0: // special and corner exponents
		exp = []uint64{0, 0, 1, 2, uint64(maxBiased), uint64(maxBiased - 1)}[r.IntN(6)]
	case 1, 2, 3: // near 1, so that sums and products meet
		exp = uint64(maxBiased/2 + r.IntN(9) - 4)
	case 4: // apart by about the precision, where ties arise
		exp = uint64(min(maxBiased-1, maxBiased/2+r.IntN(2*l.precision+4)))
	}
	switch r.IntN(4) {
	case 0:
		frac = 0
	case 1: // few bits set: ties
		frac = 1 << r.IntN(fracBits) & (1<<fracBits - 1)
	case 2:
		frac = (1<<fracBits - 1) &^ (1 << r.IntN(fracBits))
	}
	return uint64(r.IntN(2))<<(l.width-1) | exp<<fracBits | frac
}
