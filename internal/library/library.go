// Package library computes what functions of cuBLAS, cuFFT and cuRAND compute, on the bytes of a
// program's device memory, and says which of these bytes it has read and written.
//
// The runtime of a program (internal/lower/headers/exec) checks what the library's documentation
// demands of the arguments and sends a Call. Matrices are those of cuBLAS: columns are contiguous,
// and one follows another after a leading dimension. The products are gonum's, whose matrices have
// contiguous rows: every operation is carried out on the transposed matrices.
//
// Results are those of exact arithmetic up to rounding, as with the libraries, which say nothing of
// the order of their sums either. Sums are not those of a tensor core: TF32 and similar modes are
// computed with all bits of their operands. An element of A that is 0 is left out of products, so
// that 0 times an infinity is 0.
package library

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/internal/order"
)

// Function is a function of a library, as in protocol.h.
type Function uint32

// The functions, each for all types, and the arguments after the types.
const (
	Gemm   Function = 1
	Symm   Function = 2
	Syrk   Function = 3
	Syr2k  Function = 4
	Trmm   Function = 5
	Trsm   Function = 6
	Geam   Function = 7
	Dgmm   Function = 8
	Gemv   Function = 9
	Ger    Function = 10
	Symv   Function = 11
	Trmv   Function = 12
	Trsv   Function = 13
	Axpy   Function = 14
	Copy   Function = 15
	Swap   Function = 16
	Scal   Function = 17
	Rot    Function = 18
	Dot    Function = 19
	Nrm2   Function = 20
	Asum   Function = 21
	Extent Function = 22 // amax and amin
	Getrf  Function = 23
	Getrs  Function = 24
	Getri  Function = 25
	Matinv Function = 26
	FFT    Function = 40
	Random Function = 41
)

// Call is a call of a function.
type Call struct {
	Function Function
	Name     string // by which the program called it
	Device   bool   // scalars are in device memory: the pointer mode of cuBLAS
	Args     []uint64
}

// Memory is the memory of a device.
type Memory interface {
	// Bytes returns n bytes at an address. It fails if they are not in one allocation.
	Bytes(addr, n uint64) ([]byte, error)
}

// OperandError is an operand that is not in device memory.
type OperandError struct {
	Operand string // what the documentation calls it
	Writes  bool   // the function writes it
	Err     error  // of Memory
}

// Error implements error.
func (e *OperandError) Error() string {
	verb := "reads"
	if e.Writes {
		verb = "writes"
	}
	return fmt.Sprintf("%s %s: %v", verb, e.Operand, e.Err)
}

// Unwrap implements errors.
func (e *OperandError) Unwrap() error { return e.Err }

// Result is what a call has done.
type Result struct {
	Accesses order.Accesses
	Value    []byte // of a function with a result for the host
}

// Do carries out a call. An OperandError means that nothing was computed; any other error means
// that the arguments are not those of the function.
func Do(c *Call, m Memory) (*Result, error) {
	f := functions[c.Function]
	if f == nil {
		return nil, fmt.Errorf("%s: there is no function %d", c.Name, c.Function)
	}
	r := &call{Call: c, memory: m, rest: c.Args}
	r.err = f(r)
	if r.err != nil {
		return nil, r.err
	}
	out := &Result{Value: r.value}
	out.Accesses[order.Read] = merged(r.read)
	out.Accesses[order.Write] = merged(r.written)
	return out, nil
}

// functions has the function of each Function.
var functions = map[Function]func(*call) error{
	Gemm: gemm, Symm: typed(symm[float32], symm[float64], symm[complex64], symm[complex128]),
	Syrk:   typed(syrk[float32], syrk[float64], syrk[complex64], syrk[complex128]),
	Syr2k:  typed(syr2k[float32], syr2k[float64], syr2k[complex64], syr2k[complex128]),
	Trmm:   typed(trmm[float32], trmm[float64], trmm[complex64], trmm[complex128]),
	Trsm:   typed(trsm[float32], trsm[float64], trsm[complex64], trsm[complex128]),
	Geam:   typed(geam[float32], geam[float64], geam[complex64], geam[complex128]),
	Dgmm:   typed(dgmm[float32], dgmm[float64], dgmm[complex64], dgmm[complex128]),
	Gemv:   typed(gemv[float32], gemv[float64], gemv[complex64], gemv[complex128]),
	Ger:    typed(ger[float32], ger[float64], ger[complex64], ger[complex128]),
	Symv:   typed(symv[float32], symv[float64], symv[complex64], symv[complex128]),
	Trmv:   typed(trmv[float32], trmv[float64], trmv[complex64], trmv[complex128]),
	Trsv:   typed(trsv[float32], trsv[float64], trsv[complex64], trsv[complex128]),
	Axpy:   axpy,
	Copy:   copyVector,
	Swap:   swap,
	Scal:   scal,
	Rot:    rot,
	Dot:    dot,
	Nrm2:   nrm2,
	Asum:   asum,
	Extent: extent,
	Getrf:  typed(getrf[float32], getrf[float64], getrf[complex64], getrf[complex128]),
	Getrs:  typed(getrs[float32], getrs[float64], getrs[complex64], getrs[complex128]),
	Getri:  typed(getri[float32], getri[float64], getri[complex64], getri[complex128]),
	Matinv: typed(matinv[float32], matinv[float64], matinv[complex64], matinv[complex128]),
	FFT:    transform,
	Random: generate,
}

