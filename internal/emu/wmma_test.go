package emu

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// matrixIn is a matrix in memory, row- or column-major with a stride in elements.
type matrixIn struct {
	rows, cols, stride int
	layout, typ        string
	value              map[cell]int
}

func (m *matrixIn) index(at cell) int {
	if m.layout == "row" {
		return at.row*m.stride + at.col
	}
	return at.col*m.stride + at.row
}

func (m *matrixIn) bytes() int {
	lines := m.rows
	if m.layout == "col" {
		lines = m.cols
	}
	return lines * m.stride * widths[m.typ] / 8
}

// put writes the matrix into memory.
func (m *matrixIn) put(b []byte) {
	n := widths[m.typ]
	for at, v := range m.value {
		bit := m.index(at) * n
		if n < 8 {
			b[bit/8] |= byte(small(m.typ, v) << (bit % 8))
			continue
		}
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], small(m.typ, v))
		copy(b[bit/8:], w[:n/8])
	}
}

func randomMatrix(r *rand.Rand, typ, layout string, rows, cols, extra int) *matrixIn {
	m := &matrixIn{rows: rows, cols: cols, layout: layout, typ: typ, value: make(map[cell]int)}
	m.stride = cols + extra
	if layout == "col" {
		m.stride = rows + extra
	}
	for i := range rows {
		for j := range cols {
			m.value[cell{i, j}] = draw(r, typ)
		}
	}
	return m
}

// wmmaRegs is how many registers a fragment has: the tables of PTX ISA 9.7.14.4.1.
func wmmaRegs(operand, typ string, m *matrixIn) int {
	switch {
	case operand != "c" && typ == "f16":
		return 8
	case operand == "c" && typ == "f16":
		return 4
	case typ == "f64" && operand == "c":
		return 2
	}
	return max(1, m.rows*m.cols*min(widths[typ], 32)/32/32)
}

// wmma loads, multiplies and stores matrices of every shape and type, of both layouts, with
// strides, in global and shared memory: D = A*B + C by the definition, every byte of A, B and C is
// read, every byte of D is written once, and nothing else is touched.
func TestWMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(105, 106))
	for _, test := range []struct {
		shapes, layoutsA, layoutsB string
		ab, acc                    string
		tail                       string
	}{
		{"16 16 16,8 32 16,32 8 16", "row col", "row col", "f16", "f32", ""},
		{"16 16 16,8 32 16,32 8 16", "row", "col", "f16", "f16", ""},
		{"16 16 16,8 32 16,32 8 16", "row col", "row col", "bf16", "f32", ""},
		{"16 16 8", "row col", "row col", "tf32", "f32", ""},
		{"16 16 16,8 32 16,32 8 16", "row col", "row col", "s8", "s32", ""},
		{"16 16 16,8 32 16,32 8 16", "row", "col", "u8", "s32", ".satfinite"},
		{"8 8 4", "row col", "row col", "f64", "f64", ""}, {"8 8 32", "row", "col", "s4", "s32", ""},
		{"8 8 32", "row", "col", "u4", "s32", ""},
		{"8 8 128", "row", "col", "b1", "s32", "xor.popc"},
		{"8 8 128", "row", "col", "b1", "s32", "and.popc"},
	} {
		for _, shape := range strings.Split(test.shapes, ",") {
			var m, n, k int
			fmt.Sscan(shape, &m, &n, &k)
			for _, la := range strings.Fields(test.layoutsA) {
				for _, lb := range strings.Fields(test.layoutsB) {
					for _, lc := range []string{"row", "col"} {
						bits := 128 * r.IntN(2) // of padding behind each row or column: rows keep their alignment
						a, b := randomMatrix(r, test.ab, la, m, k, bits/widths[test.ab]),
							randomMatrix(r, test.ab, lb, k, n, bits/widths[test.ab])
						c := randomMatrix(r, test.acc, lc, m, n, bits/widths[test.acc])
						wmmaCase(t, a, b, c, test.tail, bits != 0, r.IntN(2) == 0)
					}
				}
			}
		}
	}
}

