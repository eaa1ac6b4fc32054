package emu

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/event"
)

// Atomics on 16-bit types, pairs, vectors and 128 bits: PTX ISA 9.7.13.5. The kernel's one thread
// finds memory words init at out and operands in registers; want are the words afterwards, got
// those that are returned.
func TestWideAtomics(t *testing.T) {
	const h1, h2, h3, hn2 = 0x3c00, 0x4000, 0x4200, 0xc000 // 1, 2, 3, -2 in .f16
	const b1, b2, b3 = 0x3f80, 0x4000, 0x4040              // 1, 2, 3 in .bf16
	for _, test := range []struct {
		op        string
		regs      string // type of the registers
		n         int    // of each operand
		operands  [][]uint64
		init      []uint32
		want, got []uint32
		elem      uint8
	}{
		{"add.noftz.f16", "b16", 1, [][]uint64{{h2}}, []uint32{h1 | 7<<16}, []uint32{h3 | 7<<16},
			[]uint32{h1}, 2},
		{"add.noftz.bf16", "b16", 1, [][]uint64{{b2}}, []uint32{b1}, []uint32{b3}, []uint32{b1}, 2},
		// Subnormal numbers are kept: 2^-24 + 2^-24.
		{"add.noftz.f16x2", "b32", 1, [][]uint64{{1 | h2<<16}}, []uint32{1 | h1<<16},
			[]uint32{2 | h3<<16}, []uint32{1 | h1<<16}, 2},
		{"add.noftz.bf16x2", "b32", 1, [][]uint64{{b1 | b2<<16}}, []uint32{b2 | b1<<16},
			[]uint32{b3 | b3<<16}, []uint32{b2 | b1<<16}, 2},
		{"cas.b16", "b16", 1, [][]uint64{{5}, {6}}, []uint32{5 | 5<<16}, []uint32{6 | 5<<16}, []uint32{5},
			2},
		{"cas.b16", "b16", 1, [][]uint64{{4}, {6}}, []uint32{5}, []uint32{5}, []uint32{5}, 2},
		{"add.v2.f32", "f32", 2, [][]uint64{{0x3f800000, 0x40000000}}, []uint32{0x3f800000, 0x3f800000},
			[]uint32{0x40000000, 0x40400000},
			[]uint32{0x3f800000, 0x3f800000}, 4},
		// Current implementations flush on global memory.
		{"add.v4.f32", "f32", 4, [][]uint64{{1, 0, 0, 0x40000000}},
			[]uint32{0x80000001, 0, 5, 0x3f800000}, []uint32{0, 0, 0, 0x40400000},
			[]uint32{0x80000001, 0, 5, 0x3f800000}, 4},
		{"add.noftz.v2.f16", "b16", 2, [][]uint64{{h1, h2}}, []uint32{h2 | h1<<16}, []uint32{h3 | h3<<16},
			[]uint32{h2, h1}, 2},
		{"min.noftz.v4.f16", "b16", 4, [][]uint64{{h1, hn2, h3, h1}}, []uint32{h2 | h2<<16, h1 | h1<<16},
			[]uint32{h1 | hn2<<16, h1 | h1<<16},
			[]uint32{h2, h2, h1, h1}, 2},
		{"max.noftz.v8.bf16", "b16", 8, [][]uint64{{b3, b1, b1, b1, b1, b1, b1, b3}},
			[]uint32{b2 | b2<<16, b2 | b2<<16, b2 | b2<<16, b2 | b2<<16},
			[]uint32{b3 | b2<<16, b2 | b2<<16, b2 | b2<<16, b2 | b3<<16},
			[]uint32{b2, b2, b2, b2, b2, b2, b2, b2}, 2},
		{"max.noftz.v2.f16x2", "b32", 2, [][]uint64{{h3, h3 << 16}}, []uint32{h1 | h2<<16, h1 | h2<<16},
			[]uint32{h3 | h2<<16, h1 | h3<<16},
			[]uint32{h1 | h2<<16, h1 | h2<<16}, 2},
		{"exch.b128", "b64", -2, [][]uint64{{1 | 2<<32, 3 | 4<<32}}, []uint32{9, 8, 7, 6},
			[]uint32{1, 2, 3, 4}, []uint32{9, 8, 7, 6}, 16},
		{"cas.b128", "b64", -2, [][]uint64{{9 | 8<<32, 7 | 6<<32}, {1 | 2<<32, 3 | 4<<32}},
			[]uint32{9, 8, 7, 6}, []uint32{1, 2, 3, 4}, []uint32{9, 8, 7, 6}, 16},
		{"cas.b128", "b64", -2, [][]uint64{{9 | 8<<32, 7 | 5<<32}, {1 | 2<<32, 3 | 4<<32}},
			[]uint32{9, 8, 7, 6}, []uint32{9, 8, 7, 6}, []uint32{9, 8, 7, 6}, 16},
	} {
		for _, space := range []string{".global", "", ".shared", "red"} {
			vector := strings.Contains(test.op, ".v")
			if space == ".shared" && vector || space == "red" && (strings.HasPrefix(test.op, "cas") ||
				strings.HasPrefix(test.op, "exch")) {
				continue
			}
			if test.op == "add.v4.f32" && space == ".shared" {
				continue
			}
			text := wideAtomicText(test.op, space, test.regs, test.n, test.operands, test.init,
				len(test.got))
			res, rec := completed(t, kernel(t, text), config(1, 1, buffer("out", 256)), Options{})
			w := words(t, res, "out", 64)
			for i, v := range test.want {
				if w[i] != v {
					t.Errorf("%s%s: word %d is %#x, want %#x", test.op, space, i, w[i], v)
				}
			}
			if space == "red" {
				continue
			}
			for i, v := range test.got {
				if w[16+i] != v {
					t.Errorf("%s%s: element %d returned %#x, want %#x", test.op, space, i, w[16+i], v)
				}
			}
			for _, a := range of[access](rec) {
				if a.Kind != event.Atomic {
					continue
				}
				stored := uint32(1)
				if strings.HasPrefix(test.op, "cas") && test.want[0] == test.init[0] {
					stored = 0
				}
				if a.Elem != test.elem || a.Stored != stored || a.Order != event.Relaxed ||
					a.Scope != event.GPU {
					t.Errorf("%s%s: event %+v", test.op, space, a.Access)
				}
			}
		}
	}
}

