package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/launch"
)

// place is an element's row and column.
type cell struct{ row, col int }

// The fragment layouts of mma, each written as the ISA text has it: group is groupID, tid
// threadID_in_group.
type mmaLayout struct {
	section    string
	a, b, c    func(lane, i int) cell
	na, nb, nc int // elements of a lane
}

func grouped(f func(group, tid, i int) cell) func(int, int) cell {
	return func(lane, i int) cell { return f(lane>>2, lane%4, i) }
}

func pick2[T any](c bool, a, b T) T {
	if c {
		return a
	}
	return b
}

var (
	c2 = grouped(func(g, t, i int) cell { return cell{g, t*2 + i&1} })
	c4 = grouped(func(g, t, i int) cell { return cell{pick2(i < 2, g, g+8), t*2 + i&1} })
)

var mmaLayouts = map[string]mmaLayout{
	"m8n8k4.f64": {"9.7.14.5.2", grouped(func(g, t, _ int) cell { return cell{g, t} }),
		grouped(func(g, t, _ int) cell { return cell{t, g} }), c2, 1, 1, 2},
	"m8n8k16.s8": {"9.7.14.5.3", grouped(func(g, t, i int) cell { return cell{g, t*4 + i} }),
		grouped(func(g, t, i int) cell { return cell{t*4 + i, g} }), c2, 4, 4, 2},
	"m8n8k32.s4": {"9.7.14.5.4", grouped(func(g, t, i int) cell { return cell{g, t*8 + i} }),
		grouped(func(g, t, i int) cell { return cell{t*8 + i, g} }), c2, 8, 8, 2},
	"m8n8k128.b1": {"9.7.14.5.5", grouped(func(g, t, i int) cell { return cell{g, t*32 + i} }),
		grouped(func(g, t, i int) cell { return cell{t*32 + i, g} }),
		c2, 32, 32, 2},
	"m16n8k4.tf32": {"9.7.14.5.6", grouped(func(g, t, i int) cell { return cell{g + 8*i, t} }),
		grouped(func(g, t, _ int) cell { return cell{t, g} }), c4, 2, 1, 4},
	"m16n8k4.f64": {"9.7.14.5.6", grouped(func(g, t, i int) cell { return cell{g + 8*i, t} }),
		grouped(func(g, t, _ int) cell { return cell{t, g} }), c4, 2, 1, 4},
	"m16n8k8.f16": {"9.7.14.5.7",
		grouped(func(g, t, i int) cell { return cell{pick2(i < 2, g, g+8), t*2 + i&1} }),
		grouped(func(g, t, i int) cell { return cell{t*2 + i, g} }), c4, 4, 2, 4},
	"m16n8k8.tf32": {"9.7.14.5.7",
		grouped(
			func(g, t, i int) cell { return cell{pick2(i == 0 || i == 2, g, g+8), pick2(i < 2, t, t+4)} }),
		grouped(func(g, t, i int) cell { return cell{pick2(i == 0, t, t+4), g} }), c4, 4, 2, 4},
	"m16n8k16.f16": {"9.7.14.5.8", grouped(func(g, t, i int) cell {
		return cell{pick2(i < 2 || 4 <= i && i < 6, g, g+8), pick2(i < 4, t*2+i&1, t*2+i&1+8)}
	}), grouped(func(g, t, i int) cell { return cell{pick2(i < 2, t*2+i&1, t*2+i&1+8), g} }), c4, 8, 4,
		4},
	"m16n8k16.f64": {"9.7.14.5.8",
		grouped(
			func(g, t, i int) cell {
				return cell{pick2(i%2 == 0, g, g+8),
					pick2(i%2 == 0, i*2+t, i*2-2+t)}
			}),
		grouped(func(g, t, i int) cell { return cell{t + i*4, g} }), c4, 8, 4, 4},
	"m16n8k16.s8": {"9.7.14.5.9",
		grouped(func(g, t, i int) cell { return cell{pick2(i < 4, g, g+8), t*4 + i&3} }),
		grouped(func(g, t, i int) cell { return cell{t*4 + i, g} }), c4, 8, 4, 4},
	"m16n8k32.s4": {"9.7.14.5.10",
		grouped(func(g, t, i int) cell { return cell{pick2(i < 8, g, g+8), t*8 + i&7} }),
		grouped(func(g, t, i int) cell { return cell{t*8 + i&7, g} }), c4, 16, 8, 4},
	"m16n8k32.s8": {"9.7.14.5.10", grouped(func(g, t, i int) cell {
		return cell{pick2(i < 4 || 8 <= i && i < 12, g, g+8), pick2(i < 8, t*4+i&3, t*4+i&3+16)}
	}), grouped(func(g, t, i int) cell { return cell{pick2(i < 4, t*4+i&3, t*4+i&3+16), g} }), c4, 16,
		8, 4},
	"m16n8k64.s4": {"9.7.14.5.11", grouped(func(g, t, i int) cell {
		return cell{pick2(i < 8 || 16 <= i && i < 24, g, g+8), pick2(i < 16, t*8+i&7, t*8+i&7+32)}
	}), grouped(func(g, t, i int) cell { return cell{pick2(i < 8, t*8+i&7, t*8+i&7+32), g} }), c4, 32,
		16, 4},
	"m16n8k128.b1": {"9.7.14.5.12",
		grouped(func(g, t, i int) cell { return cell{pick2(i < 32, g, g+8), t*32 + i&31} }),
		grouped(func(g, t, i int) cell { return cell{t*32 + i, g} }), c4, 64, 32, 4},
	"m16n8k256.b1": {"9.7.14.5.13", grouped(func(g, t, i int) cell {
		return cell{pick2(i < 32 || 64 <= i && i < 96, g, g+8), pick2(i < 64, t*32+i&31, t*32+i&31+128)}
	}), grouped(func(g, t, i int) cell { return cell{pick2(i < 32, t*32+i&31, t*32+i&31+128), g} }),
		c4, 128, 64, 4},
}