func wmmaCase(t *testing.T, a, b, c *matrixIn, tail string, strided, shared bool) {
	t.Helper()
	shape := fmt.Sprintf("m%dn%dk%d", a.rows, b.cols, a.cols)
	mul := fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s%s", a.layout, b.layout, shape,
		c.typ, a.typ, a.typ, c.typ, tail)
	switch {
	case a.typ == "f16":
		mul = fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s.%s", a.layout, b.layout, shape, c.typ, c.typ)
	case a.typ == "b1":
		mul = fmt.Sprintf("wmma.mma.%s.sync.aligned.%s.%s.%s.s32.b1.b1.s32", tail, a.layout, b.layout,
			shape)
	}
	na, nb, nc := wmmaRegs("a", a.typ, a), wmmaRegs("b", b.typ, b), wmmaRegs("c", c.typ, c)
	stride := func(m *matrixIn) string {
		if strided {
			return fmt.Sprint(", ", m.stride)
		}
		return ""
	}
	atB := (a.bytes() + 255) &^ 255
	atC := atB + (b.bytes()+255)&^255
	space := map[bool]string{false: ".global", true: ""}[shared]
	reg := map[bool]string{false: ".b32", true: ".b64"}[a.typ == "f64"]
	text := fmt.Sprintf(".reg %s %%a<%d>, %%b<%d>, %%c<%d>;\n", reg, na, nb, nc)
	place := func(m *matrixIn, op, operand, space, base string, regs string, off int) string {
		list := fmt.Sprintf("[%s+%d], %s", base, off, regs)
		if op == "load" {
			list = fmt.Sprintf("%s, [%s+%d]", regs, base, off)
		}
		return fmt.Sprintf("wmma.%s.%s.sync.aligned.%s.%s%s.%s %s%s;\n", op, operand, m.layout, shape,
			space, m.typ, list, stride(m))
	}
	text += place(a, "load", "a", space, "%x", registers("a", na), 0) +
		place(b, "load", "b", ".global", "%x", registers("b", nb), atB) +
		place(c, "load", "c", ".global", "%x", registers("c", nc), atC)
	text += fmt.Sprintf("%s %s, %s, %s, %s;\n", mul, registers("c", nc), registers("a", na),
		registers("b", nb), registers("c", nc))
	dst := "%o"
	if shared { // through shared memory, and from there to out byte by byte
		text = fmt.Sprintf(".shared .align 32 .b8 sh[%d];\n", c.bytes()) + text
		text += "mov.u64 %r, sh;\n" + place(c, "store", "d", ".shared", "%r", registers("c", nc), 0)
		text += fmt.Sprintf(
			"setp.ne.u32 %%c, %%t, 0;\n@%%c ret;\nbar.warp.sync 1;\nmov.u32 %%u, 0;\nLOOP:\ncvt.u64.u32 %%s, %%u;\nadd.u64 %%q, %%r, %%s;\n"+
				"ld.shared.u8 %%h, [%%q];\nadd.u64 %%q, %%o, %%s;\nst.global.u8 [%%q], %%h;\nadd.u32 %%u, %%u, 1;\nsetp.lt.u32 %%d, %%u, %d;\n@%%d bra LOOP;\n", c.bytes())
	} else {
		text += place(c, "store", "d", ".global", dst, registers("c", nc), 0)
	}
	text += "ret;"
	data := make([]byte, atC+c.bytes())
	a.put(data)
	b.put(data[atB:])
	c.put(data[atC:])
	in := launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "in", Size: uint64(len(data)),
		Fill: launch.FillFile, Data: data}}
	res, rec := completed(t, kernel(t, text), config(1, 32, buffer("out", uint64(c.bytes())), in),
		Options{})
	got := make([]byte, c.bytes())
	if _, err := res.Read("out", 0, got); err != nil {
		t.Fatal(err)
	}
	d := *c
	d.value = make(map[cell]int)
	for at, sum := range c.value {
		for k := range a.cols {
			x, y := a.value[cell{at.row, k}], b.value[cell{k, at.col}]
			switch tail {
			case "xor.popc":
				sum += x ^ y
			case "and.popc":
				sum += x & y
			default:
				sum += x * y
			}
		}
		d.value[at] = sum
	}
	want := make([]byte, c.bytes())
	d.put(want)
	if string(got) != string(want) {
		t.Fatalf("%s: wrong product", text)
	}
	checkTouched(t, text, rec, [][2]any{{0, a}, {atB, b}, {atC, c}}, &d, shared)
}

