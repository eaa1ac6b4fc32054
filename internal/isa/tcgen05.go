package isa

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// The instructions of the fifth generation of tensor cores, PTX ISA 9.7.16.

// The tensor memory of a block (PTX ISA 9.7.16.1).
const (
	TensorLanes   = 128
	TensorColumns = 512 // of 32 bits
	TensorUnit    = 32  // columns of the smallest allocation
)

// TensorGroup returns 1 or 2, for how many blocks the instruction is (.cta_group); 0 if it does not
// say so.
func (d *Desc) TensorGroup() int {
	switch {
	case slices.Contains(d.Mods, "cta_group::1"):
		return 1
	case slices.Contains(d.Mods, "cta_group::2"):
		return 2
	}
	return 0
}

// TensorFreed reports whether an instruction of ActTensorAllocate is tcgen05.dealloc, and whether
// it is tcgen05.relinquish_alloc_permit; it allocates if it is neither.
func (d *Desc) TensorFreed() (frees, relinquishes bool) {
	return slices.Contains(d.Mods, "dealloc"), slices.Contains(d.Mods, "relinquish_alloc_permit")
}

// TensorStores reports whether an instruction of ActTensorAccess or ActTensorWait is about stores:
// tcgen05.st and wait::st.
func (d *Desc) TensorStores() bool {
	return slices.Contains(d.Mods, "st") || slices.Contains(d.Mods, "wait::st")
}

// TensorAfter reports whether tcgen05.fence is ::after_thread_sync; else it is
// ::before_thread_sync.
func (d *Desc) TensorAfter() bool { return slices.Contains(d.Mods, "fence::after_thread_sync") }

// TensorAligned reports whether .sync and .aligned are written, which the instructions of a warp
// need.
func (d *Desc) TensorAligned() bool { return d.aligned() }

// TensorAccess is what tcgen05.ld or st moves (PTX ISA 9.7.16.2.3, 9.7.16.8).
type TensorAccess struct {
	Store bool
	Shape string
	// Lanes of tensor memory, and the columns of each
	Lanes, Columns int
	// Registers of each thread
	Registers int
	// Split says that a second access of the same shape is at an offset (.16x32bx2). It is an operand
	// behind the address.
	Split bool
	// Packed says that each register has the lower halves of two columns (.pack::16b, .unpack::16b),
	// so that there are twice as many columns.
	Packed bool
	// Reduce is min or max of tcgen05.ld.red: a last register of each thread is the smallest or the
	// largest value of those before it, which are of a type: u32, s32 or f32.
	Reduce, Type string
	Abs, NaN     bool // .abs, .NaN
}

// TensorAccess decodes tcgen05.ld or st. It fails for what the ISA does not have.
func (d *Desc) TensorAccess() (TensorAccess, error) {
	a := TensorAccess{Store: d.TensorStores()}
	num, red := 0, false
	for _, m := range d.Mods[1:] {
		switch m {
		case "sync", "aligned", "st":
		case "red":
			red = true
		case "min", "max":
			a.Reduce = m
		case "b32", "u32", "s32", "f32":
			a.Type = m
		case "abs":
			a.Abs = true
		case "NaN":
			a.NaN = true
		case "16x64b", "16x128b", "16x256b", "32x32b", "16x32bx2":
			a.Shape = m
		case "pack::16b", "unpack::16b":
			a.Packed = true
		default:
			n, err := strconv.Atoi(strings.TrimPrefix(m, "x"))
			if err != nil || num != 0 || n < 1 || n > 128 || n&(n-1) != 0 {
				return a, fmt.Errorf("%s is not supported", d.Text())
			}
			num = n
		}
	}
	// registers of a thread, lanes, and columns of the shape itself
	shape, ok := map[string][3]int{"32x32b": {1, 32, 1}, "16x64b": {1, 16, 2}, "16x128b": {2, 16, 4},
		"16x256b": {4, 16, 8}, "16x32bx2": {1, 16, 1}}[a.Shape]
	fits := !red && a.Reduce == "" && a.Type == "b32" && !a.Abs && !a.NaN
	if red {
		fits = a.Reduce != "" && num > 1 && !a.Packed && !a.Store && a.Type != "" && a.Type != "b32" &&
			(a.Shape == "32x32b" || a.Shape == "16x32bx2") && (a.Type == "f32" || !a.Abs && !a.NaN)
	}
	if !ok || num == 0 || !d.aligned() || num*shape[0] > 128 || !fits {
		return a, fmt.Errorf("%s: this form does not exist (PTX ISA 9.7.16.8)", d.Text())
	}
	if !red {
		a.Type = ""
	}
	a.Registers, a.Lanes, a.Columns = num*shape[0], shape[1], num*shape[2]
	a.Split = a.Shape == "16x32bx2"
	if a.Packed {
		a.Columns *= 2
	}
	return a, nil
}