// call is a call that is being carried out. Its operands are checked one after the other, all of
// them before the first is written; err is the first failure, after which operands are empty.
type call struct {
	*Call
	memory  Memory
	rest    []uint64 // arguments that were not taken
	read    []order.Range
	written []order.Range
	value   []byte
	err     error
}

// fail notes the first failure.
func (c *call) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// next takes an argument.
func (c *call) next() uint64 {
	if len(c.rest) == 0 {
		c.fail(fmt.Errorf("%s: arguments are missing", c.Name))
		return 0
	}
	v := c.rest[0]
	c.rest = c.rest[1:]
	return v
}

// int takes an argument that is an int or a long long.
func (c *call) int() int { return int(int64(c.next())) }

// size takes an argument that must not be negative. Nothing in a program's memory has more elements
// than the bound, so that products of two sizes and the bytes of an element do not overflow.
func (c *call) size() int {
	v := c.int()
	if v < 0 || v > 1<<40 {
		c.fail(fmt.Errorf("%s: a size of %d", c.Name, v))
		return 0
	}
	return v
}

// float takes a number.
func (c *call) float() float64 { return math.Float64frombits(c.next()) }

// scalar takes a scalar of a type: two numbers, or its address.
func (c *call) scalar(t Type) complex128 {
	a, b := c.next(), c.next()
	if !c.Device {
		return complex(math.Float64frombits(a), math.Float64frombits(b))
	}
	v := c.bytes("a scalar", reads, a, t.Size())
	if v == nil {
		return 0
	}
	return t.load(v)
}

// access says what a function does with an operand.
type access uint8

const (
	reads access = 1 << iota
	writes
)

// bytes returns n bytes of an operand.
func (c *call) bytes(name string, how access, addr uint64, n int) []byte {
	return c.rows(name, how, addr, 1, n, n)
}

// ErrMisaligned is that of an operand whose address is no multiple of the size of a number.
var ErrMisaligned = errors.New("the address is misaligned")

// aligned fails unless an address is that of elements of a type. A complex number is aligned as its
// parts.
func (c *call) aligned(name string, how access, addr uint64, t Type) {
	unit := t.Size()
	if t.complex() {
		unit /= 2
	}
	if addr%uint64(unit) != 0 {
		c.fail(&OperandError{Operand: name, Writes: how&writes != 0, Err: ErrMisaligned})
	}
}

// rows returns the bytes from the first of count rows to the last byte of the last one: rows of
// width bytes, each pitch bytes behind the one before. It returns nil if there are none, or after a
// failure.
func (c *call) rows(name string, how access, addr uint64, count, width, pitch int) []byte {
	if c.err != nil || count == 0 || width == 0 {
		return nil
	}
	if count > 1 && pitch > math.MaxInt64/4/count {
		c.fail(fmt.Errorf("%s: %s is too large", c.Name, name))
		return nil
	}
	all := (count-1)*pitch + width
	b, err := c.memory.Bytes(addr, uint64(all))
	if err != nil {
		c.fail(&OperandError{Operand: name, Writes: how&writes != 0, Err: err})
		return nil
	}
	list := make([]order.Range, 0, count)
	if pitch == width {
		list = append(list, order.Range{From: addr, To: addr + uint64(all)})
	} else {
		for i := range count {
			from := addr + uint64(i)*uint64(pitch)
			list = append(list, order.Range{From: from, To: from + uint64(width)})
		}
	}
	if how&reads != 0 {
		c.read = append(c.read, list...)
	}
	if how&writes != 0 {
		c.written = append(c.written, list...)
	}
	return b
}

// pointers returns count addresses in device memory.
func (c *call) pointers(name string, addr uint64, count int) []uint64 {
	c.aligned(name, reads, addr, R64F)
	return elements[uint64](c.bytes(name, reads, addr, 8*count))
}

// merged returns ranges in ascending order, without those that touch.
func merged(list []order.Range) []order.Range {
	slices.SortFunc(list, func(a, b order.Range) int { return cmp.Compare(a.From, b.From) })
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}
