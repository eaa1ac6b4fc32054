package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// narrowValue is the number of an encoding of a narrow format, by its bits of exponent and fraction
// (PTX ISA 5.2.3).
func narrowValue(typ string, v uint64) float64 {
	f := map[string]struct{ width, fraction, bias int }{"e2m1": {4, 1, 1}, "e2m3": {6, 3, 1},
		"e3m2": {6, 2, 3}, "e4m3": {8, 3, 7}, "e5m2": {8, 2, 15}, "ue4m3": {8, 3, 7}}[typ]
	sign := 1.0
	if v>>(f.width-1)&1 == 1 {
		sign = -1
	}
	frac := float64(v&(1<<f.fraction-1)) / float64(int(1)<<f.fraction)
	exp := int(v>>f.fraction) & (1<<(f.width-1-f.fraction) - 1)
	if exp == 0 {
		return sign * math.Ldexp(frac, 1-f.bias)
	}
	return sign * math.Ldexp(1+frac, exp-f.bias)
}

// narrowEncodings are those whose numbers are multiples of 1/4 up to 8, so that sums of products are
// exact in double precision.
func narrowEncodings(typ string) []uint64 {
	width := map[string]int{"e2m1": 4, "e2m3": 6, "e3m2": 6, "e4m3": 8, "e5m2": 8}[typ]
	var list []uint64
	for v := range uint64(1) << width {
		if x := narrowValue(typ, v); math.Abs(x) <= 8 && x*4 == math.Trunc(x*4) {
			list = append(list, v)
		}
	}
	return list
}

// drawElement returns an element of a matrix as the bits in its place in a register, and its value.
func drawElement(r *rand.Rand, typ string, contained bool) (uint64, float64) {
	switch typ {
	case "e2m1", "e2m3", "e3m2", "e4m3", "e5m2":
		list := narrowEncodings(typ)
		v := list[r.IntN(len(list))]
		x := narrowValue(typ, v)
		if typ == "e2m1" && contained { // "in central 4 bits of the 8-bit container"
			v <<= 2
		}
		return v, x
	}
	n := draw(r, typ)
	return small(typ, n), float64(n)
}

// sumBits are the bits of a sum, rounded to nearest even, in a type of accumulators.
func sumBits(typ string, x float64) uint64 {
	switch typ {
	case "s32":
		return uint64(uint32(int32(x)))
	case "f32":
		return uint64(math.Float32bits(float32(x)))
	}
	if x == 0 {
		return 0
	}
	y, _ := new(big.Float).SetPrec(11).SetMode(big.ToNearestEven).SetFloat64(x).Float64()
	u := math.Float64bits(y) // normal in half precision
	return u>>63<<15 | (u>>52&0x7ff-1023+15)<<10 | u>>42&0x3ff
}

// element returns the type by whose width an operand is packed.
func container(typ string, contained bool) string {
	switch {
	case contained:
		return "s8"
	case typ == "e2m1":
		return "s4"
	}
	return typ
}

// product is a product of whole matrices as the ISA defines it, (A * scale_A) * (B * scale_B) + C,
// and the registers that hold it.
type wholeProduct struct {
	k          int
	a          [16][128]float64
	b          [128][8]float64
	c          [16][8]float64
	vector     int // scale factors of a row; 0: none
	sfa        [16][4]float64
	sfb        [4][8]float64
	pa, pb, pc *packer
	sum        string
}

// fill draws B and C.
func (w *wholeProduct) fill(r *rand.Rand, b, sum string, contained bool, nb int, at func(l, i int) cell) {
	w.sum = sum
	w.pb, w.pc = newPacker(container(b, contained), nb), newPacker(sum, 4)
	for l := range 32 {
		for i := range nb {
			v, x := drawElement(r, b, contained)
			w.pb.put(l, i, v)
			w.b[at(l, i).row][at(l, i).col] = x
		}
		for i := range 4 {
			n := draw(r, sum)
			w.pc.put(l, i, small(sum, n))
			w.c[c4(l, i).row][c4(l, i).col] = float64(n)
		}
	}
}