// Cell returns the lane and the column, from the base of an access on, that register i of a thread
// of the warp has, and false for shapes whose cells are not modelled. The ISA has the layouts as
// figures (183 to 187): those of .16x64b and wider are the fragments of mma for 8x8 matrices of
// 32-bit elements, one for each 4 columns (2 of .16x64b).
func (a *TensorAccess) Cell(thread, i int) (lane, column int, ok bool) {
	switch a.Shape {
	case "32x32b":
		return thread, i, true
	case "16x256b": // four threads have 8 columns of a lane, two each
		return thread/4 + 8*(i>>1&1), i/4*8 + thread%4*2 + i&1, true
	case "16x128b": // four threads have 4 columns of a lane
		return thread/4 + 8*(i&1), i/2*4 + thread%4, true
	}
	return 0, 0, false
}

// TensorMultiply is what the modifiers of tcgen05.mma say (PTX ISA 9.7.16.10.9).
type TensorMultiply struct {
	Kind   string // f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4
	Pair   bool   // .cta_group::2
	Ws     bool   // .ws: the weights stay
	Sparse bool   // .sp: half of A is zero and not stored
	Scaled bool   // .block_scale
	Shift  bool   // .ashift: A, in tensor memory, is shifted by one row
	// Vector is how many factors scale a row of A, and a column of B, of a K that is not 96.
	Vector int
}

// The operands of tcgen05.mma among the sources.
const (
	TensorD        = 0
	TensorA        = 1
	TensorB        = 2
	TensorMetadata = 3 // of a sparse A; the others follow
)

// TensorDescriptor is the number of the source that is the instruction descriptor of tcgen05.mma.
// Operands that depend on modifiers follow.
func (d *Desc) TensorDescriptor() int {
	if d.tensorSparse() {
		return TensorMetadata + 1
	}
	return TensorB + 1
}

// tensorSparse reports whether an instruction is tcgen05.mma.sp or .ws.sp.
func (d *Desc) tensorSparse() bool { return slices.Contains(d.Mods, "sp") }

// TensorZeroMask is the number of the source that is the zero-column mask descriptor of
// tcgen05.mma.ws, if there is one; -1 for other instructions.
func (d *Desc) TensorZeroMask() int {
	if !slices.Contains(d.Mods, "ws") {
		return -1
	}
	return d.TensorDescriptor() + 2 // behind enable-input-d
}

