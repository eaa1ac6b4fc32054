package random

import "math/bits"

// philox returns Philox4x32-10 of a counter and a key, the lowest word first (Salmon, Moraes, Dror
// and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3). It maps the
// counters one to one to random blocks, in an order that the key chooses.
func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	const (
		rounds = 10
		// The multipliers and the increments of the key, its Weyl sequence.
		m0, m1 = 0xd2511f53, 0xcd9e8d57
		w0, w1 = 0x9e3779b9, 0xbb67ae85
	)
	// Variables instead of the arrays, which the compiler does not keep in registers: about
	// twice as fast.
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	k0, k1 := key[0], key[1]
	for range rounds {
		hi0, lo0 := bits.Mul32(m0, c0)
		hi1, lo1 := bits.Mul32(m1, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += w0
		k1 += w1
	}
	return [4]uint32{c0, c1, c2, c3}
}