// small are the bits of the integer v, of few bits, in a type: all types hold it exactly.
func small(typ string, v int) uint64 {
	f := math.Float32bits(float32(v))
	switch typ {
	case "f64":
		return math.Float64bits(float64(v))
	case "f32", "tf32":
		return uint64(f)
	case "bf16":
		return uint64(f >> 16)
	case "f16", "e4m3", "e5m2":
		prec, bias := map[string]int{"f16": 10, "e4m3": 3, "e5m2": 2}[typ],
			map[string]int{"f16": 15, "e4m3": 7, "e5m2": 15}[typ]
		width := map[string]int{"f16": 16, "e4m3": 8, "e5m2": 8}[typ]
		sign := uint64(f>>31) << (width - 1)
		if v == 0 {
			return 0
		}
		exp := int(f>>23&0xff) - 127 + bias
		return sign | uint64(exp)<<prec | uint64(f&0x7fffff)>>(23-prec)
	}
	n := widths[typ]
	return uint64(v) & (1<<n - 1)
}

var widths = map[string]int{"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "bf16": 16, "f16": 16,
	"e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}

// limits of random elements, so that every product and sum is exact in every type.
func draw(r *rand.Rand, typ string) int {
	switch typ {
	case "u4", "u8":
		return r.IntN(16)
	case "b1":
		return r.IntN(2)
	case "s4":
		return r.IntN(16) - 8
	}
	return r.IntN(7) - 3
}

// packer builds the registers of the lanes, 64 bits each in the kernel's input.
type packer struct {
	regs []uint64 // by register, then lane
	bits int
	size int
}

func newPacker(typ string, elems int) *packer {
	w := widths[typ]
	size := max(w, 32)
	return &packer{make([]uint64, 32*(elems*w/size)), w, size}
}

func (p *packer) put(lane, i int, v uint64) {
	per := p.size / p.bits
	p.regs[i/per*32+lane] |= v << (i % per * p.bits)
}

func (p *packer) get(lane, i int) uint64 {
	per := p.size / p.bits
	v := p.regs[i/per*32+lane] >> (i % per * p.bits)
	if p.bits < 64 {
		v &= 1<<p.bits - 1
	}
	return v
}

func (p *packer) count() int { return len(p.regs) / 32 }

// registers names n registers of a prefix.
func registers(prefix string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%%%s%d", prefix, i))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// mmaKernel executes op on registers that it loads from x and stores D to out: register k of lane l
// is at 8*(32*k+l). Operands behind C, which tail has, are in the registers %e0, %f0 and so on.
func mmaKernel(t *testing.T, op, tail string, d *packer, in ...*packer) *ir.Func {
	var s strings.Builder
	at := 0
	s.WriteString("mad.wide.u32 %p, %i, 8, %o;\nmad.wide.u32 %q, %i, 8, %x;\n")
	for i, o := range append([]*packer{d}, in...) {
		prefix := "dabcefghjk"[i : i+1]
		fmt.Fprintf(&s, ".reg .b%d %%%s<%d>;\n", o.size, prefix, o.count())
		for k := range o.count() {
			if i > 0 {
				fmt.Fprintf(&s, "ld.global.b%d %%%s%d, [%%q+%d];\n", o.size, prefix, k, 256*at)
				at++
			}
		}
	}
	fmt.Fprintf(&s, "%s %s, %s, %s, %s%s;\n", op, registers("d", d.count()),
		registers("a", in[0].count()), registers("b", in[1].count()), registers("c", in[2].count()), tail)
	for k := range d.count() {
		fmt.Fprintf(&s, "st.global.b%d [%%p+%d], %%d%d;\n", d.size, 256*k, k)
	}
	s.WriteString("ret;")
	return kernel(t, s.String())
}

// runMMA computes the registers of D.
func runMMA(t *testing.T, op string, d, a, b, c *packer) {
	t.Helper()
	runProduct(t, op, "", d, a, b, c)
}

// mmaInput is the argument with the registers of all lanes.
func mmaInput(in []*packer) launch.Arg {
	var data []byte
	for _, o := range in {
		for _, v := range o.regs {
			data = binary.LittleEndian.AppendUint64(data, v)
		}
	}
	return launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "in", Size: uint64(len(data)),
		Fill: launch.FillFile, Data: data}}
}

