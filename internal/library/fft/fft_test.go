package fft

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// dft returns the transform of x in n dimensions by its definition, with the sign of the exponent.
func dft(x []complex128, n []int, sign float64) []complex128 {
	roots := make([][]complex128, len(n))
	for d, m := range n {
		for k := range m {
			roots[d] = append(roots[d], cmplx.Exp(complex(0, sign*2*math.Pi*float64(k)/float64(m))))
		}
	}
	out := make([]complex128, len(x))
	for k := range out {
		for j, v := range x {
			for d, rk, rj := len(n)-1, k, j; d >= 0; d-- {
				v *= roots[d][rk%n[d]*(rj%n[d])%n[d]]
				rk, rj = rk/n[d], rj/n[d]
			}
			out[k] += v
		}
	}
	return out
}

// coordinates returns those of element i of an array in row-major order.
func coordinates(i int, n []int) []int {
	at := make([]int, len(n))
	for d := len(n) - 1; d >= 0; d-- {
		at[d] = i % n[d]
		i /= n[d]
	}
	return at
}

// index returns where "Advanced Data Layout" puts an element.
func (l Layout) index(b int, at []int) int {
	switch len(at) {
	case 1:
		return b*l.Dist + at[0]*l.Stride
	case 2:
		return b*l.Dist + (at[0]*l.Embed[1]+at[1])*l.Stride
	}
	return b*l.Dist + ((at[0]*l.Embed[1]+at[1])*l.Embed[2]+at[2])*l.Stride
}

// array is one side of a plan.
type array struct {
	n      []int
	layout Layout
	real   bool
	single bool
}

// arrays returns the sides of a plan in terms of the documentation. An in-place plan with the basic
// layout has padded rows.
func arrays(p *Plan, inPlace bool) (in, out array) {
	half := slices.Clone(p.N)
	half[len(half)-1] = half[len(half)-1]/2 + 1
	padded := slices.Clone(half)
	padded[len(padded)-1] *= 2
	in = array{p.N, p.In, p.Kind == R2C || p.Kind == D2Z, p.Kind <= C2R}
	out = array{p.N, p.Out, p.Kind == C2R || p.Kind == Z2D, p.Kind <= C2R}
	if in.real {
		out.n = half
	}
	if out.real {
		in.n = half
	}
	if p.In.Embed == nil || p.Out.Embed == nil {
		for _, a := range []*array{&in, &out} {
			a.layout = Layout{Embed: a.n, Stride: 1}
			if inPlace && a.real {
				a.layout.Embed = padded
			}
			a.layout.Dist = 1
			for _, n := range a.layout.Embed {
				a.layout.Dist *= n
			}
		}
	}
	return in, out
}

func (a array) size() int {
	size := 16
	if a.real {
		size /= 2
	}
	if a.single {
		size /= 2
	}
	return size
}

func (a array) elements() int {
	n := 1
	for _, m := range a.n {
		n *= m
	}
	return n
}

// element returns the bytes of element i of transform b.
func (a array) element(mem []byte, b, i int) []byte {
	return mem[a.layout.index(b, coordinates(i, a.n))*a.size():][:a.size()]
}

func (a array) get(mem []byte, b int) []complex128 {
	out := make([]complex128, a.elements())
	for i := range out {
		m := a.element(mem, b, i)
		number := func() float64 {
			if a.single {
				v := math.Float32frombits(binary.LittleEndian.Uint32(m))
				m = m[4:]
				return float64(v)
			}
			v := math.Float64frombits(binary.LittleEndian.Uint64(m))
			m = m[8:]
			return v
		}
		out[i] = complex(number(), 0)
		if !a.real {
			out[i] += complex(0, number())
		}
	}
	return out
}

func (a array) put(mem []byte, b int, values []complex128) {
	for i, v := range values {
		m := a.element(mem, b, i)[:0]
		number := func(v float64) {
			if a.single {
				m = binary.LittleEndian.AppendUint32(m, math.Float32bits(float32(v)))
			} else {
				m = binary.LittleEndian.AppendUint64(m, math.Float64bits(v))
			}
		}
		number(real(v))
		if !a.real {
			number(imag(v))
		}
	}
}