// TensorMultiply decodes tcgen05.mma. It fails for what the ISA does not have.
func (d *Desc) TensorMultiply() (TensorMultiply, error) {
	f := TensorMultiply{Pair: d.TensorGroup() == 2, Sparse: d.tensorSparse()}
	vector, kept := "", false
	for _, m := range d.Mods[1:] {
		switch {
		case strings.HasPrefix(m, "kind::"):
			f.Kind = m[len("kind::"):]
		case m == "sp":
		case m == "ashift":
			f.Shift = true
		case m == "collector::a::fill", m == "collector::a::use":
			kept = true
		case m == "ws":
			f.Ws = true
		case m == "block_scale":
			f.Scaled = true
		case strings.HasPrefix(m, "scale_vec::"), m == "block16", m == "block32":
			vector = m
		case strings.HasPrefix(m, "cta_group::"), strings.HasPrefix(m, "collector::"):
		default:
			return f, fmt.Errorf("%s is not supported", d.Text())
		}
	}
	none := fmt.Errorf("%s: this form does not exist (PTX ISA 9.7.16.10.9)", d.Text())
	switch f.Kind {
	case "f16", "tf32", "f8f6f4", "i8":
		if f.Scaled || vector != "" {
			return f, none
		}
	case "mxf8f6f4", "mxf4", "mxf4nvf4":
		if f.Vector = scaleVectors[f.Kind][vector]; f.Ws || !f.Scaled || f.Vector == 0 {
			return f, none
		}
	default:
		return f, none
	}
	if d.TensorGroup() == 0 || f.Ws && f.Pair || f.Shift && (f.Ws || f.Scaled || kept) {
		return f, none
	}
	return f, nil
}

// scaleVectors are the factors of a row of A, unless K is 96, by kind and .scale_vectorsize (PTX
// ISA 9.7.16.10.7.1, tables 56 and 57). Only .kind::mxf4nvf4 has to name one.
var scaleVectors = map[string]map[string]int{
	"mxf8f6f4": {"": 1, "scale_vec::1X": 1, "block32": 1},
	"mxf4":     {"": 2, "scale_vec::2X": 2, "block32": 2},
	"mxf4nvf4": {"scale_vec::2X": 2, "block32": 2, "scale_vec::4X": 4, "block16": 4},
}

// TensorShape is a decoded instruction descriptor (PTX ISA 9.7.16.4.2): D = A*B + D of M rows, N
// columns, and K elements. Of each row of A, 32 bytes are stored, and of each column of B as many,
// or twice as many if A is sparse.
//
// Of a pair of blocks, the even one has the first half of the rows of A and D and of the columns of
// B in its memory, and the odd one the rest.
type TensorShape struct {
	M, N, K                int
	Blocks                 int    // 2 of a pair, else 1
	D, A, B                string // types of elements, without dots
	Saturate               bool
	NegateA, NegateB       bool
	TransposeA, TransposeB bool
	Ws, Sparse             bool
	Selector               int    // of metadata
	Scale                  string // the type of factors; "": none that the kind has
	ScaleA, ScaleB         int    // the bytes at which factors begin in words of tensor memory
}

// TensorOperandBytes are the bytes of a row of A, and of a column of B unless A is sparse, that are
// in memory, padding included.
const TensorOperandBytes = 32

// BytesOfB is how many bytes of shared memory a column of B has.
func (s *TensorShape) BytesOfB() int {
	if s.Sparse {
		return 2 * TensorOperandBytes
	}
	return TensorOperandBytes
}

// Stored is the number of elements of a row of A that are stored.
func (s *TensorShape) Stored() int {
	if s.Sparse {
		return s.K / 2
	}
	return s.K
}

// Size returns the bytes of an element of A and B in shared memory; 1 of those with fewer bits.
func (f *TensorMultiply) Size() int {
	switch f.Kind {
	case "f16":
		return 2
	case "tf32":
		return 4
	}
	return 1
}

// Packed reports whether two elements share a byte.
func (f *TensorMultiply) Packed() bool { return f.Kind == "mxf4" || f.Kind == "mxf4nvf4" }

// ErrTensorLayout is that of operations that exist, and for which the ISA states only in figures
// where an operand is.
var ErrTensorLayout = errors.New("is not supported")

// errShape says that a field of an instruction descriptor does not fit the instruction.
var errShape = errors.New("PTX ISA 9.7.16.2.1, 9.7.16.4.2")

