package library

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"
	"unsafe"

	"heddle/internal/order"
)

// testMemory is one allocation after the other, with gaps.
type testMemory struct {
	base  uint64
	bytes []byte
	sizes map[uint64]uint64 // by offset
	next  uint64
}

func newMemory(n int) *testMemory {
	words := make([]uint64, n/8)
	return &testMemory{base: 1 << 20, sizes: make(map[uint64]uint64), next: 64,
		bytes: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)}
}

// alloc returns the address of n bytes.
func (m *testMemory) alloc(n int) uint64 {
	at := m.next
	m.sizes[at] = uint64(n)
	m.next += (uint64(n) + 64 + 15) / 16 * 16
	return m.base + at
}

func (m *testMemory) at(addr uint64) []byte { return m.bytes[addr-m.base:] }

// Bytes implements Memory.
func (m *testMemory) Bytes(addr, n uint64) ([]byte, error) {
	for at, size := range m.sizes {
		if off := addr - m.base - at; off < size && n <= size-off {
			return m.bytes[addr-m.base : addr-m.base+n], nil
		}
	}
	return nil, errors.New("outside")
}

// bench is a call and what is expected of it, by the definitions of BLAS on elements: set and get
// are the only accesses that the definition makes.
type bench struct {
	*rand.Rand
	m       *testMemory
	t       Type
	touched [2]map[uint64]bool // bytes read and written by the definition
	want    map[uint64]complex128
	wantT   map[uint64]Type
	terms   float64 // the largest sum of magnitudes of one element
}

// matrix is a matrix or vector in device memory.
type matrix struct {
	b          *bench
	t          Type
	addr       uint64
	rows, cols int
	ld         int
}

// number returns a small number of a type, exact in all of them.
func (b *bench) number(t Type) complex128 {
	re, im := float64(b.IntN(17)-8), 0.0
	if t.complex() {
		im = float64(b.IntN(17) - 8)
	}
	if t != R8I && t != R32I {
		re, im = re/4, im/4
	}
	return complex(re, im)
}

// matrix allocates a matrix with random elements.
func (b *bench) matrix(t Type, rows, cols int) *matrix {
	return b.spaced(t, rows, cols, max(rows, 1)+b.IntN(3))
}

// spaced is matrix with a leading dimension.
func (b *bench) spaced(t Type, rows, cols, ld int) *matrix {
	x := &matrix{b: b, t: t, rows: rows, cols: cols, ld: ld}
	n := 0
	if rows > 0 && cols > 0 {
		n = (cols-1)*ld + rows
	}
	x.addr = b.m.alloc(n * t.Size())
	for i := range n {
		t.store(b.m.at(x.addr+uint64(i*t.Size())), b.number(t))
	}
	return x
}

func (x *matrix) place(i, j int) uint64 {
	if i < 0 || j < 0 || i >= x.rows || j >= x.cols {
		panic(fmt.Sprint(i, j, " of ", x.rows, x.cols))
	}
	return x.addr + uint64((j*x.ld+i)*x.t.Size())
}

func (b *bench) touch(how int, addr uint64, t Type) {
	for k := range uint64(t.Size()) {
		b.touched[how][addr+k] = true
	}
}

// get reads an element as it was before the call.
func (x *matrix) get(i, j int) complex128 {
	x.b.touch(0, x.place(i, j), x.t)
	return x.t.load(x.b.m.at(x.place(i, j)))
}

// set says what an element is after the call.
func (x *matrix) set(i, j int, v complex128) {
	at := x.place(i, j)
	x.b.touch(1, at, x.t)
	x.b.want[at], x.b.wantT[at] = v, x.t
}

// op returns element i, j of op(A).
func (x *matrix) op(op, i, j int) complex128 {
	switch op {
	case opN:
		return x.get(i, j)
	case opT:
		return x.get(j, i)
	}
	return conjugate(x.get(j, i))
}