// bytes returns the size of the memory up to the end of the last element.
func (a array) bytes(batch int) int {
	end := 0
	for b := range batch {
		end = max(end, (a.layout.index(b, coordinates(a.elements()-1, a.n))+1)*a.size())
	}
	return end
}

// randomInput returns the input of one transform: the first half of Hermitian elements if the
// output is real.
func randomInput(rnd *rand.Rand, p *Plan, in, out array) []complex128 {
	n := 1
	for _, m := range p.N {
		n *= m
	}
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(rnd.NormFloat64(), 0)
		if !in.real && !out.real {
			x[i] += complex(0, rnd.NormFloat64())
		}
	}
	if !out.real {
		return x
	}
	return firstHalf(dft(x, p.N, -1), p.N)
}

// firstHalf returns the elements that the complex side of a real transform has.
func firstHalf(x []complex128, n []int) []complex128 {
	var out []complex128
	row := n[len(n)-1]
	for i, v := range x {
		if i%row <= row/2 {
			out = append(out, v)
		}
	}
	return out
}

// fill returns Hermitian elements of which x is the first half.
func fill(x []complex128, n []int) []complex128 {
	half := slices.Clone(n)
	last := len(n) - 1
	half[last] = half[last]/2 + 1
	position := func(at []int) int {
		i := 0
		for d, c := range at {
			i = i*half[d] + c
		}
		return i
	}
	total := 1
	for _, m := range n {
		total *= m
	}
	out := make([]complex128, total)
	for i := range out {
		at := coordinates(i, n)
		if at[last] <= n[last]/2 {
			out[i] = x[position(at)]
			continue
		}
		for d := range at {
			at[d] = (n[d] - at[d]) % n[d]
		}
		out[i] = cmplx.Conj(x[position(at)])
	}
	return out
}

// expected returns the output for an input.
func expected(p *Plan, x []complex128, in, out array, inverse bool) []complex128 {
	switch {
	case in.real:
		return firstHalf(dft(x, p.N, -1), p.N)
	case out.real:
		return dft(fill(x, p.N), p.N, 1)
	case inverse:
		return dft(x, p.N, 1)
	}
	return dft(x, p.N, -1)
}

// near returns an error unless two arrays are equal but for rounding.
func near(got, want []complex128, single bool) error {
	norm := 0.0
	for _, v := range want {
		norm += real(v)*real(v) + imag(v)*imag(v)
	}
	tolerance := 1e-13 * math.Sqrt(norm)
	for i, v := range want {
		limit := tolerance
		if single {
			limit += cmplx.Abs(v) / (1 << 23)
		}
		if d := cmplx.Abs(got[i] - v); !(d <= limit) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], v)
		}
	}
	return nil
}

// checkPlan compares a plan with the definition.
func checkPlan(rnd *rand.Rand, p *Plan, inPlace, inverse bool) error {
	if err := p.Check(); err != nil {
		return err
	}
	plan := p
	if inPlace {
		plan = p.InPlace()
		if err := plan.Check(); err != nil {
			return err
		}
	}
	in, out := arrays(p, inPlace)
	if got, want := plan.InBytes(), in.bytes(p.Batch); got != want {
		return fmt.Errorf("input of %d bytes, want %d", got, want)
	}
	if got, want := plan.OutBytes(), out.bytes(p.Batch); got != want {
		return fmt.Errorf("output of %d bytes, want %d", got, want)
	}
	from := make([]byte, plan.InBytes())
	to := bytes.Repeat([]byte{0xa5}, plan.OutBytes())
	if inPlace {
		from = bytes.Repeat([]byte{0xa5}, max(len(from), len(to)))
		to = from
	}
	want := make([][]complex128, p.Batch)
	for b := range want {
		in.put(from, b, randomInput(rnd, p, in, out))
	}
	for b := range want {
		want[b] = expected(p, in.get(from, b), in, out, inverse)
	}
	before := bytes.Clone(to)
	plan.Transform(from, to, inverse)
	for b := range want {
		if err := near(out.get(to, b), want[b], out.single); err != nil {
			return fmt.Errorf("transform %d: %w", b, err)
		}
	}
	// The output is all that changed.
	for b := range want {
		for i := range out.elements() {
			copy(out.element(before, b, i), out.element(to, b, i))
		}
	}
	if !bytes.Equal(before, to) {
		return fmt.Errorf("bytes between the elements changed")
	}
	return nil
}

