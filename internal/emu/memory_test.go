package emu

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// Every width, signed and unsigned, into wider registers: PTX ISA 9.4.1, table 28 says that a
// signed load sign-extends to the register and an unsigned or bit-size one zero-extends.
func TestWidths(t *testing.T) {
	k := kernel(t, `
	.reg .s32 %a<4>; .reg .s64 %l<4>; .reg .s16 %m;
	mov.u64 %r, 0xfffefdfc80ff8180;
	st.global.u64 [%o], %r;
	ld.global.s8 %a0, [%o];       // 0x80
	ld.global.u8 %a1, [%o];
	ld.global.s16 %a2, [%o+2];    // 0x80ff
	ld.global.s32 %l0, [%o];      // 0x80ff8180
	ld.global.u32 %l1, [%o];
	ld.global.b8 %l2, [%o+3];     // 0x80
	ld.global.s8 %m, [%o+1];      // 0x81
	st.global.s32 [%o+8], %a0;
	st.global.s32 [%o+12], %a1;
	st.global.s32 [%o+16], %a2;
	st.global.s64 [%o+24], %l0;
	st.global.s64 [%o+32], %l1;
	st.global.s64 [%o+40], %l2;
	st.global.u16 [%o+48], %m;
	st.global.u8 [%o+50], %l0;    // stores chop
	ret;`)
	res, _ := completed(t, k, config(1, 1, buffer("out", 64)), Options{})
	wantWords(t, res, "out", 13, func(i int) uint32 {
		return []uint32{0x80ff8180, 0xfffefdfc, 0xffffff80, 0x80, 0xffff80ff, 0,
			0x80ff8180, 0xffffffff, 0x80ff8180, 0, 0x80, 0, 0x0080ff81}[i]
	})
}

// Vector accesses are one wide access for the detector (event.Access.Size), with their data in
// words.
func TestVectors(t *testing.T) {
	k := kernel(t, `
	.reg .b32 %a<4>; .reg .b64 %l<2>;
	mad.wide.u32 %p, %i, 16, %o;
	add.u32 %a0, %i, 100;
	add.u32 %a1, %i, 200;
	add.u32 %a2, %i, 300;
	add.u32 %a3, %i, 400;
	st.global.v4.b32 [%p], {%a0, %a1, %a2, %a3};
	ld.global.v2.b64 {%l0, %l1}, [%p];
	mov.b64 {%a0, %a1}, %l1;
	mov.b64 %l1, {%a1, %a0};
	st.global.v2.u64 [%p], {%l1, %l0};
	ret;`)
	res, r := completed(t, k, config(1, 40, buffer("out", 640)), Options{})
	wantWords(t, res, "out", 160, func(i int) uint32 {
		return uint32(i/4) + []uint32{400, 300, 100, 200}[i%4]
	})
	as := of[access](r)
	if len(as) != 6 || as[0].Size != 16 || as[0].Kind != event.Write || as[1].Kind != event.Read {
		t.Fatalf("accesses %+v", as)
	}
	first := uint64(as[0].Warp) * 32
	if d := as[0].Data; d[0][3] != (203+first)<<32|(103+first) ||
		d[1][3] != (403+first)<<32|(303+first) || d[2][3] != 0 {
		t.Errorf("data of lane 3: %#x %#x", d[0][3], d[1][3])
	}
}