// runProduct is runMMA with operands behind C.
func runProduct(t *testing.T, op, tail string, d *packer, in ...*packer) {
	t.Helper()
	k := mmaKernel(t, op, tail, d, in...)
	res, _ := completed(t, k, config(1, 32, buffer("out", uint64(8*len(d.regs))), mmaInput(in)), Options{})
	out := make([]byte, 8*len(d.regs))
	if _, err := res.Read("out", 0, out); err != nil {
		t.Fatal(err)
	}
	for i := range d.regs {
		d.regs[i] = binary.LittleEndian.Uint64(out[8*i:])
	}
}

// Products of small integers, exact in every type, against the definition D = A*B + C with the
// layouts of the ISA text.
func TestMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(101, 102))
	for _, test := range []struct {
		shape, layout string // key of mmaLayouts: shape.layout
		types         [4]string
		tail          string
	}{
		{"m8n8k4", "f64", [4]string{"f64", "f64", "f64", "f64"}, ""},
		{"m16n8k4", "f64", [4]string{"f64", "f64", "f64", "f64"}, ""},
		// of the layout of .tf32, as the text says
		{"m16n8k8", "tf32", [4]string{"f64", "f64", "f64", "f64"}, ""},
		{"m16n8k16", "f64", [4]string{"f64", "f64", "f64", "f64"}, ""},
		{"m8n8k16", "s8", [4]string{"s32", "s8", "s8", "s32"}, ""},
		{"m8n8k16", "s8", [4]string{"s32", "u8", "s8", "s32"}, ""},
		{"m8n8k32", "s4", [4]string{"s32", "s4", "u4", "s32"}, ""},
		{"m8n8k128", "b1", [4]string{"s32", "b1", "b1", "s32"}, ".xor.popc"},
		{"m8n8k128", "b1", [4]string{"s32", "b1", "b1", "s32"}, ".and.popc"},
		{"m16n8k4", "tf32", [4]string{"f32", "tf32", "tf32", "f32"}, ""},
		{"m16n8k8", "tf32", [4]string{"f32", "tf32", "tf32", "f32"}, ""},
		{"m16n8k8", "f16", [4]string{"f16", "f16", "f16", "f16"}, ""},
		{"m16n8k8", "f16", [4]string{"f32", "f16", "f16", "f32"}, ""},
		{"m16n8k8", "f16", [4]string{"f32", "bf16", "bf16", "f32"}, ""},
		{"m16n8k16", "f16", [4]string{"f16", "f16", "f16", "f16"}, ""},
		{"m16n8k16", "f16", [4]string{"f32", "f16", "f16", "f32"}, ""},
		{"m16n8k16", "f16", [4]string{"f32", "bf16", "bf16", "f32"}, ""},
		{"m16n8k16", "s8", [4]string{"s32", "s8", "u8", "s32"}, ""},
		{"m16n8k16", "s8", [4]string{"f32", "e4m3", "e5m2", "f32"}, ""},
		{"m16n8k16", "s8", [4]string{"f16", "e5m2", "e4m3", "f16"}, ""},
		{"m16n8k32", "s4", [4]string{"s32", "u4", "s4", "s32"}, ""},
		{"m16n8k32", "s8", [4]string{"s32", "s8", "s8", "s32"}, ""},
		{"m16n8k32", "s8", [4]string{"f32", "e5m2", "e4m3", "f32"}, ""},
		{"m16n8k32", "s8", [4]string{"f16", "e4m3", "e4m3", "f16"}, ""},
		{"m16n8k64", "s4", [4]string{"s32", "s4", "s4", "s32"}, ""},
		{"m16n8k128", "b1", [4]string{"s32", "b1", "b1", "s32"}, ".and.popc"},
		{"m16n8k256", "b1", [4]string{"s32", "b1", "b1", "s32"}, ".xor.popc"},
	} {
		lay := mmaLayouts[test.shape+"."+test.layout]
		op := "mma.sync.aligned." + test.shape + ".row.col." + strings.Join(test.types[:], ".") +
			test.tail
		a, b, c, d := newPacker(test.types[1], lay.na), newPacker(test.types[2], lay.nb),
			newPacker(test.types[3], lay.nc), newPacker(test.types[0], lay.nc)
		av, bv, cv := make(map[cell]int), make(map[cell]int), make(map[cell]int)
		fill := func(p *packer, typ string, at func(int, int) cell, n int, v map[cell]int) {
			for l := range 32 {
				for i := range n {
					x := at(l, i)
					if _, ok := v[x]; ok {
						t.Fatalf("%s: %v is twice in the layout", op, x)
					}
					v[x] = draw(r, typ)
					p.put(l, i, small(typ, v[x]))
				}
			}
		}
		fill(a, test.types[1], lay.a, lay.na, av)
		fill(b, test.types[2], lay.b, lay.nb, bv)
		fill(c, test.types[3], lay.c, lay.nc, cv)
		runMMA(t, op, d, a, b, c)
		for l := range 32 {
			for i := range lay.nc {
				at := lay.c(l, i)
				sum := cv[at]
				for k := 0; ; k++ {
					x, ok := av[cell{at.row, k}]
					if !ok {
						break
					}
					y := bv[cell{k, at.col}]
					switch test.tail {
					case ".xor.popc":
						sum += x ^ y
					case ".and.popc":
						sum += x & y
					default:
						sum += x * y
					}
				}
				if got, want := d.get(l, i), small(test.types[0], sum); got != want {
					t.Fatalf("%s (PTX ISA %s): lane %d d%d = %#x, want %#x (%d)", op, lay.section, l, i, got, want,
						sum)
				}
			}
		}
	}
}