var kinds = []Kind{C2C, R2C, C2R, Z2Z, D2Z, Z2D}

// TestBasic compares all types of transforms with the definition: even, odd and prime sizes, with
// large prime factors too, in ranks 1 to 3.
func TestBasic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range [][]int{
		{1}, {2}, {3}, {4}, {5}, {7}, {8}, {12}, {15}, {16}, {30}, {61}, {64}, {97}, {127}, {131}, {262},
		{1, 1}, {1, 5}, {5, 1}, {2, 2}, {4, 6}, {5, 7}, {7, 4}, {9, 3}, {3, 131}, {137, 2}, {16, 9},
		{1, 1, 1}, {2, 3, 4}, {3, 4, 5}, {5, 3, 3}, {4, 1, 6}, {1, 7, 2}, {2, 1, 1}, {8, 4, 2}, {1, 131, 2},
	} {
		for _, k := range kinds {
			for _, batch := range []int{1, 3} {
				for i := range 4 {
					inPlace, inverse := i&1 != 0, i&2 != 0
					p := &Plan{Kind: k, N: n, Batch: batch}
					if err := checkPlan(rnd, p, inPlace, inverse); err != nil {
						t.Errorf("%+v, in place %v, inverse %v: %v", p, inPlace, inverse, err)
					}
				}
			}
		}
	}
}

// randomLayout returns an advanced layout for an array: transforms one after the other, or their
// elements interleaved.
func randomLayout(rnd *rand.Rand, n []int, batch int) Layout {
	l := Layout{Embed: make([]int, len(n)), Stride: 1 + rnd.IntN(3)}
	for i, m := range n {
		l.Embed[i] = m + rnd.IntN(3)
	}
	l.Dist = 1
	for i, m := range l.Embed {
		if i == 0 {
			m = n[0]
		}
		l.Dist *= m
	}
	l.Dist = l.Dist*l.Stride + rnd.IntN(4)
	l.Embed[0] = rnd.IntN(3) // not used
	if rnd.IntN(3) == 0 {
		l.Stride, l.Dist = batch+rnd.IntN(2), 1
	}
	return l
}

// TestAdvanced compares plans with random advanced layouts with the definition.
func TestAdvanced(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		p := &Plan{Kind: kinds[rnd.IntN(len(kinds))], Batch: 1 + rnd.IntN(4)}
		for range 1 + rnd.IntN(3) {
			p.N = append(p.N, 1+rnd.IntN(8))
		}
		in, out := arrays(p, false)
		p.In, p.Out = randomLayout(rnd, in.n, p.Batch), randomLayout(rnd, out.n, p.Batch)
		inPlace := in.real == out.real && rnd.IntN(2) == 0
		if inPlace {
			p.Out = p.In
		}
		if err := checkPlan(rnd, p, inPlace, rnd.IntN(2) == 0); err != nil {
			t.Fatalf("%+v, in place %v: %v", p, inPlace, err)
		}
	}
}