// symmetric returns element i, j of a matrix of which one triangle is given.
func (x *matrix) symmetric(fill int, hermitian bool, i, j int) complex128 {
	if (fill == upper) == (i <= j) || i == j {
		v := x.get(i, j)
		if hermitian && i == j {
			v = complex(real(v), 0)
		}
		return v
	}
	v := x.get(j, i)
	if hermitian {
		v = conjugate(v)
	}
	return v
}

// triangular returns element i, j of op(A) for a triangular A.
func (x *matrix) triangular(fill, op, diag, i, j int) complex128 {
	r, c := i, j
	if op != opN {
		r, c = j, i
	}
	switch {
	case r == c && diag == unit:
		return 1
	case r != c && (fill == upper) != (r < c):
		return 0
	}
	return x.op(op, i, j)
}

// scaled is beta times an element, which is not read if beta is 0.
func (x *matrix) scaled(beta complex128, i, j int) complex128 {
	if beta == 0 {
		return 0
	}
	return beta * x.get(i, j)
}

// scalar returns a scalar and its two arguments.
func (b *bench) scalar(t Type) (complex128, []any) {
	v := b.number(t)
	if b.IntN(4) == 0 {
		v = complex(float64(b.IntN(2)), 0)
	}
	return v, []any{math.Float64bits(real(v)), math.Float64bits(imag(v))}
}