// checkTouched compares the bytes that the events name with those of the matrices.
func checkTouched(t *testing.T, text string, rec *recorder, ins [][2]any, d *matrixIn,
	shared bool) {
	t.Helper()
	mark := func(b []int, at int, m *matrixIn) {
		for x := range m.value {
			first, n := m.index(x)*widths[m.typ], widths[m.typ]
			for k := first / 8; k <= (first+n-1)/8; k++ {
				b[at+k] = 1
			}
		}
	}
	var read, wrote []int
	for _, in := range ins {
		at, m := in[0].(int), in[1].(*matrixIn)
		read = append(read, make([]int, at+m.bytes()-len(read))...)
		mark(read, at, m)
	}
	wrote = make([]int, d.bytes())
	mark(wrote, 0, d)
	base := map[event.Kind]uint64{event.Read: 1 << 63, event.Write: 1 << 63}
	acc := of[access](rec)
	for _, a := range acc {
		if a.Size < 16 && a.Kind == event.Read && a.Space == event.Shared ||
			a.Space == event.Global && a.Kind == event.Write && shared {
			continue // the copy
		}
		for l := range 32 {
			if a.Mask>>l&1 == 1 {
				base[a.Kind] = min(base[a.Kind], a.Addr[l])
			}
		}
	}
	gotR, gotW := make([]int, len(read)), make([]int, len(wrote))
	for _, a := range acc {
		if a.Space == event.Shared && a.Kind == event.Read ||
			shared && a.Space == event.Global && a.Kind == event.Write {
			continue
		}
		if a.Order != event.Weak {
			t.Fatalf("%s: an access of order %v; wmma is weak", text, a.Order)
		}
		for l := range 32 {
			if a.Mask>>l&1 == 0 {
				continue
			}
			for k := range int(a.Size) {
				at := int(a.Addr[l]-base[a.Kind]) + k
				switch {
				case a.Kind == event.Read:
					gotR[at] = 1
				default:
					gotW[at]++
				}
			}
		}
	}
	for i := range read {
		if read[i] != gotR[i] {
			t.Fatalf("%s: byte %d of the input: read %d, want %d", text, i, gotR[i], read[i])
		}
	}
	for i := range wrote {
		if wrote[i] != gotW[i] {
			t.Fatalf("%s: byte %d of the result: written %d times, want %d", text, i, gotW[i], wrote[i])
		}
	}
}

// rowsKernel fills shared memory with the half-words 0, 1, 2, ... and gives row t of the matrices
// the address 48*((5t) mod 32) in %u.
const rowsKernel = `.shared .align 16 .b8 sh[1536];
	.reg .b32 %r<4>, %a;
	mov.u64 %r, sh;
	mov.u32 %u, 0;
FILL:
	mad.lo.u32 %v, %u, 32, %t;
	shl.b32 %w, %v, 1;
	cvt.u16.u32 %h, %v;
	st.shared.u16 [%w], %h;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 24;
	@%c bra FILL;
	bar.sync 0;
	mul.lo.u32 %u, %t, 5;
	and.b32 %u, %u, 31;
	mul.lo.u32 %u, %u, 48;
	shl.b32 %v, %t, 4;
	cvt.u64.u32 %q, %v;
	add.u64 %q, %q, %o;
`