// TestOneEmbed: the parameters of a layout are ignored if the other side has the basic layout.
func TestOneEmbed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	l := Layout{Embed: []int{9, 9}, Stride: 2, Dist: 200}
	for _, p := range []*Plan{
		{Kind: D2Z, N: []int{3, 4}, In: l, Batch: 2},
		{Kind: D2Z, N: []int{3, 4}, Out: l, Batch: 2},
		{Kind: D2Z, N: []int{3, 4}, In: Layout{Stride: -1, Dist: -1}, Batch: 2},
	} {
		for _, inPlace := range []bool{false, true} {
			if err := checkPlan(rnd, p, inPlace, false); err != nil {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
}

// TestSharedInput: the windows of a short-time transform overlap, or are all the same.
func TestSharedInput(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, dist := range []int{0, 3} {
		p := &Plan{Kind: Z2Z, N: []int{8}, Batch: 5}
		p.In, p.Out = Layout{[]int{8}, 1, dist}, Layout{[]int{8}, 1, 8}
		if err := checkPlan(rnd, p, false, false); err != nil {
			t.Errorf("distance %d: %v", dist, err)
		}
	}
}

// TestHermitian: what has to be zero in Hermitian input is not read.
func TestHermitian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 2, 5, 8, 131, 262} {
		p := &Plan{Kind: Z2D, N: []int{n}, Batch: 1}
		in, out := arrays(p, false)
		x := randomInput(rnd, p, in, out)
		want := expected(p, x, in, out, true)
		x[0] += 7i
		if n%2 == 0 {
			x[n/2] += 3i
		}
		from, to := make([]byte, p.InBytes()), make([]byte, p.OutBytes())
		in.put(from, 0, x)
		p.Transform(from, to, false)
		if err := near(out.get(to, 0), want, false); err != nil {
			t.Errorf("size %d: %v", n, err)
		}
	}
}

// TestRoundTrip: a forward and an inverse transform in place multiply by the number of elements.
func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, n := range [][]int{
		{1 << 16}, {30011}, {60000}, {100, 129}, {131, 64}, {20, 30, 40}, {31, 32, 33},
	} {
		for _, pair := range [][2]Kind{{C2C, C2C}, {Z2Z, Z2Z}, {R2C, C2R}, {D2Z, Z2D}} {
			there := (&Plan{Kind: pair[0], N: n, Batch: 2}).InPlace()
			back := (&Plan{Kind: pair[1], N: n, Batch: 2}).InPlace()
			in, _ := arrays(there, true)
			mem := make([]byte, max(there.InBytes(), there.OutBytes()))
			want := make([][]complex128, 2)
			for b := range want {
				x := make([]complex128, in.elements())
				for i := range x {
					x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
				}
				in.put(mem, b, x)
				want[b] = in.get(mem, b)
			}
			there.Transform(mem, mem, false)
			back.Transform(mem, mem, true)
			limit := 1e-12
			if in.single {
				limit = 1e-5 // the spectrum in between is rounded
			}
			for b, w := range want {
				for i, v := range in.get(mem, b) {
					if d := cmplx.Abs(v/complex(float64(len(w)), 0) - w[i]); d > limit {
						t.Fatalf("%#x, %v: element %d differs by %g", uint32(pair[0]), n, i, d)
					}
				}
			}
		}
	}
}

// TestLines compares the 1D transforms that a size may have with each other, for large sizes too.
func TestLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	var sizes []int
	for n := 2; n < 150; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range append(sizes, 1009, 1023, 1024, 4093) {
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
		want := dft(x, []int{n}, 1)
		mixed, chirped := slices.Clone(x), slices.Clone(x)
		newChirp(n).transform(chirped, true)
		if err := near(chirped, want, false); err != nil {
			t.Errorf("chirp of size %d: %v", n, err)
		}
		if largestFactor(n) > maxFactor {
			continue
		}
		newLine(n).transform(mixed, true)
		if err := near(mixed, want, false); err != nil {
			t.Errorf("mixed radix of size %d: %v", n, err)
		}
	}
}

