package launch

import (
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// The default dimensions of an unspecified launch, by the number of dimensions that the kernel
// uses.
//
// The grid has four blocks: enough for races between blocks, with a first block, a last one and one
// with two neighbours. A kernel that reads neither blockIdx nor gridDim and does no atomics on
// global memory does the same work in every block: it is written for one block, and several blocks
// would race with each other. The block has 64 threads, two warps, enough for races between warps;
// a larger block would overrun shared arrays that are sized for few threads, which is a false
// report. Kernels that read threadIdx.y get 16x16 threads, the customary tile, and those that read
// threadIdx.z get 8x8x4; if they do not read threadIdx.x, the block has one thread in x, since more
// would all do the same. .maxntid (__launch_bounds__) is only an upper bound, but it is the block that
// the author had in mind.
var (
	defaultGrid    = [3]event.Dim3{{X: 4, Y: 1, Z: 1}, {X: 2, Y: 2, Z: 1}, {X: 2, Y: 2, Z: 2}}
	defaultBlock   = [3]event.Dim3{{X: 64, Y: 1, Z: 1}, {X: 16, Y: 16, Z: 1}, {X: 8, Y: 8, Z: 4}}
	flatBlock      = [3]event.Dim3{{}, {X: 1, Y: 64, Z: 1}, {X: 1, Y: 8, Z: 8}}
	defaultCluster = event.Dim3{X: 1, Y: 1, Z: 1}
)

// grid returns the default grid, and why it has that size if it is not the usual one.
func (k *kernelFacts) grid() (event.Dim3, string) {
	switch {
	case k.ctaidZ:
		return defaultGrid[2], ""
	case k.ctaidY:
		return defaultGrid[1], ""
	case !k.ctaid && !k.atomics:
		return event.Dim3{X: 1, Y: 1, Z: 1}, "the kernel never reads blockIdx"
	}
	return defaultGrid[0], ""
}

// block returns the default block: at most limit (.maxntid; all zeros if there is none), in the
// dimensions that the kernel uses.
func (k *kernelFacts) block(limit event.Dim3) event.Dim3 {
	dims := 0
	switch {
	case k.tidZ:
		dims = 2
	case k.tidY:
		dims = 1
	}
	n := uint32(min(limit.Count(), maxThreads))
	switch {
	case limit.Count() == 0 && dims > 0 && !k.tidX: // threads in x would all do the same
		return flatBlock[dims]
	case limit.Count() == 0:
		return defaultBlock[dims]
	}
	if limit.Y > 1 || limit.Z > 1 || dims == 0 {
		if limit.Count() <= maxThreads {
			return limit
		}
		return event.Dim3{X: n, Y: 1, Z: 1}
	}
	x := uint32(1) // the largest power of two up to the square root of n
	for (2*x)*(2*x) <= n {
		x *= 2
	}
	if dims == 1 {
		return event.Dim3{X: x, Y: n / x, Z: 1}
	}
	y := max(x/2, 1)
	return event.Dim3{X: x, Y: y, Z: min(n/(x*y), maxBlockZ)}
}

// A guess returns the guessed value of an integer for a launch, and the words that explain it.
type guess func(g event.Geometry) (uint64, string)

// guessWords maps parameter names, separated by spaces, to the guess for an integer of that name.
// The first match counts.
var guessWords = []struct {
	words string
	value guess
}{
	{"height rows nrows numrows h ny m", extentY},
	{"depth nz slices", extentZ},
	{"offset begin start first base lo idx index id rank root shift flag flags seed",
		constantGuess(0, "0 for an offset, index or flag")},
	{"iters iterations niter steps nsteps times reps rounds loops repeat",
		constantGuess(4, "4 iterations")},
	{"radius halo order", constantGuess(1, "a radius of 1")},
}

// guessInteger returns a value for an integer parameter of the given size in bytes that is
// unspecified, and how it was guessed. Most integer parameters are sizes: the extent of the launch
// in x makes every thread take part and keeps loops short. The kernel may well need another value,
// which is why every report marks the guess.
func guessInteger(name string, g event.Geometry, bytes int) (uint64, string) {
	value := guess(extentX)
	if bytes == 1 {
		value = constantGuess(1, "1 for a single byte")
	} else {
		word := strings.Trim(strings.ToLower(name), "_0123456789")
		for _, w := range guessWords {
			if containsWord(w.words, word) {
				value = w.value
				break
			}
		}
	}
	n, why := value(g)
	if bytes < 8 {
		n = min(n, 1<<(8*bytes-1)-1)
	}
	return n, why
}

// containsWord reports whether word is one of the words of list, which are separated by spaces.
func containsWord(list, word string) bool {
	return word != "" && strings.Contains(" "+list+" ", " "+word+" ")
}

// extentX guesses the number of threads of the launch in x. It is the guess for every name that
// guessWords does not have.
func extentX(g event.Geometry) (uint64, string) {
	return uint64(g.Grid.X) * uint64(g.Block.X), "the number of threads in x"
}

// extentY guesses the number of threads in y if the launch has that dimension, else in x.
func extentY(g event.Geometry) (uint64, string) {
	if n := uint64(g.Grid.Y) * uint64(g.Block.Y); n > 1 {
		return n, "the number of threads in y"
	}
	return extentX(g)
}

// extentZ guesses the number of threads in z if the launch has that dimension, else in x.
func extentZ(g event.Geometry) (uint64, string) {
	if n := uint64(g.Grid.Z) * uint64(g.Block.Z); n > 1 {
		return n, "the number of threads in z"
	}
	return extentX(g)
}

// constantGuess guesses n for every launch.
func constantGuess(n uint64, why string) guess {
	return func(event.Geometry) (uint64, string) { return n, why }
}

// fillGuess writes guesses for the fields of a struct parameter into bits: integers and floats, by
// the type with which the kernel loads them. The names of fields are unknown, so every integer is a
// size. Bytes that no load with a constant offset reads stay zero.
func (k *kernelFacts) fillGuess(v *ir.Var, bits []byte, g event.Geometry) {
	loads := k.loads[v]
	for _, off := range slices.Sorted(maps.Keys(loads)) {
		typ := loads[off]
		if off < 0 || off+typ.Size() > len(bits) || typ.Size() > 8 || typ.Size() == 0 {
			continue
		}
		put(bits[off:off+typ.Size()], guessBits("", typ.IsFloat(), typ.Size(), g))
	}
}

// guessBits returns the bits of a guessed number of the given size in bytes: 1.0 for a float.
func guessBits(name string, isFloat bool, bytes int, g event.Geometry) uint64 {
	switch {
	case isFloat && bytes == 4:
		return uint64(math.Float32bits(1))
	case isFloat && bytes == 8:
		return math.Float64bits(1)
	case isFloat && bytes == 2:
		return 0x3c00 // 1.0 as f16; as bf16 it is a small positive number
	}
	n, _ := guessInteger(name, g, bytes)
	return n
}

// put stores the low bytes of v in b, little endian.
func put(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// floatBits returns the bits of a float of 4 or 8 bytes.
func floatBits(f float64, bytes int64) uint64 {
	if bytes == 4 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}