// rowAt is the address of row t there.
func rowAt(t int) int { return 48 * (5 * t % 32) }

func rowOptions(n int, trans bool) string {
	s := fmt.Sprintf(".x%d", n)
	if trans {
		s += ".trans"
	}
	return s
}

// ldmatrix: figure 104 of PTX ISA 9.7.14.5.15 says that register i of lane l holds row l/4,
// elements 2(l%4) and 2(l%4)+1 of matrix i, whose rows are at the addresses of lanes 8i to 8i+7;
// .trans takes columns for rows.
func TestLdmatrix(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []bool{false, true} {
			for _, space := range []string{".shared", ".shared::cta", ""} {
				addr := "[%u]"
				text := rowsKernel
				if space == "" {
					text += "mov.u64 %r, sh;\ncvta.shared.u64 %r, %r;\ncvt.u64.u32 %s, %u;\nadd.u64 %r, %r, %s;\n"
					addr = "[%r]"
				}
				text += fmt.Sprintf("ldmatrix.sync.aligned.m8n8%s%s.b16 %s, %s;\n", rowOptions(n, trans), space,
					registers("r", n), addr)
				for i := range n {
					text += fmt.Sprintf("st.global.u32 [%%q+%d], %%r%d;\n", 4*i, i)
				}
				res, rec := completed(t, kernel(t, text+"ret;"), config(1, 32, buffer("out", 512)), Options{})
				for l := range 32 {
					for i := range n {
						half := func(j int) uint32 {
							row, col := l/4, 2*(l%4)+j
							if trans {
								row, col = col, row
							}
							return uint32(rowAt(8*i+row)/2 + col)
						}
						got := words(t, res, "out", 128)[4*l+i]
						if want := half(0) | half(1)<<16; got != want {
							t.Fatalf("x%d trans %v: lane %d r%d = %#x, want %#x", n, trans, l, i, got, want)
						}
					}
				}
				var as []access
				for _, a := range of[access](rec) {
					if a.Kind == event.Read && a.Space == event.Shared {
						as = append(as, a)
					}
				}
				if len(as) != 1 || as[0].Mask != full>>(32-8*n) || as[0].Size != 16 ||
					as[0].Order != event.Weak {
					t.Fatalf("x%d: accesses %+v", n, as)
				}
				for l := range 8 * n {
					if as[0].Addr[l] != uint64(rowAt(l)) {
						t.Fatalf("x%d: lane %d reads at %d, want %d", n, l, as[0].Addr[l], rowAt(l))
					}
				}
			}
		}
	}
}

// stmatrix is the inverse of ldmatrix (PTX ISA 9.7.14.5.16).
func TestStmatrix(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []bool{false, true} {
			text := rowsKernel
			for i := range n { // element j of register i of lane l is 1000*i + 2*l + j
				text += fmt.Sprintf(
					"mad.lo.u32 %%r%d, %%t, 2, %d;\nadd.u32 %%a, %%r%d, 1;\nshl.b32 %%a, %%a, 16;\nor.b32 %%r%d, %%r%d, %%a;\n", i, 1000*i, i, i, i)
			}
			text += fmt.Sprintf("stmatrix.sync.aligned.m8n8%s.shared.b16 [%%u], %s;\nret;",
				rowOptions(n, trans), registers("r", n))
			_, rec := completed(t, kernel(t, text), config(1, 32, buffer("out", 512)), Options{})
			var as []access
			for _, a := range of[access](rec) {
				if a.Size == 16 {
					as = append(as, a)
				}
			}
			if len(as) != 1 || as[0].Kind != event.Write || as[0].Mask != full>>(32-8*n) ||
				as[0].Stored != as[0].Mask {
				t.Fatalf("x%d: accesses %+v", n, as)
			}
			for l := range 8 * n {
				if as[0].Addr[l] != uint64(rowAt(l)) {
					t.Fatalf("x%d: lane %d writes at %d, want %d", n, l, as[0].Addr[l], rowAt(l))
				}
				for col := range 8 {
					r, c := l%8, col
					if trans {
						r, c = c, r
					}
					want := uint64(1000*(l/8) + 2*(4*r+c/2) + c%2)
					if got := as[0].Data[col/4][l] >> (16 * (col % 4)) & 0xffff; got != want {
						t.Fatalf("x%d trans %v: row %d col %d = %d, want %d", n, trans, l, col, got, want)
					}
				}
			}
		}
	}
}

