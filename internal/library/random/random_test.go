package random

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPhilox: the known answers of Random123.
func TestPhilox(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// A generation fills n numbers from a position on and returns their bits.
type generation struct {
	name     string
	generate func(s Source, n int, offset uint64) []uint64
}

// generations are all kinds of numbers.
var generations = []generation{
	{"Uint32", collect(Source.Uint32, widen)},
	{"Uint64", collect(Source.Uint64, func(x uint64) uint64 { return x })},
	{"Float32", collect(Source.Float32, bitsOf32)},
	{"Float64", collect(Source.Float64, math.Float64bits)},
	{"Normal32", collect(func(s Source, out []float32, at uint64) { s.Normal32(out, at, 1, 2) },
		bitsOf32)},
	{"Normal64", collect(func(s Source, out []float64, at uint64) { s.Normal64(out, at, 1, 2) },
		math.Float64bits)},
	{"LogNormal32", collect(func(s Source, out []float32, at uint64) { s.LogNormal32(out, at, 1, 2) },
		bitsOf32)},
	{"LogNormal64", collect(func(s Source, out []float64, at uint64) { s.LogNormal64(out, at, 1, 2) },
		math.Float64bits)},
	{"Poisson 3", collect(func(s Source, out []uint32, at uint64) { s.Poisson(out, at, 3) }, widen)},
	{"Poisson 1e5", collect(func(s Source, out []uint32, at uint64) { s.Poisson(out, at, 1e5) },
		widen)},
}

func widen(x uint32) uint64     { return uint64(x) }
func bitsOf32(x float32) uint64 { return uint64(math.Float32bits(x)) }

func collect[T any](fill func(Source, []T, uint64), bits func(T) uint64) func(Source, int,
	uint64) []uint64 {
	return func(s Source, n int, offset uint64) []uint64 {
		values := make([]T, n)
		fill(s, values, offset)
		out := make([]uint64, n)
		for i, v := range values {
			out[i] = bits(v)
		}
		return out
	}
}

// TestParts: a sequence that is generated in parts is the same as one that is generated at once.
func TestParts(t *testing.T) {
	for _, g := range generations {
		t.Run(g.name, rapid.MakeCheck(func(t *rapid.T) {
			s := Source{rapid.Uint32().Draw(t, "generator"), rapid.Uint64().Draw(t, "seed")}
			offset := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(1<<34-20, 1<<34),
				rapid.Uint64()).Draw(t, "offset")
			var parts []uint64
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 6).Draw(t, "sizes") {
				parts = append(parts, g.generate(s, n, offset+uint64(len(parts)))...)
			}
			if whole := g.generate(s, len(parts), offset); !slices.Equal(whole, parts) {
				t.Fatalf("in parts %v, at once %v", parts, whole)
			}
		}))
	}
}

// TestSequences: the generator, the seed and each part of the position change a sequence.
func TestSequences(t *testing.T) {
	const n = 1000
	type start struct {
		Source
		offset uint64
	}
	starts := []start{
		{Source{100, 1}, 0}, {Source{101, 1}, 0}, {Source{100, 2}, 0}, {Source{100, 1 << 32}, 0},
		{Source{100, 1}, n}, {Source{100, 1}, 1 << 32}, {Source{100, 1}, 1 << 34},
		{Source{100, 1}, 1 << 60},
	}
	for _, g := range generations {
		for i, a := range starts {
			first := g.generate(a.Source, n, a.offset)
			if again := g.generate(a.Source, n, a.offset); !slices.Equal(again, first) {
				t.Errorf("%s: sequence %d is not reproducible", g.name, i)
			}
			for j, b := range starts[:i] {
				second := g.generate(b.Source, n, b.offset)
				equal := 0
				for k := range first {
					if first[k] == second[k] {
						equal++
					}
				}
				if equal > n/4 { // Poisson numbers with the mean 3 are equal by chance
					t.Errorf("%s: %d of %d numbers are equal in sequences %d and %d", g.name, equal, n, i, j)
				}
			}
		}
	}
}

