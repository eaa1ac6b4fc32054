package library

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// routines are gonum's for elements of type T. hemm and herk are those of Hermitian matrices, which
// for real numbers are symm and syrk.
type routines[T number] struct {
	gemm  func(a, b blas.Transpose, m, n, k int, alpha T, x []T, ldx int, y []T, ldy int, beta T, z []T, ldz int)
	symm  func(s blas.Side, u blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	hemm  func(s blas.Side, u blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk  func(u blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	herk  func(u blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	syr2k func(u blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	trmm  func(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
	trsm  func(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
}

var (
	impl   gonum.Implementation
	single = &routines[float32]{impl.Sgemm, impl.Ssymm, impl.Ssymm, impl.Ssyrk, impl.Ssyrk, impl.Ssyr2k,
		impl.Strmm, impl.Strsm}
	double = &routines[float64]{impl.Dgemm, impl.Dsymm, impl.Dsymm, impl.Dsyrk, impl.Dsyrk, impl.Dsyr2k,
		impl.Dtrmm, impl.Dtrsm}
	complexes = &routines[complex64]{impl.Cgemm, impl.Csymm, impl.Chemm, impl.Csyrk,
		func(u blas.Uplo, t blas.Transpose, n, k int, alpha complex64, a []complex64, lda int,
			beta complex64, c []complex64, ldc int) {
			impl.Cherk(u, t, n, k, real(alpha), a, lda, real(beta), c, ldc)
		}, impl.Csyr2k, impl.Ctrmm, impl.Ctrsm}
	doubleComplexes = &routines[complex128]{impl.Zgemm, impl.Zsymm, impl.Zhemm, impl.Zsyrk,
		func(u blas.Uplo, t blas.Transpose, n, k int, alpha complex128, a []complex128, lda int,
			beta complex128, c []complex128, ldc int) {
			impl.Zherk(u, t, n, k, real(alpha), a, lda, real(beta), c, ldc)
		}, impl.Zsyr2k, impl.Ztrmm, impl.Ztrsm}
)

// of returns the routines for T.
func of[T number]() *routines[T] {
	var out any
	switch any(*new(T)).(type) {
	case float32:
		out = single
	case float64:
		out = double
	case complex64:
		out = complexes
	case complex128:
		out = doubleComplexes
	}
	return out.(*routines[T])
}

// The values of cuBLAS's enumerations.
const (
	opN, opT, opC = 0, 1, 2 // cublasOperation_t
	upper         = 1       // cublasFillMode_t
	right         = 1       // cublasSideMode_t
	unit          = 1       // cublasDiagType_t
)

// op takes an operation.
func (c *call) op() int {
	v := c.int()
	if v < opN || v > opC {
		c.fail(fmt.Errorf("%s: operation %d", c.Name, v))
	}
	return v
}

// shaped returns the rows and columns of a matrix of which an operation makes one of m by n.
func shaped(op, m, n int) (rows, cols int) {
	if op == opN {
		return m, n
	}
	return n, m
}

// transpose is an operation as gonum names it. op(A) transposed is the same operation on A
// transposed.
func transpose(op int) blas.Transpose {
	return [...]blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}[op]
}

// other is the operation with A transposed in the place of A, for a symmetric result: A times its
// transpose and the transpose times A change places.
func other(op int, hermitian bool) blas.Transpose {
	switch {
	case op != opN:
		return blas.NoTrans
	case hermitian:
		return blas.ConjTrans
	}
	return blas.Trans
}

// fill takes which triangle of a matrix is given, and returns the other one, which has the same
// place in memory in the transposed matrix.
func (c *call) fill() blas.Uplo {
	if c.int() == upper {
		return blas.Lower
	}
	return blas.Upper
}

// side takes the side of a matrix in a product, and returns that in the transposed product.
func (c *call) side() (s blas.Side, isRight bool) {
	if c.int() == right {
		return blas.Left, true
	}
	return blas.Right, false
}

// diagonal takes whether the diagonal of a triangular matrix is taken to be 1.
func (c *call) diagonal() blas.Diag {
	if c.int() == unit {
		return blas.Unit
	}
	return blas.NonUnit
}

// matrix returns the bytes of a matrix whose columns have rows elements and begin ld elements
// apart.
func (c *call) matrix(name string, how access, addr uint64, t Type, rows, cols, ld int) []byte {
	if rows == 0 || cols == 0 {
		return nil
	}
	if ld < rows {
		c.fail(fmt.Errorf("%s: the leading dimension of %s is %d, with %d rows", c.Name, name, ld, rows))
		return nil
	}
	c.aligned(name, how, addr, t)
	return c.rows(name, how, addr, cols, rows*t.Size(), ld*t.Size())
}

// triangle returns the bytes of a square matrix of which one triangle is accessed, given as fill
// returns it. strict leaves out the diagonal.
func (c *call) triangle(name string, how access, addr uint64, t Type, n, ld int, u blas.Uplo,
	strict bool) []byte {
	read, written := len(c.read), len(c.written)
	b := c.matrix(name, how, addr, t, n, n, ld)
	c.read, c.written = c.read[:read], c.written[:written] // less than that
	size, skip := uint64(t.Size()), 0
	if strict {
		skip = 1
	}
	for j := 0; j < n && b != nil; j++ {
		first, last := j+skip, n // of the lower triangle
		if u == blas.Lower {     // the matrix in memory has the upper one
			first, last = 0, j+1-skip
		}
		if first < last {
			at := addr + uint64(j*ld)*size
			c.bytes(name, how, at+uint64(first)*size, (last-first)*t.Size())
		}
	}
	return b
}

// changes says how a result is accessed that is scaled by beta before something is added.
func changes(beta complex128) access {
	if beta == 0 {
		return writes
	}
	return reads | writes
}

// gemm is C = alpha op(A) op(B) + beta C for batches, of all types: Sgemm, GemmEx, GemmBatchedEx,
// GemmStridedBatchedEx. Types that are not computed in are converted.
func gemm(c *call) error {
	ta, tb, tc, scalars := c.typ(), c.typ(), c.typ(), c.typ()
	opA, opB := c.op(), c.op()
	m, n, k := c.size(), c.size(), c.size()
	alpha := c.scalar(scalars)
	a, lda, strideA := c.next(), c.size(), c.int()
	b, ldb, strideB := c.next(), c.size(), c.int()
	beta := c.scalar(scalars)
	at, ldc, strideC := c.next(), c.size(), c.int()
	count, arrays := c.size(), c.next() != 0
	if c.err != nil || m == 0 || n == 0 || count == 0 {
		return c.err
	}
	as := c.batch("Aarray", a, strideA*ta.Size(), count, arrays)
	bs := c.batch("Barray", b, strideB*tb.Size(), count, arrays)
	cs := c.batch("Carray", at, strideC*tc.Size(), count, arrays)
	if c.err != nil {
		return c.err
	}
	if alpha == 0 {
		k = 0 // A and B are not accessed
	}
	rowsA, colsA := shaped(opA, m, k)
	rowsB, colsB := shaped(opB, k, n)
	products := make([]product, count)
	for i := range products {
		products[i] = product{
			x: c.matrix("A", reads, as[i], ta, rowsA, colsA, lda),
			y: c.matrix("B", reads, bs[i], tb, rowsB, colsB, ldb),
			z: c.matrix("C", changes(beta), cs[i], tc, m, n, ldc),
		}
	}
	if c.err != nil {
		return c.err
	}
	s := &shape{opA, opB, m, n, k, alpha, beta, ta, tb, tc, lda, ldb, ldc}
	f := s.routine(scalars)
	for _, p := range products {
		f(s, p)
	}
	return nil
}

// shape is what the products of a batch have in common.
type shape struct {
	opA, opB      int
	m, n, k       int
	alpha, beta   complex128
	ta, tb, tc    Type
	lda, ldb, ldc int
}

// product is one product of a batch.
type product struct{ x, y, z []byte }

// routine returns what computes a product: in the type of its matrices, or in one that has all
// their numbers. A sum of products of 8-bit integers is exact in float64.
func (s *shape) routine(scalars Type) func(*shape, product) {
	if s.ta == s.tb && s.tb == s.tc {
		switch s.ta {
		case R32F:
			return direct[float32]
		case R64F:
			return direct[float64]
		case C32F:
			return direct[complex64]
		case C64F:
			return direct[complex128]
		}
	}
	switch {
	case s.ta.complex() || s.tb.complex() || s.tc.complex():
		return convert[complex128]
	case s.tc == R64F || s.tc == R32I || scalars == R64F || scalars == R32I:
		return convert[float64]
	}
	return convert[float32]
}

// direct computes a product in the type of its matrices.
func direct[T number](s *shape, p product) {
	multiply(s, elements[T](p.x), elements[T](p.y), elements[T](p.z), s.lda, s.ldb, s.ldc)
}

// multiply computes a product in place.
func multiply[T number](s *shape, x, y, z []T, ldx, ldy, ldz int) {
	if s.k == 0 {
		for j := range s.n {
			for i := range s.m {
				z[j*ldz+i] = scaled(s.beta, z[j*ldz+i])
			}
		}
		return
	}
	of[T]().gemm(transpose(s.opB), transpose(s.opA), s.n, s.m, s.k, from[T](s.alpha), y, max(ldy, 1), x,
		max(ldx, 1), from[T](s.beta), z, ldz)
}

// scaled is beta times v, and 0 for a beta of 0, whatever v is.
func scaled[T number](beta complex128, v T) T {
	if beta == 0 {
		return 0
	}
	return from[T](beta * wide(v))
}

// convert computes a product in T.
func convert[T number](s *shape, p product) {
	rowsA, colsA := shaped(s.opA, s.m, s.k)
	rowsB, colsB := shaped(s.opB, s.k, s.n)
	x := unpack[T](s.ta, p.x, rowsA, colsA, s.lda)
	y := unpack[T](s.tb, p.y, rowsB, colsB, s.ldb)
	z := make([]T, s.m*s.n)
	if s.beta != 0 {
		z = unpack[T](s.tc, p.z, s.m, s.n, s.ldc)
	}
	multiply(s, x, y, z, rowsA, rowsB, s.m)
	size := s.tc.Size()
	for j := range s.n {
		for i := range s.m {
			s.tc.store(p.z[(j*s.ldc+i)*size:], wide(z[j*s.m+i]))
		}
	}
}

// unpack returns the elements of a matrix as numbers, without gaps between the columns.
func unpack[T number](t Type, b []byte, rows, cols, ld int) []T {
	out := make([]T, rows*cols)
	size := t.Size()
	for j := range cols {
		for i := range rows {
			out[j*rows+i] = from[T](t.load(b[(j*ld+i)*size:]))
		}
	}
	return out
}

// batch returns the addresses of the matrices of a batch: those of an array in device memory, or
// each stride bytes behind the one before.
func (c *call) batch(name string, addr uint64, stride, count int, arrays bool) []uint64 {
	if arrays {
		return c.pointers(name, addr, count)
	}
	out := make([]uint64, count)
	for i := range out {
		out[i] = addr + uint64(i*stride)
	}
	return out
}

// symm is C = alpha A B + beta C, or B A, with a symmetric or Hermitian A.
func symm[T number](c *call, t Type) error {
	hermitian := c.next() != 0
	side, isRight := c.side()
	u := c.fill()
	m, n := c.size(), c.size()
	alpha := c.scalar(t)
	a, lda := c.next(), c.size()
	b, ldb := c.next(), c.size()
	beta := c.scalar(t)
	at, ldc := c.next(), c.size()
	order := m
	if isRight {
		order = n
	}
	if c.err != nil || m == 0 || n == 0 {
		return c.err
	}
	x := c.triangle("A", reads, a, t, order, lda, u, false)
	y := c.matrix("B", reads, b, t, m, n, ldb)
	z := c.matrix("C", changes(beta), at, t, m, n, ldc)
	if c.err != nil {
		return c.err
	}
	f := of[T]().symm
	if hermitian {
		f = of[T]().hemm
	}
	f(side, u, n, m, from[T](alpha), elements[T](x), lda, elements[T](y), ldb, from[T](beta),
		elements[T](z), ldc)
	return nil
}

// syrk is C = alpha A A' + beta C, or A' A, of which one triangle is computed; A' is A transposed,
// or its conjugate for a Hermitian result.
func syrk[T number](c *call, t Type) error {
	hermitian := c.next() != 0
	u, op := c.fill(), c.op()
	n, k := c.size(), c.size()
	scalars := t
	if hermitian {
		scalars = t.real()
	}
	alpha := c.scalar(scalars)
	a, lda := c.next(), c.size()
	beta := c.scalar(scalars)
	at, ldc := c.next(), c.size()
	if c.err != nil || n == 0 {
		return c.err
	}
	rows, cols := shaped(op, n, k)
	x := c.matrix("A", reads, a, t, rows, cols, lda)
	z := c.triangle("C", changes(beta), at, t, n, ldc, u, false)
	if c.err != nil {
		return c.err
	}
	f := of[T]().syrk
	if hermitian {
		f = of[T]().herk
	}
	factor, ld := factors[T](x, n, k, lda)
	f(u, other(op, hermitian), n, k, from[T](alpha), factor, ld, from[T](beta), elements[T](z), ldc)
	return nil
}

// syr2k is C = alpha (A B' + B A') + beta C, or with the transposed matrices in front.
func syr2k[T number](c *call, t Type) error {
	u, op := c.fill(), c.op()
	n, k := c.size(), c.size()
	alpha := c.scalar(t)
	a, lda := c.next(), c.size()
	b, ldb := c.next(), c.size()
	beta := c.scalar(t)
	at, ldc := c.next(), c.size()
	if c.err != nil || n == 0 {
		return c.err
	}
	rows, cols := shaped(op, n, k)
	x := c.matrix("A", reads, a, t, rows, cols, lda)
	y := c.matrix("B", reads, b, t, rows, cols, ldb)
	z := c.triangle("C", changes(beta), at, t, n, ldc, u, false)
	if c.err != nil {
		return c.err
	}
	one, ld1 := factors[T](x, n, k, lda)
	two, ld2 := factors[T](y, n, k, ldb)
	of[T]().syr2k(u, other(op, false), n, k, from[T](alpha), one, ld1, two, ld2, from[T](beta),
		elements[T](z), ldc)
	return nil
}

// factors returns the elements and the leading dimension of a matrix of n by k or k by n. One of no
// elements is nothing that gonum takes for a matrix.
func factors[T number](b []byte, n, k, ld int) ([]T, int) {
	if k == 0 {
		return make([]T, n*n), n
	}
	return elements[T](b), ld
}

// triangularCall is what trmm and trsm have in common: A is triangular, and B has m rows and n
// columns.
type triangularCall struct {
	side     blas.Side
	u        blas.Uplo
	op       int
	diag     blas.Diag
	m, n     int
	order    int // of A
	alpha    complex128
	a, b     uint64
	lda, ldb int
}

// triangularCall takes the arguments from the side of A to the leading dimension of B.
func (c *call) triangularCall(t Type) (p triangularCall) {
	side, isRight := c.side()
	p = triangularCall{side: side, u: c.fill(), op: c.op(), diag: c.diagonal(), m: c.size(),
		n: c.size(), alpha: c.scalar(t), a: c.next(), lda: c.size(), b: c.next(), ldb: c.size()}
	p.order = p.m
	if isRight {
		p.order = p.n
	}
	return p
}

// trmm is C = alpha op(A) B, or B op(A), with a triangular A.
func trmm[T number](c *call, t Type) error {
	p := c.triangularCall(t)
	at, ldc := c.next(), c.size()
	if c.err != nil || p.m == 0 || p.n == 0 {
		return c.err
	}
	x := c.triangle("A", reads, p.a, t, p.order, p.lda, p.u, p.diag == blas.Unit)
	y := elements[T](c.matrix("B", reads, p.b, t, p.m, p.n, p.ldb))
	z := elements[T](c.matrix("C", writes, at, t, p.m, p.n, ldc))
	if c.err != nil {
		return c.err
	}
	for j := range p.n { // C may be B
		copy(z[j*ldc:j*ldc+p.m], y[j*p.ldb:j*p.ldb+p.m])
	}
	of[T]().trmm(p.side, p.u, transpose(p.op), p.diag, p.n, p.m, from[T](p.alpha), elements[T](x),
		p.lda, z, ldc)
	return nil
}

// trsm solves op(A) X = alpha B, or X op(A) = alpha B, with a triangular A. X takes the place of B.
func trsm[T number](c *call, t Type) error {
	p := c.triangularCall(t)
	count, arrays := c.size(), c.next() != 0
	if c.err != nil || p.m == 0 || p.n == 0 || count == 0 {
		return c.err
	}
	as, bs := c.batch("A", p.a, 0, count, arrays), c.batch("B", p.b, 0, count, arrays)
	if c.err != nil {
		return c.err
	}
	xs, ys := make([][]T, count), make([][]T, count)
	for i := range xs {
		xs[i] = elements[T](c.triangle("A", reads, as[i], t, p.order, p.lda, p.u, p.diag == blas.Unit))
		ys[i] = elements[T](c.matrix("B", reads|writes, bs[i], t, p.m, p.n, p.ldb))
	}
	if c.err != nil {
		return c.err
	}
	for i := range xs {
		of[T]().trsm(p.side, p.u, transpose(p.op), p.diag, p.n, p.m, from[T](p.alpha), xs[i], p.lda,
			ys[i], p.ldb)
	}
	return nil
}

// geam is C = alpha op(A) + beta op(B). A matrix with the factor 0 is not accessed.
func geam[T number](c *call, t Type) error {
	opA, opB := c.op(), c.op()
	m, n := c.size(), c.size()
	alpha := c.scalar(t)
	a, lda := c.next(), c.size()
	beta := c.scalar(t)
	b, ldb := c.next(), c.size()
	at, ldc := c.next(), c.size()
	if c.err != nil || m == 0 || n == 0 {
		return c.err
	}
	x := operand[T](c, "A", t, opA, m, n, a, lda, alpha)
	y := operand[T](c, "B", t, opB, m, n, b, ldb, beta)
	z := elements[T](c.matrix("C", writes, at, t, m, n, ldc))
	if c.err != nil {
		return c.err
	}
	for j := range n {
		for i := range m {
			z[j*ldc+i] = from[T](x(i, j) + y(i, j))
		}
	}
	return nil
}

// operand returns the elements of alpha op(A) as a function of row and column. They are copied:
// the result may be in their place.
func operand[T number](c *call, name string, t Type, op, m, n int, addr uint64, ld int,
	alpha complex128) func(i, j int) complex128 {
	if alpha == 0 {
		return func(int, int) complex128 { return 0 }
	}
	rows, cols := shaped(op, m, n)
	b := c.matrix(name, reads, addr, t, rows, cols, ld)
	if c.err != nil {
		return nil
	}
	x := unpack[T](t, b, rows, cols, ld)
	return func(i, j int) complex128 {
		if op == opN {
			return alpha * wide(x[j*rows+i])
		}
		v := wide(x[i*rows+j])
		if op == opC {
			v = conjugate(v)
		}
		return alpha * v
	}
}

// dgmm is C = A diag(x), or diag(x) A.
func dgmm[T number](c *call, t Type) error {
	_, isRight := c.side()
	m, n := c.size(), c.size()
	a, lda := c.next(), c.size()
	d := c.place()
	at, ldc := c.next(), c.size()
	length := m
	if isRight {
		length = n
	}
	if c.err != nil || m == 0 || n == 0 {
		return c.err
	}
	x := elements[T](c.matrix("A", reads, a, t, m, n, lda))
	v := c.vector("x", reads, d, t, length)
	z := elements[T](c.matrix("C", writes, at, t, m, n, ldc))
	if c.err != nil {
		return c.err
	}
	for j := range n {
		for i := range m {
			of := i
			if isRight {
				of = j
			}
			z[j*ldc+i] = from[T](wide(x[j*lda+i]) * v.at(of))
		}
	}
	return nil
}
