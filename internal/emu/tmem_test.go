package emu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// tensorCase is one form of tcgen05.mma and a layout of its operands.
type tensorCase struct {
	kind, d, a, b          string
	m, n                   int
	swizzle                uint64 // mode of the descriptors
	transposeA, transposeB bool
	negateA                bool
	inTensor               bool // A is in tensor memory
	adds                   bool
	scaleD                 uint32
	lane                   uint32 // of D
	off                    uint32 // lanes 0 to 31 that are disabled
	saturate               bool
	pair                   bool // of blocks
	odd                    bool // a thread of the odd one issues it
	sparse                 bool
	selector               int
	vector                 int    // factors of a row; 0: not scaled
	scale                  string // their type
	idA, idB               int    // the bytes at which factors begin
	ws                     bool
	shift                  int // the first column of B in shared memory
}

// shape is the instruction descriptor (PTX ISA 9.7.16.4.2, table 42).
func (c *tensorCase) shape() uint32 {
	number := map[string]uint32{"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "u8": 0,
		"s8": 1, "e2m1": 1}
	bit := func(b bool, at uint) uint32 {
		if b {
			return 1 << at
		}
		return 0
	}
	if c.vector != 0 { // tables 43 and 44
		return bit(c.sparse, 2) | uint32(c.idB)<<4 | number[c.a]<<7 | number[c.b]<<10 |
			bit(c.negateA, 13) | bit(c.transposeA, 15) | bit(c.transposeB, 16) | uint32(c.n/8)<<17 |
			bit(c.scale == "ue8m0", 23) | uint32(c.m/128)<<27 | uint32(c.idA)<<29
	}
	return uint32(c.selector) | bit(c.sparse, 2) |
		map[string]uint32{"f16": 0, "f32": 1, "s32": 2}[c.d]<<4 | number[c.a]<<7 |
		number[c.b]<<10 |
		bit(c.saturate, 3) | bit(c.negateA, 13) | bit(c.transposeA, 15) | bit(c.transposeB, 16) |
		uint32(c.n/8)<<17 | uint32(c.m/16)<<24
}

