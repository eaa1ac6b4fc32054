package alu

import (
	"math"
	"math/bits"

	"heddle/internal/isa"
)

// Arithmetic in software for what the host does not provide: directed rounding and narrow formats.
// It follows IEEE 754-2019: an exact result (up to a sticky bit) is rounded once, to the precision
// and the exponent range of the destination. Subnormal results are detected after normalization, so
// that there is no double rounding at the lower end of the range.

// A format is a binary floating-point format in IEEE form: sign, biased exponent, fraction.
type format struct {
	prec int    // bits of the significand, including the hidden bit
	emin int    // exponent of the least normal number; the bias is 1-emin
	emax int    // exponent of the greatest finite number
	nan  uint64 // the NaN that an operation yields
	sign uint64 // the sign bit, the top one
	inf  uint64 // positive infinity; the finite numbers are below it
}

// newFormat describes a format of size bits and the NaN that its operations return.
func newFormat(prec, emin, size int, nan uint64) *format {
	sign := uint64(1) << (size - 1)
	return &format{prec: prec, emin: emin, emax: 1 - emin, nan: nan,
		sign: sign, inf: (sign - 1) &^ (1<<(prec-1) - 1)}
}

// The formats. The NaN is the canonical one that an operation returns; see float.go.
var (
	half     = newFormat(11, -14, 16, 0x7fff)
	bfloat   = newFormat(8, -126, 16, 0x7fff)
	single   = newFormat(24, -126, 32, 0x7fffffff)
	double   = newFormat(53, -1022, 64, 0xfff8000000000000)
	tfloat32 = newFormat(11, -126, 19, 0x3ffff) // the upper 19 bits of a .tf32 register
)

// formatOf returns the format of a type, or of an element of a packed type; nil if there is none.
func formatOf(t isa.Type) *format {
	switch t {
	case isa.F16, isa.F16x2:
		return half
	case isa.BF16, isa.BF16x2:
		return bfloat
	case isa.F32, isa.F32x2:
		return single
	case isa.F64:
		return double
	}
	return nil
}

// class classifies an unpacked value.
type class uint8

const (
	zero class = iota
	finite
	infinite
	nan
)

// A number is an unpacked value. A finite one is sig × 2^(exp-63) with the top bit of sig set.
type number struct {
	class class
	neg   bool
	exp   int
	sig   uint64
}

// unpack decodes a value. Subnormal numbers are normalized.
func (f *format) unpack(v uint64) number {
	n := number{neg: v&f.sign != 0}
	v &= f.sign - 1
	switch {
	case v == 0:
		n.class = zero
	case v > f.inf:
		n.class = nan
	case v == f.inf:
		n.class = infinite
	default:
		n.class = finite
		// Subnormal numbers have the exponent of the least normal one and no hidden bit.
		fraction := v & (1<<(f.prec-1) - 1)
		e := int(v >> (f.prec - 1))
		if e == 0 {
			e = 1
		} else {
			fraction |= 1 << (f.prec - 1)
		}
		lead := bits.LeadingZeros64(fraction)
		n.sig = fraction << lead
		n.exp = e - 1 + f.emin + 63 - (f.prec - 1) - lead
	}
	return n
}

// signed adds the sign bit to a magnitude.
func (f *format) signed(neg bool, v uint64) uint64 {
	if neg {
		v |= f.sign
	}
	return v
}

// round packs the finite value ±(sig + ε) × 2^(exp-63), where 0 < ε < 1 if sticky and ε = 0
// otherwise. The top bit of sig must be set.
func (f *format) round(mode isa.Rounding, neg bool, exp int, sig uint64, sticky bool) uint64 {
	if exp > f.emax {
		return f.signed(neg, f.overflow(mode, neg))
	}
	// The significand has 64 bits: shift out those beyond the precision, and for a subnormal result as
	// many more as the exponent is below the least.
	shift := uint(64 - f.prec)
	biased := uint64(0) // exponent field less one: the hidden bit adds the one
	if exp < f.emin {
		shift += uint(f.emin - exp)
	} else {
		biased = uint64(exp - f.emin)
	}
	var kept, rest uint64 // rest: the bits shifted out, the first of them at the top
	switch {
	case shift < 64:
		kept, rest = sig>>shift, sig<<(64-shift)
	case shift == 64:
		rest = sig
	default:
		sticky = true
	}
	inexact := rest != 0 || sticky
	up := false
	switch mode {
	case isa.RZ:
	case isa.RM:
		up = neg && inexact
	case isa.RP:
		up = !neg && inexact
	case isa.RNA:
		up = rest >= 1<<63
	default:
		up = rest > 1<<63 || rest == 1<<63 && (sticky || kept&1 == 1)
	}
	if up {
		kept++ // may carry into the exponent, which is then right
	}
	return f.signed(neg, min(kept+biased<<(f.prec-1), f.inf))
}

