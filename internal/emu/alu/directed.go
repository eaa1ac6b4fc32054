package alu

import (
	"math"

	"heddle/internal/isa"
)

// Single precision with directed rounding, using the host's double precision. Sums, quotients and
// roots are first rounded to odd in double precision, in which products are exact. One more
// rounding, in any direction, then yields the correctly rounded result (Boldo and Melquiond 2008,
// theorem 4: 53 >= 24+2 digits, and the exponents of all intermediate results are far from the
// limits of double precision).

// directed rounds x, exact or rounded to odd, to single precision.
func directed(mode isa.Rounding, x float64) uint64 {
	// Start with rounding to nearest, and correct it by one unit where the mode demands it.
	f := float32(x)
	r := float64(f)
	u := math.Float32bits(f)
	if r != r {
		return nanF32
	}
	// below and above tell on which side of x the result of rounding to nearest is; an infinity equals
	// itself.
	below, above := r < x, r > x
	switch mode {
	case isa.RZ:
		if x > 0 {
			below = false
		} else {
			above = false
		}
	case isa.RM:
		below = false
	case isa.RP:
		above = false
	default:
		return uint64(u)
	}
	// Take one step towards x: the magnitude shrinks if the sign is that of the direction away from x.
	negative := u>>31 != 0
	switch {
	case above && !negative, below && negative:
		u--
	case above, below:
		u++
	}
	return uint64(u)
}

// single2 returns an operation of two operands with directed rounding. f must return the result
// exactly or rounded to odd in double precision, so that rounding it again to single precision is
// rounding the exact result.
func (c *arith) single2(f func(x, y float64) float64) scalar2 {
	return func(a, b uint64) uint64 {
		return c.out(c.directed(f(float64(loadF32(a, c.ftz)), float64(loadF32(b, c.ftz)))))
	}
}

// directed rounds x, exact or rounded to odd, in the instruction's direction.
func (c *arith) directed(x float64) uint64 { return directed(c.mode, x) }

// sumOdd returns x+y rounded to odd. An exact zero has the sign that the rounding mode requires.
func (c *arith) sumOdd(x, y float64) float64 {
	s := x + y
	if s == 0 && c.mode == isa.RM && (math.Signbit(x) || math.Signbit(y)) {
		return math.Copysign(0, -1)
	}
	return oddSum(x, y, s)
}

// quotientOdd returns x/y rounded to odd: the remainder x - q*y is exact, and its sign tells on
// which side of q the quotient is.
func quotientOdd(x, y float64) float64 {
	q := x / y
	r := math.FMA(-q, y, x)
	return towardsOdd(q, r, r > 0 == (y > 0))
}

// rootOdd returns the square root rounded to odd.
func rootOdd(x float64) float64 {
	s := math.Sqrt(x)
	r := math.FMA(-s, s, x)
	return towardsOdd(s, r, r > 0)
}

// towardsOdd replaces a rounded v by its odd neighbour above or below if the remainder is not zero.
// NaN stays, and so do results without a remainder because an operand is infinite or zero.
func towardsOdd(v, rest float64, above bool) float64 {
	u := math.Float64bits(v)
	if rest == 0 || rest != rest || u&1 == 1 || math.IsInf(v, 0) {
		return v
	}
	if above == (v > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// singleDirected returns the function of an instruction on .f32 with directed rounding.
func (c *arith) singleDirected(op string) Func {
	switch op {
	case "add":
		return lane2(c.single2(c.sumOdd))
	case "sub":
		return lane2(c.single2(func(x, y float64) float64 { return c.sumOdd(x, -y) }))
	case "mul":
		return lane2(c.single2(func(x, y float64) float64 { return x * y }))
	case "div":
		return lane2(c.single2(quotientOdd))
	case "rcp":
		return lane1(
			func(a uint64) uint64 { return c.out(c.directed(quotientOdd(1, float64(loadF32(a, c.ftz))))) })
	case "sqrt":
		return lane1(
			func(a uint64) uint64 { return c.out(c.directed(rootOdd(float64(loadF32(a, c.ftz))))) })
	}
	return lane3(func(a, b, z uint64) uint64 {
		p := float64(loadF32(a, c.ftz)) * float64(loadF32(b, c.ftz))
		return c.out(c.directed(c.sumOdd(p, float64(loadF32(z, c.ftz)))))
	})
}

// directedSingle reports whether singleDirected executes the instruction.
func (c *arith) directedSingle(t isa.Type) bool { return t == isa.F32 && c.mode != isa.RN }