// check compares the registers of D.
func (w *wholeProduct) check(t *testing.T, op string, d *packer) {
	t.Helper()
	for l := range 32 {
		for i := range 4 {
			at := c4(l, i)
			sum := w.c[at.row][at.col]
			for k := range w.k {
				x, y := w.a[at.row][k], w.b[k][at.col]
				if w.vector > 0 {
					x *= w.sfa[at.row][k*w.vector/w.k]
					y *= w.sfb[k*w.vector/w.k][at.col]
				}
				sum += x * y
			}
			if got, want := d.get(l, i), sumBits(w.sum, sum); got != want {
				t.Fatalf("%s: lane %d d%d = %#x, want %#x (%g)", op, l, i, got, want, sum)
			}
		}
	}
}

// dense draws a dense A.
func (w *wholeProduct) dense(r *rand.Rand, a string, contained bool, na int, at func(l, i int) cell) {
	w.pa = newPacker(container(a, contained), na)
	for l := range 32 {
		for i := range na {
			v, x := drawElement(r, a, contained)
			w.pa.put(l, i, v)
			w.a[at(l, i).row][at(l, i).col] = x
		}
	}
}

// kind::f8f6f4: all types of A and B, in containers of 8 bits, with the layout of 8-bit integers (PTX
// ISA 9.7.14.5.10).
func TestMMANarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(141, 142))
	lay := mmaLayouts["m16n8k32.s8"]
	types := []string{"e2m1", "e2m3", "e3m2", "e4m3", "e5m2"}
	for _, a := range types {
		for _, b := range types {
			for _, sum := range []string{"f16", "f32"} {
				w := &wholeProduct{k: 32}
				w.dense(r, a, true, lay.na, lay.a)
				w.fill(r, b, sum, true, lay.nb, lay.b)
				op := fmt.Sprintf("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.%s.%s.%s.%s", sum, a, b, sum)
				d := newPacker(sum, 4)
				runMMA(t, op, d, w.pa, w.pb, w.pc)
				w.check(t, op, d)
			}
		}
	}
}

// scaleFactors draws the factors of a product and the registers that have them, by PTX ISA 9.7.14.3:
// of each quad, thread-id-a chooses the lower or the upper pair of lanes for A, thread-id-b one lane
// for B, and the byte selector the first byte. Of the pair the first lane has row g, the second row
// g+8. What is not selected is arbitrary.
func (w *wholeProduct) scaleFactors(r *rand.Rand, typ string, vector int, sel [4]int) (sa, sb *packer) {
	w.vector = vector
	sa, sb = newPacker("s32", 1), newPacker("s32", 1)
	for l := range 32 {
		sa.put(l, 0, uint64(r.Uint32()))
		sb.put(l, 0, uint64(r.Uint32()))
	}
	one := func() (uint64, float64) {
		if typ == "ue8m0" {
			v := uint64(124 + r.IntN(7))
			return v, math.Ldexp(1, int(v)-127)
		}
		v := uint64(0x28 + r.IntN(0x20))
		return v, narrowValue("e4m3", v)
	}
	set := func(p *packer, lane, at int, v uint64) {
		p.regs[lane] = p.regs[lane]&^(0xff<<(8*at)) | v<<(8*at)
	}
	for l := range 32 {
		for i := range vector {
			if l%4/2 == sel[1] {
				v, x := one()
				set(sa, l, sel[0]+i, v)
				w.sfa[l/4+8*(l%2)][i] = x
			}
			if l%4 == sel[3] {
				v, x := one()
				set(sb, l, sel[2]+i, v)
				w.sfb[i][l/4] = x
			}
		}
	}
	return sa, sb
}

// sameRegister is a register with one value in all lanes, whose upper half does not count.
func sameRegister(v int) *packer {
	p := newPacker("s32", 1)
	for l := range 32 {
		p.put(l, 0, uint64(v))
	}
	return p
}

// scaleForms are table 36 of PTX ISA 9.7.14.3, with the sizes that may be left out.
var scaleForms = []struct {
	kind, size, typ string
	vector          int
}{
	{"mxf8f6f4", ".scale_vec::1X", "ue8m0", 1}, {"mxf8f6f4", "", "ue8m0", 1},
	{"mxf4", ".scale_vec::2X", "ue8m0", 2}, {"mxf4", "", "ue8m0", 2},
	{"mxf4nvf4", ".scale_vec::2X", "ue8m0", 2}, {"mxf4nvf4", ".scale_vec::4X", "ue8m0", 4},
	{"mxf4nvf4", ".scale_vec::4X", "ue4m3", 4},
}