// stochastic rounds a number to the format: away from zero if adding the random bits to the bits
// that the format does not have carries (PTX ISA 9.7.9.21, .rs). The random bits are at the top of
// random, as the first bit that is cut off is at the top of those: the ISA gives formats of 16 bits
// as many random bits as single precision has more, and others fewer.
func (f *format) stochastic(n number, random uint64) uint64 {
	if n.class != finite || n.exp > f.emax {
		return f.pack(isa.RN, n, false)
	}
	shift := uint(64 - f.prec + max(f.emin-n.exp, 0)) // bits that are cut off
	rest := n.sig << (64 - shift)
	if shift > 64 {
		rest = n.sig >> (shift - 64)
	}
	v := f.round(isa.RZ, n.neg, n.exp, n.sig, false)
	if _, carry := bits.Add64(rest, random, 0); v&(f.sign-1) < f.inf {
		v += carry // the next encoding has the next magnitude
	}
	return v
}

// overflow returns the magnitude of a result beyond the greatest finite number: rounding towards
// zero yields that number, other roundings infinity.
func (f *format) overflow(mode isa.Rounding, neg bool) uint64 {
	if mode == isa.RZ || mode == isa.RM && !neg || mode == isa.RP && neg {
		return f.inf - 1
	}
	return f.inf
}

// pack rounds any number to the format.
func (f *format) pack(mode isa.Rounding, n number, sticky bool) uint64 {
	switch n.class {
	case zero:
		return f.signed(n.neg, 0)
	case infinite:
		return f.signed(n.neg, f.inf)
	case nan:
		return f.nan
	}
	return f.round(mode, n.neg, n.exp, n.sig, sticky)
}

// mulAdd returns x·y + z, rounded once.
func (f *format) mulAdd(mode isa.Rounding, x, y, z number) uint64 {
	neg := x.neg != y.neg
	switch {
	case x.class == nan || y.class == nan || z.class == nan,
		x.class == infinite && y.class == zero, x.class == zero && y.class == infinite:
		return f.nan
	case x.class == infinite || y.class == infinite:
		if z.class == infinite && z.neg != neg {
			return f.nan
		}
		return f.signed(neg, f.inf)
	case z.class == infinite:
		return f.signed(z.neg, f.inf)
	case x.class == zero || y.class == zero:
		if z.class == zero {
			return f.signed(zeroSign(mode, neg, z.neg), 0)
		}
		return f.pack(mode, z, false)
	}
	hi, lo := bits.Mul64(x.sig, y.sig)
	// The product of two significands in [1, 2) is below 4, hence the exponent plus one before
	// normalization.
	p := wide{neg: neg, exp: x.exp + y.exp + 1, hi: hi, lo: lo}
	p.normalise()
	if z.class == zero {
		return f.round(mode, neg, p.exp, p.hi, p.lo != 0)
	}
	return f.sum(mode, p, wide{neg: z.neg, exp: z.exp, hi: z.sig})
}

// zeroSign returns the sign of an exact zero sum of two terms with these signs: negative if both
// are, and with rounding down if one is.
func zeroSign(mode isa.Rounding, a, b bool) bool {
	if mode == isa.RM {
		return a || b
	}
	return a && b
}

// wide is a finite nonzero number with a significand of 128 bits: (hi:lo) × 2^(exp-127), with the
// top bit set. At least the lower 22 bits of every operand of sum are zero: it is a product of
// factors of at most 53 bits.
type wide struct {
	neg    bool
	exp    int
	hi, lo uint64
}

// normalise shifts the significand until its top bit is set.
func (w *wide) normalise() {
	if w.hi == 0 {
		w.hi, w.lo, w.exp = w.lo, 0, w.exp-64
	}
	n := uint(bits.LeadingZeros64(w.hi))
	w.hi, w.lo, w.exp = w.hi<<n|w.lo>>(64-n), w.lo<<n, w.exp-int(n)
}