// Addresses of each state space become generic and find their memory again (PTX ISA 6.4.1.1). Lanes
// of one access may mean different spaces: the detector sees one event for each.
func TestGenericAddresses(t *testing.T) {
	k := module(t, `
.global .align 4 .u32 g[64];
.const .align 4 .u32 k4[4] = {10, 20, 30, 40};
.visible .entry k(.param .u64 out) {
	.shared .align 4 .b8 sh[128];
	.local .align 4 .b8 loc[16];
	.reg .u32 %t, %m, %v; .reg .u64 %a, %b, %p; .reg .pred %p<5>;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %t, 4, %p;
	and.b32 %m, %t, 3;
	setp.eq.u32 %p0, %m, 0;
	setp.eq.u32 %p1, %m, 1;
	setp.eq.u32 %p2, %m, 2;
	setp.eq.u32 %p3, %m, 3;
	mul.wide.u32 %b, %t, 4;
	cvta.global.u64 %a, g;
	add.u64 %a, %a, %b;
	mov.u64 %b, sh;
	cvta.shared.u64 %b, %b;
	mad.wide.u32 %b, %t, 4, %b;
	selp.u64 %a, %b, %a, %p1;
	mov.u64 %b, loc;
	cvta.local.u64 %b, %b;
	@%p2 add.u64 %a, %b, 8;
	@!%p3 st.u32 [%a], %t;
	cvta.const.u64 %b, k4;
	@%p3 add.u64 %a, %b, 12;
	ld.u32 %v, [%a];
	@%p2 cvta.to.local.u64 %b, %a;
	@%p2 ld.local.u32 %v, [%b];
	isspacep.shared %p4, %a;
	@%p4 add.u32 %v, %v, 1000;
	isspacep.global %p4, %a;
	@%p4 add.u32 %v, %v, 2000;
	isspacep.local %p4, %a;
	@%p4 add.u32 %v, %v, 4000;
	isspacep.const %p4, %a;
	@%p4 add.u32 %v, %v, 8000;
	st.global.u32 [%p], %v;
	ret;
}`)
	cfg := config(1, 32, buffer("out", 128))
	cfg.Args = cfg.Args[:1]
	m, res, r := start(t, k, cfg, Options{})
	if res.Status != Completed {
		t.Fatalf("%+v", res.Stop)
	}
	wantWords(t, res, "out", 32, func(i int) uint32 {
		return []uint32{uint32(i) + 2000, uint32(i) + 1000, uint32(i) + 4000, 8040}[i%4]
	})
	as := of[access](r)
	var kinds []string
	for _, a := range as {
		kinds = append(kinds, a.Kind.String()+" "+a.Space.String())
		o, off, ok := m.Object(a.Space, 0, a.Addr[a.lane()])
		want := map[event.Space]string{event.Shared: "sh", event.Global: "g"}[a.Space]
		if a.Space == event.Global && len(kinds) == 5 {
			want = "out"
		}
		if !ok || o.Name != want || off%4 != 0 || off > 124 {
			t.Errorf("access of %s+%d, want %s", o.Name, off, want)
		}
		if a.Space == event.Shared && a.Mask != 0x22222222 || want == "g" && a.Mask != 0x11111111 {
			t.Errorf("%s by lanes %x", a.Space, a.Mask)
		}
	}
	if got := strings.Join(kinds,
		", "); got != "write shared, write global, read shared, read global, write global" {
		t.Errorf("events %s", got)
	}
}

func (a access) lane() int {
	for l := range 32 {
		if a.Mask>>l&1 != 0 {
			return l
		}
	}
	return 0
}

