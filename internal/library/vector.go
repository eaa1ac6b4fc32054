package library

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
)

// vector is n elements of a type, each inc elements behind the one before. With a negative inc the
// first one is the last in memory, as in BLAS.
type vector struct {
	t     Type
	b     []byte
	n     int
	first int // in elements
	inc   int
}

// place is where a vector lies: its address and its increment.
type place struct {
	addr uint64
	inc  int
}

// place takes the arguments that say where a vector lies.
func (c *call) place() place { return place{c.next(), c.int()} }

// vector returns a vector in device memory.
func (c *call) vector(name string, how access, at place, t Type, n int) vector {
	v := vector{t: t, n: n, inc: at.inc}
	step := max(at.inc, -at.inc)
	if step == 0 || step > 1<<40 {
		c.fail(fmt.Errorf("%s: an increment of %d", c.Name, at.inc))
		return v
	}
	if at.inc < 0 {
		v.first = (n - 1) * step
	}
	c.aligned(name, how, at.addr, t)
	v.b = c.rows(name, how, at.addr, n, t.Size(), step*t.Size())
	return v
}

// at returns element i.
func (v *vector) at(i int) complex128 { return v.t.load(v.b[(v.first+i*v.inc)*v.t.Size():]) }

// set rounds a number to element i.
func (v *vector) set(i int, x complex128) { v.t.store(v.b[(v.first+i*v.inc)*v.t.Size():], x) }

// column returns the elements as those of a matrix with one column.
func column[T number](v vector) []T {
	out := make([]T, v.n)
	for i := range out {
		out[i] = from[T](v.at(i))
	}
	return out
}

// put is the inverse of column.
func put[T number](v vector, column []T) {
	for i, x := range column {
		v.set(i, wide(x))
	}
}

// gemv is y = alpha op(A) x + beta y.
func gemv[T number](c *call, t Type) error {
	op := c.op()
	m, n := c.size(), c.size() // of A
	alpha := c.scalar(t)
	a, lda := c.next(), c.size()
	xAt := c.place()
	beta := c.scalar(t)
	yAt := c.place()
	if c.err != nil || m == 0 || n == 0 {
		return c.err
	}
	rows, inner := shaped(op, m, n) // of op(A)
	if alpha == 0 {
		inner = 0 // A and x are not accessed
	}
	var x vector
	var matrix []byte
	if inner > 0 {
		matrix = c.matrix("A", reads, a, t, m, n, lda)
		x = c.vector("x", reads, xAt, t, inner)
	}
	y := c.vector("y", changes(beta), yAt, t, rows)
	if c.err != nil {
		return c.err
	}
	z := make([]T, rows)
	if beta != 0 {
		z = column[T](y)
	}
	s := &shape{opA: op, opB: opN, m: rows, n: 1, k: inner, alpha: alpha, beta: beta}
	multiply(s, elements[T](matrix), column[T](x), z, lda, inner, rows)
	put(y, z)
	return nil
}

// ger is A = alpha x y' + A, with y transposed, or its conjugate.
func ger[T number](c *call, t Type) error {
	op := opT
	if c.next() != 0 {
		op = opC
	}
	m, n := c.size(), c.size()
	alpha := c.scalar(t)
	xAt, yAt := c.place(), c.place()
	a, lda := c.next(), c.size()
	if c.err != nil || m == 0 || n == 0 || alpha == 0 {
		return c.err
	}
	x := c.vector("x", reads, xAt, t, m)
	y := c.vector("y", reads, yAt, t, n)
	z := c.matrix("A", reads|writes, a, t, m, n, lda)
	if c.err != nil {
		return c.err
	}
	s := &shape{opA: opN, opB: op, m: m, n: n, k: 1, alpha: alpha, beta: 1}
	multiply(s, column[T](x), column[T](y), elements[T](z), m, n, lda)
	return nil
}

