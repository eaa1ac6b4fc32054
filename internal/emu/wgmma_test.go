package emu

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heddle/internal/emu/alu"
	"heddle/internal/isa"
)

// warpgroupCase is one form of wgmma.mma_async and a layout of its operands.
type warpgroupCase struct {
	n          int
	d, a, b    string
	extra      string // modifiers behind the types
	swizzle    uint64
	transposeA bool
	transposeB bool
	registers  bool
	immediates string
	scale      bool
	negateA    bool
	sparse     bool
	selector   int
}

// bits returns the bits of an element.
func (c *warpgroupCase) bits(name string) int {
	e, _ := elementOf(name)
	return int(e.bits)
}

// Products are compared with the definition, D = A*B + D, on small integers, which every type
// represents; where an element is, in shared memory and in registers, is that of PTX ISA
// 9.7.15.5.1.
func TestWarpgroupProducts(t *testing.T) {
	for _, c := range []warpgroupCase{
		{n: 8, d: "f32", a: "f16", b: "f16", immediates: ", 1, 1, 0, 0", scale: true},
		{n: 24, d: "f16", a: "f16", b: "f16", immediates: ", -1, 1, 0, 0", negateA: true},
		{n: 8, d: "f32", a: "f16", b: "f16", swizzle: 1, immediates: ", 1, 1, 0, 0", scale: true},
		{n: 16, d: "f32", a: "bf16", b: "bf16", swizzle: 2, immediates: ", 1, 1, 0, 0"},
		{n: 64, d: "f32", a: "bf16", b: "bf16", swizzle: 3, immediates: ", 1, 1, 0, 1",
			transposeB: true},
		{n: 64, d: "f32", a: "f16", b: "f16", swizzle: 1, immediates: ", 1, 1, 1, 1", transposeA: true,
			transposeB: true},
		{n: 16, d: "f32", a: "f16", b: "f16", immediates: ", 1, 1, 1, 1", transposeA: true,
			transposeB: true, scale: true},
		{n: 8, d: "f32", a: "f16", b: "f16", registers: true, immediates: ", 1, 1, 0", scale: true},
		{n: 8, d: "f32", a: "tf32", b: "tf32", immediates: ", 1, 1"},
		{n: 8, d: "f32", a: "tf32", b: "tf32", registers: true, immediates: ", 1, 1"},
		{n: 8, d: "f32", a: "e4m3", b: "e5m2", swizzle: 1, immediates: ", 1, 1", scale: true},
		{n: 8, d: "f16", a: "e5m2", b: "e4m3", registers: true, immediates: ", 1, 1"},
		{n: 16, d: "s32", a: "s8", b: "u8", scale: true},
		{n: 48, d: "s32", a: "u8", b: "s8", extra: ".satfinite", registers: true, scale: true},
		{n: 8, d: "s32", a: "b1", b: "b1", extra: ".and.popc", scale: true},
		{n: 8, d: "f32", a: "f16", b: "f16", sparse: true, immediates: ", 1, 1, 0, 0", scale: true},
		{n: 24, d: "f16", a: "f16", b: "f16", sparse: true, selector: 1, swizzle: 1,
			immediates: ", -1, 1, 0, 0", negateA: true},
		{n: 16, d: "f32", a: "bf16", b: "bf16", sparse: true, swizzle: 2, immediates: ", 1, 1, 0, 0"},
		{n: 64, d: "f32", a: "bf16", b: "bf16", sparse: true, swizzle: 3, immediates: ", 1, 1, 0, 1",
			transposeB: true},
		{n: 64, d: "f32", a: "f16", b: "f16", sparse: true, swizzle: 1, immediates: ", 1, 1, 1, 1",
			transposeA: true, transposeB: true, selector: 1},
		{n: 16, d: "f32", a: "f16", b: "f16", sparse: true, immediates: ", 1, 1, 1, 1",
			transposeA: true, transposeB: true, scale: true},
		{n: 8, d: "f32", a: "bf16", b: "bf16", sparse: true, registers: true, selector: 1,
			immediates: ", 1, 1, 0", scale: true},
		{n: 8, d: "f32", a: "tf32", b: "tf32", sparse: true, immediates: ", 1, 1", scale: true},
		{n: 8, d: "f32", a: "tf32", b: "tf32", sparse: true, selector: 1, registers: true,
			immediates: ", 1, 1"},
		{n: 8, d: "f32", a: "e4m3", b: "e5m2", sparse: true, swizzle: 1, immediates: ", 1, 1",
			scale: true},
		{n: 8, d: "f16", a: "e5m2", b: "e4m3", sparse: true, registers: true, immediates: ", 1, 1"},
		{n: 16, d: "s32", a: "s8", b: "u8", sparse: true, scale: true},
		{n: 48, d: "s32", a: "u8", b: "s8", sparse: true, extra: ".satfinite", registers: true,
			scale: true},
	} {
		t.Run(fmt.Sprintf("n%d_%s_%s_%s_%d_%v", c.n, c.d, c.a, c.b, c.swizzle, c.sparse), c.check)
	}
}