// Products are compared with the definition, D = A*B + D * 2^-scale, on small integers. Where an
// element is in shared memory is that of PTX ISA 9.7.16.3.3; row r of D is in lane r, or, if M is
// 64, 16 rows are in each 32 lanes (9.7.16.10.5), and column c in column c of tensor memory. Of a
// pair of blocks, the even one has the first half of the rows of A and D, and of the columns of B.
// If M is 256, that is all; if it is 128, lanes 0 to 63 have the first half of the columns of D,
// and lanes 64 to 127 the second (9.7.16.10.5.1, 9.7.16.10.5.2), and A is there twice.
//
// Of a sparse A, elements are where metadata says (9.7.16.10.8.1 to .3), which is where CUTLASS's
// UMMA::tmem_e_frg has it. A factor scales a row of A, or a column of B, in a chunk of K; it is in
// the lane of the row modulo 32 of each partition, a column for 32 rows, from the byte on that the
// descriptor says (9.7.16.10.7.2, CUTLASS's UMMA::tmem_sf_frg).
//
// With .ws and M = 64, lanes 0 to 63 have the first half of the columns of D, and lanes 64 to 127
// the second; with M = 32, each 32 lanes a quarter of them (9.7.16.10.5.5, 9.7.16.10.5.7, CUTLASS's
// UMMA::tmem_frg_ws).
func TestTensorProducts(t *testing.T) {
	for _, c := range []tensorCase{
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 8, adds: true},
		{kind: "f16", d: "f16", a: "f16", b: "f16", m: 128, n: 16, negateA: true, adds: true},
		{kind: "f16", d: "f32", a: "bf16", b: "bf16", m: 64, n: 24, swizzle: 2, adds: true},
		{kind: "f16", d: "f32", a: "f16", b: "bf16", m: 64, n: 8, swizzle: 4, lane: 16},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 64, swizzle: 6, transposeB: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 64, swizzle: 2, transposeA: true,
			transposeB: true, adds: true, scaleD: 2},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 16, transposeA: true, transposeB: true},
		{kind: "f16", d: "f32", a: "bf16", b: "bf16", m: 128, n: 256, inTensor: true, adds: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 64, n: 8, inTensor: true, lane: 16, adds: true},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 128, n: 8, swizzle: 2},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 128, n: 8, inTensor: true},
		{kind: "f8f6f4", d: "f32", a: "e4m3", b: "e5m2", m: 128, n: 8, adds: true},
		{kind: "f8f6f4", d: "f32", a: "e5m2", b: "e5m2", m: 128, n: 128, swizzle: 2, transposeB: true},
		{kind: "f8f6f4", d: "f16", a: "e4m3", b: "e4m3", m: 128, n: 8, inTensor: true, off: 0xf0},
		{kind: "i8", d: "s32", a: "s8", b: "u8", m: 64, n: 16, adds: true},
		{kind: "i8", d: "s32", a: "u8", b: "s8", m: 128, n: 32, inTensor: true, off: 1, saturate: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 256, n: 16, pair: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 16, pair: true, adds: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 256, n: 256, pair: true, odd: true, adds: true,
			swizzle: 2, scaleD: 1},
		{kind: "f16", d: "f16", a: "f16", b: "f16", m: 128, n: 128, pair: true, odd: true, swizzle: 2,
			transposeA: true, transposeB: true},
		{kind: "f16", d: "f32", a: "bf16", b: "bf16", m: 256, n: 48, pair: true, inTensor: true},
		{kind: "f16", d: "f32", a: "bf16", b: "f16", m: 128, n: 48, pair: true, inTensor: true,
			adds: true, negateA: true},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 128, n: 32, pair: true, swizzle: 4},
		{kind: "f8f6f4", d: "f32", a: "e4m3", b: "e5m2", m: 256, n: 32, pair: true, off: 0xff},
		{kind: "i8", d: "s32", a: "s8", b: "u8", m: 128, n: 64, pair: true, odd: true, adds: true,
			off: 3, swizzle: 6},
		{kind: "f16", d: "f32", a: "f16", b: "bf16", m: 128, n: 8, sparse: true},
		{kind: "f16", d: "f16", a: "f16", b: "f16", m: 128, n: 40, sparse: true, selector: 1, adds: true,
			swizzle: 2},
		{kind: "f16", d: "f32", a: "bf16", b: "bf16", m: 128, n: 64, sparse: true, swizzle: 4,
			transposeA: true, transposeB: true, negateA: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 128, n: 24, sparse: true, inTensor: true, off: 6,
			scaleD: 1, adds: true},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 256, n: 32, sparse: true, pair: true, selector: 1},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 128, n: 16, sparse: true, selector: 1},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 256, n: 48, sparse: true, pair: true, odd: true,
			inTensor: true, adds: true},
		{kind: "f8f6f4", d: "f32", a: "e4m3", b: "e5m2", m: 128, n: 8, sparse: true, swizzle: 2},
		{kind: "f8f6f4", d: "f16", a: "e5m2", b: "e5m2", m: 256, n: 32, sparse: true, pair: true,
			swizzle: 4, adds: true},
		{kind: "i8", d: "s32", a: "s8", b: "u8", m: 128, n: 32, sparse: true, adds: true, saturate: true},
		{kind: "i8", d: "s32", a: "u8", b: "s8", m: 128, n: 16, sparse: true, inTensor: true,
			transposeB: true},
		{kind: "mxf8f6f4", d: "f32", a: "e4m3", b: "e5m2", m: 128, n: 8, vector: 1, scale: "ue8m0"},
		{kind: "mxf8f6f4", d: "f32", a: "e5m2", b: "e4m3", m: 128, n: 200, vector: 1, scale: "ue8m0",
			idA: 3, idB: 2, adds: true, swizzle: 2},
		{kind: "mxf4", d: "f32", a: "e2m1", b: "e2m1", m: 128, n: 40, vector: 2, scale: "ue8m0", idB: 2},
		{kind: "mxf4nvf4", d: "f32", a: "e2m1", b: "e2m1", m: 128, n: 256, vector: 4, scale: "ue4m3",
			inTensor: true, swizzle: 6},
		{kind: "mxf4nvf4", d: "f32", a: "e2m1", b: "e2m1", m: 128, n: 8, vector: 4, scale: "ue8m0",
			adds: true, negateA: true},
		{kind: "mxf8f6f4", d: "f32", a: "e4m3", b: "e4m3", m: 256, n: 80, vector: 1, scale: "ue8m0",
			pair: true, idA: 1, idB: 3, adds: true},
		{kind: "mxf4", d: "f32", a: "e2m1", b: "e2m1", m: 256, n: 256, vector: 2, scale: "ue8m0", idA: 2,
			pair: true, odd: true, swizzle: 2},
		{kind: "mxf4nvf4", d: "f32", a: "e2m1", b: "e2m1", m: 256, n: 16, vector: 4, scale: "ue4m3",
			pair: true, inTensor: true},
		{kind: "mxf8f6f4", d: "f32", a: "e4m3", b: "e5m2", m: 128, n: 64, vector: 1, scale: "ue8m0",
			sparse: true, idB: 1},
		{kind: "mxf4", d: "f32", a: "e2m1", b: "e2m1", m: 128, n: 32, vector: 2, scale: "ue8m0",
			sparse: true, idA: 2, adds: true},
		{kind: "mxf4nvf4", d: "f32", a: "e2m1", b: "e2m1", m: 256, n: 48, vector: 4, scale: "ue4m3",
			sparse: true, pair: true, swizzle: 2},
		{kind: "f16", d: "f32", a: "f16", b: "bf16", m: 128, n: 64, ws: true, inTensor: true, shift: 32},
		{kind: "f16", d: "f32", a: "f16", b: "f16", m: 64, n: 64, ws: true, adds: true},
		{kind: "f8f6f4", d: "f16", a: "e4m3", b: "e5m2", m: 32, n: 128, ws: true, shift: 2, adds: true},
		{kind: "i8", d: "s32", a: "s8", b: "u8", m: 32, n: 64, ws: true, swizzle: 2, transposeA: true,
			transposeB: true, shift: 16},
		{kind: "tf32", d: "f32", a: "tf32", b: "tf32", m: 64, n: 256, ws: true, swizzle: 4},
		{kind: "i8", d: "s32", a: "u8", b: "u8", m: 128, n: 128, ws: true, sparse: true, shift: 8},
	} {
		t.Run(fmt.Sprintf("%s_%s_%s_%dx%d_%d_%v_%v_%v_%v", c.kind, c.a, c.b, c.m, c.n, c.swizzle, c.pair,
			c.odd, c.sparse, c.ws), c.check)
	}
}

