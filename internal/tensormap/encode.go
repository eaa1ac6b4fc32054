package tensormap

import (
	"encoding/binary"
	"fmt"
)

// The places of fields in the 128 bytes of a tensor map, as heddle's runtime writes them.
const (
	atType       = 4
	atRank       = 5
	atSwizzle    = 6
	atNaN        = 7
	atAddress    = 8
	atStride     = 16 // of the dimensions from the second on
	atLast       = 48 // the sizes - 1
	atBox        = 68
	atStep       = 78
	atIm2col     = 83 // 0: a map of cuTensorMapEncodeTiled; else 1 + Wide
	atLower      = 84
	atUpper      = 90
	atChannels   = 96
	atPixels     = 98
	atInterleave = 100
	atAtoms      = 101
	atEmpty      = 102 // a bit for each dimension whose size was replaced by 0
)

// Decode reads a tensor map of the runtime.
func Decode(b []byte) (*Map, error) {
	le := binary.LittleEndian
	if len(b) < Size || le.Uint32(b) != magic {
		return nil, ErrNotMap
	}
	m := &Map{Type: Type(b[atType]), Rank: int(b[atRank]), Swizzle: Swizzle(b[atSwizzle]),
		NaN: b[atNaN] != 0, Addr: le.Uint64(b[atAddress:])}
	invalid := fmt.Errorf("%w that cuTensorMapEncodeTiled has made", ErrNotMap)
	if m.Rank < 1 || m.Rank > MaxRank || b[atIm2col] > 1+byte(W128) {
		return nil, invalid
	}
	switch {
	case b[atInterleave] > 0:
		return nil, fmt.Errorf("%w: an interleaved layout, of which PTX ISA 5.5.6 does not say where "+
			"the slices of channels are", ErrUnsupported)
	case m.Swizzle == swizzle96 && b[atAtoms] == 0:
		return nil, fmt.Errorf("%w: a swizzle of 96 bytes", ErrUnsupported)
	case m.Type >= numTypes || m.Swizzle > Swizzle128 || b[atAtoms] > 0 && m.Swizzle != Swizzle128 ||
		b[atAtoms] > byte(Atoms64-Swizzle128):
		return nil, invalid // Table 14
	}
	if m.Swizzle += Swizzle(b[atAtoms]); m.Swizzle == atoms32Flipped {
		return nil, fmt.Errorf("%w: a swizzle with atoms of 32 bytes whose halves are flipped, of which "+
			"PTX ISA 5.5.7 does not say in which lines", ErrUnsupported)
	}
	m.Stride[0] = m.Element()
	for i := range m.Rank {
		if i > 0 {
			m.Stride[i] = le.Uint64(b[atStride+8*(i-1):])
		}
		m.Size[i] = uint64(le.Uint32(b[atLast+4*i:])) + 1
		m.Step[i] = uint64(b[atStep+i])
		if i == 0 {
			m.Step[i] = 1 // the first one is ignored without an interleaved layout
		}
		if b[atIm2col] == 0 {
			m.Box[i] = uint64(le.Uint16(b[atBox+2*i:]))
		}
		if m.Box[i] == 0 && b[atIm2col] == 0 || m.Box[i] > maxBox || m.Step[i] == 0 ||
			b[atEmpty]>>i&1 != 0 ||
			m.Step[i] > maxStep || m.Stride[i] >= maxStride || i > 0 && m.Stride[i]%16 != 0 {
			return nil, invalid
		}
	}
	if m.Addr%16 != 0 {
		return nil, invalid
	}
	if err := m.checkPacked(uint64(le.Uint16(b[atChannels:]))); err != nil {
		return nil, err
	}
	if b[atIm2col] == 0 {
		return m, m.checkRow(m.inner() * m.Element())
	}
	m.Im2col = &Im2col{Channels: uint64(le.Uint16(b[atChannels:])),
		Pixels: uint64(le.Uint16(b[atPixels:])), Wide: Wide(b[atIm2col] - 1)}
	for i := range max(m.Rank-2, 0) {
		m.Im2col.Lower[i] = int64(int16(le.Uint16(b[atLower+2*i:])))
		m.Im2col.Upper[i] = int64(int16(le.Uint16(b[atUpper+2*i:])))
	}
	return m, m.Im2col.check(m)
}

// The limits of cuTensorMapEncodeTiled.
const (
	maxBox    = 256
	maxStep   = 8
	maxStride = 1 << 40
)

// checkPacked returns an error if no map of elements of less than a byte can be like this
// (cuTensorMapEncodeTiled, PTX ISA 9.7.9.27.1.1). channels are those of a column, which has no box.
func (m *Map) checkPacked(channels uint64) error {
	n := m.Box[0]
	if n == 0 {
		n = channels
	}
	bad := false
	switch {
	case m.Type == packed4:
		if bad = m.Size[0]%2 != 0 || m.NaN; !bad && n%2 != 0 {
			return fmt.Errorf("%w: rows of %d elements of 4 bits", ErrUnsupported, n)
		}
	case m.Type.padded():
		bad = m.Size[0]%128 != 0 || m.NaN || n != 128 || m.Addr%32 != 0 ||
			m.Swizzle != NoSwizzle && m.Swizzle < Swizzle128
		for i := 1; i < m.Rank; i++ {
			bad = bad || m.Stride[i]%32 != 0
		}
	}
	if bad {
		return fmt.Errorf("%w that cuTensorMapEncodeTiled has made", ErrNotMap)
	}
	return nil
}