// left and right are the elements of A and B.
func (c *warpgroupCase) left(row, k int) int {
	return c.small(c.a, row*7+k*3+row*k)
}

func (c *warpgroupCase) right(k, col int) int { return c.small(c.b, col*5+k*11+col*k) }

// chunk is how many columns of a sparse A four bits of metadata describe (PTX ISA 9.7.15.6.1).
func (c *warpgroupCase) chunk() int {
	if c.a == "tf32" {
		return 2
	}
	return 4
}

// metadata are the four bits for a chunk of a row: any two different places, in any order; of tf32
// 0b0100 or 0b1110.
func (c *warpgroupCase) metadata(row, chunk int) uint64 {
	n := row*5 + chunk*3 + row*chunk
	if c.a == "tf32" {
		return []uint64{0b0100, 0b1110}[n%2]
	}
	low := n % 4
	return uint64((low+1+n/4%3)%4<<2 | low)
}

// dense is an element of A: of a sparse one, the metadata say which columns the stored elements of a
// chunk, from left on, belong to.
func (c *warpgroupCase) dense(row, k int) int {
	if !c.sparse {
		return c.left(row, k)
	}
	n := c.chunk()
	meta, place := c.metadata(row, k/n), k%n
	switch {
	case n == 2:
		if place != int(meta>>3) {
			return 0
		}
		return c.left(row, k/n)
	case place == int(meta&3):
		return c.left(row, k/n*2)
	case place == int(meta>>2):
		return c.left(row, k/n*2+1)
	}
	return 0
}

// metadataOf is the register with metadata of a lane of a warp, whose first row is given. The figures
// 176, 178, 180 and 181 of PTX ISA 9.7.15.6.2 say which lane has which bits for which columns: of 16
// and 32 bits, lanes 4g + 2*selector and the next one have each half of the columns, of row g in the
// lower half of the register and of row g+8 in the upper one; of 8 bits, lanes 4g and 4g+1 have the
// first half, of rows g and g+8, and the next two the rest. The others have what is no metadata.
func (c *warpgroupCase) metadataOf(first, lane int) (v uint64) {
	g, t := lane/4, lane%4
	if c.bits(c.a) == 8 {
		for i := range 8 {
			v |= c.metadata(first+g+t%2*8, t/2*8+i) << (4 * i)
		}
		return v
	}
	if t/2 != c.selector {
		return 0
	}
	for i := range 8 {
		v |= c.metadata(first+g+i/4*8, t%2*4+i%4) << (4 * i)
	}
	return v
}

// small reduces a number to what a type represents.
func (c *warpgroupCase) small(name string, v int) int {
	switch name {
	case "b1":
		return v / 2 % 2
	case "u8":
		return v % 9
	}
	return v%9 - 4
}

// encode returns the bits of an element.
func encode(name string, v int) uint64 {
	e, _ := elementOf(name)
	if e.float == nil {
		return uint64(v) & (^uint64(0) >> (64 - e.bits))
	}
	switch {
	case name == "tf32": // the lower bits do not count
		return uint64(math.Float32bits(float32(v))) | 0x1fff
	case e.round != nil:
		return e.round(float64(v))
	}
	for bits := range uint64(1) << e.bits { // of 8 bits
		if e.float(bits) == float64(v) {
			return bits
		}
	}
	panic(name)
}

