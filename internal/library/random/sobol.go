package random

import (
	"fmt"
	"math/bits"
)

// Sobol32 generates the 32-bit Sobol sequence in the order of the Gray code, from position offset
// on, as curandGenerate does for CURAND_RNG_QUASI_SOBOL32. It returns an error unless there is one
// dimension: the first one is the van der Corput sequence in base 2, whose direction vectors are
// the powers of two, but the others need cuRAND's table of direction vectors, which heddle does not
// have. The sequence repeats itself after all 32-bit numbers.
func Sobol32(out []uint32, dimensions int, offset uint64) error {
	if err := checkDimensions(dimensions); err != nil {
		return err
	}
	for i := range out {
		n := uint32(offset) + uint32(i)
		out[i] = bits.Reverse32(n ^ n>>1)
	}
	return nil
}

// Sobol64 generates the 64-bit Sobol sequence as Sobol32 does the 32-bit one
// (curandGenerateLongLong for CURAND_RNG_QUASI_SOBOL64).
func Sobol64(out []uint64, dimensions int, offset uint64) error {
	if err := checkDimensions(dimensions); err != nil {
		return err
	}
	for i := range out {
		n := offset + uint64(i)
		out[i] = bits.Reverse64(n ^ n>>1)
	}
	return nil
}

// checkDimensions returns an error for dimensions that are not supported.
func checkDimensions(n int) error {
	if n != 1 {
		return fmt.Errorf("quasi-random sequence of %d dimensions; only 1 is supported", n)
	}
	return nil
}