func TestLargestFactor(t *testing.T) {
	for n, want := range map[int]int{
		1: 1, 2: 2, 3: 3, 4: 2, 12: 3, 49: 7, 97: 97, 1024: 2, 606: 101, 30030: 13, 1000003: 1000003,
	} {
		if got := largestFactor(n); got != want {
			t.Errorf("largest factor of %d is %d, want %d", n, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	embed := func(n ...int) Layout { return Layout{Embed: n, Stride: 1, Dist: 1000} }
	for _, c := range []struct {
		plan Plan
		want string // part of the error, or empty if there is none
	}{
		{Plan{Kind: 0x2b, N: []int{4}, Batch: 1}, "unknown type of transform 0x2b"},
		{Plan{Kind: C2C, Batch: 1}, "rank 0"},
		{Plan{Kind: C2C, N: []int{2, 2, 2, 2}, Batch: 1}, "rank 4"},
		{Plan{Kind: C2C, N: []int{2, 0}, Batch: 1}, "size 0"},
		{Plan{Kind: C2C, N: []int{-1}, Batch: 1}, "size -1"},
		{Plan{Kind: C2C, N: []int{2}}, "batch of 0"},
		{Plan{Kind: C2C, N: []int{2}, Batch: -1}, "batch of -1"},
		{Plan{Kind: C2C, N: []int{2, 2}, In: embed(2), Out: embed(2, 2), Batch: 1},
			"1 storage dimensions of the input for a transform of rank 2"},
		{Plan{Kind: C2C, N: []int{2, 3}, In: embed(2, 3), Out: embed(2, 2), Batch: 1},
			"storage dimension 1 of the output is 2, less than the 3 elements"},
		{Plan{Kind: R2C, N: []int{4, 8}, In: embed(4, 8), Out: embed(4, 5), Batch: 1}, ""},
		{Plan{Kind: R2C, N: []int{4, 8}, In: embed(4, 8), Out: embed(4, 4), Batch: 1},
			"less than the 5 elements"},
		{Plan{Kind: R2C, N: []int{4, 8}, In: embed(4, 5), Out: embed(4, 5), Batch: 1},
			"less than the 8 elements"},
		{Plan{Kind: Z2D, N: []int{4, 8}, In: embed(4, 5), Out: embed(4, 8), Batch: 1}, ""},
		{Plan{Kind: Z2D, N: []int{4, 8}, In: embed(4, 4), Out: embed(4, 8), Batch: 1},
			"less than the 5 elements"},
		{Plan{Kind: C2C, N: []int{2, 4, 3}, In: embed(2, 3, 4), Out: embed(2, 4, 3), Batch: 1},
			"storage dimension 1 of the input is 3, less than the 4"},
		{Plan{Kind: C2C, N: []int{4}, In: embed(0), Out: embed(-7), Batch: 1}, ""},
		{Plan{Kind: C2C, N: []int{4}, In: embed(-7), Batch: 1}, ""},
		{Plan{Kind: C2C, N: []int{4}, In: Layout{[]int{4}, 0, 4}, Out: embed(4), Batch: 1},
			"stride of the input is 0"},
		{Plan{Kind: C2C, N: []int{4}, In: embed(4), Out: Layout{[]int{4}, 1, -4}, Batch: 1},
			"distance between transforms of the output is -4"},
		{Plan{Kind: Z2Z, N: []int{1 << 30, 1 << 30, 1 << 30}, Batch: 1}, "too large"},
		{Plan{Kind: C2C, N: []int{1 << 30, 1 << 28}, Batch: 1}, ""},
		{Plan{Kind: C2C, N: []int{1 << 30, 1 << 30}, Batch: 1}, "too large"},
		{Plan{Kind: C2C, N: []int{1 << 30}, Batch: 1 << 31}, "too large"},
		{Plan{Kind: C2C, N: []int{2, 2, 2}, In: embed(0, math.MaxInt, 3), Out: embed(0, 2, 2), Batch: 1},
			"too large"},
		{Plan{Kind: C2C, N: []int{2}, In: embed(2), Out: Layout{[]int{2}, math.MaxInt, 0}, Batch: 1},
			"too large"},
		{Plan{Kind: C2C, N: []int{2}, In: embed(2), Out: Layout{[]int{2}, 1, math.MaxInt}, Batch: 2},
			"too large"},
		{Plan{Kind: C2C, N: []int{2}, In: embed(2), Out: Layout{[]int{2}, 1, math.MaxInt}, Batch: 1}, ""},
	} {
		err := c.plan.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.plan, err, c.want)
		}
	}
}

// TestShortMemory: memory that is too short is the caller's error, and is not extended to its
// capacity.
func TestShortMemory(t *testing.T) {
	p := &Plan{Kind: C2C, N: []int{4}, Batch: 1}
	for _, size := range [][2]int{{p.InBytes() - 1, p.OutBytes()}, {p.InBytes(), p.OutBytes() - 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for memory of %v bytes", size)
				}
			}()
			p.Transform(make([]byte, size[0], 100), make([]byte, size[1], 100), false)
		}()
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, p := range []Plan{
		{Kind: C2C, N: []int{1024, 1024}, Batch: 1},
		{Kind: R2C, N: []int{1024, 1024}, Batch: 1},
		{Kind: C2R, N: []int{1024, 1024}, Batch: 1},
		{Kind: Z2Z, N: []int{128, 128, 128}, Batch: 1},
		{Kind: C2C, N: []int{256}, Batch: 4096},
		{Kind: C2C, N: []int{8}, Batch: 1 << 17},
		{Kind: C2C, N: []int{1 << 20}, Batch: 1},
		{Kind: C2C, N: []int{1000003}, Batch: 1},
	} {
		b.Run(fmt.Sprintf("%#x %v x %d", uint32(p.Kind), p.N, p.Batch), func(b *testing.B) {
			in, out := make([]byte, p.InBytes()), make([]byte, p.OutBytes())
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				p.Transform(in, out, false)
			}
		})
	}
}

