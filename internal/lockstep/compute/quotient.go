package compute

import (
	"math/big"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// Divisions by constants, undone. Compilers divide by a constant d with a product and shifts: for
// a below 2^w, a/d is floor(a*m / 2^k) for a suitable m (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, PLDI 1994, sections 4 and 5). The terms of such a
// product say nothing about rows and columns, and those of 64 bits cannot be expressed at all. So
// the evaluator remembers which results are floor(a*m / 2^k), and gives back the quotient as soon
// as one of them is.
//
// That is shown for each: let d = ceil(2^k / m) and e = m*d - 2^k, so that a*m / 2^k is
// a/d + a*e / (d * 2^k). The fraction of a/d is at most (d-1)/d. So the floor is that of a/d if
// a*e < 2^k, for a from 0 to its known maximum. For negative a = -b, floor(a*m / 2^k) + 1 is
// 1 - ceil(b/d + b*e / (d * 2^k)), which is -floor(b/d), the quotient rounded toward zero, if e > 0
// and b*e <= 2^k.
//
// Not undone: divisions by negative constants, exact divisions, and products that are wider than 64
// bits and in parts.

// A scaled value is floor(of*by / 2^shift) over the integers, where of is read as a signed or an
// unsigned number, or one of three others that compilers compute on the way.
type scaled struct {
	kind   scaling
	of     smt.Term
	by     *big.Int // positive
	shift  uint
	signed bool
}

type scaling uint8

const (
	whole    scaling = iota // floor(of*by / 2^shift)
	gap                     // of less floor(of*by / 2^shift)
	halfGap                 // floor of half of that
	negative                // 1 if of is negative, else 0
)

// leastFactor is the least factor that divides. Those that scale indices are smaller.
const leastFactor = 1 << 15

// scale returns t, which is floor(of*by / 2^shift), as a quotient if it is one, and remembers what
// it is.
func (e *Evaluator) scale(t, of smt.Term, by uint64, shift uint, signed bool) smt.Term {
	s := scaled{of: of, by: new(big.Int).SetUint64(by), shift: shift, signed: signed}
	return e.asQuotient(t, s)
}

func (e *Evaluator) asQuotient(t smt.Term, s scaled) smt.Term {
	if q, ok := e.quotient(s); ok {
		t = q
	}
	e.note(t, s)
	return t
}

// note remembers what a term is.
func (e *Evaluator) note(t smt.Term, s scaled) {
	if e.scaled == nil {
		e.scaled = map[smt.Term]scaled{}
	}
	e.scaled[t] = s
}

// factor returns the one of two factors that is a constant and may divide, and the other one.
func (e *Evaluator) factor(a, b smt.Term) (of smt.Term, m uint64, ok bool) {
	if m, ok = e.c.Value(b); ok && m >= leastFactor {
		return a, m, true
	}
	if m, ok = e.c.Value(a); ok && m >= leastFactor {
		return b, m, true
	}
	return 0, 0, false
}

// high returns the high half of the product of a number of w bits and a factor, both signed or
// unsigned. It is t, or 0 if it has no term yet.
func (e *Evaluator) high(t, of smt.Term, m uint64, w int, signed bool) smt.Term {
	c := e.c
	opaque := func() smt.Term {
		if least, _ := c.Signed(of); signed && least < 0 {
			return symbol.Opaque(c, "mulhi.signed", w, of, c.Const(m, w))
		}
		return symbol.Opaque(c, "mulhi", w, of, c.Const(m, w))
	}
	n := uint(w)
	switch less := signed && m>>(w-1) != 0; {
	case !less && t == 0:
		return e.scale(opaque(), of, m, n, signed)
	case !less:
		return e.scale(t, of, m, n, signed)
	case t == 0:
		t = opaque()
	default:
		t = c.Add(t, of)
	}
	return c.Sub(e.scale(t, of, m, n, signed), of) // the factor is m - 2^w
}

// shifted returns t, which is a shifted to the right by n bits, as a quotient if it is one.
func (e *Evaluator) shifted(t, a smt.Term, n uint, signed bool) smt.Term {
	s, ok := e.scaled[a]
	w := uint(e.c.Width(a))
	switch {
	case n == 0 || n >= w:
		return t
	case !ok && !signed: // may be divided by an odd number after that
		e.note(t, scaled{of: a, by: one, shift: n})
		return t
	case !ok:
		return t
	case s.kind == gap && n == 1 && !signed:
		s.kind = halfGap
		e.note(t, s)
		return t
	case s.kind != whole:
		return t
	case !signed && s.signed && n == w-1: // the sign of the product is that of the factor
		if least, _ := e.c.Signed(s.of); least >= 0 {
			return e.c.Const(0, int(w))
		}
		s.kind = negative
		e.note(t, s)
		return t
	case signed != s.signed:
		if least, _ := e.c.Signed(a); least < 0 {
			return t
		}
	}
	s.shift += n
	return e.asQuotient(t, s)
}

// sum returns t, which is a + b, as a quotient if it is one.
func (e *Evaluator) sum(t, a, b smt.Term) smt.Term {
	x, ok := e.scaled[a]
	y, ok2 := e.scaled[b]
	if !ok || !ok2 || x.of != y.of {
		return t
	}
	if x.kind > y.kind {
		x, y = y, x
	}
	w := e.c.Width(x.of)
	switch {
	case x.kind != whole:
	case y.kind == negative && x.signed && e.c.Width(t) == w:
		if d, ok := e.divisor(x, new(big.Int).Lsh(one, uint(w-1)), true); ok {
			return e.c.SDiv(x.of, e.c.Const(d, w))
		}
	case y.kind == halfGap && !x.signed && x.shift == y.shift && x.by.Cmp(y.by) == 0 &&
		int(x.shift) == w:
		// (of - q)/2 + q is (of + q)/2, rounded down, where q is floor(of*by / 2^w)
		x.by = new(big.Int).Add(x.by, new(big.Int).Lsh(one, uint(w)))
		x.shift++
		return e.asQuotient(t, x)
	}
	return t
}

// difference returns t, which is a - b, and remembers what it is if b is a scaled value of a.
func (e *Evaluator) difference(t, a, b smt.Term) smt.Term {
	if s, ok := e.scaled[b]; ok && s.kind == whole && s.of == a && !s.signed {
		s.kind = gap
		e.note(t, s)
	}
	return t
}

// quotient returns a scaled value of a number that is not negative as a quotient, if it is one.
func (e *Evaluator) quotient(s scaled) (smt.Term, bool) {
	c, w := e.c, e.c.Width(s.of)
	if least, _ := c.Signed(s.of); s.signed && least < 0 {
		return 0, false
	}
	_, most := c.Unsigned(s.of)
	d, ok := e.divisor(s, new(big.Int).SetUint64(most), false)
	if !ok {
		return 0, false
	}
	of := s.of
	if in, ok := e.scaled[of]; ok && in.kind == whole && in.by.Cmp(one) == 0 && !in.signed { // shifted
		if d > (1<<w-1)>>in.shift {
			return c.Const(0, w), true
		}
		of, d = in.of, d<<in.shift
	}
	return c.UDiv(of, c.Const(d, w)), true
}

var one = big.NewInt(1)

// divisor returns the constant by which a scaled value divides, for magnitudes up to most.
// towardZero says that the numbers are negative.
func (e *Evaluator) divisor(s scaled, most *big.Int, towardZero bool) (uint64, bool) {
	top := new(big.Int).Lsh(one, s.shift)
	d, rest := new(big.Int).DivMod(top, s.by, new(big.Int))
	over := rest
	if rest.Sign() != 0 {
		d.Add(d, one)
		over = new(big.Int).Sub(s.by, rest)
	}
	if !d.IsUint64() || d.Cmp(one) <= 0 || d.BitLen() > e.c.Width(s.of) {
		return 0, false
	}
	beyond := new(big.Int).Mul(most, over).Cmp(top)
	if towardZero {
		return d.Uint64(), over.Sign() > 0 && beyond <= 0 && d.BitLen() < e.c.Width(s.of)
	}
	return d.Uint64(), beyond < 0
}
