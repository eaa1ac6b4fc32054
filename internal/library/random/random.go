// Package random generates what cuRAND's host API does: random numbers of the distributions in its
// documentation.
//
// The numbers are not those of NVIDIA's generators. A program that is right for random numbers is
// right for these ones as well, and they do not depend on how a GPU orders its threads. Every
// pseudo-random generator is Philox4x32-10, a counter-based one: the key is the seed, and the
// counter consists of the type of the generator, the kind of numbers, and the position in the
// sequence. Hence
//
//   - a number depends on the generator, the seed, the position and the distribution alone;
//   - a sequence may be generated in parts. Each number takes one position, whatever its kind:
//     after n of them the offset has grown by n;
//   - numbers at different positions, or of different kinds, are independent. A program that
//     generates 64-bit numbers and then 32-bit ones does not get halves of the former.
//
// Distributions that are not uniform use the functions of package math, and their numbers may
// differ in the last bit between architectures.
package random

import "math"

// Source is a pseudo-random generator with its seed. Its methods fill a slice with the numbers of
// the sequence from position offset on.
type Source struct {
	Generator uint32 // curandRngType: each one has sequences of its own
	Seed      uint64
}

// kind is a kind of numbers, which determines how many of them a block of the engine yields.
type kind uint32

// The kinds. Integers and uniform numbers of one size are the same kind, as are normal and
// log-normal ones.
const (
	bits32   kind = iota // four
	bits64               // two
	normal32             // four: two pairs
	normal64             // two: a pair
	poisson              // one, of several blocks: one for each trial
)

// kindBits is the size of a kind in the counter.
const kindBits = 8

// block returns a block of random words for a kind of numbers.
func (s Source) block(k kind, trial uint32, number uint64) [4]uint32 {
	return philox(
		[4]uint32{uint32(number), uint32(number >> 32), trial<<kindBits | uint32(k), s.Generator},
		[2]uint32{uint32(s.Seed), uint32(s.Seed >> 32)})
}

// fill sets out to the numbers from position offset on. Function block computes those that a block
// yields.
func fill[T any](out []T, offset uint64, perBlock int, block func(number uint64, values []T)) {
	n := uint64(perBlock)
	// A block of which only some numbers are wanted, the first or the last one.
	part := func() {
		values := make([]T, perBlock)
		block(offset/n, values)
		count := copy(out, values[offset%n:])
		out, offset = out[count:], offset+uint64(count)
	}
	if offset%n != 0 {
		part()
	}
	for len(out) >= perBlock {
		block(offset/n, out[:perBlock])
		out, offset = out[perBlock:], offset+n
	}
	if len(out) > 0 {
		part()
	}
}

// low and high are the halves of a block as 64-bit words.
func low(b [4]uint32) uint64  { return uint64(b[1])<<32 | uint64(b[0]) }
func high(b [4]uint32) uint64 { return uint64(b[3])<<32 | uint64(b[2]) }

// Uint32 generates 32-bit integers (curandGenerate).
func (s Source) Uint32(out []uint32, offset uint64) {
	fill(out, offset, 4, func(number uint64, values []uint32) {
		b := s.block(bits32, 0, number)
		copy(values, b[:])
	})
}

// Uint64 generates 64-bit integers (curandGenerateLongLong).
func (s Source) Uint64(out []uint64, offset uint64) {
	fill(out, offset, 2, func(number uint64, values []uint64) {
		b := s.block(bits64, 0, number)
		values[0], values[1] = low(b), high(b)
	})
}

// Uniform32 returns the number of (0,1] for a random integer: as with curandGenerateUniform, 0 is
// excluded and 1 included.
func Uniform32(x uint32) float32 { return float32(uniform32(x)) }

// uniform32 is Uniform32 without rounding.
func uniform32(x uint32) float64 { return (float64(x) + 1) / (1 << 32) }

// Uniform64 returns the number of (0,1] for a random integer, of which it uses the upper 53 bits.
func Uniform64(x uint64) float64 { return float64(x>>11+1) / (1 << 53) }

// Float32 generates numbers that are uniform in (0,1] (curandGenerateUniform): those of Uniform32
// for the integers of Uint32.
func (s Source) Float32(out []float32, offset uint64) {
	fill(out, offset, 4, func(number uint64, values []float32) {
		for i, w := range s.block(bits32, 0, number) {
			values[i] = Uniform32(w)
		}
	})
}

// Float64 generates numbers that are uniform in (0,1] (curandGenerateUniformDouble): those of
// Uniform64 for the integers of Uint64.
func (s Source) Float64(out []float64, offset uint64) {
	fill(out, offset, 2, func(number uint64, values []float64) {
		b := s.block(bits64, 0, number)
		values[0], values[1] = Uniform64(low(b)), Uniform64(high(b))
	})
}

// Normal32 generates normally distributed numbers with a mean and a standard deviation
// (curandGenerateNormal).
func (s Source) Normal32(out []float32, offset uint64, mean, dev float32) {
	m, d := float64(mean), float64(dev)
	fill(out, offset, 4, func(number uint64, values []float32) {
		z := s.normals32(number)
		for i := range values {
			values[i] = float32(m + d*z[i])
		}
	})
}

// Normal64 generates normally distributed numbers with a mean and a standard deviation
// (curandGenerateNormalDouble).
func (s Source) Normal64(out []float64, offset uint64, mean, dev float64) {
	fill(out, offset, 2, func(number uint64, values []float64) {
		z := s.normals64(number)
		for i := range values {
			values[i] = mean + dev*z[i]
		}
	})
}

// LogNormal32 generates numbers whose logarithms are normally distributed with a mean and a
// standard deviation (curandGenerateLogNormal).
func (s Source) LogNormal32(out []float32, offset uint64, mean, dev float32) {
	m, d := float64(mean), float64(dev)
	fill(out, offset, 4, func(number uint64, values []float32) {
		z := s.normals32(number)
		for i := range values {
			values[i] = float32(math.Exp(m + d*z[i]))
		}
	})
}

// LogNormal64 generates numbers whose logarithms are normally distributed with a mean and a
// standard deviation (curandGenerateLogNormalDouble).
func (s Source) LogNormal64(out []float64, offset uint64, mean, dev float64) {
	fill(out, offset, 2, func(number uint64, values []float64) {
		z := s.normals64(number)
		for i := range values {
			values[i] = math.Exp(mean + dev*z[i])
		}
	})
}

// normals32 returns the standard normal numbers of a block. None is larger than 6.7, since they are
// computed from 32-bit numbers.
func (s Source) normals32(number uint64) [4]float64 {
	b := s.block(normal32, 0, number)
	var z [4]float64
	z[0], z[1] = boxMuller(uniform32(b[0]), uniform32(b[1]))
	z[2], z[3] = boxMuller(uniform32(b[2]), uniform32(b[3]))
	return z
}

// normals64 returns the standard normal numbers of a block.
func (s Source) normals64(number uint64) [2]float64 {
	b := s.block(normal64, 0, number)
	x, y := boxMuller(Uniform64(low(b)), Uniform64(high(b)))
	return [2]float64{x, y}
}

// boxMuller returns two independent standard normal numbers for two that are uniform in (0,1] (Box
// and Muller, "A note on the generation of random normal deviates", 1958).
func boxMuller(u, v float64) (float64, float64) {
	sin, cos := math.Sincos(2 * math.Pi * v)
	r := math.Sqrt(-2 * math.Log(u))
	return r * sin, r * cos
}