func TestMemoryErrors(t *testing.T) {
	const shared = ".shared .align 16 .b8 buf[64];\n"
	for _, test := range []struct {
		name, text string
		kind       StopKind
		lane       uint32
		message    string
	}{
		{"beyond", "st.global.u32 [%p+4], %i;", OutOfBounds, 15,
			"write of 4 bytes at offset 64 of out, which has 64 bytes"},
		{"before", "ld.global.u32 %v, [%o+-4];", OutOfBounds, 0,
			"read of 4 bytes at 4 bytes before the start of out"},
		{"straddling", "ld.global.u64 %q, [%o+60];", OutOfBounds, 0,
			"read of 8 bytes at offset 60 of out, which has 64 bytes"},
		{"null", "mov.u64 %q, 0;\nst.u32 [%q+8], %v;", OutOfBounds, 0, "null pointer"},
		{"nowhere", "mov.u64 %q, 0x7000000000000000;\nld.u32 %v, [%q];", OutOfBounds, 0,
			"which is not mapped"},
		{"misaligned", "add.u64 %q, %o, 2;\nld.global.u32 %v, [%q];", Misaligned, 0,
			"out+0x2 is not aligned to 4"},
		{"misaligned vector", "ld.global.v2.u32 {%v, %w}, [%o+4];", Misaligned, 0,
			"out+0x4 is not aligned to 8"},
		{"shared", shared + "mov.u32 %u, buf;\nmad.lo.u32 %u, %i, 8, %u;\nst.shared.u32 [%u], %i;",
			OutOfBounds, 8,
			"write of 4 bytes at offset 64 of buf, outside of the 64 bytes of shared memory that the block has"},
		{"shared misaligned", shared + "mov.u32 %u, buf;\nst.shared.u32 [%u+2], %i;", Misaligned, 0,
			"not aligned to 4"},
		{"local", ".local .align 4 .b8 loc[8];\nst.local.u32 [loc+8], %i;", OutOfBounds, 0,
			"local memory"},
		{"const", "ld.const.u32 %v, [%o];", OutOfBounds, 0, "not constant"},
		{"atomic", "atom.global.add.u32 %v, [%o+64], 1;", OutOfBounds, 0,
			"atomic of 4 bytes at offset 64 of out"},
		{"trap", "setp.eq.u32 %c, %i, 5;\n@%c trap;", Trap, 5, "trap"},
	} {
		k := kernel(t, test.text+"\nret;")
		_, res, _ := start(t, k, config(1, 16, buffer("out", 64)), Options{})
		s := res.Stop
		if res.Status != Stopped || s.Kind != test.kind || s.Index.X != test.lane ||
			!strings.Contains(s.Message, test.message) {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
}

// A pointer into a buffer has memory before it, up to the start of the buffer.
func TestInteriorPointer(t *testing.T) {
	for _, test := range []struct{ text, message string }{
		{"st.global.u32 [%p+-16], %i;", ""},
		{"st.global.u32 [%o+44], %i;", ""},
		{"ld.global.u32 %v, [%o+-20];", "read of 4 bytes at 4 bytes before the start of out"},
		{"ld.global.u32 %v, [%o+48];", "read of 4 bytes at offset 64 of out, which has 64 bytes"},
	} {
		out := buffer("out", 64)
		out.Offset = 16
		_, res, _ := start(t, kernel(t, test.text+"\nret;"), config(1, 4, out), Options{})
		if test.message == "" && res.Status != Completed ||
			test.message != "" && (res.Stop == nil || res.Stop.Message != test.message) {
			t.Errorf("%s: %v %+v", test.text, res.Status, res.Stop)
		}
	}
	beyond := buffer("out", 64)
	beyond.Offset = 65
	if _, err := New(kernel(t, "ret;"), config(1, 1, beyond)); err == nil {
		t.Error("a pointer beyond its buffer is accepted")
	}
}

// What a buffer holds at the start.
func TestFills(t *testing.T) {
	k := kernel(t, `
	mad.wide.u32 %q, %i, 4, %x;
	ld.global.u32 %v, [%q];
	st.global.u32 [%p], %v;
	ret;`)
	run := func(b *launch.Buffer) []uint32 {
		cfg := config(1, 1024, buffer("out", 4096), launch.Arg{Name: "x", Buffer: b})
		res, _ := completed(t, k, cfg, Options{})
		return words(t, res, "out", 1024)
	}
	iota := run(&launch.Buffer{Name: "x", Size: 4096, Fill: launch.FillIota})
	value := run(&launch.Buffer{Name: "x", Fill: launch.FillValue, Value: 77})
	data := run(&launch.Buffer{Name: "x", Size: 4096, Fill: launch.FillFile,
		Data: []byte{1, 2, 3, 4, 5}})
	random := run(&launch.Buffer{Name: "x", Size: 4096, Fill: launch.FillRandom, Seed: 3})
	same := run(&launch.Buffer{Name: "x", Fill: launch.FillRandom, Seed: 3})
	other := run(&launch.Buffer{Name: "x", Fill: launch.FillRandom, Seed: 4})
	seen, equal := map[uint32]bool{}, 0
	for i := range 1024 {
		if iota[i] != uint32(i) || value[i] != 77 || random[i] != same[i] {
			t.Fatalf("element %d: %d %d %d %d", i, iota[i], value[i], random[i], same[i])
		}
		seen[random[i]] = true
		if random[i] == other[i] {
			equal++
		}
	}
	if len(seen) < 1000 || equal > 3 {
		t.Errorf("%d different random values, %d equal with another seed", len(seen), equal)
	}
	if data[0] != 0x04030201 || data[1] != 5 || data[2] != 0 {
		t.Errorf("file: %x", data[:3])
	}
}

// Atomics: PTX ISA 9.7.13.5 gives the semantics of each. All lanes work on one location, in lane
// order.
func TestAtomics(t *testing.T) {
	f := func(v float32) uint32 { return math.Float32bits(v) }
	for _, test := range []struct {
		op      string
		start   uint32
		operand func(l uint32) uint32
		result  func(old, b uint32) uint32
	}{
		{"add.u32", 5, lane, func(o, b uint32) uint32 { return o + b }},
		{"add.s32", 0xfffffff0, lane, func(o, b uint32) uint32 { return o + b }},
		{"min.u32", 20, lane, func(o, b uint32) uint32 { return min(o, b) }},
		{"max.u32", 20, lane, func(o, b uint32) uint32 { return max(o, b) }},
		{"min.s32", 3, func(l uint32) uint32 { return 10 - l },
			func(o, b uint32) uint32 { return uint32(min(int32(o), int32(b))) }},
		{"max.s32", 0xffffff00, func(l uint32) uint32 { return l - 40 },
			func(o, b uint32) uint32 { return uint32(max(int32(o), int32(b))) }},
		{"inc.u32", 0, func(uint32) uint32 { return 6 }, func(o, b uint32) uint32 {
			if o >= b {
				return 0
			}
			return o + 1
		}},
		{"dec.u32", 3, func(uint32) uint32 { return 5 }, func(o, b uint32) uint32 {
			if o == 0 || o > b {
				return b
			}
			return o - 1
		}},
		{"and.b32", 0xffffffff, func(l uint32) uint32 { return ^(1 << l) },
			func(o, b uint32) uint32 { return o & b }},
		{"or.b32", 0, func(l uint32) uint32 { return 1 << l }, func(o, b uint32) uint32 { return o | b }},
		{"xor.b32", 9, lane, func(o, b uint32) uint32 { return o ^ b }},
		{"exch.b32", 9, lane, func(o, b uint32) uint32 { return b }},
		{"add.f32", f(0.5), func(uint32) uint32 { return f(0.1) }, func(o, b uint32) uint32 {
			return f(math.Float32frombits(o) + math.Float32frombits(b))
		}},
	} {
		for _, space := range []string{"global", "shared"} {
			addr, init := "%x", ""
			if space == "shared" {
				addr, init = "buf",
					".shared .align 4 .b8 buf[4];\nld.global.u32 %v, [%x];\nst.shared.u32 [buf], %v;\n"
			}
			operand := "mad.wide.u32 %q, %i, 4, %x;\nld.global.u32 %w, [%q+64];\n"
			typ := test.op[strings.Index(test.op, ".")+1:]
			text := init + operand + "atom." + space + "." + test.op + " %v, [" + addr +
				"], %w;\nst.global.u32 [%p], %v;\nret;"
			if typ == "f32" {
				text = strings.NewReplacer("ld.global.u32 %w", "ld.global.f32 %f", "%v, ["+addr+"], %w",
					"%g, ["+addr+"], %f", "st.global.u32 [%p], %v", "st.global.f32 [%p], %g").Replace(text)
			}
			data := binary.LittleEndian.AppendUint32(nil, test.start)
			data = append(data, make([]byte, 60)...)
			for l := range uint32(32) {
				data = binary.LittleEndian.AppendUint32(data, test.operand(l))
			}
			in := launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "x", Size: 192, Fill: launch.FillFile,
				Data: data}}
			res, r := completed(t, kernel(t, text), config(1, 32, buffer("out", 128), in), Options{})
			got, now := words(t, res, "out", 32), test.start
			for l := range uint32(32) {
				if got[l] != now {
					t.Fatalf("%s %s: lane %d got %#x, want %#x", space, test.op, l, got[l], now)
				}
				now = test.result(now, test.operand(l))
			}
			as := of[access](r)
			a := as[len(as)-2]
			if a.Kind != event.Atomic || a.Order != event.Relaxed || a.Scope != event.GPU ||
				a.Stored != full || a.Data != ([4][32]uint64{}) {
				t.Errorf("%s %s: event %+v", space, test.op, a.Access)
			}
		}
	}
}