func (c *warpgroupCase) check(t *testing.T) {
	stored := 256 / c.bits(c.a)
	k := stored
	if c.sparse {
		k *= 2
	}
	// Each operand has a stride that lets no two atoms overlap.
	descriptor := func(start uint64, transposed bool) uint64 {
		w := isa.Swizzle(c.swizzle).Width()
		leading, stride := uint64(128), uint64(512) // without a swizzle
		if w != 0 {
			leading, stride = 16, 8*w
			if transposed {
				leading, stride = 32*w, 8*w // of atoms along the rows, and along k
			}
		}
		return start>>4 | leading>>4<<16 | stride>>4<<32 | c.swizzle<<62
	}
	const startA, startB = 0, 16384
	da, db := descriptor(startA, c.transposeA), descriptor(startB, c.transposeB)
	image := make([]byte, 65536)
	put := func(desc uint64, transposed bool, name string, row, i, v int) {
		d := isa.DescriptorOf(desc)
		n := c.bits(name)
		a := d.Address(uint64(row), uint64(i*n/8))
		if transposed {
			a = d.Transposed(uint64(row), uint64(i))
		}
		bits := encode(name, v)
		if n == 1 {
			image[a] |= byte(bits) << (i % 8)
			return
		}
		for j := range n / 8 {
			image[a+uint64(j)] = byte(bits >> (8 * j))
		}
	}
	for i := range k {
		for row := range 64 {
			if i < stored {
				put(da, c.transposeA, c.a, row, i, c.left(row, i))
			}
		}
		for col := range c.n {
			put(db, c.transposeB, c.b, col, i, c.right(i, col))
		}
	}
	x, op := c.operation(t, da, db)
	x.block.shared = image
	per := op.product.a.perRegister()
	for warp := range 4 {
		x.warp.index = warp
		x.coll.pred = 0
		if c.scale {
			x.coll.pred = full
		}
		x.coll.more = make([]alu.Lanes, op.descriptors+op.product.a.regs+op.product.d.regs+1)
		at := op.descriptors
		for l := range 32 {
			if c.registers {
				for r := range op.product.a.regs {
					v := uint64(0)
					for e := range per {
						p := op.product.a.place[l][r*per+e]
						v |= encode(c.a, c.left(16*warp+p/stored, p%stored)) << (e * c.bits(c.a))
					}
					x.coll.more[at+r][l] = v
				}
			}
			d := at
			if c.registers {
				d += op.product.a.regs
			}
			if c.sparse {
				x.coll.more[d+op.product.d.regs][l] = c.metadataOf(16*warp, l)
			}
			for r := range op.product.d.regs {
				n := op.product.d.perRegister()
				for e := range n {
					x.coll.more[d+r][l] |= encode(c.d, 3) << (e * c.bits(c.d))
				}
			}
		}
		if l, why := op.product.undefined(x.coll.more[at:]); why != "" {
			t.Fatalf("lane %d: %s", l, why)
		}
		x.multiplyNow(op, [2]uint64{da, db})
		for row := range 16 {
			for col := range c.n {
				want := 0
				if c.scale {
					want = 3
				}
				for i := range k {
					p := c.dense(16*warp+row, i) * c.right(i, col)
					if c.negateA {
						p = -p
					}
					want += p
				}
				if got := x.matrix.d[row*c.n+col]; got != encode(c.d, want) {
					t.Fatalf("warp %d, element (%d,%d): %#x, want %d (%#x)", warp, row, col, got, want,
						encode(c.d, want))
				}
			}
		}
	}
}

// operation decodes the instruction.
func (c *warpgroupCase) operation(t *testing.T, da, db uint64) (*exec, *warpgroupOp) {
	t.Helper()
	k, sp, meta := 256/c.bits(c.a), "", ""
	if c.sparse {
		k, sp, meta = 2*k, ".sp", fmt.Sprintf("%%v, %d, ", c.selector)
	}
	regs := c.n / 2
	if c.d == "f16" {
		regs /= 2
	}
	list := func(name string, n int) string {
		var regs []string
		for i := range n {
			regs = append(regs, fmt.Sprintf("%%%s%d", name, i))
		}
		return "{" + strings.Join(regs, ", ") + "}"
	}
	a := "%rda"
	if c.registers {
		a = list("a", 4)
	}
	text := fmt.Sprintf(".reg .b64 %%rda, %%rdb;\n.reg .b32 %%a<4>, %%d<128>;\n"+
		"mov.u64 %%rda, %d;\nmov.u64 %%rdb, %d;\n"+
		"mov.u32 %%v, 0;\nsetp.eq.u32 %%c, %%v, 0;\nwgmma.fence.sync.aligned;\n"+
		"wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s%s %s, %s, %%rdb, %s%%c%s;\nret;", int64(da),
		int64(db), sp, c.n, k, c.d, c.a, c.b, c.extra, list("d", regs), a, meta, c.immediates)
	m, err := New(kernel(t, text), config(1, 128, buffer("out", 128)))
	if err != nil {
		t.Fatal(err)
	}
	code := m.prog.funcs[0].code
	for i := range code {
		if o := code[i].misc; o != nil && o.matrix != nil && o.matrix.step == warpgroupMultiply {
			return &exec{block: new(block), warp: new(warp)}, o.matrix
		} else if o != nil && o.what != "" {
			t.Fatal(o.what)
		}
	}
	t.Fatal("no operation")
	return nil, nil
}