// wideAtomicText writes init to memory, does the operation, and leaves memory at out and what was
// returned at out+64.
func wideAtomicText(op, space, typ string, n int, operands [][]uint64, init []uint32,
	results int) string {
	red := space == "red"
	wide := n < 0 // a .b128 register, made of two
	if wide {
		n = -n
	}
	var s strings.Builder
	s.WriteString(".shared .align 16 .b8 sh[64];\nmov.u64 %q, %o;\n")
	if space == ".shared" {
		s.WriteString("mov.u64 %q, sh;\n")
	}
	store := ".global"
	if space == ".shared" {
		store = ".shared"
	}
	for i, v := range init {
		fmt.Fprintf(&s, "st%s.u32 [%%q+%d], %d;\n", store, 4*i, v)
	}
	fmt.Fprintf(&s, ".reg .%s %%d<%d>;\n.reg .b128 %%D;\n", typ, n)
	var list []string
	for k, o := range operands {
		fmt.Fprintf(&s, ".reg .%s %%a%d_<%d>;\n", typ, k, n)
		for i, v := range o {
			bits := strings.NewReplacer("f", "b").Replace(typ)
			if typ == "f32" {
				fmt.Fprintf(&s, "mov.u32 %%u, %d;\nmov.b32 %%a%d_%d, %%u;\n", v, k, i)
				continue
			}
			fmt.Fprintf(&s, "mov.%s %%a%d_%d, %d;\n", bits, k, i, v)
		}
		switch {
		case wide:
			fmt.Fprintf(&s, ".reg .b128 %%A%d;\nmov.b128 %%A%d, {%%a%d_0, %%a%d_1};\n", k, k, k, k)
			list = append(list, fmt.Sprintf("%%A%d", k))
		case n > 1:
			list = append(list, registers(fmt.Sprintf("a%d_", k), n))
		default:
			list = append(list, fmt.Sprintf("%%a%d_0", k))
		}
	}
	d := "%d0"
	switch {
	case wide:
		d = "%D"
	case n > 1:
		d = registers("d", n)
	}
	if red {
		fmt.Fprintf(&s, "red.global.%s [%%q], %s;\n", op, list[0])
	} else {
		fmt.Fprintf(&s, "atom%s.%s %s, [%%q], %s;\n", space, op, d, strings.Join(list, ", "))
		if wide {
			s.WriteString(
				"mov.b128 {%d0, %d1}, %D;\nst.global.b64 [%o+64], %d0;\nst.global.b64 [%o+72], %d1;\n")
		} else {
			for i := range results {
				fmt.Fprintf(&s, "st.global.%s [%%o+%d], %%d%d;\n", typ, 64+4*i, i)
			}
		}
	}
	if space == ".shared" {
		for i := range init {
			fmt.Fprintf(&s, "ld.shared.u32 %%u, [%%q+%d];\nst.global.u32 [%%o+%d], %%u;\n", 4*i, 4*i)
		}
	}
	return s.String() + "ret;"
}