// symv is y = alpha A x + beta y, with a symmetric or Hermitian A.
func symv[T number](c *call, t Type) error {
	f := of[T]().symm
	if c.next() != 0 {
		f = of[T]().hemm
	}
	u := c.fill()
	n := c.size()
	alpha := c.scalar(t)
	a, lda := c.next(), c.size()
	xAt := c.place()
	beta := c.scalar(t)
	yAt := c.place()
	if c.err != nil || n == 0 {
		return c.err
	}
	matrix := c.triangle("A", reads, a, t, n, lda, u, false)
	x := c.vector("x", reads, xAt, t, n)
	y := c.vector("y", changes(beta), yAt, t, n)
	if c.err != nil {
		return c.err
	}
	z := make([]T, n)
	if beta != 0 {
		z = column[T](y)
	}
	f(blas.Right, u, 1, n, from[T](alpha), elements[T](matrix), lda, column[T](x), n, from[T](beta), z, n)
	put(y, z)
	return nil
}

// trmv is x = op(A) x with a triangular A, and trsv solves op(A) x = b, with b in x.
func trmv[T number](c *call, t Type) error { return triangular(c, t, of[T]().trmm) }
func trsv[T number](c *call, t Type) error { return triangular(c, t, of[T]().trsm) }

// triangular is trmv or trsv by the routine for matrices.
func triangular[T number](c *call, t Type, f func(s blas.Side, u blas.Uplo, t blas.Transpose,
	d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)) error {
	u, op, diag := c.fill(), c.op(), c.diagonal()
	n := c.size()
	a, lda := c.next(), c.size()
	xAt := c.place()
	if c.err != nil || n == 0 {
		return c.err
	}
	matrix := c.triangle("A", reads, a, t, n, lda, u, diag == blas.Unit)
	x := c.vector("x", reads|writes, xAt, t, n)
	if c.err != nil {
		return c.err
	}
	z := column[T](x)
	f(blas.Right, u, transpose(op), diag, 1, n, from[T](1), elements[T](matrix), lda, z, n)
	put(x, z)
	return nil
}

// pair is what a function of two vectors of n elements makes of each two elements. A vector that is
// only read stays as it is.
type pair struct {
	n          int
	tx, ty     Type
	x, y       place
	howX, howY access
}

// each carries out a function of two vectors.
func (c *call) each(p pair, f func(x, y complex128) (newX, newY complex128)) error {
	if c.err != nil || p.n == 0 {
		return c.err
	}
	x := c.vector("x", p.howX, p.x, p.tx, p.n)
	y := c.vector("y", p.howY, p.y, p.ty, p.n)
	if c.err != nil {
		return c.err
	}
	for i := range p.n {
		var a, b complex128
		if p.howX&reads != 0 {
			a = x.at(i)
		}
		if p.howY&reads != 0 {
			b = y.at(i)
		}
		a, b = f(a, b)
		if p.howX&writes != 0 {
			x.set(i, a)
		}
		if p.howY&writes != 0 {
			y.set(i, b)
		}
	}
	return nil
}

// axpy is y = alpha x + y.
func axpy(c *call) error {
	scalars := c.typ()
	p := pair{tx: c.typ(), ty: c.typ(), n: c.size(), howX: reads, howY: reads | writes}
	alpha := c.scalar(scalars)
	p.x, p.y = c.place(), c.place()
	if alpha == 0 {
		return c.err
	}
	return c.each(p, func(x, y complex128) (complex128, complex128) { return x, alpha*x + y })
}

// alike takes a type, a number of elements, and where two vectors of them lie.
func (c *call) alike(howX, howY access) pair {
	t, n := c.typ(), c.size()
	return pair{n, t, t, c.place(), c.place(), howX, howY}
}

// copyVector is y = x.
func copyVector(c *call) error {
	p := c.alike(reads, writes)
	return c.each(p, func(x, _ complex128) (complex128, complex128) { return x, x })
}

// swap exchanges x and y.
func swap(c *call) error {
	p := c.alike(reads|writes, reads|writes)
	return c.each(p, func(x, y complex128) (complex128, complex128) { return y, x })
}