// Shape decodes an instruction descriptor. It fails if the ISA has no such operation, and with
// ErrTensorLayout if heddle does not model it.
func (f *TensorMultiply) Shape(v uint32) (TensorShape, error) {
	bad := func(format string, args ...any) (TensorShape, error) {
		return TensorShape{}, fmt.Errorf("%s (%w)", fmt.Sprintf(format, args...), errShape)
	}
	s := TensorShape{N: int(v>>17&63) * 8, NegateA: v>>13&1 != 0, NegateB: v>>14&1 != 0,
		TransposeA: v>>15&1 != 0, TransposeB: v>>16&1 != 0, Blocks: 1, Ws: f.Ws, Sparse: f.Sparse}
	if f.Pair {
		s.Blocks = 2
	}
	if sparse := v>>2&1 != 0; sparse != f.Sparse {
		one, other := "sparse", "and not the instruction"
		if !sparse {
			one, other = "dense", "and the instruction that it is sparse"
		}
		return bad("the instruction descriptor %#x says that A is %s, %s", v, one, other)
	}
	a, b := v>>7&7, v>>10&7
	narrow := [8]string{"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"}
	switch f.Kind {
	case "f16":
		names := [8]string{"f16", "bf16"}
		s.A, s.B, s.K = names[a], names[b], 16
	case "tf32":
		names := [8]string{2: "tf32"}
		s.A, s.B, s.K = names[a], names[b], 8
	case "f8f6f4", "mxf8f6f4":
		s.A, s.B, s.K = narrow[a], narrow[b], 32
	case "i8":
		names := [8]string{"u8", "s8"}
		s.A, s.B, s.K = names[a], names[b], 32
		s.Saturate = v>>3&1 != 0
	default: // mxf4, mxf4nvf4
		names := [8]string{1: "e2m1"}
		s.A, s.B, s.K = names[a], names[b&3], 64
	}
	if f.Sparse {
		s.K *= 2
	}
	if s.A == "" || s.B == "" {
		return bad("the instruction descriptor %#x has no types of A and B that .kind::%s has", v,
			f.Kind)
	}
	if f.Scaled {
		s.D, s.M = "f32", int(v>>27&3)*128
		if err := f.scales(&s, v); err != nil {
			return TensorShape{}, err
		}
	} else {
		names := [4]string{"f16", "f32", "s32"}
		s.D, s.M = names[v>>4&3], int(v>>24&31)*16
		if (s.D == "s32") != (f.Kind == "i8") || s.D == "" ||
			s.D == "f16" && (f.Kind == "tf32" || s.A == "bf16" || s.B == "bf16") {
			return bad("the instruction descriptor %#x has no type of D that .kind::%s has", v, f.Kind)
		}
	}
	if f.Shift && s.Rows() != TensorLanes {
		return bad("the instruction descriptor %#x has M = %d, with which .ashift does not exist", v, s.M)
	}
	if !f.shaped(s.M, s.N) {
		return bad("the instruction descriptor %#x has M = %d and N = %d, which %s does not have", v,
			s.M,
			s.N, f.text())
	}
	return s, f.modelled(&s, v)
}

// scales decodes the fields of a descriptor that are about factors (PTX ISA 9.7.16.4.2, tables 43
// and 44, and 9.7.16.10.7.2).
func (f *TensorMultiply) scales(s *TensorShape, v uint32) error {
	if f.Packed() && v>>31 != 0 {
		return fmt.Errorf("a K of 96 %w: which columns have the factors of A and B is stated in figures "+
			"only (PTX ISA 9.7.16.10.7.2.4, 9.7.16.10.7.2.5)", ErrTensorLayout)
	}
	s.ScaleA, s.ScaleB = int(v>>29&3), int(v>>4&3)
	for _, id := range []int{s.ScaleA, s.ScaleB} {
		if id%f.Vector != 0 {
			return fmt.Errorf("the instruction descriptor %#x has %d as the place of factors, which is a "+
				"multiple of %d for .kind::%s with %d of them (PTX ISA 9.7.16.10.7.2, %w)", v, id, f.Vector,
				f.Kind, f.Vector, errShape)
		}
	}
	switch {
	case v>>23&1 != 0:
		s.Scale = "ue8m0"
	case f.Vector == 4:
		s.Scale = "ue4m3"
	}
	return nil
}