// TestKinds: numbers of different kinds have no bits in common, at whatever positions.
func TestKinds(t *testing.T) {
	s := Source{100, 42}
	const n = 4000
	words := make([]uint32, 2*n)
	s.Uint32(words, 0)
	seen := map[uint32]bool{}
	for _, w := range words {
		seen[w] = true
	}
	wide := make([]uint64, n)
	s.Uint64(wide, 0)
	common := 0
	for _, w := range wide {
		if seen[uint32(w)] || seen[uint32(w>>32)] {
			common++
		}
	}
	if common > 2 { // 0.015 are expected by chance
		t.Errorf("%d of %d 64-bit numbers contain one of the 32-bit numbers", common, n)
	}
}

// TestUniformLimits: 0 is excluded, 1 included, and no number is outside.
func TestUniformLimits(t *testing.T) {
	if lo, hi := Uniform32(0), Uniform32(math.MaxUint32); lo != 1.0/(1<<32) || hi != 1 {
		t.Errorf("Uniform32 is in [%g,%g]", lo, hi)
	}
	if lo, hi := Uniform64(0), Uniform64(math.MaxUint64); lo != 1.0/(1<<53) || hi != 1 {
		t.Errorf("Uniform64 is in [%g,%g]", lo, hi)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		if Uniform64(min(a, b)) > Uniform64(max(a, b)) {
			t.Fatalf("Uniform64 is not monotonic at %d and %d", a, b)
		}
		c, d := uint32(a), uint32(b)
		if Uniform32(min(c, d)) > Uniform32(max(c, d)) {
			t.Fatalf("Uniform32 is not monotonic at %d and %d", c, d)
		}
	})
}

// samples is how many numbers the statistical tests look at.
const samples = 1 << 19

// checkMoments compares the mean and the variance of numbers with those of their distribution,
// within 5 standard deviations. fourth is the fourth central moment.
func checkMoments[T float32 | float64 | uint32](x []T, mean, variance, fourth float64) error {
	n := float64(len(x))
	sum, squares := 0.0, 0.0
	for _, v := range x {
		d := float64(v) - mean
		sum += d
		squares += d * d
	}
	if z := sum / n / math.Sqrt(variance/n); !(math.Abs(z) < 5) {
		return fmt.Errorf("mean %g, want %g: %.1f standard deviations", mean+sum/n, mean, z)
	}
	if z := (squares/n - variance) / math.Sqrt((fourth-variance*variance)/n); !(math.Abs(z) < 5) {
		return fmt.Errorf("variance %g, want %g: %.1f standard deviations", squares/n, variance, z)
	}
	return nil
}

// checkCounts compares counts with their expectations by a chi-square test, within 5 standard
// deviations.
func checkCounts(counts []int, expected []float64) error {
	chi := 0.0
	for i, e := range expected {
		d := float64(counts[i]) - e
		chi += d * d / e
	}
	freedom := float64(len(expected) - 1)
	if z := (chi - freedom) / math.Sqrt(2*freedom); !(math.Abs(z) < 5) {
		return fmt.Errorf("chi-square of %.1f with %g degrees of freedom", chi, freedom)
	}
	return nil
}

// checkUniform compares how many numbers of (0,1], given by a cumulative distribution, and how many
// pairs of neighbours are in each part of the interval.
func checkUniform[T float32 | float64](x []T, cumulative func(float64) float64) error {
	const parts = 32
	counts, pairs := make([]int, parts), make([]int, parts*parts)
	last := 0
	for i, v := range x {
		k := min(int(parts*cumulative(float64(v))), parts-1)
		counts[k]++
		if i%2 == 1 {
			pairs[last*parts+k]++
		}
		last = k
	}
	n := float64(len(x))
	if err := checkCounts(counts, slices.Repeat([]float64{n / parts}, parts)); err != nil {
		return err
	}
	err := checkCounts(pairs, slices.Repeat([]float64{n / 2 / parts / parts}, parts*parts))
	if err != nil {
		return fmt.Errorf("pairs: %w", err)
	}
	return nil
}

