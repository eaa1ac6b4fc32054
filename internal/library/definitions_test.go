package library

import "math/cmplx"

var floats = []Type{R32F, R64F, C32F, C64F}

// definitions makes a call of each function with random arguments, and says what it does.
var definitions = map[Function]func(b *bench) []uint64{
	Gemm: func(b *bench) []uint64 {
		ta, tb, tc, ts := b.t, b.t, b.t, b.t
		if b.IntN(2) == 0 { // GemmEx
			mixed := [][4]Type{{R16F, R16F, R16F, R16F}, {R16F, R16F, R16F, R32F}, {R16F, R16F, R32F, R32F},
				{R16BF, R16BF, R32F, R32F}, {R16BF, R16BF, R16BF, R32F}, {R8I, R8I, R32I, R32I}, {R8I, R8I, R32F, R32F}}
			m := mixed[b.IntN(len(mixed))]
			ta, tb, tc, ts = m[0], m[1], m[2], m[3]
		}
		opA, opB := b.IntN(3), b.IntN(3)
		m, n, k, count := b.IntN(6), b.IntN(6), b.IntN(6), 1+b.IntN(3)
		alpha, alphaArgs := b.scalar(ts)
		beta, betaArgs := b.scalar(ts)
		ra, ca := shaped(opA, m, k)
		rb, cb := shaped(opB, k, n)
		arrays := b.IntN(2) == 0
		xs, ys, zs := b.batch(ta, ra, ca, count, arrays), b.batch(tb, rb, cb, count, arrays),
			b.batch(tc, m, n, count, arrays)
		if m == 0 || n == 0 {
			return args(ta, tb, tc, ts, opA, opB, m, n, k, alphaArgs, xs.args(), ys.args(), betaArgs, zs.args(), count, arrays)
		}
		xs.listed()
		ys.listed()
		zs.listed()
		for q := range count {
			x, y, z := xs.all[q], ys.all[q], zs.all[q]
			for i := range m {
				for j := range n {
					v := z.scaled(beta, i, j)
					if alpha != 0 {
						v += alpha * b.sum(k, func(p int) complex128 { return x.op(opA, i, p) * y.op(opB, p, j) })
					}
					z.set(i, j, v)
				}
			}
		}
		return args(ta, tb, tc, ts, opA, opB, m, n, k, alphaArgs, xs.args(), ys.args(), betaArgs, zs.args(), count, arrays)
	},
	Symm: func(b *bench) []uint64 {
		hermitian, side, fill, m, n := b.t.complex() && b.IntN(2) == 0, b.IntN(2), b.IntN(2), 1+b.IntN(5), 1+b.IntN(5)
		alpha, alphaArgs := b.scalar(b.t)
		beta, betaArgs := b.scalar(b.t)
		order := m
		if side == right {
			order = n
		}
		x, y, z := b.matrix(b.t, order, order), b.matrix(b.t, m, n), b.matrix(b.t, m, n)
		for i := range m {
			for j := range n {
				z.set(i, j, z.scaled(beta, i, j)+alpha*b.sum(order, func(p int) complex128 {
					if side == right {
						return y.get(i, p) * x.symmetric(fill, hermitian, p, j)
					}
					return x.symmetric(fill, hermitian, i, p) * y.get(p, j)
				}))
			}
		}
		return args(b.t, hermitian, side, fill, m, n, alphaArgs, x.addr, x.ld, y.addr, y.ld, betaArgs, z.addr, z.ld)
	},
	Syrk: func(b *bench) []uint64 {
		hermitian := b.t.complex() && b.IntN(2) == 0
		fill, op, n, k := b.IntN(2), b.IntN(2), 1+b.IntN(5), b.IntN(5)
		scalars := b.t
		if hermitian {
			scalars, op = b.t.real(), op*opC
		}
		alpha, alphaArgs := b.scalar(scalars)
		beta, betaArgs := b.scalar(scalars)
		r, c := shaped(op, n, k)
		x, z := b.matrix(b.t, r, c), b.matrix(b.t, n, n)
		for i := range n { // the imaginary parts there are taken to be 0
			at := b.m.at(z.place(i, i))
			b.t.store(at, complex(real(b.t.load(at)), 0))
		}
		for i := range n {
			for j := range n {
				if i != j && (fill == upper) != (i < j) {
					continue
				}
				old := z.scaled(beta, i, j)
				z.set(i, j, old+alpha*b.sum(k, func(p int) complex128 {
					v := x.op(op, j, p)
					if hermitian {
						v = conjugate(v)
					}
					return x.op(op, i, p) * v
				}))
			}
		}
		return args(b.t, hermitian, fill, op, n, k, alphaArgs, x.addr, x.ld, betaArgs, z.addr, z.ld)
	},
	Syr2k: func(b *bench) []uint64 {
		fill, op, n, k := b.IntN(2), b.IntN(2), 1+b.IntN(5), b.IntN(5)
		alpha, alphaArgs := b.scalar(b.t)
		beta, betaArgs := b.scalar(b.t)
		r, c := shaped(op, n, k)
		x, y, z := b.matrix(b.t, r, c), b.matrix(b.t, r, c), b.matrix(b.t, n, n)
		for i := range n {
			for j := range n {
				if i != j && (fill == upper) != (i < j) {
					continue
				}
				z.set(i, j, z.scaled(beta, i, j)+alpha*b.sum(k, func(p int) complex128 {
					return x.op(op, i, p)*y.op(op, j, p) + y.op(op, i, p)*x.op(op, j, p)
				}))
			}
		}
		return args(b.t, fill, op, n, k, alphaArgs, x.addr, x.ld, y.addr, y.ld, betaArgs, z.addr, z.ld)
	},
	Trmm: func(b *bench) []uint64 {
		side, fill, op, diag, m, n := b.IntN(2), b.IntN(2), b.IntN(3), b.IntN(2), 1+b.IntN(5), 1+b.IntN(5)
		alpha, alphaArgs := b.scalar(b.t)
		order := m
		if side == right {
			order = n
		}
		x, y, z := b.matrix(b.t, order, order), b.matrix(b.t, m, n), b.matrix(b.t, m, n)
		for i := range m {
			for j := range n {
				z.set(i, j, alpha*b.sum(order, func(p int) complex128 {
					if side == right {
						return y.get(i, p) * x.triangular(fill, op, diag, p, j)
					}
					return x.triangular(fill, op, diag, i, p) * y.get(p, j)
				}))
			}
		}
		return args(b.t, side, fill, op, diag, m, n, alphaArgs, x.addr, x.ld, y.addr, y.ld, z.addr, z.ld)
	},
	Geam: func(b *bench) []uint64 {
		opA, opB, m, n := b.IntN(3), b.IntN(3), b.IntN(6), b.IntN(6)
		alpha, alphaArgs := b.scalar(b.t)
		beta, betaArgs := b.scalar(b.t)
		ra, ca := shaped(opA, m, n)
		rb, cb := shaped(opB, m, n)
		x, y, z := b.matrix(b.t, ra, ca), b.matrix(b.t, rb, cb), b.matrix(b.t, m, n)
		for i := range m {
			for j := range n {
				v := complex128(0)
				if alpha != 0 {
					v += alpha * x.op(opA, i, j)
				}
				if beta != 0 {
					v += beta * y.op(opB, i, j)
				}
				z.set(i, j, v)
			}
		}
		return args(b.t, opA, opB, m, n, alphaArgs, x.addr, x.ld, betaArgs, y.addr, y.ld, z.addr, z.ld)
	},
	Dgmm: func(b *bench) []uint64 {
		side, m, n := b.IntN(2), b.IntN(6), b.IntN(6)
		length := m
		if side == right {
			length = n
		}
		x, z := b.matrix(b.t, m, n), b.matrix(b.t, m, n)
		v, inc, at := b.vector(b.t, length)
		for i := range m {
			for j := range n {
				k := i
				if side == right {
					k = j
				}
				z.set(i, j, x.get(i, j)*v.get(at(k)))
			}
		}
		return args(b.t, side, m, n, x.addr, x.ld, v.addr, inc, z.addr, z.ld)
	},
	Gemv: func(b *bench) []uint64 {
		op, m, n := b.IntN(3), 1+b.IntN(5), 1+b.IntN(5)
		alpha, alphaArgs := b.scalar(b.t)
		beta, betaArgs := b.scalar(b.t)
		r, c := shaped(op, m, n)
		a := b.matrix(b.t, m, n)
		x, incX, xAt := b.vector(b.t, c)
		y, incY, yAt := b.vector(b.t, r)
		for i := range r {
			row, col := yAt(i)
			v := y.scaled(beta, row, col)
			if alpha != 0 {
				v += alpha * b.sum(c, func(p int) complex128 { return a.op(op, i, p) * x.get(xAt(p)) })
			}
			y.set(row, col, v)
		}
		return args(b.t, op, m, n, alphaArgs, a.addr, a.ld, x.addr, incX, betaArgs, y.addr, incY)
	},
	Ger: func(b *bench) []uint64 {
		conj, m, n := b.t.complex() && b.IntN(2) == 0, b.IntN(6), b.IntN(6)
		alpha, alphaArgs := b.scalar(b.t)
		a := b.matrix(b.t, m, n)
		x, incX, xAt := b.vector(b.t, m)
		y, incY, yAt := b.vector(b.t, n)
		for i := range m {
			for j := range n {
				if alpha == 0 {
					continue
				}
				v := y.get(yAt(j))
				if conj {
					v = conjugate(v)
				}
				a.set(i, j, a.get(i, j)+alpha*x.get(xAt(i))*v)
			}
		}
		return args(b.t, conj, m, n, alphaArgs, x.addr, incX, y.addr, incY, a.addr, a.ld)
	},
	Symv: func(b *bench) []uint64 {
		hermitian, fill, n := b.t.complex() && b.IntN(2) == 0, b.IntN(2), 1+b.IntN(5)
		alpha, alphaArgs := b.scalar(b.t)
		beta, betaArgs := b.scalar(b.t)
		a := b.matrix(b.t, n, n)
		x, incX, xAt := b.vector(b.t, n)
		y, incY, yAt := b.vector(b.t, n)
		for i := range n {
			row, col := yAt(i)
			y.set(row, col, y.scaled(beta, row, col)+alpha*b.sum(n, func(p int) complex128 {
				return a.symmetric(fill, hermitian, i, p) * x.get(xAt(p))
			}))
		}
		return args(b.t, hermitian, fill, n, alphaArgs, a.addr, a.ld, x.addr, incX, betaArgs, y.addr, incY)
	},
	Trmv: func(b *bench) []uint64 {
		fill, op, diag, n := b.IntN(2), b.IntN(3), b.IntN(2), 1+b.IntN(5)
		a := b.matrix(b.t, n, n)
		x, inc, at := b.vector(b.t, n)
		for i := range n {
			row, col := at(i)
			x.set(row, col, b.sum(n, func(p int) complex128 { return a.triangular(fill, op, diag, i, p) * x.get(at(p)) }))
		}
		return args(b.t, fill, op, diag, n, a.addr, a.ld, x.addr, inc)
	},
	Axpy: func(b *bench) []uint64 {
		n := b.IntN(6)
		alpha, alphaArgs := b.scalar(b.t)
		x, incX, xAt := b.vector(b.t, n)
		y, incY, yAt := b.vector(b.t, n)
		for i := range n {
			if alpha != 0 {
				row, col := yAt(i)
				y.set(row, col, alpha*x.get(xAt(i))+y.get(row, col))
			}
		}
		return args(b.t, b.t, b.t, n, alphaArgs, x.addr, incX, y.addr, incY)
	},
	Copy: func(b *bench) []uint64 {
		n := b.IntN(6)
		x, incX, xAt := b.vector(b.t, n)
		y, incY, yAt := b.vector(b.t, n)
		for i := range n {
			row, col := yAt(i)
			y.set(row, col, x.get(xAt(i)))
		}
		return args(b.t, n, x.addr, incX, y.addr, incY)
	},
	Swap: func(b *bench) []uint64 {
		n := b.IntN(6)
		x, incX, xAt := b.vector(b.t, n)
		y, incY, yAt := b.vector(b.t, n)
		for i := range n {
			rx, cx := xAt(i)
			ry, cy := yAt(i)
			x.set(rx, cx, y.get(ry, cy))
			y.set(ry, cy, x.get(rx, cx))
		}
		return args(b.t, n, x.addr, incX, y.addr, incY)
	},
	Scal: func(b *bench) []uint64 {
		n := b.IntN(6)
		scalars := []Type{b.t, b.t.real()}[b.IntN(2)] // cublasCsscal
		alpha, alphaArgs := b.scalar(scalars)
		x, inc, at := b.vector(b.t, n)
		for i := range n {
			row, col := at(i)
			x.set(row, col, alpha*x.get(row, col))
		}
		return args(scalars, b.t, n, alphaArgs, x.addr, inc)
	},
	Rot: func(b *bench) []uint64 {
		n := b.IntN(6)
		t := b.t.real()
		c, cArgs := b.scalar(t)
		s, sArgs := b.scalar(t)
		x, incX, xAt := b.vector(t, n)
		y, incY, yAt := b.vector(t, n)
		for i := range n {
			rx, cx := xAt(i)
			ry, cy := yAt(i)
			p, q := x.get(rx, cx), y.get(ry, cy)
			x.set(rx, cx, c*p+s*q)
			y.set(ry, cy, c*q-s*p)
		}
		return args(t, n, x.addr, incX, y.addr, incY, cArgs, sArgs)
	},
	Dot: func(b *bench) []uint64 {
		n, conj := b.IntN(6), b.IntN(2) == 0
		x, incX, xAt := b.vector(b.t, n)
		y, incY, yAt := b.vector(b.t, n)
		out := b.matrix(b.t, 1, 1)
		out.set(0, 0, b.sum(n, func(i int) complex128 {
			v := x.get(xAt(i))
			if conj {
				v = conjugate(v)
			}
			return v * y.get(yAt(i))
		}))
		return args(b.t, b.t, b.t, conj, n, x.addr, incX, y.addr, incY, out.addr)
	},
	Nrm2: func(b *bench) []uint64 {
		n := b.IntN(6)
		x, inc, at := b.vector(b.t, n)
		out := b.matrix(b.t.real(), 1, 1)
		out.set(0, 0, cmplx.Sqrt(b.sum(n, func(i int) complex128 {
			v := x.get(at(i))
			return v * conjugate(v)
		})))
		return args(b.t, b.t.real(), n, x.addr, inc, out.addr)
	},
	Asum: func(b *bench) []uint64 {
		n := b.IntN(6)
		x, inc, at := b.vector(b.t, n)
		out := b.matrix(b.t.real(), 1, 1)
		out.set(0, 0, b.sum(n, func(i int) complex128 { return complex(magnitude(x.get(at(i))), 0) }))
		return args(b.t, b.t.real(), n, x.addr, inc, out.addr)
	},
	Extent: func(b *bench) []uint64 {
		n, smallest := b.IntN(6), b.IntN(2) == 0
		x, inc, at := b.vector(b.t, n)
		out := b.matrix(R32I, 1, 1)
		best := 0
		for i := range n { // the first of equal ones
			v, w := magnitude(x.get(at(i))), 0.0
			if best > 0 {
				w = magnitude(x.get(at(best - 1)))
			}
			if best == 0 || smallest && v < w || !smallest && v > w {
				best = i + 1
			}
		}
		out.set(0, 0, complex(float64(best), 0))
		return args(b.t, smallest, n, x.addr, inc, out.addr)
	},
}