// selectors draws those of table 37.
func drawSelectors(r *rand.Rand, vector int) [4]int {
	bytes := map[int][]int{1: {0, 1, 2, 3}, 2: {0, 2}, 4: {0}}[vector]
	return [4]int{bytes[r.IntN(len(bytes))], r.IntN(2), bytes[r.IntN(len(bytes))], r.IntN(4)}
}

// Block-scaled products, with selectors that are constants or in registers.
func TestMMABlockScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(143, 144))
	for _, form := range scaleForms {
		for range 30 {
			types, contained := []string{"e2m1", "e2m3", "e3m2", "e4m3", "e5m2"}, true
			shape, lay := "m16n8k32", mmaLayouts["m16n8k32.s8"]
			if form.kind != "mxf8f6f4" {
				types, contained, shape, lay = types[:1], false, "m16n8k64", mmaLayouts["m16n8k64.s4"]
			}
			a, b := types[r.IntN(len(types))], types[r.IntN(len(types))]
			w := &wholeProduct{k: map[string]int{"m16n8k32": 32, "m16n8k64": 64}[shape]}
			w.dense(r, a, contained, lay.na, lay.a)
			w.fill(r, b, "f32", contained, lay.nb, lay.b)
			sel := drawSelectors(r, form.vector)
			sa, sb := w.scaleFactors(r, form.typ, form.vector, sel)
			in := []*packer{w.pa, w.pb, w.pc, sa, sb}
			tail := fmt.Sprintf(", %%e0, {%d, %d}, %%f0, {%d, %d}", sel[0], sel[1], sel[2], sel[3])
			if r.IntN(2) == 0 {
				tail = ", %e0, {%g0, %h0}, %f0, {%j0, %k0}"
				for _, v := range sel {
					in = append(in, sameRegister(v|r.IntN(2)<<16))
				}
			}
			op := fmt.Sprintf("mma.sync.aligned.%s.row.col.kind::%s.block_scale%s.f32.%s.%s.f32.%s", shape,
				form.kind, form.size, a, b, form.typ)
			d := newPacker("f32", 4)
			runProduct(t, op, tail, d, in...)
			w.check(t, op, d)
		}
	}
}

// sparseForm is a form of mma.sp: which columns the stored elements of a lane may come from, by
// PTX ISA 9.7.14.6.2, and the lane and bits of the metadata of a chunk.
type sparseForm struct {
	section, shape string
	types          []string
	k, chunk       int
	na, nb         int
	// row and the first column of the columns from which a register has half of the elements
	a func(group, tid, i int) (row, first int)
	b func(lane, i int) cell
	// metadata of a chunk: the lane of the quad, and the lowest bit
	meta      func(row, chunk, selector int) (lane, bit int)
	selectors int
}