func lane(l uint32) uint32 { return l }

// Compare-and-swap writes only in the lane that finds the expected value, as its event states; red
// has no result and is a reduction.
func TestCompareAndSwap(t *testing.T) {
	k := kernel(t, `
	add.u32 %w, %i, 1;
	atom.acquire.cta.global.cas.b32 %v, [%x], %i, %w;
	st.global.u32 [%p], %v;
	atom.global.cas.b32 %v, [%x+4], 0, %w;
	red.release.sys.global.add.u64 [%x+8], 3;
	ret;`)
	res, r := completed(t, k, config(1, 32, buffer("out", 128), buffer("x", 16)), Options{})
	// each lane finds its own number
	wantWords(t, res, "out", 32, func(i int) uint32 { return uint32(i) })
	wantWords(t, res, "x", 4, func(i int) uint32 { return []uint32{32, 1, 96, 0}[i] })
	as := of[access](r)
	if a := as[0]; a.Stored != full || a.Order != event.Acquire || a.Scope != event.CTA {
		t.Errorf("first: %+v", a.Access)
	}
	if a := as[2]; a.Stored != 1 || a.Mask != full {
		t.Errorf("second: only lane 0 finds 0: %+v", a.Access)
	}
	if a := as[3]; a.Kind != event.Reduce || a.Order != event.Release || a.Scope != event.Sys ||
		a.Size != 8 || a.Stored != full {
		t.Errorf("red: %+v", a.Access)
	}
}

// atom.add.f32: "on global memory flushes subnormal inputs and results to sign-preserving zero;
// whereas on shared memory supports subnormal inputs and results".
func TestAtomicSubnormal(t *testing.T) {
	k := kernel(t, `
	.shared .align 4 .b8 buf[4];
	mov.f32 %f, 0f00000001;
	st.shared.f32 [buf], %f;
	st.global.f32 [%x], %f;
	atom.shared.add.f32 %g, [buf], %f;
	ld.shared.f32 %g, [buf];
	st.global.f32 [%o], %g;
	atom.global.add.f32 %g, [%x], %f;
	cvta.shared.u64 %q, buf;
	atom.add.f32 %g, [%q], %f;
	ld.shared.f32 %g, [buf];
	st.global.f32 [%o+4], %g;
	ret;`)
	res, _ := completed(t, k, config(1, 1, buffer("out", 8), buffer("x", 4)), Options{})
	wantWords(t, res, "out", 2, func(i int) uint32 { return uint32(2 + i) })
	wantWords(t, res, "x", 1, func(int) uint32 { return 0 })
}