// cell returns where an element of D is: the block, and from the address of D on the lane and the
// column.
func (c *tensorCase) cell(row, col int) (block, lane, column int) {
	switch {
	case c.ws:
		return 0, row + col/(c.n*c.m/128)*c.m, col % (c.n * c.m / 128)
	case c.m == 64:
		return 0, row/16*32 + row%16 + int(c.lane), col
	case c.pair && c.m == 128 && col < c.n/2:
		return row / 64, row % 64, col
	case c.pair && c.m == 128:
		return row / 64, row%64 + 64, col - c.n/2
	}
	return row / 128, row % 128, col
}

// bits is the size of an element of A or B.
func (c *tensorCase) bits(name string) int {
	if name == "e2m1" {
		return 4
	}
	e, _ := elementOf(name)
	return int(e.bits)
}

// encoded are the bits of a small number.
func (c *tensorCase) encoded(name string, v int) uint64 {
	if name == "e2m1" { // 1 and 2 are 0b0010 and 0b0100, and the sign is bit 3
		return map[int]uint64{0: 0, 1: 2, 2: 4, -1: 10, -2: 12}[v]
	}
	return encode(name, v)
}

// chunk is how many elements four bits of metadata describe.
func (c *tensorCase) chunk() int {
	switch {
	case c.kind == "tf32":
		return 2
	case c.bits(c.a) == 4:
		return 8
	}
	return 4
}

