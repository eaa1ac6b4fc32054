package fft

import (
	"encoding/binary"
	"iter"
	"math"
)

// Transform executes the plan: it reads in and writes out, which have at least InBytes and OutBytes
// bytes and begin with the first element. Bytes between the elements remain as they are. A complex
// transform is an inverse one if inverse is set; of the real ones, those with real input are always
// forward, and those with real output inverse.
//
// in and out may be the same memory if each transform writes only where it or an earlier one reads,
// as in the layouts that InPlace returns: the transforms of a batch are executed one by one, each
// reading all of its elements first.
//
// A transform to real elements takes its input to be Hermitian, and ignores the imaginary parts
// that are zero in the rows of such input once the other dimensions are transformed: those of
// element 0 and, if the size is even, of element n/2.
func (p *Plan) Transform(in, out []byte, inverse bool) {
	from, to := p.sides()
	if len(in) < from.bytes() || len(out) < to.bytes() {
		panic("fft: memory too short for the plan")
	}
	if p.Kind.realOutput() {
		inverse = true
	} else if p.Kind.realInput() {
		inverse = false
	}
	t := newTransform(p.Kind, from, to)
	for b := range p.Batch {
		t.load(in, b)
		for d := maxRank - 1; d >= 0; d-- {
			t.dimension(d, inverse)
		}
		t.store(out, b)
	}
}

// transform is the memory in which the transforms of a batch are computed.
type transform struct {
	kind     Kind
	from, to side
	n        [maxRank]int // elements of work in each dimension; real elements are in rows beside it
	work     []complex128 // in row-major order
	lines    [maxRank]line
	column   []complex128 // a line of a dimension other than the last
	row      []float64    // of real elements
	real     *realLine
}

// newTransform returns the memory for transforms between two sides.
func newTransform(k Kind, from, to side) *transform {
	t := &transform{kind: k, from: from, to: to, n: from.n}
	last := maxRank - 1
	if k.realInput() {
		t.n = to.n
		t.row = make([]float64, from.n[last])
	}
	if k.realOutput() {
		t.row = make([]float64, to.n[last])
	}
	t.work = make([]complex128, t.n[0]*t.n[1]*t.n[2])
	t.column = make([]complex128, max(t.n[0], t.n[1]))
	for d, n := range t.n {
		if d == last && t.row != nil {
			t.real = newRealLine(len(t.row))
		} else {
			t.lines[d] = t.newLine(d, n)
		}
	}
	return t
}

// newLine returns the 1D transform of a dimension: that of an earlier dimension if the sizes are
// equal, since it keeps nothing from one line to the next.
func (t *transform) newLine(d, n int) line {
	for i := range d {
		if t.n[i] == n {
			return t.lines[i]
		}
	}
	return newLine(n)
}

// rows iterates over the rows of transform b: their numbers, and the byte of their first element.
func (s *side) rows(b int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		row := 0
		for x := range s.n[0] {
			for y := range s.n[1] {
				if !yield(row, (b*s.dist+x*s.step[0]+y*s.step[1])*s.element) {
					return
				}
				row++
			}
		}
	}
}

// load reads the input of transform b. Real input is transformed in the last dimension.
func (t *transform) load(in []byte, b int) {
	size := t.n[maxRank-1]
	step := t.from.step[maxRank-1] * t.from.element
	for i, at := range t.from.rows(b) {
		row := t.work[i*size:][:size]
		if t.kind.realInput() {
			loadReal(t.row, in, at, step, t.kind.single())
			t.real.forward(row, t.row)
		} else {
			loadComplex(row, in, at, step, t.kind.single())
		}
	}
}

// store writes the output of transform b. Real output is transformed in the last dimension first.
func (t *transform) store(out []byte, b int) {
	size := t.n[maxRank-1]
	step := t.to.step[maxRank-1] * t.to.element
	for i, at := range t.to.rows(b) {
		row := t.work[i*size:][:size]
		if t.kind.realOutput() {
			t.real.inverse(t.row, row)
			storeReal(out, at, step, t.row, t.kind.single())
		} else {
			storeComplex(out, at, step, row, t.kind.single())
		}
	}
}

// dimension transforms all complex lines of a dimension. They are copied one by one: to copy
// neighbours together makes no difference that can be measured.
func (t *transform) dimension(d int, inverse bool) {
	l, n := t.lines[d], t.n[d]
	if l == nil || n == 1 {
		return // real, or nothing to do
	}
	inner := 1 // elements from one of a line to the next
	for _, m := range t.n[d+1:] {
		inner *= m
	}
	for block := 0; block < len(t.work); block += n * inner {
		if inner == 1 {
			l.transform(t.work[block:][:n], inverse)
			continue
		}
		column := t.column[:n]
		for first := block; first < block+inner; first++ {
			for i := range column {
				column[i] = t.work[first+i*inner]
			}
			l.transform(column, inverse)
			for i, v := range column {
				t.work[first+i*inner] = v
			}
		}
	}
}

// loadComplex reads elements that are step bytes apart.
func loadComplex(dst []complex128, mem []byte, at, step int, single bool) {
	for i := range dst {
		if m := mem[at:]; single {
			dst[i] = complex(float64(float32At(m)), float64(float32At(m[4:])))
		} else {
			dst[i] = complex(float64At(m), float64At(m[8:]))
		}
		at += step
	}
}

// storeComplex writes elements that are step bytes apart.
func storeComplex(mem []byte, at, step int, src []complex128, single bool) {
	for _, v := range src {
		if m := mem[at:]; single {
			putFloat32(m, real(v))
			putFloat32(m[4:], imag(v))
		} else {
			putFloat64(m, real(v))
			putFloat64(m[8:], imag(v))
		}
		at += step
	}
}

// loadReal reads elements that are step bytes apart.
func loadReal(dst []float64, mem []byte, at, step int, single bool) {
	for i := range dst {
		if single {
			dst[i] = float64(float32At(mem[at:]))
		} else {
			dst[i] = float64At(mem[at:])
		}
		at += step
	}
}

// storeReal writes elements that are step bytes apart.
func storeReal(mem []byte, at, step int, src []float64, single bool) {
	for _, v := range src {
		if single {
			putFloat32(mem[at:], v)
		} else {
			putFloat64(mem[at:], v)
		}
		at += step
	}
}

func float32At(m []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(m)) }
func float64At(m []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(m)) }

func putFloat32(m []byte, v float64) {
	binary.LittleEndian.PutUint32(m, math.Float32bits(float32(v)))
}

func putFloat64(m []byte, v float64) { binary.LittleEndian.PutUint64(m, math.Float64bits(v)) }
