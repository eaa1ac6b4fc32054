package isa

import (
	"fmt"
	"slices"
)

// WarpgroupForm is what wgmma.mma_async does (PTX ISA 9.7.15.5.2): D = A*B + D, where A has 64
// rows, B has N columns, and the inner dimension K has 32 bytes, whatever the type is. Of a sparse A
// (9.7.15.6.3) half of the elements are stored, in 32 bytes for each row, and K is twice as long.
type WarpgroupForm struct {
	N, K      int
	D, A, B   string // types of elements, without dots
	Satfinite bool
	Sparse    bool // half of A is zero and not stored
	// Registers says that A is in registers; else operand A is a descriptor, as operand B is.
	Registers bool
	// TransposeA and TransposeB say that rows of A, or columns of B, are contiguous in shared
	// memory: M-major or N-major, instead of K-major.
	TransposeA, TransposeB bool
	NegateA, NegateB       bool
}

// The operands of wgmma.mma_async among the sources.
const (
	WarpgroupA        = 0
	WarpgroupB        = 1
	WarpgroupMetadata = 2 // of a sparse A; the selector follows
	WarpgroupSelector = 3
)

// WarpgroupScale is the number of the source that says whether D is added. Constants follow.
func (d *Desc) WarpgroupScale() int {
	if d.sparse() {
		return WarpgroupSelector + 1
	}
	return WarpgroupB + 1
}

// sparse reports whether an instruction is wgmma.mma_async.sp.
func (d *Desc) sparse() bool { return len(d.Mods) > 1 && d.Mods[1] == "sp" }

// Stored is the number of elements of a row of A that are stored.
func (f *WarpgroupForm) Stored() int {
	if f.Sparse {
		return f.K / 2
	}
	return f.K
}

// BytesOfB is how many bytes of shared memory a column of B has.
func (f *WarpgroupForm) BytesOfB() uint64 {
	if f.Sparse {
		return 2 * WarpgroupBytes
	}
	return WarpgroupBytes
}

// Metadata is what says where the stored elements of a sparse A are. Its layout is the one of mma.sp
// of the same K and types (the figures of 9.7.15.6.2 are those of 9.7.14.6.2). Any two different
// places are valid (9.7.15.6.1).
func (f *WarpgroupForm) Metadata() MMAForm {
	return MMAForm{M: WarpgroupRows / 4, N: 8, K: f.K, A: f.A, B: f.B, Sparse: true}
}

// WarpgroupRows is the number of rows of A and D.
const WarpgroupRows = 64

// WarpgroupBytes is the length of a stored row of A, and of a column of B, unless A is sparse.
const WarpgroupBytes = 32

// Warpgroup decodes wgmma.mma_async. registers says that operand A is a list of registers, and
// immediates has the operands behind WarpgroupScale. It fails if the ISA has no such form.
func (d *Desc) Warpgroup(registers bool, immediates []uint64) (WarpgroupForm, error) {
	m := d.Matrix()
	f := WarpgroupForm{N: m.N, K: m.K, Satfinite: m.Satfinite, Registers: registers,
		Sparse: d.sparse()}
	none := fmt.Errorf("%s: this combination of shape and types does not exist (PTX ISA %s)",
		d.Text(), d.Row.Section)
	if len(m.Types) != 3 || m.M != WarpgroupRows || len(m.Other) != 0 || len(m.Layouts) != 0 ||
		!d.aligned() {
		return f, none
	}
	f.D, f.A, f.B = m.Types[0], m.Types[1], m.Types[2]
	if !f.typed() || !f.shaped() || (m.BitOp == FnAnd) != (f.A == "b1") || m.BitOp == FnXor ||
		f.Satfinite && f.A != "s8" && f.A != "u8" {
		return f, none
	}
	negations, transpositions := 0, 0
	switch f.A {
	case "f16", "bf16":
		negations, transpositions = 2, 2
		if registers {
			transpositions = 1
		}
	case "tf32", "e4m3", "e5m2":
		negations = 2
	}
	if len(immediates) != negations+transpositions {
		return f, fmt.Errorf("%s: %d constants behind the scale of D expected, found %d", d.Text(),
			negations+transpositions, len(immediates))
	}
	for i, v := range immediates {
		switch {
		case i < negations && int32(v) != 1 && int32(v) != -1:
			return f, fmt.Errorf("%s: a scale of A or B is 1 or -1, not %d", d.Text(), int32(v))
		case i >= negations && v > 1:
			return f, fmt.Errorf("%s: whether a matrix is transposed is 0 or 1, not %d", d.Text(), v)
		}
	}
	if negations > 0 {
		f.NegateA, f.NegateB = int32(immediates[0]) < 0, int32(immediates[1]) < 0
	}
	if transpositions > 0 {
		f.TransposeB = immediates[len(immediates)-1] == 1
		f.TransposeA = transpositions == 2 && immediates[2] == 1
	}
	return f, nil
}

// aligned reports whether .sync and .aligned are written, which all wgmma instructions need.
func (d *Desc) aligned() bool {
	return slices.Contains(d.Mods, "sync") && slices.Contains(d.Mods, "aligned")
}

// WarpgroupStep reports whether wgmma.fence, commit_group or wait_group has its modifiers.
func (d *Desc) WarpgroupStep() bool { return d.aligned() && len(d.Mods) == 3 }