// BenchmarkLine compares the two ways to compute a transform of a prime size, for maxFactor.
func BenchmarkLine(b *testing.B) {
	for _, n := range []int{31, 61, 97, 127, 131, 163, 251} {
		x := make([]complex128, n)
		b.Run(fmt.Sprintf("mixed %d", n), func(b *testing.B) {
			l := mixedRadix{fourier.NewCmplxFFT(n)}
			for b.Loop() {
				l.transform(x, false)
			}
		})
		b.Run(fmt.Sprintf("chirp %d", n), func(b *testing.B) {
			l := newChirp(n)
			for b.Loop() {
				l.transform(x, false)
			}
		})
	}
}

// TestRanges: the ranges of a side are the bytes of the elements that "Advanced Data Layout" gives.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		n := make([]int, 1+r.IntN(3))
		l := Layout{Stride: 1 + r.IntN(3)}
		half := make([]int, len(n))
		size := 1
		for i := range n {
			n[i] = 1 + r.IntN(4)
			half[i] = n[i]
			l.Embed = append(l.Embed, n[i]+r.IntN(2))
			size *= l.Embed[i]
		}
		half[len(n)-1] = n[len(n)-1]/2 + 1
		l.Embed[len(n)-1] = max(l.Embed[len(n)-1], half[len(n)-1])
		l.Dist = size*l.Stride*2 + r.IntN(3)
		p := &Plan{Kind: R2C, N: n, In: l, Out: l, Batch: 1 + r.IntN(3)}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		for _, side := range []struct {
			ranges  func(func(from, to int) bool)
			n       []int
			element int
		}{{p.InRanges, n, 4}, {p.OutRanges, half, 8}} {
			want := map[int]bool{}
			elements := 1
			for _, m := range side.n {
				elements *= m
			}
			for b := range p.Batch {
				for i := range elements {
					for k := range side.element {
						want[l.index(b, coordinates(i, side.n))*side.element+k] = true
					}
				}
			}
			got := map[int]bool{}
			for from, to := range side.ranges {
				for at := from; at < to; at++ {
					got[at] = true
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%+v: %d bytes, want %d", p, len(got), len(want))
			}
			for at := range want {
				if !got[at] {
					t.Fatalf("%+v: byte %d is missing", p, at)
				}
			}
		}
	}
}