// PTX ISA 9.7.14.5.1: four products of quad pairs.
func TestMMAQuadPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(103, 104))
	for _, layouts := range []string{"row.row", "row.col", "col.row", "col.col"} {
		for _, dc := range [][2]string{{"f16", "f16"}, {"f32", "f16"}, {"f32", "f32"}} {
			types := [4]string{dc[0], "f16", "f16", dc[1]}
			op := "mma.sync.aligned.m8n8k4." + layouts + "." + strings.Join(types[:], ".")
			low := func(l int) bool { return l < 16 }
			aAt := func(l, i int) cell { return cell{pick2(low(l), l%4, l%4+4), i} }
			if strings.HasPrefix(layouts, "col") {
				aAt = func(l, i int) cell { return cell{pick2(low(l), i%4, i%4+4), l % 4} }
			}
			bAt := func(l, i int) cell { return cell{l % 4, pick2(low(l), i, i+4)} }
			if strings.HasSuffix(layouts, "col") {
				bAt = func(l, i int) cell { return cell{i, pick2(low(l), l%4, l%4+4)} }
			}
			acc := func(typ string) func(l, i int) cell {
				if typ == "f16" {
					return func(l, i int) cell { return cell{pick2(low(l), l%4, l%4+4), i} }
				}
				return func(l, i int) cell {
					x := l&0b1 + i&0b10
					return cell{pick2(low(l), x, x+4), i&0b100 + l&0b10 + i&0b1}
				}
			}
			group := func(l int) int { return l % 16 / 4 }
			a, b, c, d := newPacker("f16", 4), newPacker("f16", 4), newPacker(dc[1], 8), newPacker(dc[0], 8)
			var av, bv, cv [4]map[cell]int
			for g := range 4 {
				av[g], bv[g], cv[g] = make(map[cell]int), make(map[cell]int), make(map[cell]int)
			}
			for l := range 32 {
				for i := range 4 {
					v, w := draw(r, "f16"), draw(r, "f16")
					av[group(l)][aAt(l, i)], bv[group(l)][bAt(l, i)] = v, w
					a.put(l, i, small("f16", v))
					b.put(l, i, small("f16", w))
				}
				for i := range 8 {
					v := draw(r, "f16")
					cv[group(l)][acc(dc[1])(l, i)] = v
					c.put(l, i, small(dc[1], v))
				}
			}
			runMMA(t, op, d, a, b, c)
			for l := range 32 {
				for i := range 8 {
					at, g := acc(dc[0])(l, i), group(l)
					sum := cv[g][at]
					for k := range 4 {
						sum += av[g][cell{at.row, k}] * bv[g][cell{k, at.col}]
					}
					if got, want := d.get(l, i), small(dc[0], sum); got != want {
						t.Fatalf("%s: lane %d d%d = %#x, want %#x", op, l, i, got, want)
					}
				}
			}
		}
	}
}