// checkRow returns an error if the rows of a box are of a size that no map can have.
func (m *Map) checkRow(bytes uint64) error {
	if bytes%16 != 0 || m.Swizzle != NoSwizzle && bytes > m.Swizzle.row() {
		return fmt.Errorf("%w that cuTensorMapEncodeTiled has made", ErrNotMap)
	}
	return nil
}

// Encode writes a tensor map as the runtime does.
func (m *Map) Encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, Size)
	le.PutUint32(b, magic)
	b[atType], b[atRank], b[atSwizzle] = byte(m.Type), byte(m.Rank), byte(min(m.Swizzle, Swizzle128))
	b[atAtoms] = byte(m.Swizzle) - b[atSwizzle]
	if m.NaN {
		b[atNaN] = 1
	}
	le.PutUint64(b[atAddress:], m.Addr)
	for i := range m.Rank {
		if i > 0 {
			le.PutUint64(b[atStride+8*(i-1):], m.Stride[i])
		}
		le.PutUint32(b[atLast+4*i:], uint32(m.Size[i]-1))
		le.PutUint16(b[atBox+2*i:], uint16(m.Box[i]))
		b[atStep+i] = byte(m.Step[i])
	}
	if c := m.Im2col; c != nil {
		b[atIm2col] = 1 + byte(c.Wide)
		for i := range c.Lower {
			le.PutUint16(b[atLower+2*i:], uint16(c.Lower[i]))
			le.PutUint16(b[atUpper+2*i:], uint16(c.Upper[i]))
		}
		le.PutUint16(b[atChannels:], uint16(c.Channels))
		le.PutUint16(b[atPixels:], uint16(c.Pixels))
	}
	return b
}

// Field is a field of a tensor map that tensormap.replace changes (PTX ISA 9.7.9.28).
type Field uint8

// The fields, with the names that the ISA gives them.
const (
	NoField Field = iota
	GlobalAddress
	Rank
	BoxDim
	GlobalDim
	GlobalStride
	ElementStride
	ElemType
	Interleave
	SwizzleMode
	SwizzleAtomicity
	FillMode
	numFields
)

var fieldNames = [numFields]string{"", "global_address", "rank", "box_dim", "global_dim",
	"global_stride", "element_stride", "elemtype", "interleave_layout", "swizzle_mode",
	"swizzle_atomicity", "fill_mode"}

// String returns the name of the field in the ISA.
func (f Field) String() string { return fieldNames[f] }

// FieldOf returns the field with a name; NoField if there is none.
func FieldOf(name string) Field {
	for f := GlobalAddress; f < numFields; f++ {
		if fieldNames[f] == name {
			return f
		}
	}
	return NoField
}

// Numbered reports whether each dimension has the field.
func (f Field) Numbered() bool { return f >= BoxDim && f <= ElementStride }

// Wide reports whether values of the field have 64 bits.
func (f Field) Wide() bool { return f == GlobalAddress || f == GlobalStride }

// elemTypes has the numbers of CUtensorMapDataType for those of .elemtype, "which do not
// correspond": .f32.ftz is in front of .f64 there (Table 33).
var elemTypes = [numTypes]Type{0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15}

// values has how many values the fields have whose values Table 33 lists.
var values = [numFields]uint64{ElemType: uint64(numTypes), Interleave: 3, SwizzleMode: 5,
	SwizzleAtomicity: 4, FillMode: 2}

// Replace changes a field of the tensor map in b; ord is the dimension of a field that is numbered.
// A value that makes the map invalid is found by Decode, so that fields may be replaced in any
// order.
func Replace(b []byte, f Field, ord, value uint64) error {
	le := binary.LittleEndian
	switch {
	case len(b) < Size || le.Uint32(b) != magic:
		return ErrNotMap
	case values[f] > 0 && value >= values[f]:
		return fmt.Errorf("%d is no value of .%s (PTX ISA 9.7.9.28)", value, f)
	case f.Numbered() && ord >= MaxRank || f == GlobalStride && ord >= MaxRank-1:
		return fmt.Errorf("a tensor map has no .%s with the number %d", f, ord)
	}
	switch f {
	case GlobalAddress:
		le.PutUint64(b[atAddress:], value)
	case Rank:
		b[atRank] = byte(min(value, MaxRank) + 1)
	case BoxDim:
		le.PutUint16(b[atBox+2*ord:], uint16(min(value, maxBox+1)))
	case GlobalDim:
		le.PutUint32(b[atLast+4*ord:], uint32(value)-1)
		b[atEmpty] &^= 1 << ord
		if uint32(value) == 0 {
			b[atEmpty] |= 1 << ord
		}
	case GlobalStride:
		le.PutUint64(b[atStride+8*ord:], value)
	case ElementStride:
		b[atStep+ord] = byte(min(value, maxStep+1))
	case ElemType:
		b[atType] = byte(elemTypes[value])
	case Interleave:
		b[atInterleave] = byte(value)
	case SwizzleMode:
		if b[atSwizzle] = byte(value); value == 4 {
			b[atSwizzle] = byte(swizzle96)
		}
	case SwizzleAtomicity:
		b[atAtoms] = byte(value)
	case FillMode:
		b[atNaN] = byte(value)
	}
	return nil
}