var sparseForms = func() []sparseForm {
	first := func(c bool, a int) int { return pick2(c, a, a+8) }
	// Figures 119 and 127: one lane has both rows.
	one := func(row, chunk, f int) (int, int) { return f, row/8*16 + 4*chunk }
	// Figures 122 and 125: a pair of lanes, the second for the second half of the columns.
	pair := func(row, chunk, f int) (int, int) { return 2*f + chunk/4, row/8*16 + chunk%4*4 }
	// Figures 129 and 139: a pair of lanes, the second for row g+8.
	rows := func(row, chunk, f int) (int, int) { return 2*f + row/8, 4 * chunk }
	// Figures 136, 137, 146 and 147: all lanes.
	all := func(row, chunk, _ int) (int, int) { return row/8 + chunk/8*2, chunk % 8 * 4 }
	half, bytes, nibbles := []string{"f16", "bf16"}, []string{"s8", "u8"}, []string{"s4", "u4"}
	byteB := grouped(func(g, t, i int) cell { return cell{t*4 + i&3 + i/4*16, g} })
	nibbleB := grouped(func(g, t, i int) cell { return cell{t*8 + i&7 + i/8*32, g} })
	return []sparseForm{
		{"9.7.14.6.2.1", "m16n8k16", half, 16, 4, 4, 4,
			func(g, t, i int) (int, int) { return first(i < 2, g), t * 4 }, mmaLayouts["m16n8k16.f16"].b, one, 4},
		{"9.7.14.6.2.2", "m16n8k32", half, 32, 4, 8, 8,
			func(g, t, i int) (int, int) {
				return first(i < 2 || 4 <= i && i < 6, g), pick2(i < 4, t*4, t*4+16)
			},
			grouped(func(g, t, i int) cell { return cell{t*2 + i&1 + i/2*8, g} }), pair, 2},
		{"9.7.14.6.2.3", "m16n8k16", []string{"tf32"}, 16, 2, 4, 4,
			func(g, t, i int) (int, int) { return first(i == 0 || i == 2, g), pick2(i < 2, t*2, t*2+8) },
			grouped(func(g, t, i int) cell { return cell{t + i*4, g} }), pair, 2},
		{"9.7.14.6.2.4", "m16n8k8", []string{"tf32"}, 8, 2, 2, 2,
			func(g, t, i int) (int, int) { return first(i == 0, g), t * 2 }, mmaLayouts["m16n8k8.tf32"].b, one, 4},
		{"9.7.14.6.2.5", "m16n8k32", bytes, 32, 4, 8, 8,
			func(g, t, i int) (int, int) { return first(i < 4, g), t * 8 }, mmaLayouts["m16n8k32.s8"].b, rows, 2},
		{"9.7.14.6.2.6", "m16n8k64", []string{"s8", "u8", "e4m3", "e5m2"}, 64, 4, 16, 16,
			func(g, t, i int) (int, int) {
				return first(i < 4 || 8 <= i && i < 12, g), pick2(i < 8, t*8, t*8+32)
			}, byteB, all, 1},
		{"9.7.14.6.2.7", "m16n8k64", nibbles, 64, 8, 16, 16,
			func(g, t, i int) (int, int) { return first(i < 8, g), t * 16 }, mmaLayouts["m16n8k64.s4"].b, rows, 2},
		{"9.7.14.6.2.8", "m16n8k128", []string{"s4", "u4", "e2m1"}, 128, 8, 32, 32,
			func(g, t, i int) (int, int) {
				return first(i < 8 || 16 <= i && i < 24, g), pick2(i < 16, t*16, t*16+64)
			}, nibbleB, all, 1},
	}
}()

// sparse draws a sparse A and its metadata. Where the forms permit it, indices are in any order.
func (w *wholeProduct) sparse(r *rand.Rand, f *sparseForm, typ string, contained, ordered bool,
	selector int) *packer {
	w.pa = newPacker(container(typ, contained), f.na)
	meta := newPacker("s32", 1)
	for l := range 32 {
		meta.put(l, 0, uint64(r.Uint32()))
	}
	type spot struct{ row, chunk int }
	index := make(map[spot][2]int)
	for row := range 16 {
		for chunk := range w.k / f.chunk {
			x := r.IntN(4)
			y := (x + 1 + r.IntN(3)) % 4
			if ordered {
				x, y = min(x, y), max(x, y)
			}
			if f.chunk == 2 { // 0b0100 or 0b1110: "the only meaningful index values"
				x, y = [2]int{0, 2}[x%2], [2]int{1, 3}[x%2]
			}
			index[spot{row, chunk}] = [2]int{x, y}
			lane, bit := f.meta(row, chunk, selector)
			p := &meta.regs[row%8*4+lane]
			*p = *p&^(0xf<<bit) | uint64(y<<2|x)<<bit
		}
	}
	per := 32 / w.pa.bits
	for l := range 32 {
		for i := range f.na {
			row, first := f.a(l>>2, l%4, i)
			at := i % per // among the stored elements of the register
			chunk, e := first/f.chunk+at/(f.chunk/2), at%(f.chunk/2)
			ix := index[spot{row, chunk}]
			col := chunk * f.chunk
			switch f.chunk {
			case 2:
				col += ix[0] / 2
			case 4:
				col += ix[e]
			case 8:
				col += 2*ix[e/2] + e%2
			}
			v, x := drawElement(r, typ, contained)
			w.pa.put(l, i, v)
			w.a[row][col] = x
		}
	}
	return meta
}