// Integer sums wrap, or saturate with .satfinite; tf32 drops the lower 13 bits of its elements.
func TestWarpgroupLimits(t *testing.T) {
	for _, saturate := range []bool{false, true} {
		c := warpgroupCase{n: 8, d: "s32", a: "u8", b: "u8", scale: true}
		if saturate {
			c.extra = ".satfinite"
		}
		x, op := c.operation(t, 0, 1024>>4)
		x.block.shared = make([]byte, 65536)
		for i := range x.block.shared {
			x.block.shared[i] = 255
		}
		x.coll.pred = full
		x.coll.more = make([]alu.Lanes, op.descriptors+op.product.d.regs)
		for i := range op.product.d.regs {
			for l := range 32 {
				x.coll.more[op.descriptors+i][l] = math.MaxInt32
			}
		}
		x.multiplyNow(op, [2]uint64{0, 1024 >> 4})
		sum := math.MaxInt32 + int64(32*255*255)
		want := uint64(uint32(sum))
		if saturate {
			want = math.MaxInt32
		}
		if got := x.matrix.d[0]; got != want {
			t.Errorf("saturate %v: %#x, want %#x", saturate, got, want)
		}
	}
}

// Operands that the ISA does not have.
func TestWarpgroupOperands(t *testing.T) {
	const form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
	const sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k"
	const halves, bytes = sparse + "32.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q, %q, ",
		sparse + "64.f32.e4m3.e4m3 {%d0, %d1, %d2, %d3}, %q, %q, "
	for text, want := range map[string]string{
		form + "{%d0, %d1, %d2, %d3}, {%v, %n, %t}, %q, 1, 1, 1, 0;":         "3 operands where 4",
		form + "{%d0, %d1, %d2, %d0}, %q, %q, 1, 1, 1, 0, 0;":                "uses register %d0 twice",
		form + "{%d0, %d1, %d2, %d3}, {%d0, %d4, %d5, %d6}, %q, 1, 1, 1, 0;": "uses register %d0 twice",
		form + "{%d0, %d1, %d2, %d3}, {1, 2, 3, 4}, %q, 1, 1, 1, 0;":         "registers of 32 bits",
		form + "{%d0, %d1, %d2, %q}, %q, %q, 1, 1, 1, 0, 0;":                 "registers of 32 bits",
		form + "{%d0, %d1, %d2, %d3}, %q, %q, 1, 2, 1, 0, 0;":                "1 or -1, not 2",
		form + "{%d0, %d1, %d2, %d3}, %q, %q, 1, 1, 1, 0;":                   "4 constants",
		"wgmma.wait_group.sync.aligned %v;":                                  "a constant number",
		halves + "%v, 2, 1, 1, 1, 0, 0;":                                     "a constant from 0 to 1",
		halves + "%v, %v, 1, 1, 1, 0, 0;":                                    "a constant from 0 to 1",
		bytes + "%v, 1, 1, 1, 1;":                                            "a constant from 0 to 0",
		bytes + "%v, 0, 1, 1, 1, 0, 0;":                                      "2 constants",
		"mov.u32 %v, 0x44444454; wgmma.fence.sync.aligned; " + halves + "%v, 0, 1, 1, 1, 0, 0;": "bits 4 " +
			"to 7 of the metadata in lane 0 are 0b0101, which makes the result undefined (PTX ISA " +
			"9.7.15.6.1)",
		"mov.u32 %v, 0x44444444; or.b64 %q, %q, 0xc000000000000000; wgmma.fence.sync.aligned; " + halves +
			"%v, 0, 1, 1, 1, 0, 0;": "64 bytes of K in a layout with a permutation of 32 bytes",
		"wgmma.commit_group.sync;": "is not supported",
	} {
		m, err := New(warpgroupKernel(t, text), config(1, 128, buffer("out", 512), value("n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(t.Context(), Options{Workers: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Stop == nil || res.Stop.Kind != Unsupported ||
			!strings.Contains(res.Stop.Message, want) {
			t.Errorf("%s: %+v, want %s", text, res.Stop, want)
		}
	}
}