// places returns the metadata of a chunk of a row, and the columns within it that are stored.
func (c *tensorCase) places(row, chunk int) (meta uint32, columns []int) {
	if c.chunk() == 2 {
		return []uint32{0b0100, 0b1110}[(row+chunk)%2], []int{(row + chunk) % 2}
	}
	meta = []uint32{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110}[(3*row+5*chunk)%7]
	low, high := int(meta&3), int(meta>>2)
	if c.chunk() == 8 {
		return meta, []int{2 * low, 2*low + 1, 2 * high, 2*high + 1}
	}
	return meta, []int{low, high}
}

// metadataAt returns the lane, and the bit from the column of the metadata on, of that of a chunk
// that begins in column k.
func (c *tensorCase) metadataAt(row, k int) (lane, bit int) {
	switch c.chunk() {
	case 8:
		return row, k / 2
	case 2:
		return row%8 + row/16*16 + k/8*8, row/8%2*16 + k%8*2
	}
	if c.bits(c.a) == 16 {
		return row%8 + row/16*16 + k/16*8, row/8%2*16 + k%16
	}
	return row, k
}

func (c *tensorCase) check(t *testing.T) {
	small := func(name string, v int) int {
		if name == "u8" {
			return v % 5
		}
		return v%5 - 2
	}
	stored := isa.TensorOperandBytes * 8 / c.bits(c.a) // of a row of A
	k := stored
	if c.sparse {
		k *= 2
	}
	// column returns the column of a stored element
	column := func(row, i int) int {
		if !c.sparse {
			return i
		}
		_, at := c.places(row, i/(c.chunk()/2))
		return i/(c.chunk()/2)*c.chunk() + at[i%(c.chunk()/2)]
	}
	dense := make([]int, c.m*k)
	for m := range c.m {
		for i := range stored {
			at := column(m, i)
			dense[m*k+at] = small(c.a, m*7+at*3+m*at)
		}
	}
	left := func(row, k0 int) int { return dense[row*k+k0] }
	right := func(k, col int) int { return small(c.b, col*5+k*11+col*k) }
	size := max(c.bits(c.a)/8, 1)
	descriptor := func(start uint64, transposed bool, k int) uint64 {
		w := map[uint64]uint64{2: 128, 4: 64, 6: 32}[c.swizzle]
		leading, stride := uint64(128), uint64(k*c.bits(c.a)) // without a swizzle: of 8 rows
		switch {
		case w != 0 && transposed:
			// of atoms along the rows, and along k
			stride, leading = 8*w, 8*w*uint64((k+7)/8)
		case w != 0:
			leading, stride = 16, 8*w
		case transposed: // of 8 elements of k, and of 16 bytes of rows
			leading, stride = 128, 128*uint64((k+7)/8)
		}
		return start>>4 | leading>>4<<16 | stride>>4<<32 | 1<<46 | c.swizzle<<61
	}
	const startA, startB = 0, 32768
	da, db := descriptor(startA, c.transposeA, stored), descriptor(startB, c.transposeB, k)
	blocks := []*block{{id: 0}}
	if c.pair {
		blocks = append(blocks, &block{id: 1})
	}
	for _, b := range blocks {
		b.shared, b.live = make([]byte, 131072), 1
		b.cluster = &cluster{blocks: blocks}
		b.tensor = &tensorMemory{words: make([]uint32, isa.TensorLanes*isa.TensorColumns),
			allocated: []tensorAllocation{{columns: 512}}}
	}
	used := make(map[[3]uint64]bool)
	put := func(desc uint64, transposed bool, name string, rows, row, i, v int) {
		at := 0 // the block
		if c.pair {
			at = row / (rows / 2)
			row %= rows / 2
		}
		o, err := isa.TensorOperandOf(desc)
		if err != nil {
			t.Fatal(err)
		}
		bit := i * c.bits(name)
		a := o.Address(uint64(row), uint64(bit/8))
		if transposed {
			a = o.TransposedOf(uint64(row), uint64(i), uint64(size))
		}
		key := [3]uint64{uint64(at), a, uint64(bit % 8)}
		if used[key] {
			t.Fatalf("two elements at %d", a)
		}
		used[key] = true
		to := blocks[at].shared[a:]
		storeUint(to, uint64(size), loadUint(to, uint64(size))|c.encoded(name, v)<<(bit%8))
	}
	word := func(m, col, from int) *uint32 {
		at, lane, column := c.cell(m, col)
		return &blocks[at].tensor.words[lane*isa.TensorColumns+from+column]
	}
	// columns of A in tensor memory, of metadata, and of the factors of A and B
	const atA, atMeta, atScaleA, atScaleB = 300, 320, 330, 340
	for i := range stored {
		for m := range c.m {
			v, bit := left(m, column(m, i)), i*c.bits(c.a)
			switch {
			case !c.inTensor:
				put(da, c.transposeA, c.a, c.m, m, i, v)
			default:
				v := uint32(c.encoded(c.a, v)) << (bit % 32)
				*word(m, 0, atA+bit/32) |= v
				if c.pair && c.m == 128 {
					*word(m, c.n/2, atA+bit/32) |= v
				}
			}
		}
	}
	for i := range k {
		for col := range c.n {
			put(db, c.transposeB, c.b, c.n, c.shift+col, i, right(i, col))
		}
	}
	for m := range c.m {
		for i := 0; c.sparse && i < k; i += c.chunk() {
			meta, _ := c.places(m, i/c.chunk())
			lane, bit := c.metadataAt(m%128, i)
			blocks[m/128].tensor.words[lane*isa.TensorColumns+atMeta+c.selector+bit/32] |= meta << (bit % 32)
		}
	}
	factor := func(row, i int) int { return 1 << ((row + 2*i) % 3) }
	for q := 0; q < 128; q += 32 { // in each partition
		put := func(b *block, row, i, id, at, v int) {
			bits := map[int]uint32{1: 127, 2: 128, 4: 129}[v] // ue8m0
			if c.scale == "ue4m3" {
				bits = map[int]uint32{1: 0x38, 2: 0x40, 4: 0x48}[v]
			}
			b.tensor.words[(q+row%32)*isa.TensorColumns+at+row/32] |= bits << (8 * (id + i))
		}
		for i := range c.vector {
			for m := range c.m {
				put(blocks[m/128], m%128, i, c.idA, atScaleA, factor(m, i))
			}
			for col := range c.n { // those of all columns are in both blocks
				for _, b := range blocks {
					put(b, col, i, c.idB, atScaleB, factor(col, i+1))
				}
			}
		}
	}
	const was = 8
	for m := range c.m {
		for col := range c.n {
			*word(m, col, 16) = uint32(encode(c.d, was))
		}
	}
	in := &inst{ir: &ir.Instr{}, guard: psrc{xor: full}, misc: &miscOp{}}
	op := &tmemOp{group: len(blocks), computes: true,
		multiply: isa.TensorMultiply{Kind: c.kind, Pair: c.pair, Sparse: c.sparse, Scaled: c.vector != 0,
			Vector: c.vector, Ws: c.ws},
		inTensor: c.inTensor,
		scaleD:   c.scaleD, at: &memOp{amask: 1<<32 - 1}, a: &memOp{amask: 1<<32 - 1}}
	in.misc.tmem = op
	constant := func(v uint64) src {
		l := new(alu.Lanes)
		for i := range l {
			l[i] = v
		}
		return src{c: l}
	}
	if c.off != 0 {
		for range blocks {
			op.disabled = append(op.disabled, constant(uint64(c.off)), constant(0), constant(0),
				constant(0))
		}
	}
	operand := func(column int) tensorOperand {
		return tensorOperand{s: constant(uint64(column)), at: memOp{amask: 1<<32 - 1}}
	}
	if c.sparse {
		m := operand(atMeta)
		op.metadata = &m
	}
	if c.ws {
		zeros := constant(uint64(c.shift) << 56)
		op.zeros = &zeros
	}
	if c.vector != 0 {
		op.scales = []tensorOperand{operand(atScaleA), operand(atScaleB)}
	}
	in.s = [4]src{constant(uint64(c.lane)<<16 | 16), constant(da), constant(db),
		constant(uint64(c.shape()))}
	if c.inTensor {
		in.s[1] = constant(uint64(c.lane)<<16 | atA)
	}
	if c.adds {
		in.ps[0].xor = full
	}
	x := &exec{block: blocks[0], warp: new(warp), preds: make([]uint32, 1),
		frame: &frame{ctx: new(callCtx)}, geo: new(config(1, 32).Geometry), prog: new(program)}
	if c.odd {
		x.block = blocks[1]
	}
	x.multiplyTensor(in, 0)
	if x.stop != nil {
		t.Fatal(x.stop.Message)
	}
	for m := range c.m {
		for col := range c.n {
			want := 0
			if c.adds {
				want = was >> c.scaleD
			}
			for i := range k {
				p := left(m, i) * right(i, col)
				if c.vector != 0 {
					at := i / (k / c.vector)
					p *= factor(m, at) * factor(col, at+1)
				}
				if c.negateA {
					p = -p
				}
				want += p
			}
			if _, lane, _ := c.cell(m, col); lane < 32 && c.off>>lane&1 != 0 {
				want = was
			}
			if got := *word(m, col, 16); got != uint32(encode(c.d, want)) {
				t.Fatalf("element (%d,%d): %#x, want %d", m, col, got, want)
			}
		}
	}
}