// sum returns x + y, rounded once.
func (f *format) sum(mode isa.Rounding, x, y wide) uint64 {
	if x.exp < y.exp || x.exp == y.exp && (x.hi < y.hi || x.hi == y.hi && x.lo < y.lo) {
		x, y = y, x
	}
	// Align y with x. Bits shifted out are below 2^-127 of x and count only as sticky. If there are
	// any, x and y differ so much that at most one leading bit cancels.
	d := uint(x.exp - y.exp)
	sticky := false
	switch {
	case d >= 128:
		y.hi, y.lo, sticky = 0, 0, true
	case d >= 64:
		sticky = y.lo != 0 || y.hi<<(128-d) != 0
		y.hi, y.lo = 0, y.hi>>(d-64)
	case d > 0:
		sticky = y.lo<<(64-d) != 0
		y.hi, y.lo = y.hi>>d, y.hi<<(64-d)|y.lo>>d
	}
	// Equal signs: add the magnitudes. A carry moves the significand down by one bit.
	if x.neg == y.neg {
		lo, c := bits.Add64(x.lo, y.lo, 0)
		hi, c := bits.Add64(x.hi, y.hi, c)
		if c != 0 {
			sticky = sticky || lo&1 != 0
			hi, lo = hi>>1|1<<63, lo>>1|hi<<63
			x.exp++
		}
		return f.round(mode, x.neg, x.exp, hi, lo != 0 || sticky)
	}
	borrow := uint64(0)
	if sticky { // subtract one more; the excess becomes the new sticky part
		borrow = 1
	}
	lo, b := bits.Sub64(x.lo, y.lo, borrow)
	hi, _ := bits.Sub64(x.hi, y.hi, b)
	if hi == 0 && lo == 0 && !sticky {
		return f.signed(mode == isa.RM, 0)
	}
	w := wide{exp: x.exp, hi: hi, lo: lo}
	w.normalise()
	return f.round(mode, x.neg, w.exp, w.hi, w.lo != 0 || sticky)
}

// add returns x + y, rounded once.
func (f *format) add(mode isa.Rounding, x, y number) uint64 {
	switch {
	case x.class == nan || y.class == nan, x.class == infinite && y.class == infinite &&
		x.neg != y.neg:
		return f.nan
	case x.class == infinite || y.class == zero && x.class != zero:
		return f.pack(mode, x, false)
	case y.class == infinite || x.class == zero && y.class != zero:
		return f.pack(mode, y, false)
	case x.class == zero:
		return f.signed(zeroSign(mode, x.neg, y.neg), 0)
	}
	return f.sum(mode, wide{neg: x.neg, exp: x.exp, hi: x.sig},
		wide{neg: y.neg, exp: y.exp, hi: y.sig})
}

// mul returns x·y, rounded once.
func (f *format) mul(mode isa.Rounding, x, y number) uint64 {
	neg := x.neg != y.neg
	switch {
	case x.class == nan || y.class == nan,
		x.class == infinite && y.class == zero, x.class == zero && y.class == infinite:
		return f.nan
	case x.class == infinite || y.class == infinite:
		return f.signed(neg, f.inf)
	case x.class == zero || y.class == zero:
		return f.signed(neg, 0)
	}
	hi, lo := bits.Mul64(x.sig, y.sig)
	p := wide{exp: x.exp + y.exp + 1, hi: hi, lo: lo}
	p.normalise()
	return f.round(mode, neg, p.exp, p.hi, p.lo != 0)
}

// div returns x/y, rounded once.
func (f *format) div(mode isa.Rounding, x, y number) uint64 {
	neg := x.neg != y.neg
	switch {
	case x.class == nan || y.class == nan,
		x.class == infinite && y.class == infinite, x.class == zero && y.class == zero:
		return f.nan
	case x.class == infinite || y.class == zero:
		return f.signed(neg, f.inf)
	case x.class == zero || y.class == infinite:
		return f.signed(neg, 0)
	}
	// Halving x makes the quotient fit in 64 bits; the remainder only matters as sticky.
	q, r := bits.Div64(x.sig>>1, x.sig<<63, y.sig) // in [2^62, 2^64)
	exp := x.exp - y.exp
	if q>>63 == 0 {
		q, exp = q<<1, exp-1
	}
	return f.round(mode, neg, exp, q, r != 0)
}

// sqrt returns the square root of x, rounded once. The precision of x must be at most 53 bits.
func (f *format) sqrt(mode isa.Rounding, x number) uint64 {
	switch {
	case x.class == zero:
		return f.signed(x.neg, 0)
	case x.class == nan || x.neg:
		return f.nan
	case x.class == infinite:
		return f.inf
	}
	// m in [1, 4) has the significand of the root, to the nearest double. The residual of a square
	// root is representable, and its sign tells on which side of s the exact root is.
	m := math.Ldexp(float64(x.sig>>11), -52)
	exp := x.exp
	if exp&1 != 0 {
		m, exp = 2*m, exp-1
	}
	s := math.Sqrt(m)
	r := math.FMA(-s, s, m)
	sig := uint64(math.Ldexp(s, 52)) << 11
	if r < 0 {
		sig-- // s is at least 1 and above the root, so that it is above 1
	}
	return f.round(mode, false, exp/2, sig, r != 0)
}

// numberOf returns an integer, given by sign and magnitude, as a number.
func numberOf(neg bool, v uint64) number {
	if v == 0 {
		return number{class: zero}
	}
	lead := bits.LeadingZeros64(v)
	return number{class: finite, neg: neg, exp: 63 - lead, sig: v << lead}
}