// movmatrix transposes (PTX ISA 9.7.14.5.17).
func TestMovmatrix(t *testing.T) {
	res, _ := completed(t, kernel(t, `
	shl.b32 %v, %t, 1;
	add.u32 %w, %v, 1;
	shl.b32 %w, %w, 16;
	or.b32 %v, %v, %w;
	movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;
	st.global.u32 [%p], %v;
	ret;`), config(1, 32, buffer("out", 128)), Options{})
	wantWords(t, res, "out", 32, func(l int) uint32 {
		at := func(row, col int) uint32 { return uint32(8*row + col) }
		return at(2*(l%4), l/4) | at(2*(l%4)+1, l/4)<<16
	})
}

// Forms that the ISA leaves undefined, or that this package does not execute, stop with the reason.
func TestMatrixUnsupported(t *testing.T) {
	for text, message := range map[string]string{
		"mma.sync.aligned.m16n8k8.row.row.f16.f16.f16.f16 {%v,%v}, {%v,%v}, {%v}, {%v,%v};": "the layouts of this shape are .row.col",
		"wgmma.fence.sync;":      "wgmma.fence.sync is not supported",
		"tcgen05.wait::ld.sync;": ".sync and .aligned expected",
		"tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;": "which is not in a cluster",
		"ldmatrix.sync.aligned.m8n8.x1.b16 {%v}, [%o];":              "needs an address of shared memory",
	} {
		_, res,
			_ := start(t,
			kernel(t, "mov.u32 %u, 0;\nmov.u32 %v, 0;\nmov.f32 %f, 0f00000000;\n"+text+"\nret;"),
			config(1, 32, buffer("out", 128)), Options{})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
	// A block of fewer threads than a warp has.
	_, res, _ := start(t, kernel(t, "movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;\nret;"),
		config(1, 16, buffer("out", 128)), Options{})
	if res.Stop == nil || res.Stop.Kind != Unsupported ||
		!strings.Contains(res.Stop.Message, "all 32 threads") {
		t.Errorf("16 threads: %+v", res.Stop)
	}
	// "or if any thread in the warp has exited": 9.7.14.5.15.
	_, res,
		rec := start(t,
		kernel(t,
			"setp.gt.u32 %c, %t, 29;\n@%c exit;\nmovmatrix.sync.aligned.m8n8.trans.b16 %v, %v;\nret;"),
		config(1, 32, buffer("out", 128)), Options{})
	if st := of[event.Stall](rec); res.Status != Stalled || len(st) != 1 ||
		st[0].Waiting[0].Mask != 0x3fffffff || st[0].Exited[0].Mask != 0xc0000000 {
		t.Errorf("two threads have exited: status %d, %+v", res.Status, st)
	}
	// If some lanes take another path, the others wait forever.
	_, res, _ = start(t, kernel(t, `setp.gt.u32 %c, %t, 29;
	@%c bra OTHER;
	movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;
	bra END;
OTHER:
	movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;
END:
	ret;`), config(1, 32, buffer("out", 128)), Options{})
	if res.Status != Stalled {
		t.Errorf("in both branches: status %d", res.Status)
	}
}

// Unknown values flow through a product to all lanes, and must not be needed as addresses.
func TestMatrixUnknown(t *testing.T) {
	const mma = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%v, %w}, {%v}, {%z}, {%v, %w};\n"
	for text, message := range map[string]string{
		"ld.global.u32 %z, [%x];\nmov.u32 %v, 0;\nmov.u32 %w, 0;\n" + mma +
			"setp.eq.u32 %c, %w, 0;\n@%c trap;": "the contents of in",
		"ld.global.u32 %u, [%x];\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%u];":                       "the address of this read depends on the contents of in",
		"ld.global.u32 %u, [%x];\nwmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%v}, [%x], %u;":             "the address of this read depends on the contents of in",
		"wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%v}, [%x];\nsetp.eq.u32 %c, %v, 0;\n@%c trap;":       "the contents of in",
		"wmma.load.a.sync.aligned.col.m16n16k16.global.s8 {%v, %w}, [%x];\nsetp.eq.u32 %c, %w, 0;\n@%c trap;": "the contents of in",
	} {
		cfg := config(1, 32, buffer("out", 4096), unknownBuffer())
		_, res, _ := start(t, kernel(t, ".shared .align 16 .b8 sh[256];\n"+text+"\nret;"), cfg, Options{})
		if s := res.Stop; s == nil || s.Kind != DependsOnInput || !strings.Contains(s.Message, message) {
			t.Errorf("%s: %+v", text, s)
		}
	}
	// Zero times unknown is treated as unknown; values that are only stored do not stop the run.
	res,
		_ := completed(t,
		kernel(t,
			"ld.global.u32 %z, [%x];\nmov.u32 %v, 0;\nmov.u32 %w, 0;\n"+mma+
				"st.global.u32 [%p], %w;\nret;"),
		config(1, 32, buffer("out", 4096), unknownBuffer()), Options{})
	if res.Status != Completed {
		t.Errorf("status %d", res.Status)
	}
}

