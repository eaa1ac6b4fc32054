package library

import (
	"fmt"
	"math"

	"heddle/internal/library/random"
)

// Distributions of Random, as in curand.c.
const (
	randomBits = iota
	randomLongBits
	randomUniform
	randomUniformDouble
	randomNormal
	randomNormalDouble
	randomLogNormal
	randomLogNormalDouble
	randomPoisson
)

// firstQuasi is the first quasi-random generator (curandRngType).
const firstQuasi = 200

// generate is the functions of cuRAND that fill an array. The arguments are the distribution, the
// generator, its seed and position; the number of elements and their address; the parameters of the
// distribution.
func generate(c *call) error {
	distribution := c.next()
	s := random.Source{Generator: uint32(c.next()), Seed: c.next()}
	offset, n, addr := c.next(), c.size(), c.next()
	a, b := c.float(), c.float()
	t := R32F
	switch distribution {
	case randomLongBits, randomUniformDouble, randomNormalDouble, randomLogNormalDouble:
		t = R64F
	}
	c.aligned("the output", writes, addr, t)
	out := c.bytes("the output", writes, addr, n*t.Size())
	if c.err != nil {
		return c.err
	}
	if s.Generator >= firstQuasi {
		return quasi(distribution, offset, out, a, b)
	}
	switch distribution {
	case randomBits:
		s.Uint32(elements[uint32](out), offset)
	case randomLongBits:
		s.Uint64(elements[uint64](out), offset)
	case randomUniform:
		s.Float32(elements[float32](out), offset)
	case randomUniformDouble:
		s.Float64(elements[float64](out), offset)
	case randomNormal:
		s.Normal32(elements[float32](out), offset, float32(a), float32(b))
	case randomNormalDouble:
		s.Normal64(elements[float64](out), offset, a, b)
	case randomLogNormal:
		s.LogNormal32(elements[float32](out), offset, float32(a), float32(b))
	case randomLogNormalDouble:
		s.LogNormal64(elements[float64](out), offset, a, b)
	case randomPoisson:
		s.Poisson(elements[uint32](out), offset, a)
	default:
		return fmt.Errorf("%s: distribution %d", c.Name, distribution)
	}
	return nil
}

// quasi fills an array with the Sobol sequence of one dimension. Normal numbers are by inversion,
// as cuRAND's documentation has it for quasi-random generators.
func quasi(distribution, offset uint64, out []byte, mean, deviation float64) error {
	n := len(out) / 4
	double := distribution == randomUniformDouble || distribution == randomNormalDouble ||
		distribution == randomLogNormalDouble
	if double {
		n = len(out) / 8
	}
	bits := make([]uint32, n)
	if err := random.Sobol32(bits, 1, offset); err != nil {
		return err
	}
	if distribution == randomBits {
		copy(elements[uint32](out), bits)
		return nil
	}
	for i, x := range bits {
		v := (float64(x) + 1) / (1 << 32)
		switch distribution {
		case randomNormal, randomNormalDouble, randomLogNormal, randomLogNormalDouble:
			v = mean + deviation*math.Sqrt2*math.Erfinv(2*(float64(x)+0.5)/(1<<32)-1)
		}
		if distribution == randomLogNormal || distribution == randomLogNormalDouble {
			v = math.Exp(v)
		}
		if double {
			elements[float64](out)[i] = v
		} else {
			elements[float32](out)[i] = float32(v)
		}
	}
	return nil
}