// modelled fails for operations that exist, of which it is not known what they access.
func (f *TensorMultiply) modelled(s *TensorShape, v uint32) error {
	s.Selector = int(v & 3)
	switch {
	case f.Scaled || !f.Sparse: // "assumed to be 0" (9.7.16.10.8.4.5)
		s.Selector = 0
	case (f.Kind == "i8" || f.Kind == "f8f6f4") && s.Selector != 0:
		return fmt.Errorf("the instruction descriptor %#x has %d as sparsity selector, which has to be "+
			"0 for .kind::%s (PTX ISA 9.7.16.10.8.4.5)", v, s.Selector, f.Kind)
	case s.Selector > 1:
		return fmt.Errorf("a sparsity selector of %d %w: which columns it selects is stated in a figure "+
			"only (PTX ISA 9.7.16.10.8.4)", s.Selector, ErrTensorLayout)
	}
	switch {
	case f.Scaled && f.Pair && s.M == TensorLanes:
		return fmt.Errorf("%s with M = %d %w: where the factors of B are if each half of the lanes has "+
			"other columns of D is not stated (PTX ISA 9.7.16.10.7)", f.text(), s.M, ErrTensorLayout)
	case f.Sparse && s.M == 32:
		return fmt.Errorf("%s with M = %d %w: where the metadata is is not stated (PTX ISA "+
			"9.7.16.10.8.4)", f.text(), s.M, ErrTensorLayout)
	}
	return nil
}

// text names the form.
func (f *TensorMultiply) text() string {
	out := ".kind::" + f.Kind
	if f.Sparse {
		out = ".sp" + out
	}
	if f.Ws {
		out = ".ws" + out
	}
	if f.Pair {
		out += " with .cta_group::2"
	}
	return out
}

// shaped reports whether the shape exists (PTX ISA 9.7.16.2.1, table 39).
func (f *TensorMultiply) shaped(m, n int) bool {
	if n == 0 || n > 256 {
		return false
	}
	switch {
	case f.Ws:
		return (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256 && !f.Sparse)
	case f.Pair && f.Kind == "i8":
		return (m == 128 || m == 256) && n%32 == 0
	case f.Pair:
		return (m == 128 && !(f.Scaled && f.Sparse) || m == 256) && n%16 == 0
	case f.Scaled:
		return m == 128
	case f.Kind == "i8":
		return (m == 64 || m == 128) && (n <= 32 || n%16 == 0)
	}
	return m == 64 || m == 128
}

// TensorCopy is what tcgen05.cp copies (PTX ISA 9.7.16.9.2): Rows rows of Bytes bytes of shared
// memory into Columns columns.
type TensorCopy struct {
	Rows, Bytes, Columns int
	Small                bool // .4x256b
}

// TensorCopy decodes tcgen05.cp.
func (d *Desc) TensorCopy() (TensorCopy, error) {
	var c TensorCopy
	warps := 0
	for _, m := range d.Mods[1:] {
		switch m {
		case "128x256b":
			c = TensorCopy{Rows: 128, Bytes: 32, Columns: 8}
		case "4x256b":
			c = TensorCopy{Rows: 4, Bytes: 32, Columns: 8, Small: true}
		case "128x128b":
			c = TensorCopy{Rows: 128, Bytes: 16, Columns: 4}
		case "64x128b":
			c = TensorCopy{Rows: 64, Bytes: 16, Columns: 4}
		case "32x128b":
			c = TensorCopy{Rows: 32, Bytes: 16, Columns: 4}
		case "warpx2::02_13", "warpx2::01_23":
			warps = 2
		case "warpx4":
			warps = 4
		case "cta_group::1", "cta_group::2", "b8x16", "b6x16_p32", "b4x16_p64":
		default:
			return c, fmt.Errorf("%s is not supported", d.Text())
		}
	}
	need := map[int]int{64: 2, 32: 4}[c.Rows]
	if c.Rows == 0 || warps != need || d.TensorGroup() == 0 {
		return c, fmt.Errorf("%s: this form does not exist (PTX ISA 9.7.16.9.2)", d.Text())
	}
	return c, nil
}