// args makes arguments of integers, addresses and lists.
func args(list ...any) (out []uint64) {
	for _, v := range list {
		switch v := v.(type) {
		case int:
			out = append(out, uint64(int64(v)))
		case uint64:
			out = append(out, v)
		case Type:
			out = append(out, uint64(v))
		case bool:
			if v {
				out = append(out, 1)
			} else {
				out = append(out, 0)
			}
		case []any:
			out = append(out, args(v...)...)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return out
}

// sum is the sum of n terms.
func (b *bench) sum(n int, term func(k int) complex128) (out complex128) {
	size := 0.0
	for k := range n {
		v := term(k)
		out += v
		size += cmplx.Abs(v)
	}
	b.terms = max(b.terms, size)
	return out
}

// vectorOf gives a matrix with one row the increment of a vector: element i is in column i, or in
// column n-1-i for a negative one.
func (x *matrix) vectorOf(inc int) func(i int) (int, int) {
	return func(i int) (int, int) {
		if inc < 0 {
			return 0, x.cols - 1 - i
		}
		return 0, i
	}
}

// vector allocates a vector.
func (b *bench) vector(t Type, n int) (x *matrix, inc int, at func(i int) (int, int)) {
	x = b.matrix(t, 1, n)
	inc = x.ld
	if b.IntN(3) == 0 {
		inc = -inc
	}
	return x, inc, x.vectorOf(inc)
}

// matrices is a batch.
type matrices struct {
	all    []*matrix
	list   uint64 // of an array of pointers
	stride int
}

// batch allocates the matrices of a batch: each by itself with an array of pointers, or one behind
// the other.
func (b *bench) batch(t Type, rows, cols, count int, arrays bool) *matrices {
	out := &matrices{}
	if arrays {
		out.list = b.m.alloc(8 * count)
		ld := max(rows, 1) + b.IntN(3)
		for i := range count {
			x := b.spaced(t, rows, cols, ld)
			out.all = append(out.all, x)
			for k := range 8 {
				b.m.at(out.list)[8*i+k] = byte(x.addr >> (8 * k))
			}
		}
		return out
	}
	whole := b.matrix(t, rows, cols*count)
	out.stride = whole.ld * cols
	for i := range count {
		x := *whole
		x.cols = cols
		x.addr += uint64(i * out.stride * t.Size())
		out.all = append(out.all, &x)
	}
	return out
}

// listed notes that the addresses are read.
func (l *matrices) listed() {
	for i := range l.all {
		if l.list != 0 {
			l.all[0].b.touch(0, l.list+uint64(8*i), R64F)
		}
	}
}

// args returns the address, the leading dimension and the stride. The matrices of an array of
// pointers have one leading dimension.
func (l *matrices) args() []any {
	if l.list != 0 {
		return []any{l.list, l.all[0].ld, 0}
	}
	return []any{l.all[0].addr, l.all[0].ld, l.stride}
}

// check carries out a call and compares memory and accesses with the definition.
func (b *bench) check(f Function, list []uint64, relative float64) error {
	before := append([]byte(nil), b.m.bytes...)
	res, err := Do(&Call{Function: f, Name: "f", Args: list}, b.m)
	if err != nil {
		return err
	}
	for at, want := range b.want {
		t := b.wantT[at]
		got := t.load(b.m.at(at))
		bound := relative * (1 + b.terms)
		if t == R16F || t == R16BF {
			bound = cmplx.Abs(want) / 128
		}
		if d := cmplx.Abs(got - want); !(d <= bound*8) {
			return fmt.Errorf("%#x of type %d: %v, want %v", at, t, got, want)
		}
	}
	for i := range b.m.bytes {
		at := b.m.base + uint64(i)
		if b.m.bytes[i] != before[i] && !b.touched[1][at] {
			return fmt.Errorf("%#x changed", at)
		}
	}
	for how, a := range []order.Access{order.Read, order.Write} {
		got := map[uint64]bool{}
		for _, r := range res.Accesses[a] {
			for at := r.From; at < r.To; at++ {
				got[at] = true
			}
		}
		for at := range got {
			if !b.touched[how][at] {
				return fmt.Errorf("%#x: access %d is not in the definition", at, how)
			}
		}
		for at := range b.touched[how] {
			if !got[at] {
				return fmt.Errorf("%#x: access %d is missing", at, how)
			}
		}
	}
	return nil
}

func newBench(seed uint64) *bench {
	b := &bench{Rand: rand.New(rand.NewPCG(seed, 1)), m: newMemory(1 << 16), want: map[uint64]complex128{},
		wantT: map[uint64]Type{}}
	b.touched = [2]map[uint64]bool{{}, {}}
	b.t = floats[b.IntN(len(floats))]
	return b
}

// TestDefinitions: every function does what the definitions of BLAS say, and accesses the elements
// that the definitions access, no others.
func TestDefinitions(t *testing.T) {
	for f, define := range definitions {
		for seed := range uint64(400) {
			b := newBench(seed)
			list := define(b)
			relative := 1e-6
			if b.t == R64F || b.t == C64F {
				relative = 1e-14
			}
			if f == Gemm {
				relative = 1e-6
			}
			if err := b.check(f, list, relative); err != nil {
				t.Errorf("function %d, seed %d, type %d: %v", f, seed, b.t, err)
				break
			}
		}
	}
}

// TestSolves: what trsm and trsv return solves the system, and they access what trmm accesses.
func TestSolves(t *testing.T) {
	for seed := range uint64(400) {
		b := newBench(seed)
		side, fill, op, diag, m, n := b.IntN(2), b.IntN(2), b.IntN(3), b.IntN(2), 1+b.IntN(5), 1+b.IntN(5)
		vector := b.IntN(3) == 0
		if vector {
			side, n = 0, 1
		}
		order := m
		if side == right {
			order = n
		}
		x, y := b.matrix(b.t, order, order), b.matrix(b.t, m, n)
		for i := range order { // far from singular
			x.b.t.store(b.m.at(x.place(i, i)), complex(40, 0))
		}
		alpha, alphaArgs := b.scalar(b.t)
		if vector {
			alpha = 1
		}
		old := make([]complex128, m*n)
		for i := range m {
			for j := range n {
				old[j*m+i] = alpha * y.get(i, j)
				y.set(i, j, 0)
			}
		}
		b.want = nil
		for i := range order {
			for j := range order {
				x.triangular(fill, op, diag, i, j)
			}
		}
		f, list := Trsm, args(b.t, side, fill, op, diag, m, n, alphaArgs, x.addr, x.ld, y.addr, y.ld, 1, false)
		if vector {
			f, list = Trsv, args(b.t, fill, op, diag, m, x.addr, x.ld, y.addr, 1)
		}
		if err := b.check(f, list, 0); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range m {
			for j := range n {
				got := b.sum(order, func(p int) complex128 {
					if side == right {
						return y.get(i, p) * x.triangular(fill, op, diag, p, j)
					}
					return x.triangular(fill, op, diag, i, p) * y.get(p, j)
				})
				if d := cmplx.Abs(got - old[j*m+i]); !(d <= 1e-4*(1+b.terms)) {
					t.Fatalf("seed %d, type %d: row %d column %d of the product is %v, want %v", seed, b.t, i, j, got,
						old[j*m+i])
				}
			}
		}
	}
}

// TestBatches: the factors of getrf solve systems by getrs, and getri and matinv invert.
func TestBatches(t *testing.T) {
	for seed := range uint64(200) {
		b := newBench(seed)
		n, cols, count := 1+b.IntN(5), 1+b.IntN(3), 1+b.IntN(3)
		as, bs := b.batch(b.t, n, n, count, true), b.batch(b.t, n, cols, count, true)
		inverses, direct := b.batch(b.t, n, n, count, true), b.batch(b.t, n, n, count, true)
		ld := func(l *matrices) int { return l.all[0].ld }
		for i := range count {
			for k := range n {
				b.t.store(b.m.at(as.all[i].place((k+1)%n, k)), complex(30, 0)) // needs rows to be exchanged
			}
		}
		value := func(l *matrices) (out [][]complex128) {
			for _, x := range l.all {
				one := make([]complex128, x.rows*x.cols)
				for i := range x.rows {
					for j := range x.cols {
						one[j*x.rows+i] = x.get(i, j)
					}
				}
				out = append(out, one)
			}
			return out
		}
		a, right := value(as), value(bs)
		pivots, info := b.m.alloc(4*n*count), b.m.alloc(4*count)
		op := b.IntN(3)
		do := func(f Function, list ...any) {
			if _, err := Do(&Call{Function: f, Name: "f", Args: args(list...)}, b.m); err != nil {
				t.Fatalf("seed %d, function %d: %v", seed, f, err)
			}
		}
		do(Matinv, b.t, n, as.list, ld(as), direct.list, ld(direct), info, count)
		do(Getrf, b.t, n, as.list, ld(as), pivots, info, count)
		do(Getri, b.t, n, as.list, ld(as), pivots, inverses.list, ld(inverses), info, count)
		do(Getrs, b.t, op, n, cols, as.list, ld(as), pivots, bs.list, ld(bs), count)
		x, inverse, other := value(bs), value(inverses), value(direct)
		near := func(what string, got, want complex128) {
			if d := cmplx.Abs(got - want); !(d <= 1e-3) {
				t.Fatalf("seed %d, type %d, op %d: %s %v, want %v", seed, b.t, op, what, got, want)
			}
		}
		for q := range count {
			if v := R32I.load(b.m.at(info + uint64(4*q))); v != 0 {
				t.Fatalf("seed %d: info %v", seed, v)
			}
			at := func(op, i, j int) complex128 {
				switch op {
				case opN:
					return a[q][j*n+i]
				case opT:
					return a[q][i*n+j]
				}
				return conjugate(a[q][i*n+j])
			}
			for i := range n {
				for j := range cols {
					near("A X", b.sum(n, func(p int) complex128 { return at(op, i, p) * x[q][j*n+p] }), right[q][j*n+i])
				}
				for j := range n {
					one := complex128(0)
					if i == j {
						one = 1
					}
					near("A by its inverse", b.sum(n, func(p int) complex128 { return at(opN, i, p) * inverse[q][j*n+p] }), one)
					near("inverse by matinv", other[q][j*n+i], inverse[q][j*n+i])
				}
			}
		}
	}
}

// TestSingular: a matrix without an inverse is named by the position of the 0, and getrf without
// pivots does not exchange rows.
func TestSingular(t *testing.T) {
	b := newBench(1)
	list := b.batch(R64F, 2, 2, 1, true)
	ld := list.all[0].ld
	a := b.m.at(list.all[0].addr)
	for i, v := range []float64{0, 1, 1, 0} { // columns (0,1) and (1,0)
		R64F.store(b.m.at(list.all[0].place(i%2, i/2)), complex(v, 0))
	}
	info := b.m.alloc(4)
	for _, pivots := range []uint64{0, b.m.alloc(8)} {
		saved := append([]byte(nil), a[:8*(ld+2)]...)
		if _, err := Do(&Call{Function: Getrf, Args: args(R64F, 2, list.list, ld, pivots, info, 1)}, b.m); err != nil {
			t.Fatal(err)
		}
		want := 1.0 // the first element of the diagonal of U is 0
		if pivots != 0 {
			want = 0
		}
		if got := R32I.load(b.m.at(info)); real(got) != want {
			t.Errorf("pivots %#x: info %v, want %v", pivots, got, want)
		}
		copy(a, saved)
	}
}

// TestScalarsInMemory: in the pointer mode of the device, scalars are read from their addresses.
func TestScalarsInMemory(t *testing.T) {
	b := newBench(1)
	x, alpha := b.matrix(C32F, 1, 4), b.m.alloc(4)
	x.ld = 1
	R32F.store(b.m.at(alpha), 3)
	for i := range 4 {
		C32F.store(b.m.at(x.addr+uint64(8*i)), complex(float64(i), 1))
	}
	res, err := Do(&Call{Function: Scal, Device: true, Args: args(R32F, C32F, 4, alpha, 0, x.addr, 1)}, b.m)
	if err != nil {
		t.Fatal(err)
	}
	if got := C32F.load(b.m.at(x.addr + 16)); got != complex(6, 3) {
		t.Errorf("3 (2 + i) is %v", got)
	}
	read := res.Accesses[order.Read]
	if len(read) != 2 {
		t.Errorf("reads %v: the vector and the scalar", read)
	}
}

// TestOperands: operands outside of device memory are named, and nothing is written then.
func TestOperands(t *testing.T) {
	b := newBench(1)
	x, y, z := b.m.alloc(64), b.m.alloc(64), b.m.alloc(64)
	one := []any{math.Float64bits(1), math.Float64bits(0)}
	zero := []any{math.Float64bits(0), math.Float64bits(0)}
	call := func(a, lda, c uint64, ldc int) []uint64 {
		return args(R32F, R32F, R32F, R32F, 0, 0, 4, 4, 4, one, a, int(lda), 0, y, 4, 0, zero, c, ldc, 0, 1, false)
	}
	for _, c := range []struct {
		name string
		list []uint64
		want string
	}{
		{"all right", call(x, 4, z, 4), ""},
		{"A is one column too short", call(x, 5, z, 4), "reads A: outside"},
		{"C is too short", call(x, 4, z, 6), "writes C: outside"},
		{"A begins within a number", call(x+2, 4, z, 4), "reads A: the address is misaligned"},
		{"C is null", call(x, 4, 0, 4), "writes C: outside"},
		{"leading dimension", call(x, 3, z, 4), "f: the leading dimension of A is 3, with 4 rows"},
		{"too few arguments", call(x, 4, z, 4)[:20], "f: arguments are missing"},
		{"a type that does not exist", append([]uint64{99}, call(x, 4, z, 4)[1:]...), "f: elements of type 99"},
	} {
		for i := range 64 {
			b.m.at(z)[i] = 77
		}
		_, err := Do(&Call{Function: Gemm, Name: "f", Args: c.list}, b.m)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if err != nil && b.m.at(z)[0] != 77 {
			t.Errorf("%s: C was written", c.name)
		}
	}
	if _, err := Do(&Call{Function: 99, Name: "f"}, b.m); err == nil {
		t.Error("function 99 does not exist")
	}
}

// TestHalf: every binary16 and bfloat16 number survives, and what lies between two goes to the
// nearer one, or to the even one.
func TestHalf(t *testing.T) {
	for _, f := range []struct {
		t        Type
		infinity int
	}{{R16F, 0x7c00}, {R16BF, 0x7f80}} {
		value := func(bits int) float64 { return real(f.t.load([]byte{byte(bits), byte(bits >> 8)})) }
		round := func(v float64) int {
			b := make([]byte, 2)
			f.t.store(b, complex(v, 0))
			return int(b[0]) | int(b[1])<<8
		}
		for bits := range f.infinity {
			v, next := value(bits), value(bits+1)
			if bits+1 == f.infinity { // as if the exponent had no end
				next = 2*v - value(bits-1)
			}
			middle := (v + next) / 2
			even := bits + bits&1
			for _, c := range []struct {
				v    float64
				want int
			}{{v, bits}, {middle, even}, {math.Nextafter(middle, 0), bits}, {math.Nextafter(middle, math.Inf(1)), bits + 1},
				{-v, bits | 0x8000}} {
				if got := round(c.v); got != c.want && !(c.v == 0 && got == 0) {
					t.Fatalf("type %d: %v is %#x, want %#x", f.t, c.v, got, c.want)
				}
			}
		}
		if got := value(round(math.NaN())); !math.IsNaN(got) {
			t.Errorf("type %d: NaN is %v", f.t, got)
		}
		if got := round(math.Inf(-1)); got != f.infinity|0x8000 {
			t.Errorf("type %d: -Inf is %#x", f.t, got)
		}
	}
}

// TestIntegers: results that are integers are rounded to the nearest one, and saturate.
func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		t       Type
		v, want float64
	}{{R8I, 300, 127}, {R8I, -300, -128}, {R8I, 2.5, 2}, {R8I, 3.5, 4}, {R32I, 1e12, math.MaxInt32},
		{R32I, -1e12, math.MinInt32}, {R32I, -7, -7}, {R32I, math.NaN(), 0}} {
		b := make([]byte, 4)
		c.t.store(b, complex(c.v, 0))
		if got := real(c.t.load(b)); got != c.want {
			t.Errorf("%v as type %d: %v, want %v", c.v, c.t, got, c.want)
		}
	}
}