// scal is x = alpha x.
func scal(c *call) error {
	scalars, t := c.typ(), c.typ()
	n, alpha := c.size(), c.scalar(scalars)
	xAt := c.place()
	if c.err != nil || n == 0 {
		return c.err
	}
	x := c.vector("x", reads|writes, xAt, t, n)
	if c.err != nil {
		return c.err
	}
	for i := range n {
		x.set(i, alpha*x.at(i))
	}
	return nil
}

// rot is a plane rotation: x = c x + s y, and y = c y - s x.
func rot(c *call) error {
	p := c.alike(reads|writes, reads|writes)
	cosine, sine := c.scalar(p.tx), c.scalar(p.tx)
	return c.each(p, func(x, y complex128) (complex128, complex128) {
		return cosine*x + sine*y, cosine*y - sine*x
	})
}

// reduced delivers the result of a reduction: to device memory at an address, or to the host if
// that is 0. The operands must have been checked before.
func (c *call) reduced(t Type, addr uint64, result func() complex128) error {
	b := make([]byte, t.Size())
	if addr != 0 {
		c.aligned("result", writes, addr, t)
		b = c.bytes("result", writes, addr, t.Size())
	}
	if c.err != nil {
		return c.err
	}
	t.store(b, result())
	if addr == 0 {
		c.value = b
	}
	return nil
}

// dot is the sum of x[i] y[i], with the conjugate of x if the first argument says so.
func dot(c *call) error {
	tx, ty, out := c.typ(), c.typ(), c.typ()
	conj, n := c.next() != 0, c.size()
	xAt, yAt := c.place(), c.place()
	result := c.next()
	var x, y vector
	if n > 0 {
		x, y = c.vector("x", reads, xAt, tx, n), c.vector("y", reads, yAt, ty, n)
	}
	return c.reduced(out, result, func() (sum complex128) {
		for i := range n {
			v := x.at(i)
			if conj {
				v = conjugate(v)
			}
			sum += v * y.at(i)
		}
		return sum
	})
}

// reducible takes where the operand of a reduction lies, and where its result is to be.
func (c *call) reducible(t Type, n int) (x vector, result uint64) {
	at, result := c.place(), c.next()
	if n > 0 {
		x = c.vector("x", reads, at, t, n)
	}
	return x, result
}

// nrm2 is the Euclidean norm.
func nrm2(c *call) error {
	t, out, n := c.typ(), c.typ(), c.size()
	x, result := c.reducible(t, n)
	return c.reduced(out, result, func() complex128 {
		parts := make([]float64, 0, 2*n)
		for i := range n {
			v := x.at(i)
			parts = append(parts, real(v), imag(v))
		}
		return complex(impl.Dnrm2(len(parts), parts, 1), 0) // which scales, so that squares do not overflow
	})
}

// asum is the sum of absolute values; those of complex numbers are |re| + |im|.
func asum(c *call) error {
	t, out, n := c.typ(), c.typ(), c.size()
	x, result := c.reducible(t, n)
	return c.reduced(out, result, func() (sum complex128) {
		for i := range n {
			sum += complex(magnitude(x.at(i)), 0)
		}
		return sum
	})
}

// magnitude is |re| + |im|.
func magnitude(v complex128) float64 { return math.Abs(real(v)) + math.Abs(imag(v)) }

// extent is the position, from 1, of the first element of the largest or smallest magnitude; 0 if
// there is none.
func extent(c *call) error {
	t, smallest, n := c.typ(), c.next() != 0, c.size()
	x, result := c.reducible(t, n)
	return c.reduced(R32I, result, func() complex128 {
		best := 0
		for i := range n {
			a, b := magnitude(x.at(i)), magnitude(x.at(best))
			if smallest && a < b || !smallest && a > b {
				best = i
			}
		}
		return complex(float64(min(best+1, n)), 0)
	})
}
