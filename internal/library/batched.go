package library

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
)

// squares returns the matrices of a batch, whose addresses are in an array.
func squares[T number](c *call, t Type, name string, how access, array uint64, n, ld, count int) [][]T {
	list := c.pointers(name+"array", array, count)
	out := make([][]T, len(list))
	for i, addr := range list {
		out[i] = elements[T](c.matrix(name, how, addr, t, n, n, ld))
	}
	return out
}

// ints returns integers in device memory; nil for the address 0.
func (c *call) ints(name string, how access, addr uint64, count int) []int32 {
	if addr == 0 {
		return nil
	}
	c.aligned(name, how, addr, R32I)
	return elements[int32](c.bytes(name, how, addr, 4*count))
}

// getrf factorizes each matrix of a batch into L U, with the rows exchanged by partial pivoting
// unless there is no array for the pivots.
func getrf[T number](c *call, t Type) error {
	n := c.size()
	array, ld := c.next(), c.size()
	pivotsAt, infoAt := c.next(), c.next()
	count := c.size()
	if c.err != nil || n == 0 || count == 0 {
		return c.err
	}
	all := squares[T](c, t, "A", reads|writes, array, n, ld, count)
	pivots := c.ints("PivotArray", writes, pivotsAt, n*count)
	info := c.ints("infoArray", writes, infoAt, count)
	if c.err != nil {
		return c.err
	}
	for i, a := range all {
		singular := factorize(a, n, ld, pivotsOf(pivots, i, n))
		if info != nil {
			info[i] = singular
		}
	}
	return nil
}

// pivotsOf returns the pivots of matrix i, from 1; nil if rows are not exchanged.
func pivotsOf(pivots []int32, i, n int) []int32 {
	if pivots == nil {
		return nil
	}
	return pivots[i*n : (i+1)*n]
}

// factorize computes L U in the place of a. It returns the position, from 1, of the first 0 on the
// diagonal of U; 0 if there is none.
func factorize[T number](a []T, n, ld int, pivots []int32) (singular int32) {
	for k := range n {
		if pivots != nil {
			best := k
			for i := k + 1; i < n; i++ {
				if magnitude(wide(a[k*ld+i])) > magnitude(wide(a[k*ld+best])) {
					best = i
				}
			}
			pivots[k] = int32(best + 1)
			exchange(a, n, ld, k, best)
		}
		diagonal := a[k*ld+k]
		if diagonal == 0 {
			if singular == 0 {
				singular = int32(k + 1)
			}
			continue
		}
		for i := k + 1; i < n; i++ {
			a[k*ld+i] /= diagonal
		}
		for j := k + 1; j < n; j++ {
			factor := a[j*ld+k]
			for i := k + 1; i < n; i++ {
				a[j*ld+i] -= a[k*ld+i] * factor
			}
		}
	}
	return singular
}

// exchange exchanges two rows of a matrix with cols columns.
func exchange[T number](a []T, cols, ld, i, k int) {
	for j := 0; j < cols && i != k; j++ {
		a[j*ld+i], a[j*ld+k] = a[j*ld+k], a[j*ld+i]
	}
}

// solve solves op(L U) X = B in the place of B, a matrix with cols columns.
func solve[T number](op int, lu []T, n, ld int, pivots []int32, b []T, cols, ldb int) {
	r := of[T]()
	half := func(u blas.Uplo, d blas.Diag) { // u is the triangle of the transposed matrix
		r.trsm(blas.Right, u, transpose(op), d, cols, n, from[T](1), lu, ld, b, ldb)
	}
	if op == opN {
		for k := range pivots {
			exchange(b, cols, ldb, k, int(pivots[k])-1)
		}
		half(blas.Upper, blas.Unit)
		half(blas.Lower, blas.NonUnit)
		return
	}
	half(blas.Lower, blas.NonUnit)
	half(blas.Upper, blas.Unit)
	for k := range slices.Backward(pivots) {
		exchange(b, cols, ldb, k, int(pivots[k])-1)
	}
}