// Instructions that are not executed, in the forms of the ISA text: each is read without an error
// and stops the run as unsupported, by its name. None is skipped in silence.
func TestUnsupportedInstructions(t *testing.T) {
	b, err := os.ReadFile("testdata/unsupported.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		k := moduleText(t,
			".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 x) {\n"+
				".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"+text+
				"\nret;\n}")
		_, res, _ := start(t, k, config(1, 32, buffer("out", 64)), Options{})
		opcode, _, _ := strings.Cut(strings.TrimSuffix(text, ";"), " ")
		if res.Stop == nil || res.Stop.Kind != Unsupported ||
			!strings.HasPrefix(res.Stop.Message, opcode+" is not supported") {
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
}

// Blocks that run ahead on other cores do the same: events and memory of one worker and of several
// agree.
func TestMatrixParallel(t *testing.T) {
	k := kernel(t, `.reg .b32 %a<4>, %c<8>;
	.shared .align 16 .b8 sh[512];
	mov.u64 %q, sh;
	shl.b32 %u, %t, 4;
	st.shared.v4.u32 [%u], {%i, %t, %i, %t};
	bar.sync 0;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%u];
	wmma.load.c.sync.aligned.row.m16n16k8.global.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%x];
	wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, {%a0, %a1, %a2, %a3}, {%a0, %a1, %a2, %a3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};
	mad.wide.u32 %r, %b, 1024, %o;
	wmma.store.d.sync.aligned.col.m16n16k8.global.f32 [%r], {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};
	ret;`)
	const blocks = 40
	run := func(workers int) ([]uint32, []access) {
		in := launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "in", Size: 1024,
			Fill: launch.FillRandom, Seed: 5}}
		res, rec := completed(t, k, config(blocks, 32, buffer("out", 1024*blocks), in),
			Options{Workers: workers})
		return words(t, res, "out", 256*blocks), of[access](rec)
	}
	w1, e1 := run(1)
	w4, e4 := run(4)
	if !slices.Equal(w1, w4) || !slices.Equal(e1, e4) || len(e1) != blocks*(1+1+2+8) {
		t.Errorf("one worker and four differ: %d and %d accesses", len(e1), len(e4))
	}
}