// Rows that are stored in one shape are loaded in others: thread l of .32x32b has lane l, and the
// fragments of .16x128b and .16x256b are those of 8x8 matrices (PTX ISA 9.7.16.2.3.1).
func TestTensorShapes(t *testing.T) {
	text := `
.shared .align 4 .b32 base;
.reg .b32 %m<8>; .reg .b32 %a;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
ld.shared.u32 %a, [base];
mov.u32 %b, %tid.x;
mul.lo.u32 %b, %b, 100;
`
	for i := range 8 {
		text += fmt.Sprintf("add.u32 %%m%d, %%b, %d;\n", i, i)
	}
	text += `tcgen05.st.sync.aligned.32x32b.x8.b32 [%a], {%m0,%m1,%m2,%m3,%m4,%m5,%m6,%m7};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.16x256b.x1.b32 {%m0,%m1,%m2,%m3}, [%a+1048576];
tcgen05.ld.sync.aligned.16x128b.x2.b32 {%m4,%m5,%m6,%m7}, [%a];
tcgen05.wait::ld.sync.aligned;
mov.u32 %b, %tid.x;
mul.wide.u32 %q, %b, 32;
add.u64 %p, %o, %q;
st.global.v4.u32 [%p], {%m0,%m1,%m2,%m3};
st.global.v4.u32 [%p+16], {%m4,%m5,%m6,%m7};
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 32;
ret;`
	res, _ := completed(t, kernel(t, text), config(1, 32, buffer("out", 1024)), Options{})
	out := words(t, res, "out", 256)
	for l := range 32 {
		for i := range 4 {
			lane, col := 16+l/4+8*(i/2), l%4*2+i%2
			if got := out[8*l+i]; got != uint32(100*lane+col) {
				t.Errorf("16x256b: register %d of thread %d is %d, want lane %d, column %d", i, l, got,
					lane, col)
			}
			lane, col = l/4+8*(i%2), i/2*4+l%4
			if got := out[8*l+4+i]; got != uint32(100*lane+col) {
				t.Errorf("16x128b: register %d of thread %d is %d, want lane %d, column %d", i, l, got,
					lane, col)
			}
		}
	}
}