// statisticalSources are the sources of the statistical tests.
var statisticalSources = []Source{{100, 0}, {101, 1}, {161, 0xdeadbeefcafe}}

func TestUniform(t *testing.T) {
	identity := func(x float64) float64 { return x }
	for _, s := range statisticalSources {
		x, y := make([]float32, samples), make([]float64, samples)
		s.Float32(x, 12345)
		s.Float64(y, 12345)
		for _, err := range []error{
			checkMoments(x, 0.5, 1.0/12, 1.0/80), checkMoments(y, 0.5, 1.0/12, 1.0/80),
			checkUniform(x, identity), checkUniform(y, identity),
		} {
			if err != nil {
				t.Errorf("%v: %v", s, err)
			}
		}
		if lo, hi := slices.Min(x), slices.Max(x); lo <= 0 || hi > 1 {
			t.Errorf("%v: numbers in [%g,%g]", s, lo, hi)
		}
		if lo, hi := slices.Min(y), slices.Max(y); lo <= 0 || hi > 1 {
			t.Errorf("%v: numbers in [%g,%g]", s, lo, hi)
		}
	}
}

// TestBits: each bit of the integers is set in half of them.
func TestBits(t *testing.T) {
	for _, s := range statisticalSources {
		narrow, wide := make([]uint32, samples), make([]uint64, samples)
		s.Uint32(narrow, 0)
		s.Uint64(wide, 0)
		var counts [96]int
		for i := range wide {
			for b := range 64 {
				counts[b] += int(wide[i] >> b & 1)
			}
			for b := range 32 {
				counts[64+b] += int(narrow[i] >> b & 1)
			}
		}
		for b, n := range counts {
			if z := (float64(n) - samples/2) / math.Sqrt(samples/4); math.Abs(z) > 5 {
				t.Errorf("%v: bit %d is off by %.1f standard deviations", s, b, z)
			}
		}
	}
}