// TestProtocol: the numbers of the functions are those of the runtime.
func TestProtocol(t *testing.T) {
	text, err := os.ReadFile("../lower/headers/exec/protocol.h")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Function{"GEMM": Gemm, "SYMM": Symm, "SYRK": Syrk, "SYR2K": Syr2k, "TRMM": Trmm,
		"TRSM": Trsm, "GEAM": Geam, "DGMM": Dgmm, "GEMV": Gemv, "GER": Ger, "SYMV": Symv, "TRMV": Trmv,
		"TRSV": Trsv, "AXPY": Axpy, "COPY": Copy, "SWAP": Swap, "SCAL": Scal, "ROT": Rot, "DOT": Dot,
		"NRM2": Nrm2, "ASUM": Asum, "EXTENT": Extent, "GETRF": Getrf, "GETRS": Getrs, "GETRI": Getri,
		"MATINV": Matinv, "FFT": FFT, "RANDOM": Random}
	found := regexp.MustCompile(`#define HEDDLE_LIBRARY_(\w+) (\d+)`).FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if n, _ := strconv.Atoi(m[2]); want[m[1]] != Function(n) {
			t.Errorf("%s is %d in C, %d here", m[1], n, want[m[1]])
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d functions in C, %d here", len(found), len(want))
	}
	for name, f := range want {
		if functions[f] == nil {
			t.Errorf("%s is not computed", name)
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	const n = 512
	m := newMemory(16 << 20)
	x, y, z := m.alloc(4*n*n), m.alloc(4*n*n), m.alloc(4*n*n)
	for i := range n * n {
		R32F.store(m.at(x+uint64(4*i)), complex(float64(i%7), 0))
		R32F.store(m.at(y+uint64(4*i)), complex(float64(i%5), 0))
	}
	one := []any{math.Float64bits(1), math.Float64bits(0)}
	list := args(R32F, R32F, R32F, R32F, 0, 0, n, n, n, one, x, n, 0, y, n, 0, one, z, n, 0, 1, false)
	for b.Loop() {
		if _, err := Do(&Call{Function: Gemm, Args: list}, m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*n*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
}