// tcgen05.ld.red: the last register is the smallest or largest of those that the thread loads (PTX
// ISA 9.7.16.8.3), as min and max of the type (9.7.3.10, 9.7.1.11): -0 is less than 0, and NaN
// counts with .NaN, or if there is nothing else.
func TestTensorReduced(t *testing.T) {
	for _, c := range []struct {
		op   string
		in   [4]uint32
		want uint32
	}{
		{"min.u32", [4]uint32{7, 1 << 31, 3, 5}, 3},
		{"max.u32", [4]uint32{7, 1 << 31, 3, 5}, 1 << 31},
		{"min.s32", [4]uint32{7, 1 << 31, 3, 5}, 1 << 31},
		{"max.s32", [4]uint32{7, 1 << 31, 3, 0xffffffff}, 7},
		{"min.f32", [4]uint32{0x3f800000, 0, 0x80000000, 0x40000000}, 0x80000000},
		{"max.f32", [4]uint32{0xbf800000, 0xff800000, 0xc0000000, 0xbf000000}, 0xbf000000},
		{"max.f32", [4]uint32{0x7fc00000, 0x3f800000, 0xffc00000, 0xbf000000}, 0x3f800000},
		{"min.f32", [4]uint32{0xffc00000, 0x7f800001, 0xffc00001, 0x7fc00000}, 0x7fffffff},
		{"min.NaN.f32", [4]uint32{0x3f800000, 0x7f800001, 0xff800000, 0}, 0x7fffffff},
	} {
		text := `
.shared .align 4 .b32 base;
.reg .b32 %m<8>; .reg .b32 %a;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
ld.shared.u32 %a, [base];
`
		for i, v := range c.in {
			text += fmt.Sprintf("mov.u32 %%m%d, %d;\n", i, v)
		}
		text += `tcgen05.st.sync.aligned.32x32b.x4.b32 [%a], {%m0,%m1,%m2,%m3};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.red.sync.aligned.32x32b.x4.` + c.op + ` {%m0,%m1,%m2,%m4}, %m5, [%a];
tcgen05.wait::ld.sync.aligned;
xor.b32 %m4, %m4, %m3;
st.global.u32 [%o], %m5;
st.global.u32 [%o+4], %m4;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 32;
ret;`
		res, _ := completed(t, kernel(t, text), config(1, 32, buffer("out", 64)), Options{})
		if out := words(t, res, "out", 2); out[0] != c.want || out[1] != 0 {
			t.Errorf("%s of %#x: %#x, want %#x", c.op, c.in, out, c.want)
		}
	}
}

