package fft

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// line is a 1D transform of complex elements. It has working memory, and thus one user at a time.
type line interface {
	// transform replaces elements, as many as the size of the transform, by their transform.
	transform(x []complex128, inverse bool)
}

// newLine returns the transform of a size.
func newLine(n int) line {
	if largestFactor(n) > maxFactor {
		return newChirp(n)
	}
	return mixedRadix{fourier.NewCmplxFFT(n)}
}

// maxFactor is the largest prime factor of a size for which gonum's transforms are used. Their time
// is proportional to the size times the sum of its prime factors. A chirp takes the time of two
// transforms of two to four times the size. Measured for primes, the two are equal between 100 and
// 250.
const maxFactor = 127

// largestFactor returns the largest prime factor of n, or 1 for 1.
func largestFactor(n int) int {
	largest := 1
	for f := 2; f*f <= n; f++ {
		for n%f == 0 {
			n /= f
			largest = f
		}
	}
	return max(largest, n)
}

// mixedRadix is gonum's transform.
type mixedRadix struct{ fft *fourier.CmplxFFT }

func (m mixedRadix) transform(x []complex128, inverse bool) {
	if inverse {
		m.fft.Sequence(x, x)
	} else {
		m.fft.Coefficients(x, x)
	}
}

// chirp computes a transform of any size in O(n log n), as a convolution (Bluestein, "A linear
// filtering approach to the computation of discrete Fourier transform", 1970). With
// w(j) = exp(-i*pi*j*j/n), and since 2jk = j*j + k*k - (k-j)*(k-j), the transform is
//
//	X(k) = w(k) * sum over j of x(j)*w(j) * conj(w(k-j))
type chirp struct {
	fft    *fourier.CmplxFFT // cyclic, of a power of two that the convolution does not wrap around in
	w      []complex128
	filter []complex128 // the transform of conj(w), divided by the size
	buffer []complex128
}

func newChirp(n int) *chirp {
	size := 1 << bits.Len(uint(2*n-2)) // of at least 2n-1 elements
	c := &chirp{
		fft:    fourier.NewCmplxFFT(size),
		w:      make([]complex128, n),
		filter: make([]complex128, size),
		buffer: make([]complex128, size),
	}
	for j := range n {
		// w has period 2n in j*j. The remainder keeps the argument of the sine small and thus exact.
		hi, lo := bits.Mul64(uint64(j), uint64(j))
		_, square := bits.Div64(hi, lo, 2*uint64(n))
		sin, cos := math.Sincos(math.Pi * float64(square) / float64(n))
		c.w[j] = complex(cos, -sin)
		value := complex(cos/float64(size), sin/float64(size))
		c.filter[j] = value
		if j > 0 {
			c.filter[size-j] = value
		}
	}
	c.fft.Coefficients(c.filter, c.filter)
	return c
}

func (c *chirp) transform(x []complex128, inverse bool) {
	// The inverse transform is the conjugate of the forward transform of the conjugate.
	if inverse {
		conjugate(x)
	}
	for j, v := range x {
		c.buffer[j] = v * c.w[j]
	}
	clear(c.buffer[len(x):])
	c.fft.Coefficients(c.buffer, c.buffer)
	for i, v := range c.filter {
		c.buffer[i] *= v
	}
	c.fft.Sequence(c.buffer, c.buffer)
	for k := range x {
		x[k] = c.buffer[k] * c.w[k]
	}
	if inverse {
		conjugate(x)
	}
}

// conjugate replaces numbers by their conjugates.
func conjugate(x []complex128) {
	for i, v := range x {
		x[i] = complex(real(v), -imag(v))
	}
}

// realLine is a 1D transform between n real elements and the first n/2+1 of the complex ones, from
// which the others follow.
type realLine struct {
	fft *fourier.FFT
	// If n has a large prime factor, fft is nil, and the complex transform is used.
	complex line
	buffer  []complex128
}

func newRealLine(n int) *realLine {
	if largestFactor(n) > maxFactor {
		return &realLine{complex: newLine(n), buffer: make([]complex128, n)}
	}
	return &realLine{fft: fourier.NewFFT(n)}
}

// forward computes the complex elements.
func (r *realLine) forward(dst []complex128, src []float64) {
	if r.fft != nil {
		r.fft.Coefficients(dst, src)
		return
	}
	for i, v := range src {
		r.buffer[i] = complex(v, 0)
	}
	r.complex.transform(r.buffer, false)
	copy(dst, r.buffer)
}

// inverse computes the real elements.
func (r *realLine) inverse(dst []float64, src []complex128) {
	if r.fft != nil {
		r.fft.Sequence(dst, src)
		return
	}
	n := len(dst)
	copy(r.buffer, src)
	r.buffer[0] = complex(real(src[0]), 0)
	if n%2 == 0 {
		r.buffer[n/2] = complex(real(src[n/2]), 0)
	}
	for i := 1; i < n-i; i++ {
		r.buffer[n-i] = complex(real(src[i]), -imag(src[i]))
	}
	r.complex.transform(r.buffer, true)
	for i := range dst {
		dst[i] = real(r.buffer[i])
	}
}