// pivots returns what getrf has stored, or fails if it cannot be that.
func (c *call) pivots(addr uint64, n, count int) []int32 {
	list := c.ints("PivotArray", reads, addr, n*count)
	for _, p := range list {
		if p < 1 || int(p) > n {
			c.fail(&OperandError{Operand: "PivotArray", Err: fmt.Errorf("%d is no row of %d", p, n)})
		}
	}
	return list
}

// getrs solves op(A) X = B for each matrix of a batch that getrf has factorized.
func getrs[T number](c *call, t Type) error {
	op := c.op()
	n, cols := c.size(), c.size()
	array, ld := c.next(), c.size()
	pivotsAt := c.next()
	bArray, ldb := c.next(), c.size()
	count := c.size()
	if c.err != nil || n == 0 || cols == 0 || count == 0 {
		return c.err
	}
	all := squares[T](c, t, "A", reads, array, n, ld, count)
	pivots := c.pivots(pivotsAt, n, count)
	right := make([][]T, count)
	for i, addr := range c.pointers("Barray", bArray, count) {
		right[i] = elements[T](c.matrix("B", reads|writes, addr, t, n, cols, ldb))
	}
	if c.err != nil {
		return c.err
	}
	for i, a := range all {
		solve(op, a, n, ld, pivotsOf(pivots, i, n), right[i], cols, ldb)
	}
	return nil
}

// getri inverts each matrix of a batch that getrf has factorized.
func getri[T number](c *call, t Type) error {
	n := c.size()
	array, ld := c.next(), c.size()
	pivotsAt := c.next()
	cArray, ldc := c.next(), c.size()
	infoAt, count := c.next(), c.size()
	if c.err != nil || n == 0 || count == 0 {
		return c.err
	}
	all := squares[T](c, t, "A", reads, array, n, ld, count)
	pivots := c.pivots(pivotsAt, n, count)
	info := c.ints("infoArray", writes, infoAt, count)
	out := squares[T](c, t, "C", writes, cArray, n, ldc, count)
	if c.err != nil {
		return c.err
	}
	for i, a := range all {
		singular := invert(a, n, ld, pivotsOf(pivots, i, n), out[i], ldc)
		if info != nil {
			info[i] = singular
		}
	}
	return nil
}

// invert stores the inverse of a factorized matrix. It returns the position, from 1, of the first 0
// on the diagonal, with which there is no inverse; 0 if there is none.
func invert[T number](lu []T, n, ld int, pivots []int32, out []T, ldc int) (singular int32) {
	for k := range n {
		if lu[k*ld+k] == 0 {
			return int32(k + 1)
		}
	}
	for j := range n {
		clear(out[j*ldc : j*ldc+n])
		out[j*ldc+j] = 1
	}
	solve(opN, lu, n, ld, pivots, out, n, ldc)
	return 0
}

// matinv inverts each matrix of a batch, which stays as it is.
func matinv[T number](c *call, t Type) error {
	n := c.size()
	array, ld := c.next(), c.size()
	cArray, ldc := c.next(), c.size()
	infoAt, count := c.next(), c.size()
	if c.err != nil || n == 0 || count == 0 {
		return c.err
	}
	all := squares[T](c, t, "A", reads, array, n, ld, count)
	out := squares[T](c, t, "Ainv", writes, cArray, n, ldc, count)
	info := c.ints("info", writes, infoAt, count)
	if c.err != nil {
		return c.err
	}
	pivots := make([]int32, n)
	for i, a := range all {
		lu := make([]T, n*n)
		for j := range n {
			copy(lu[j*n:(j+1)*n], a[j*ld:j*ld+n])
		}
		factorize(lu, n, n, pivots)
		singular := invert(lu, n, n, pivots, out[i], ldc)
		if info != nil {
			info[i] = singular
		}
	}
	return nil
}