// Vectors are atomic in global memory only; whether a swap succeeds must be known.
func TestWideAtomicsStop(t *testing.T) {
	for text, message := range map[string]string{
		".shared .align 16 .b8 sh[16];\nmov.u64 %q, sh;\ncvta.shared.u64 %q, %q;\natom.add.v2.f32 {%f, %g}, [%q], {%f, %g};": "global memory only",
		".reg .b128 %A;\nmov.b128 %A, {%o, %o};\natom.global.cas.b128 %A, [%x], %A, %A;":                                     "whether this compare-and-swap succeeds depends on the contents of in",
		".reg .f32 %k, %l;\natom.global.add.v2.f32 {%k, %l}, [%x], {%k, %l};\nsetp.eq.f32 %c, %l, 0f00000000;\n@%c trap;":    "the contents of in",
	} {
		_, res, _ := start(t, kernel(t, text+"\nret;"), config(1, 1, buffer("out", 64), unknownBuffer()),
			Options{})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
}

// A 128-bit load or store is one operation for the memory model, unlike a vector (PTX ISA 8.2.4).
func TestB128Element(t *testing.T) {
	_, rec := completed(t, kernel(t, `.reg .b128 %A;
	ld.relaxed.gpu.global.b128 %A, [%o];
	st.relaxed.gpu.global.b128 [%o], %A;
	ld.relaxed.gpu.global.v2.u64 {%q, %r}, [%o];
	ret;`), config(1, 1, buffer("out", 64)), Options{})
	var elems []int
	for _, a := range of[access](rec) {
		elems = append(elems, a.Elements())
	}
	if fmt.Sprint(elems) != "[1 1 2]" {
		t.Errorf("operations of .b128 loads and stores and of .v2: %v", elems)
	}
}

// redux.sync of .f32: PTX ISA 9.7.13.12.
func TestReduxFloat(t *testing.T) {
	const nan, one, two, minusThree, nzero = 0x7fc00001, 0x3f800000, 0x40000000, 0xc0400000, 0x80000000
	for _, test := range []struct {
		op     string
		values []uint32
		want   uint32
	}{
		{"min", []uint32{one, minusThree, two}, minusThree}, {"max", []uint32{one, minusThree, two}, two},
		{"max.abs", []uint32{one, minusThree, two}, 0x40400000},
		{"min.abs", []uint32{minusThree}, 0x40400000},
		{"min", []uint32{0, nzero, 0}, nzero}, {"max", []uint32{nzero, 0, nzero}, 0}, // +0.0 > -0.0
		{"min", []uint32{nan, two, nan}, two}, {"min.NaN", []uint32{one, two, nan}, 0x7fffffff},
		{"max", []uint32{nan}, 0x7fffffff},
		{"max.abs.NaN", []uint32{nan, one}, 0x7fffffff},
	} {
		text := "mov.u32 %v, " + fmt.Sprint(test.values[0]) + ";\n"
		for i, v := range test.values {
			text += fmt.Sprintf("setp.eq.u32 %%c, %%t, %d;\n@%%c mov.u32 %%v, %d;\n", i, v)
		}
		k := kernel(t,
			text+"mov.b32 %f, %v;\nredux.sync."+test.op+
				".f32 %g, %f, 0xffffffff;\nst.global.f32 [%p], %g;\nret;")
		res, _ := completed(t, k, config(1, 32, buffer("out", 128)), Options{})
		wantWords(t, res, "out", 32, func(int) uint32 { return test.want })
	}
}