// typed reports whether the types can be combined (PTX ISA 9.7.15.3).
func (f *WarpgroupForm) typed() bool {
	narrow := f.D == "f16" || f.D == "f32"
	fp8 := func(t string) bool { return t == "e4m3" || t == "e5m2" }
	integer := func(t string) bool { return t == "s8" || t == "u8" }
	switch {
	case f.A == "f16":
		return f.B == "f16" && narrow
	case f.A == "bf16" || f.A == "tf32":
		return f.B == f.A && f.D == "f32"
	case fp8(f.A):
		return fp8(f.B) && narrow
	case integer(f.A):
		return integer(f.B) && f.D == "s32"
	}
	return f.A == "b1" && f.B == "b1" && f.D == "s32"
}

// shaped reports whether the shape exists for the types (PTX ISA 9.7.15.2).
func (f *WarpgroupForm) shaped() bool {
	k := map[string]int{"f16": 16, "bf16": 16, "tf32": 8, "b1": 256}[f.A]
	if k == 0 {
		k = 32
	}
	if f.Sparse {
		if k *= 2; f.A == "b1" {
			return false
		}
	}
	if f.K != k || f.N%8 != 0 || f.N < 8 || f.N > 256 {
		return false
	}
	return f.D != "s32" || f.N <= 32 || f.N%16 == 0
}

// Swizzle is how 16-byte chunks of rows are permuted in shared memory.
type Swizzle uint8

// Width returns the bytes of a row that are permuted: 0, 128, 64 or 32.
func (s Swizzle) Width() uint64 { return [...]uint64{0, 128, 64, 32}[s&3] }

// MatrixDescriptor is a decoded matrix descriptor (PTX ISA 9.7.15.5.1.2.2). Offsets are in bytes.
type MatrixDescriptor struct {
	Start, Leading, Stride uint64
	Base                   uint64 // row of the repeating pattern in which it begins
	Swizzle                Swizzle
}

// DescriptorOf decodes a matrix descriptor of wgmma.
func DescriptorOf(v uint64) MatrixDescriptor {
	field := func(at uint) uint64 { return v >> at & 0x3fff << 4 }
	return MatrixDescriptor{Start: field(0), Leading: field(16), Stride: field(32),
		Base: v >> 49 & 7, Swizzle: Swizzle(v >> 62)}
}

// Address returns the offset in shared memory of the byte at offset at of the 32 bytes of K of row
// mn (of A; a column of B) of a matrix that is K-major. The layouts are those of the table of PTX
// ISA 9.7.15.5.1.2.1.3, in units of bytes.
func (m *MatrixDescriptor) Address(mn, at uint64) uint64 {
	if w := m.Swizzle.Width(); w != 0 {
		return m.permuted(m.Start + mn/8*m.Stride + mn%8*w + at)
	}
	return m.Start + mn/8*m.Stride + mn%8*16 + at/16*m.Leading + at%16
}

// Transposed is Address for a matrix of 16-bit elements that is M-major or N-major: the offset of
// element k of row mn.
func (m *MatrixDescriptor) Transposed(mn, k uint64) uint64 { return m.TransposedOf(mn, k, 2) }

// TransposedOf is Transposed for elements of size bytes (PTX ISA 9.7.16.3.3 has the layouts in
// multiples of the elements that 16 bytes have).
func (m *MatrixDescriptor) TransposedOf(mn, k, size uint64) uint64 {
	if w := m.Swizzle.Width(); w != 0 {
		return m.permuted(m.Start + size*mn/w*m.Leading + size*mn%w + k/8*m.Stride + k%8*w)
	}
	n := 16 / size
	return m.Start + mn/n*m.Stride + size*(mn%n) + k/8*m.Leading + k%8*16
}

// permuted applies the swizzle to an address: bits 4 and up of it are changed by bits 7 and up,
// counted from the start of the pattern.
func (m *MatrixDescriptor) permuted(a uint64) uint64 {
	return a ^ (a>>7-m.Base)&(m.Swizzle.Width()/16-1)<<4
}

// Fits reports whether the bytes of K of a row of a matrix that is K-major are next to each other: a
// layout of permuted rows that are shorter has no place for the rest (9.7.15.5.1.2.1.3).
func (m *MatrixDescriptor) Fits(bytes uint64) bool {
	return m.Swizzle == 0 || bytes <= m.Swizzle.Width()
}

// Chunks calls visit with the address of each 16 bytes of rows [from, to) of the matrix, each of
// some bytes of K, or bytes among which they are. transposed says that the matrix is M-major or
// N-major.
//
// If the pattern does not begin at an address that is a multiple of its size, the whole permuted
// rows are visited, since the ISA does not say how the base offset changes the permutation.
func (m *MatrixDescriptor) Chunks(from, to, bytes uint64, transposed bool,
	visit func(addr uint64)) {
	w := m.Swizzle.Width()
	chunk := func(a uint64) {
		if w == 0 || m.Base == 0 {
			visit(a &^ 15)
			return
		}
		for c := a &^ (w - 1); c < a&^(w-1)+w; c += 16 {
			visit(c)
		}
	}
	if !transposed {
		for mn := from; mn < to; mn++ {
			for at := uint64(0); at < bytes; at += 16 {
				chunk(m.Address(mn, at))
			}
		}
		return
	}
	for mn := from; mn < to; mn += 8 { // 8 elements are a chunk
		for k := range bytes / 2 {
			chunk(m.Transposed(mn, k))
		}
	}
}