func TestNormal(t *testing.T) {
	const mean, dev = -3, 2.5
	cumulative := func(x float64) float64 { return math.Erfc((mean-x)/dev/math.Sqrt2) / 2 }
	logCumulative := func(x float64) float64 { return cumulative(math.Log(x)) }
	for _, s := range statisticalSources {
		x, y := make([]float32, samples), make([]float64, samples)
		s.Normal32(x, 7, mean, dev)
		s.Normal64(y, 7, mean, dev)
		logX, logY := make([]float32, samples), make([]float64, samples)
		s.LogNormal32(logX, 7, mean, dev)
		s.LogNormal64(logY, 7, mean, dev)
		for _, err := range []error{
			checkMoments(x, mean, dev*dev, 3*dev*dev*dev*dev),
			checkMoments(y, mean, dev*dev, 3*dev*dev*dev*dev),
			checkUniform(x, cumulative), checkUniform(y, cumulative),
			checkUniform(logX, logCumulative), checkUniform(logY, logCumulative),
		} {
			if err != nil {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}

// TestConstant: without a deviation, all normal numbers are the mean.
func TestConstant(t *testing.T) {
	x, y := make([]float32, 100), make([]float64, 100)
	Source{}.Normal32(x, 0, 4, 0)
	Source{}.LogNormal64(y, 0, 1, 0)
	for i := range x {
		if x[i] != 4 || y[i] != math.E {
			t.Fatalf("numbers %g and %g", x[i], y[i])
		}
	}
}

// TestNormalLimits: the ends of the uniform numbers lead to finite normal ones.
func TestNormalLimits(t *testing.T) {
	for _, u := range []float64{uniform32(0), Uniform64(0), 0.5, 1} {
		for _, v := range []float64{uniform32(0), Uniform64(0), 0.25, 0.5, 1} {
			x, y := boxMuller(u, v)
			if r, want := math.Hypot(x, y), math.Sqrt(-2*math.Log(u)); math.Abs(r-want) > 1e-14 {
				t.Errorf("boxMuller(%g, %g) has radius %g, want %g", u, v, r, want)
			}
		}
	}
}

// TestPoisson compares the moments and the distribution, near the limit between the methods too.
func TestPoisson(t *testing.T) {
	for _, lambda := range []float64{1e-3, 0.5, 1, 3, 9.999, 10, 11.5, 30, 100, 1234.5, 1e6, 1e9} {
		for _, s := range statisticalSources {
			x := make([]uint32, samples)
			s.Poisson(x, 99, lambda)
			if err := checkMoments(x, lambda, lambda, lambda+3*lambda*lambda); err != nil {
				t.Errorf("lambda %g, %v: %v", lambda, s, err)
			}
			if lambda > 2000 {
				continue
			}
			// Neighbours are counted together until at least 20 of them are expected.
			var counts []int
			var expected []float64
			slices.Sort(x)
			count, rest, e := 0, float64(samples), 0.0
			for k, i := 0, 0; rest > 20; k++ {
				factorial, _ := math.Lgamma(float64(k) + 1)
				e += samples * math.Exp(float64(k)*math.Log(lambda)-lambda-factorial)
				for ; i < len(x) && x[i] == uint32(k); i++ {
					count++
				}
				if e >= 20 && rest-e >= 20 {
					counts, expected = append(counts, count), append(expected, e)
					rest -= e
					count, e = 0, 0
				} else if rest-e < 20 {
					counts, expected = append(counts, count+len(x)-i), append(expected, rest)
					break
				}
			}
			if err := checkCounts(counts, expected); err != nil {
				t.Errorf("lambda %g, %v: %v", lambda, s, err)
			}
		}
	}
}

// TestPoissonLimits: means that make no sense or do not fit yield numbers all the same.
func TestPoissonLimits(t *testing.T) {
	for _, c := range []struct {
		lambda float64
		want   uint32
	}{
		{0, 0}, {-1, 0}, {math.NaN(), 0}, {5e-324, 0}, {1e-30, 0},
		{1e12, math.MaxUint32}, {1e300, math.MaxUint32}, {math.Inf(1), math.MaxUint32},
	} {
		x := make([]uint32, 1000)
		x[0] = 7
		Source{}.Poisson(x, 0, c.lambda)
		for i, v := range x {
			if v != c.want {
				t.Errorf("lambda %g: number %d is %d, want %d", c.lambda, i, v, c.want)
				break
			}
		}
	}
}

func BenchmarkSource(b *testing.B) {
	s := Source{100, 1}
	for _, c := range []struct {
		name     string
		generate func(n int) (bytes int64, generate func())
	}{
		{"Uint32", func(n int) (int64, func()) {
			x := make([]uint32, n)
			return 4, func() { s.Uint32(x, 0) }
		}},
		{"Float32", func(n int) (int64, func()) {
			x := make([]float32, n)
			return 4, func() { s.Float32(x, 0) }
		}},
		{"Float64", func(n int) (int64, func()) {
			x := make([]float64, n)
			return 8, func() { s.Float64(x, 0) }
		}},
		{"Normal32", func(n int) (int64, func()) {
			x := make([]float32, n)
			return 4, func() { s.Normal32(x, 0, 0, 1) }
		}},
		{"LogNormal64", func(n int) (int64, func()) {
			x := make([]float64, n)
			return 8, func() { s.LogNormal64(x, 0, 0, 1) }
		}},
		{"Poisson 5", func(n int) (int64, func()) {
			x := make([]uint32, n)
			return 4, func() { s.Poisson(x, 0, 5) }
		}},
		{"Poisson 1000", func(n int) (int64, func()) {
			x := make([]uint32, n)
			return 4, func() { s.Poisson(x, 0, 1000) }
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			size, generate := c.generate(samples)
			b.SetBytes(size * samples)
			b.ReportAllocs()
			for b.Loop() {
				generate()
			}
		})
	}
}