// The allocator against a list of columns.
func TestTensorAllocator(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var m tensorMemory
		var used [isa.TensorColumns]bool
		for range 30 {
			n := uint32(32) << rnd.IntN(5)
			if rnd.IntN(3) == 0 && len(m.allocated) > 0 {
				i := rnd.IntN(len(m.allocated))
				a := m.allocated[i]
				for c := a.column; c < a.column+a.columns; c++ {
					used[c] = false
				}
				m.allocated = append(m.allocated[:i], m.allocated[i+1:]...)
				continue
			}
			at, ok := m.free(n)
			first := -1
			for c := 0; c+int(n) <= isa.TensorColumns && first < 0; c += isa.TensorUnit {
				free := true
				for i := range int(n) {
					free = free && !used[c+i]
				}
				if free {
					first = c
				}
			}
			if ok != (first >= 0) || ok && int(at) != first {
				t.Fatalf("seed %d: %d columns at %d (%v), want %d", seed, n, at, ok, first)
			}
			if ok {
				m.allocated = append(m.allocated, tensorAllocation{column: at, columns: n})
				for c := at; c < at+n; c++ {
					used[c] = true
				}
			}
			from := uint32(rnd.IntN(isa.TensorColumns))
			length := uint32(1 + rnd.IntN(100))
			all := from+length <= isa.TensorColumns
			for c := from; c < min(from+length, isa.TensorColumns); c++ {
				all = all && used[c]
			}
			if m.has(from, length) != all {
				t.Fatalf("seed %d: columns %d to %d: %v", seed, from, from+length-1, !all)
			}
		}
	}
}

// What is not computed stops a run where it is loaded, and not before.
func TestTensorUncomputed(t *testing.T) {
	text := `
.shared .align 4 .b32 base;
.shared .align 128 .b8 s[4096];
.reg .b32 %a;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
ld.shared.u32 %a, [base];
mov.u32 %v, s;
shr.u32 %v, %v, 4;
cvt.u64.u32 %q, %v;
or.b64 %q, %q, 0x0000401000080000;
mov.u32 %v, %tid.x;
setp.eq.u32 %c, %v, 0;
@%c tcgen05.cp.cta_group::1.128x128b [%a], %q;
LOAD
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 32;
ret;`
	for load, want := range map[string]string{
		"": "",
		"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%a+4];": "",
		"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%a+3];": "values heddle does not compute",
	} {
		k := kernel(t, strings.Replace(text, "LOAD", load, 1))
		_, res, _ := start(t, k, config(1, 32, buffer("out", 64)), Options{})
		got := ""
		if res.Stop != nil {
			got = res.Stop.Message
		}
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q, want %q", load, got, want)
		}
	}
}