// mma.sp and mma.sp::ordered_metadata of all shapes and types.
func TestMMASparse(t *testing.T) {
	r := rand.New(rand.NewPCG(145, 146))
	for _, f := range sparseForms {
		for _, a := range f.types {
			if a == "e2m1" {
				continue // block-scaled only
			}
			for n := range 24 {
				b := a
				if a != "f16" && a != "bf16" && a != "tf32" { // of any type of the same size
					for b = "e2m1"; b == "e2m1" || a[0] == 'e' != (b[0] == 'e'); {
						b = f.types[r.IntN(len(f.types))]
					}
				}
				variant := pick2(n%2 == 0, "sp", "sp::ordered_metadata")
				sum := "f32"
				switch {
				case strings.ContainsAny(a[:1], "su"):
					sum = "s32"
				case a == "f16":
					sum = pick2(n%4 < 2, "f16", "f32")
				}
				selector := r.IntN(f.selectors)
				w := &wholeProduct{k: f.k}
				meta := w.sparse(r, &f, a, false, n%2 == 1 || a[0] == 'e', selector)
				w.fill(r, b, sum, false, f.nb, f.b)
				op := fmt.Sprintf("mma.%s.sync.aligned.%s.row.col.%s.%s.%s.%s", variant, f.shape, sum, a, b, sum)
				d := newPacker(sum, 4)
				runProduct(t, op, fmt.Sprintf(", %%e0, %d", selector), d, w.pa, w.pb, w.pc, meta)
				w.check(t, op+" of "+f.section, d)
			}
		}
	}
}

// Sparse products of narrow formats, with scale factors and without.
func TestMMASparseNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(147, 148))
	bytes := slices.IndexFunc(sparseForms, func(f sparseForm) bool { return f.section == "9.7.14.6.2.6" })
	nibbles := slices.IndexFunc(sparseForms, func(f sparseForm) bool { return f.section == "9.7.14.6.2.8" })
	types := []string{"e2m1", "e2m3", "e3m2", "e4m3", "e5m2"}
	for _, sum := range []string{"f16", "f32"} {
		for _, a := range types {
			for _, b := range types {
				f := &sparseForms[bytes]
				w := &wholeProduct{k: f.k}
				meta := w.sparse(r, f, a, true, true, 0)
				w.fill(r, b, sum, true, f.nb, f.b)
				op := fmt.Sprintf("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.%s.%s.%s.%s",
					sum, a, b, sum)
				d := newPacker(sum, 4)
				runProduct(t, op, ", %e0, 0", d, w.pa, w.pb, w.pc, meta)
				w.check(t, op, d)
			}
		}
	}
	for _, form := range scaleForms {
		for range 20 {
			f, contained, a, b := &sparseForms[bytes], true, types[r.IntN(5)], types[r.IntN(5)]
			if form.kind != "mxf8f6f4" {
				f, contained, a, b = &sparseForms[nibbles], false, "e2m1", "e2m1"
			}
			w := &wholeProduct{k: f.k}
			meta := w.sparse(r, f, a, contained, true, 0)
			w.fill(r, b, "f32", contained, f.nb, f.b)
			sel := drawSelectors(r, form.vector)
			sa, sb := w.scaleFactors(r, form.typ, form.vector, sel)
			// As CUTLASS writes it: modifiers in another order, and lists of one register.
			op := fmt.Sprintf("mma.sync.aligned.kind::%s.sp::ordered_metadata.block_scale%s.%s.row.col.f32.%s.%s.f32.%s",
				form.kind, form.size, f.shape, a, b, form.typ)
			d := newPacker("f32", 4)
			runProduct(t, op, fmt.Sprintf(", {%%e0}, 0, {%%f0}, {%d, %d}, {%%g0}, {%d, %d}", sel[0], sel[1],
				sel[2], sel[3]), d, w.pa, w.pb, w.pc, meta, sa, sb)
			w.check(t, op, d)
		}
	}
}

