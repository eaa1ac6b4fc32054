package library

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Type is the type of an element, by its number in cudaDataType.
type Type uint32

// The types.
const (
	R32F  Type = 0
	R64F  Type = 1
	R16F  Type = 2
	R8I   Type = 3
	C32F  Type = 4
	C64F  Type = 5
	R32I  Type = 10
	R16BF Type = 14
)

// typeSizes has the size in bytes of each type.
var typeSizes = map[Type]int{R32F: 4, R64F: 8, R16F: 2, R8I: 1, C32F: 8, C64F: 16, R32I: 4, R16BF: 2}

// Size returns the bytes of an element.
func (t Type) Size() int { return typeSizes[t] }

// complex reports whether elements have an imaginary part.
func (t Type) complex() bool { return t == C32F || t == C64F }

// real returns the type of the real part of an element.
func (t Type) real() Type {
	switch t {
	case C32F:
		return R32F
	case C64F:
		return R64F
	}
	return t
}

// typ takes an argument that is a type.
func (c *call) typ() Type {
	t := Type(c.next())
	if t.Size() == 0 {
		c.fail(fmt.Errorf("%s: elements of type %d", c.Name, t))
		return R32F
	}
	return t
}

// load returns the element at the start of b.
func (t Type) load(b []byte) complex128 {
	le := binary.LittleEndian
	f32 := func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	f64 := func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	switch t {
	case R32F:
		return complex(f32(b), 0)
	case R64F:
		return complex(f64(b), 0)
	case R16F:
		return complex(float64(fromHalf(le.Uint16(b))), 0)
	case R16BF:
		return complex(float64(math.Float32frombits(uint32(le.Uint16(b))<<16)), 0)
	case R8I:
		return complex(float64(int8(b[0])), 0)
	case R32I:
		return complex(float64(int32(le.Uint32(b))), 0)
	case C32F:
		return complex(f32(b), f32(b[4:]))
	}
	return complex(f64(b), f64(b[8:]))
}

// store rounds a number to the nearest element, ties to even. Integers saturate.
func (t Type) store(b []byte, v complex128) {
	le := binary.LittleEndian
	re, im := real(v), imag(v)
	switch t {
	case R32F:
		le.PutUint32(b, math.Float32bits(float32(re)))
	case R64F:
		le.PutUint64(b, math.Float64bits(re))
	case R16F:
		le.PutUint16(b, toHalf(re))
	case R16BF:
		le.PutUint16(b, toBFloat(re))
	case R8I:
		b[0] = byte(int8(clamp(re, math.MinInt8, math.MaxInt8)))
	case R32I:
		le.PutUint32(b, uint32(int32(clamp(re, math.MinInt32, math.MaxInt32))))
	case C32F:
		le.PutUint32(b, math.Float32bits(float32(re)))
		le.PutUint32(b[4:], math.Float32bits(float32(im)))
	case C64F:
		le.PutUint64(b, math.Float64bits(re))
		le.PutUint64(b[8:], math.Float64bits(im))
	}
}

// clamp rounds to the nearest integer in a range; 0 for NaN.
func clamp(v, low, high float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(low, min(high, math.RoundToEven(v)))
}

// fromHalf returns the value of an IEEE 754 binary16.
func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15), h>>10&0x1f, uint32(h&0x3ff)
	switch exponent {
	case 0:
		v := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign<<31)
	case 0x1f:
		return math.Float32frombits(sign<<31 | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign<<31 | (uint32(exponent)+127-15)<<23 | fraction<<13)
}

// toHalf rounds to binary16.
func toHalf(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return sign | 0x7e00
	case a >= 65520: // half a unit above the largest number, which rounds up
		return sign | 0x7c00
	case a < 1.0/(1<<14): // subnormal: a multiple of 2^-24; 2^-14 itself results where it rounds up
		return sign | uint16(math.RoundToEven(a*(1<<24)))
	}
	_, exponent := math.Frexp(a) // a is in [2^(e-1), 2^e)
	units := math.RoundToEven(math.Ldexp(a, 11-exponent))
	return sign | uint16(uint64(exponent-1+15-1)<<10+uint64(units)) // units has the leading bit 2^10
}

// toBFloat rounds to bfloat16, whose numbers are float32 numbers with 16 bits less. Going by way of
// float32 would round twice.
func toBFloat(v float64) uint16 {
	if math.IsNaN(v) {
		return 0x7fff
	}
	f := float32(v)
	if d := float64(f) - v; d != 0 && !math.IsInf(float64(f), 0) {
		// Round to odd: the float32 on the side of 0, with its last bit set.
		bits := math.Float32bits(f)
		if math.Abs(float64(f)) > math.Abs(v) {
			bits--
		}
		f = math.Float32frombits(bits | 1)
	}
	bits := math.Float32bits(f)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// number is an element in which products are computed.
type number interface {
	float32 | float64 | complex64 | complex128
}

// typed returns a function that takes a type and does one of four things by it.
func typed(s, d, c, z func(*call, Type) error) func(*call) error {
	return func(r *call) error {
		t := r.typ()
		switch t {
		case R32F:
			return s(r, t)
		case R64F:
			return d(r, t)
		case C32F:
			return c(r, t)
		case C64F:
			return z(r, t)
		}
		return fmt.Errorf("%s: elements of type %d", r.Name, t)
	}
}

// from converts a number to T; what is not there in T is dropped.
func from[T number](v complex128) T {
	var out T
	switch p := any(&out).(type) {
	case *float32:
		*p = float32(real(v))
	case *float64:
		*p = real(v)
	case *complex64:
		*p = complex64(v)
	case *complex128:
		*p = v
	}
	return out
}

// wide converts T to a number.
func wide[T number](v T) complex128 {
	switch v := any(v).(type) {
	case float32:
		return complex(float64(v), 0)
	case float64:
		return complex(v, 0)
	case complex64:
		return complex128(v)
	}
	return any(v).(complex128)
}

// conjugate returns the complex conjugate.
func conjugate(v complex128) complex128 { return complex(real(v), -imag(v)) }

// elements returns the elements in b. Addresses of operands are multiples of the size of an element
// or the call has failed.
func elements[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
