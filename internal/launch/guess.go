package launch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// The defaults of a launch that nobody described.
//
// The grid has four blocks, so that blocks can race with each other, and so that the first, the last and
// one with two neighbours are there. A kernel that never looks at blockIdx or gridDim, and does no atomics on
// global memory, does the same work in every block: it is meant for one block, and more of them would be
// reported as racing with themselves. The block has 64 threads, two warps, which shows races between warps;
// a larger one would run over shared arrays that were sized for few threads, and be a false report. Kernels
// that read threadIdx.y get 16x16 threads, the customary tile, and those that read threadIdx.z 8x8x4.
// .maxntid (__launch_bounds__) is an upper bound only, but it is what the author had in mind.
var (
	defaultGrid    = [3]event.Dim3{{X: 4, Y: 1, Z: 1}, {X: 2, Y: 2, Z: 1}, {X: 2, Y: 2, Z: 2}}
	defaultBlock   = [3]event.Dim3{{X: 64, Y: 1, Z: 1}, {X: 16, Y: 16, Z: 1}, {X: 8, Y: 8, Z: 4}}
	defaultCluster = event.Dim3{X: 1, Y: 1, Z: 1}
)

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

// block returns the default block: what .maxntid allows, in the dimensions that the kernel uses.
func (k *kernelFacts) block(limit event.Dim3) event.Dim3 {
	dims := 0
	switch {
	case k.tidZ:
		dims = 2
	case k.tidY:
		dims = 1
	}
	n := uint32(min(limit.Count(), maxThreads))
	if limit.Count() == 0 {
		return defaultBlock[dims]
	}
	if limit.Y > 1 || limit.Z > 1 || dims == 0 {
		if limit.Count() <= maxThreads {
			return limit
		}
		return event.Dim3{X: n, Y: 1, Z: 1}
	}
	x := uint32(1) // the power of two next to the root, from below
	for (2*x)*(2*x) <= n {
		x *= 2
	}
	if dims == 1 {
		return event.Dim3{X: x, Y: n / x, Z: 1}
	}
	y := max(x/2, 1)
	return event.Dim3{X: x, Y: y, Z: min(n/(x*y), maxBlockZ)}
}

// words of parameter names, and what is guessed for an integer of that name. The first that matches counts.
var guessWords = []struct {
	words string
	value func(g event.Geometry) (uint64, string)
}{
	{"height rows nrows numrows h ny m", extentY},
	{"depth nz slices", extentZ},
	{"offset begin start first base lo idx index id rank root shift flag flags seed", constantGuess(0)},
	{"iters iterations niter steps nsteps times reps rounds loops repeat", constantGuess(4)},
	{"radius halo order", constantGuess(1)},
}

// guessInteger returns a value for an integer parameter that nobody gave. Most integers of kernels are
// sizes: the extent of the launch in x makes every thread take part and keeps loops short. The kernel may
// well be meant for another value, which is why the guess is always printed.
func guessInteger(name string, g event.Geometry, bytes int) (uint64, string) {
	value := extentX
	if bytes == 1 {
		value = constantGuess(1)
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

func containsWord(list, word string) bool {
	return word != "" && strings.Contains(" "+list+" ", " "+word+" ")
}

func extentX(g event.Geometry) (uint64, string) {
	return uint64(g.Grid.X) * uint64(g.Block.X), "guess: the threads in x"
}

func extentY(g event.Geometry) (uint64, string) {
	if n := uint64(g.Grid.Y) * uint64(g.Block.Y); n > 1 {
		return n, "guess: the threads in y"
	}
	return extentX(g)
}

func extentZ(g event.Geometry) (uint64, string) {
	if n := uint64(g.Grid.Z) * uint64(g.Block.Z); n > 1 {
		return n, "guess: the threads in z"
	}
	return extentX(g)
}

func constantGuess(n uint64) func(event.Geometry) (uint64, string) {
	return func(event.Geometry) (uint64, string) { return n, fmt.Sprintf("guess: %d", n) }
}

// fillGuess writes the guesses for the fields of a struct parameter into bits: integers and floats by the
// type with which the kernel reads them. Fields that are read in no known way stay zero.
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

// guessBits returns the bits of a guessed number: 1.0 for a float.
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

// put stores v little endian.
func put(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