// TensorOperand is a decoded shared memory descriptor of tcgen05 (PTX ISA 9.7.16.4.1).
type TensorOperand struct {
	MatrixDescriptor
	// Wide says that 32 bytes are permuted as one within rows of 128: only the rows as a whole are
	// modelled.
	Wide bool
}

// TensorOperandOf decodes a shared memory descriptor. It fails for values that the ISA does not
// have, and for absolute addresses, which only sm_103 knows.
func TensorOperandOf(v uint64) (TensorOperand, error) {
	m := TensorOperand{MatrixDescriptor: DescriptorOf(v)}
	mode := v >> 61
	swizzles := [8]Swizzle{2: 1, 4: 2, 6: 3} // as wgmma numbers them: 128, 64 and 32 bytes
	m.Swizzle = swizzles[mode]
	switch {
	case mode == 3 || mode == 5 || mode == 7:
		return m, fmt.Errorf("the matrix descriptor %#x has swizzling mode %d, which does not exist "+
			"(PTX ISA 9.7.16.4.1)", v, mode)
	case v>>46&7 != 1:
		return m, fmt.Errorf("bits 46 to 48 of the matrix descriptor %#x are %d; they have to be 1 "+
			"(PTX ISA 9.7.16.4.1)", v, v>>46&7)
	case v>>52&1 != 0:
		return m, errors.New("a matrix descriptor with an absolute address is not supported")
	case mode == 1:
		m.Swizzle, m.Wide = 1, true
	}
	m.Stride = v >> 32 & 0x3fff << 4
	return m, nil
}

// Chunks calls visit with the address of each 16 bytes of rows [from, to) of the matrix, each of
// width bytes of K, or bytes among which they are. A matrix that is transposed has elements of size
// bytes.
func (m *TensorOperand) Chunks(from, to, width, size int, transposed bool,
	visit func(addr uint64)) {
	w := m.Swizzle.Width()
	chunk := func(a uint64) {
		if w == 0 || m.Base == 0 && !m.Wide {
			visit(a &^ 15)
			return
		}
		for c := a &^ (w - 1); c < a&^(w-1)+w; c += 16 {
			visit(c)
		}
	}
	if !transposed {
		for mn := uint64(from); mn < uint64(to); mn++ {
			for at := uint64(0); at < uint64(width); at += 16 {
				chunk(m.Address(mn, at))
			}
		}
		return
	}
	for mn := from &^ (16/size - 1); mn < to; mn += 16 / size {
		for k := range width / size {
			chunk(m.TransposedOf(uint64(mn), uint64(k), uint64(size)))
		}
	}
}

// Rects returns the cells that a multiplication accesses in the tensor memory of one block, for
// the address of its operand: D, or A or the metadata if it is there.
func (s *TensorShape) Rects(address uint32, columns int, write bool) []event.TensorRect {
	lane, column := uint16(address>>16), uint16(address)
	whole := event.TensorRect{Lanes: TensorLanes, Column: column, Columns: uint16(columns),
		Write: write}
	if !s.Halved() {
		return []event.TensorRect{whole}
	}
	var out []event.TensorRect
	for q := range uint16(4) {
		r := whole
		r.Lane, r.Lanes = 32*q+lane, 16
		out = append(out, r)
	}
	return out
}

// Rows and Columns are those of A and of B that are in the memory of each block.
func (s *TensorShape) Rows() int    { return s.M / s.Blocks }
func (s *TensorShape) Columns() int { return s.N / s.Blocks }