// Overflow wraps, or is limited by .satfinite (PTX ISA 9.7.14.5.14); the sum is limited, not its
// terms.
func TestMMAOverflow(t *testing.T) {
	for _, test := range []struct {
		mod     string
		a, b    uint64 // the first column of A and row of B; the rest is zero
		c, want uint32
	}{
		{"", 0x7f, 0x7f, math.MaxInt32, 0x80003f00}, // 2^31-1 + 127*127, wrapped
		{".satfinite", 0x7f, 0x7f, math.MaxInt32, math.MaxInt32},
		{".satfinite", 0x80, 0x7f, 1 << 31, 1 << 31},
		{".satfinite", 0x80, 0x7f, math.MaxInt32, math.MaxInt32 - 128*127},
	} {
		a, b, c, d := newPacker("s8", 4), newPacker("s8", 4), newPacker("s32", 2), newPacker("s32", 2)
		for l := range 32 {
			for i := range 4 {
				av, bv := uint64(0), uint64(0)
				if i == 0 && l%4 == 0 {
					av, bv = test.a, test.b
				}
				a.put(l, i, av)
				b.put(l, i, bv)
			}
			for i := range 2 {
				c.put(l, i, uint64(test.c))
			}
		}
		runMMA(t, "mma.sync.aligned.m8n8k16.row.col"+test.mod+".s32.s8.s8.s32", d, a, b, c)
		if got := uint32(d.get(5, 1)); got != test.want {
			t.Errorf("%q %#x*%#x+%#x = %#x, want %#x", test.mod, test.a, test.b, test.c, got, test.want)
		}
	}
}

// .f64 is a chain of fused multiply-adds (PTX ISA 9.7.14.5.14): 2^-53 added to 1 is lost when
// rounded to nearest, four times, and is not with .rp.
func TestMMADoubleRounding(t *testing.T) {
	for mod, want := range map[string]float64{"": 1, ".rn": 1, ".rz": 1, ".rm": 1,
		".rp": 1 + 4*0x1p-52} {
		a, b, c, d := newPacker("f64", 1), newPacker("f64", 1), newPacker("f64", 2), newPacker("f64", 2)
		for l := range 32 {
			a.put(l, 0, math.Float64bits(0x1p-53))
			b.put(l, 0, math.Float64bits(1))
			c.put(l, 0, math.Float64bits(1))
			c.put(l, 1, math.Float64bits(1))
		}
		runMMA(t, "mma.sync.aligned.m8n8k4.row.col"+mod+".f64.f64.f64.f64", d, a, b, c)
		if got := math.Float64frombits(d.get(7, 0)); got != want {
			t.Errorf("%q: 1 + %g", mod, got-1)
		}
	}
}

// Nanoseconds for a product of one warp.
func BenchmarkMMA(b *testing.B) {
	for _, op := range []string{
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s0,%s1,%s2,%s3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%s0,%s1,%s2,%s3};",
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%r6];",
	} {
		k := kernel(b, `.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .b32 %s<4>;
	.shared .align 16 .b8 sh[512];
	mov.u64 %q, sh;
	shl.b32 %r6, %t, 4;
	mov.u32 %u, 0;
LOOP:
	`+op+`
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 1000;
	@%c bra LOOP;
	ret;`)
		b.Run(op[:strings.IndexByte(op, ' ')], func(b *testing.B) {
			m, err := New(k, config(1, 32, buffer("out", 128)))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if res, err := m.Run(b.Context(), Options{}, nil); err != nil || res.Status != Completed {
					b.Fatal(err, res.Stop)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/instr")
		})
	}
}