// What the ISA leaves undefined stops the run: metadata without a meaning (9.7.14.6.1), selectors
// beyond table 37 (9.7.14.3). A scale factor that is NaN makes NaN of its row.
func TestMMAUndefined(t *testing.T) {
	const (
		sp     = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f,%f,%f,%f}, {%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
		sorted = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f,%f,%f,%f}, {%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
		tf32   = "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f,%f,%f,%f}, {%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
		fp8    = "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {%f,%f,%f,%f}, {%v,%v,%v,%v}, {%v,%v,%v,%v}, {%g,%g,%g,%g}, "
		s8     = "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%v,%v,%v,%v}, {%v,%v}, {%v,%v}, {%v,%v,%v,%v}, "
		mx     = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%f,%f,%f,%f}, {%v,%v,%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
		mx4    = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f,%f,%f,%f}, {%v,%v,%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
		nv4    = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f,%f,%f,%f}, {%v,%v,%v,%v}, {%v,%v}, {%g,%g,%g,%g}, "
	)
	for text, message := range map[string]string{
		"mov.u32 %w, 0x44443444;\n" + sp + "%w, 1;":     "",
		"mov.u32 %w, 0x44445444;\n" + sp + "%w, 1;":     "bits 12 to 15 of the metadata in lane 1 are 0b0101",
		"mov.u32 %w, 0x44441444;\n" + sp + "%w, 0;":     "",
		"mov.u32 %w, 0x44441444;\n" + sorted + "%w, 0;": "bits 12 to 15 of the metadata in lane 0 are 0b0001",
		"mov.u32 %w, 0x4444e4e4;\n" + tf32 + "%w, 3;":   "",
		"mov.u32 %w, 0x4444e494;\n" + tf32 + "%w, 3;":   "bits 4 to 7 of the metadata in lane 3 are 0b1001",
		"mov.u32 %w, 0xeeeeeeee;\n" + fp8 + "%w, 0;":    "",
		"mov.u32 %w, 0xbeeeeeee;\n" + fp8 + "%w, 0;":    "bits 28 to 31 of the metadata in lane 0 are 0b1011",
		"mov.u32 %w, 0xbeeeeeee;\n" + s8 + "%w, 1;":     "",
		"mov.u32 %w, 0xbeeeeeee;\n" + s8 + "%w, 2;":     "the sparsity selector is a constant from 0 to 1",
		"mov.u32 %w, 0xbeeeeeee;\n" + s8 + "%w, %w;":    "the sparsity selector is a constant from 0 to 1",
		"mov.u32 %w, 0xeeeeeeee;\n" + fp8 + "%w, 1;":    "the sparsity selector is a constant from 0 to 0",
		"mov.u32 %w, 0x44443444;\n" + sp + "%w, 4;":     "the sparsity selector is a constant from 0 to 3",
		mx + "%v, {3, 1}, %v, {3, 3};":                  "",
		mx + "%v, {4, 1}, %v, {3, 3};":                  "byte-id-a is 4",
		mx + "%v, {3, 2}, %v, {3, 3};":                  "thread-id-a is 2",
		mx + "%v, {3, 1}, %v, {3, 4};":                  "thread-id-b is 4",
		mx4 + "%v, {2, 1}, %v, {0, 3};":                 "",
		mx4 + "%v, {2, 1}, %v, {1, 3};":                 "byte-id-b is 1",
		nv4 + "%v, {0, 1}, %v, {2, 3};":                 "byte-id-b is 2",
		nv4 + "%v, {0, 1}, %v, {0, 2};":                 "",
		mx + "%v, {3, 1}, %v, {0};":                     "{byte-id-b, thread-id-b}",
		mx + "%v, {%t, 1}, %v, {0, 3};":                 "byte-id-a is 1 in lane 1 and 0 in lane 0",
		mx + "%v;":                                      "and 4 operands behind them",
		mx + "{%v, %v}, {3, 1}, %v, {0, 0};":            "scale-a-data",
		sp + "{%v, %v}, 1;":                             "the metadata",
	} {
		_, res, _ := start(t, kernel(t, "mov.u32 %v, 0;\nmov.f32 %f, 0f00000000;\nmov.f32 %g, 0f00000000;\n"+
			text+"\nret;"), config(1, 32, buffer("out", 128)), Options{})
		switch {
		case message == "" && res.Status != Completed:
			t.Errorf("%s: %+v", text, res.Stop)
		case message != "" && (res.Stop == nil || res.Stop.Kind != Unsupported ||
			!strings.Contains(res.Stop.Message, message)):
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
	res, _ := completed(t, kernel(t, `.reg .f32 %d<4>;
	mov.u32 %v, 0;
	mov.f32 %g, 0f3F800000;
	mov.u32 %w, 0x7f7f7f7f;
	setp.eq.u32 %c, %t, 5;
	@%c mov.u32 %w, 0x7f7fff7f;
	mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%d0,%d1,%d2,%d3}, {%v,%v,%v,%v}, {%v,%v}, {%g,%g,%g,%g}, %w, {1, 0}, %w, {0, 0};
	st.global.f32 [%p], %d2;
	ret;`), config(1, 32, buffer("out", 128)), Options{})
	// Lane 5 has the factor of row 9, of which lanes 4 to 7 have d2 and d3.
	wantWords(t, res, "out", 32, func(l int) uint32 { return pick2(l/4 == 1, uint32(0x7fffffff), 0x3f800000) })
}