// parts is how many parts of the columns of D, one behind the other, the lanes of a block hold side
// by side: 2 of a pair with M = 128 (layout B, PTX ISA 9.7.16.10.5.2), where lanes 0 to 63 have the
// columns of the even block's part of B, and 64 to 127 those of the odd one's, and A is there twice
// if it is in tensor memory; with .ws, 2 or 4 of an M of 64 or 32 (layouts E and G, 9.7.16.10.5.5
// and 9.7.16.10.5.7).
func (s *TensorShape) parts() int {
	switch {
	case s.Ws:
		return TensorLanes / s.M
	case s.Blocks == 2 && s.M == TensorLanes && !s.Sparse:
		return 2
	}
	return 1
}

// Halved reports whether 16 of each 32 lanes hold D (layouts F and C, PTX ISA 9.7.16.10.5.6 and
// 9.7.16.10.5.3), and A and metadata, which begin at the same lane.
func (s *TensorShape) Halved() bool { return s.Rows() == 64 && s.parts() == 1 }

// TensorColumns returns how many columns of tensor memory D takes.
func (s *TensorShape) TensorColumns() int { return s.N / s.parts() }

// Cell returns the lane and the column, from that of D on, of an element of D: row is one of the
// rows of the block, from 0, and column one of all N. lane is that of D's address. The layouts are
// figures of the ISA (9.7.16.10.5): D, F, with .ws E and G, and of a pair of blocks A, B and C.
func (s *TensorShape) Cell(row, column, lane int) (int, int) {
	if s.Halved() {
		return row/16*32 + row%16 + lane, column
	}
	n := s.TensorColumns()
	return row + column/n*s.Rows(), column % n
}

// ZeroMask is a decoded zero-column mask descriptor (PTX ISA 9.7.16.4.3).
type ZeroMask struct {
	// Some says that columns of B count as zero. Which ones is not known: what table 45 says of the
	// two spans is not what the examples show.
	Some  bool
	Shift int // the first column of B in shared memory
}

// ZeroMaskOf decodes a zero-column mask descriptor of a multiplication of M rows.
func ZeroMaskOf(v uint64, m int) (ZeroMask, error) {
	z := ZeroMask{Some: v>>39&1 != 0, Shift: int(v >> 56 & 63)}
	most := 32
	if m == 32 {
		most = 16
	}
	if z.Shift > most {
		return z, fmt.Errorf("the zero-column mask descriptor %#x shifts columns by %d, which is at "+
			"most %d for M = %d (PTX ISA 9.7.16.4.3)", v, z.Shift, most, m)
	}
	return z, nil
}

// MetadataColumns is how many columns of tensor memory the metadata of a sparse A takes: four bits
// of each lane describe 2 elements of .tf32, 4 of up to 16 bits, or 8 that share bytes.
func (s *TensorShape) MetadataColumns(chunk int) int { return s.K / chunk * 4 / 32 }

// Metadata returns the lane and the bit, in the columns of metadata, of the four bits of a chunk of
// a row of A. The layouts are figures (PTX ISA 9.7.16.10.8.4.2, .4 and .6, for M = 128 and 256);
// these are those that CUTLASS has (UMMA::tmem_e_frg). A lane has those of its row; but if a row
// has 32 bits, one of two lanes, 8 apart, has the first half of the chunks of both rows, and the
// other one the second.
func (s *TensorShape) Metadata(row, chunk, count int) (lane, bit int) {
	if count > 8 {
		return row, 4 * chunk
	}
	return row/16*16 + chunk/4*8 + row%8, row/8%2*16 + chunk%4*4
}

// Granularity is how many elements of a row of a sparse A four bits of metadata describe (PTX ISA
// 9.7.16.10.8).
func (f *TensorMultiply) Granularity() int {
	switch {
	case f.Kind == "tf32":
		return 2
	case f.Packed():
		return 8
	}
	return 4
}
