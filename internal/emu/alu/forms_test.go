package alu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// formList contains every form that this package executes, with alternatives in braces. The tests
// check properties of all instructions on it; values are checked elsewhere.
var formList = []string{
	"{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u16,u32,u64,s16,s32,s64}", "{add,sub}.sat.s32",
	"add.{u16x2,s16x2}", "{min,max}.{u16x2,s16x2}", "{min,max}.relu.{s32,s16x2}",
	"mul.wide.{u16,u32,s16,s32}", "mad.{lo,hi}.{u16,u32,u64,s16,s32,s64}",
	"mad.wide.{u16,u32,s16,s32}",
	"mad.hi.sat.s32", "{mul24,mad24}.{lo,hi}.{u32,s32}", "mad24.hi.sat.s32",
	"sad.{u16,u32,u64,s16,s32,s64}", "{abs,neg}.{s16,s32,s64}",
	"{popc,clz,brev}.{b32,b64}", "bfind{,.shiftamt}.{u32,u64,s32,s64}", "bfe.{u32,u64,s32,s64}",
	"bfi.{b32,b64}", "fns.b32", "szext.{clamp,wrap}.{u32,s32}", "bmsk.{clamp,wrap}.b32",
	"dp4a.{u32,s32}.{u32,s32}", "dp2a.{lo,hi}.{u32,s32}.{u32,s32}",
	"{add,sub}.cc.{u32,s32,u64,s64}", "{addc,subc}{,.cc}.{u32,s32,u64,s64}",
	"mad.{lo,hi}.cc.{u32,s32,u64,s64}", "madc.{lo,hi}{,.cc}.{u32,s32,u64,s64}",

	"{and,or,xor,not}.{pred,b16,b32,b64}", "cnot.{b16,b32,b64}", "lop3{,.and,.or}.b32",
	"shl.{b16,b32,b64}",
	"shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}", "shf.{l,r}.{clamp,wrap}.b32",
	"prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}",

	"{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32",
	"{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2",
	"{add,sub,mul}{,.rn,.rz,.rm,.rp}.f64", "{fma,mad}{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32",
	"fma{.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "{fma,mad}{.rn,.rz,.rm,.rp}.f64",
	"{add,sub}{,.rn,.rz,.rm,.rp}{,.sat}.f32.{f16,bf16}", "fma.{rn,rz,rm,rp}{,.sat}.f32.{f16,bf16}",
	"div.{approx,full,rn,rz,rm,rp}{,.ftz}.f32", "div.{rn,rz,rm,rp}.f64",
	"{rcp,sqrt}.{approx,rn,rz,rm,rp}{,.ftz}.f32", "{rcp,sqrt}.{rn,rz,rm,rp}.f64",
	"{rcp,rsqrt}.approx.ftz.f64", "rsqrt.approx{,.ftz}.f32", "rsqrt.approx.f64",
	"{sin,cos,lg2,ex2}.approx{,.ftz}.f32", "tanh.approx.f32",
	"{abs,neg}{,.ftz}.f32", "{abs,neg}.{f64,bf16,bf16x2}", "{abs,neg}{,.ftz}.{f16,f16x2}",
	"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.{f32,f16,f16x2}",
	"{min,max}{,.NaN}{,.xorsign.abs}.{bf16,bf16x2}",
	"{min,max}.f64", "copysign.{f32,f64}",
	"testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}",
	"{add,sub,mul}{,.rn}{,.ftz}{,.sat}.{f16,f16x2}", "{add,sub,mul}{,.rn}.{bf16,bf16x2}",
	"fma.rn{,.ftz}{,.sat}.{f16,f16x2}", "fma.rn{,.ftz}.relu.{f16,f16x2}",
	"fma.rn{,.relu}.{bf16,bf16x2}",
	"tanh.approx.{f16,f16x2,bf16,bf16x2}", "ex2.approx.{f16,f16x2}", "ex2.approx.ftz.{bf16,bf16x2}",

	"setp.{eq,ne}{,.and,.or,.xor}.{b16,b32,b64}",
	"setp.{eq,ne,lt,le,gt,ge}{,.and,.or,.xor}.{u16,u32,u64,s16,s32,s64}",
	"setp.{lo,ls,hi,hs}{,.and,.or,.xor}.{u16,u32,u64}",
	"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.and,.or,.xor}{,.ftz}.{f32,f16,f16x2}",
	"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.and,.or,.xor}.{f64,bf16,bf16x2}",
	"set.{eq,ne}{,.and,.or,.xor}.{u32,s32,f32,f16,bf16}.{b16,b32,b64}",
	"set.{eq,ne,lt,le,gt,ge}{,.and}.{u32,s32,f32}.{u16,u32,u64,s16,s32,s64}",
	"set.{lo,ls,hi,hs}{,.or}.{u32,s32,f32}.{u16,u32,u64}",
	"set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.xor}.{u32,s32,f32}.{f32,f64}",
	"set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.xor}.{u32,s32}.{f16,bf16}",
	"set.{lt,geu}{,.ftz}.{f16,u16,s16,u32,s32}.f16", "set.{lt,geu}{,.ftz}.f16.f32",
	"set.lt.bf16.{f32,u32,s64}", "set.{lt,geu}{,.ftz}.{f16x2,u32,s32}.f16x2",
	"set.{lt,geu}.{bf16x2,u32,s32}.bf16x2",
	"selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}",
	"slct{.b16,.b32,.b64,.u32,.s64,.f32,.f64}.s32", "slct{,.ftz}.{b16,b32,b64,f64}.f32",
	"mov.{pred,b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}",

	"cvt.{u8,u16,u32,u64,s8,s16,s32,s64}.{u8,u16,u32,u64,s8,s16,s32,s64}",
	"cvt.sat.{u8,u16,u32,u64,s8,s16,s32,s64}.{u8,u16,u32,u64,s8,s16,s32,s64}",
	"cvt.{rn,rz,rm,rp}.{f16,bf16,f32,f64}.{u8,u16,u32,u64,s8,s16,s32,s64}",
	"cvt.{rn,rz}.sat.{f16,f32,f64}.{u8,u32,s64}",
	"cvt.{rni,rzi,rmi,rpi}{,.sat}.{u8,u16,u32,u64,s8,s16,s32,s64}.{f16,bf16,f32,f64}",
	"cvt.{rni,rzi,rmi,rpi}.ftz.{u8,u16,u32,u64,s8,s16,s32,s64}.f32",
	"cvt.{rn,rz,rm,rp}.{f16.bf16,f16.f32,f16.f64,bf16.f16,bf16.f32,bf16.f64,f32.f64}",
	"cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64", "cvt{,.ftz}{,.sat}.f32.{f16,bf16}",
	"cvt{,.ftz}{,.sat}.f64.f32",
	"cvt{,.sat}.f64.f16", "cvt.f64.bf16", "cvt.rn{,.ftz}{,.sat}.f16.f32",
	"cvt{,.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32",
	"cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.{f16.f16,f64.f64}",
	"cvt{,.rni,.rzi,.rmi,.rpi}.bf16.bf16",
	"cvt.{rn,rz}{,.relu}{,.satfinite}.{f16,bf16,f16x2,bf16x2,tf32}.f32",
	"cvt.rna{,.satfinite}.tf32.f32",
	"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2}.{f32,f16x2,bf16x2}",
	"cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2,e2m1x2,e2m3x2,e3m2x2}",
	"cvt.{rz,rp}{,.satfinite}.ue8m0x2.{f32,bf16x2}", "cvt.rn.bf16x2.ue8m0x2",
	"cvt.rs{,.relu}{,.satfinite}.{f16x2,bf16x2}.f32",
	"cvt.pack.sat.{u16,s16}.s32", "cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32",
}

// expand returns the alternatives of a text with braces.
func expand(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}
	}
	end := open + strings.IndexByte(s[open:], '}')
	var all []string
	for _, alt := range strings.Split(s[open+1:end], ",") {
		for _, rest := range expand(s[end+1:]) {
			all = append(all, s[:open]+alt+rest)
		}
	}
	return all
}

func forms() []string {
	var all []string
	for _, f := range formList {
		all = append(all, expand(f)...)
	}
	return all
}

// A state is all operands of an execution.
type state struct {
	d, s [4]Lanes // d has two, s four
	pd   [2]uint32
	ps   [2]uint32
	cc   uint32
}

func randomState(r *rand.Rand) *state {
	s := &state{pd: [2]uint32{r.Uint32(), r.Uint32()}, ps: [2]uint32{r.Uint32(), r.Uint32()},
		cc: r.Uint32()}
	for i := range s.s {
		for l := range s.s[i] {
			s.s[i][l] = operand(r)
			s.d[i][l] = r.Uint64()
		}
	}
	lut := r.Uint64()
	s.s[3] = *splat(lut)
	return s
}

// operand generates a value, with preference for corner cases of every type.
func operand(r *rand.Rand) uint64 {
	corners := []uint64{0, 1, 1<<63 | 1<<31 | 1<<15, 1<<64 - 1, 1<<63 - 1, 0x7fffffff, 0x7fff,
		0x3f800000, 0x7f800000, 0xff800000, 0x7fc00001, 0x80000001, 0x00800000, 0x7f7fffff,
		0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
		0x0010000000000000,
		0x3c003c00, 0x7c007c00, 0xfc007e01, 0x00010001, 0x7f807f80, 0x3f803f80}
	switch r.IntN(4) {
	case 0:
		return corners[r.IntN(len(corners))]
	case 1:
		return r.Uint64() >> r.IntN(64)
	}
	return r.Uint64()
}

func (s *state) ops() *Ops {
	return &Ops{
		D: [2]*Lanes{&s.d[0], &s.d[1]}, S: [4]*Lanes{&s.s[0], &s.s[1], &s.s[2], &s.s[3]},
		PD: [2]*uint32{&s.pd[0], &s.pd[1]}, PS: s.ps, CC: &s.cc,
	}
}

func run(f Func, s state, mask uint32) *state {
	f(s.ops(), mask)
	return &s
}

// A partial execution has the same effect on the lanes of its mask as a full one, and none on the
// others.
func TestPartialMask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range forms() {
		f, before := lookup(t, text), randomState(r)
		whole := run(f, *before, full)
		for _, mask := range []uint32{0, 1, 1 << 31, r.Uint32(), full &^ 1} {
			part := run(f, *before, mask)
			for l := range 32 {
				exp := before
				if mask>>l&1 == 1 {
					exp = whole
				}
				if part.d[0][l] != exp.d[0][l] || part.d[1][l] != exp.d[1][l] {
					t.Errorf("%s mask %#x lane %d: %#x, want %#x", text, mask, l, part.d[0][l], exp.d[0][l])
					break
				}
			}
			merge := func(b, w uint32) uint32 { return b&^mask | w&mask }
			if part.pd[0] != merge(before.pd[0], whole.pd[0]) ||
				part.pd[1] != merge(before.pd[1], whole.pd[1]) ||
				part.cc != merge(before.cc, whole.cc) || part.s != before.s {
				t.Errorf("%s mask %#x: predicates, carry or sources differ", text, mask)
			}
		}
	}
}

// A destination may be any of the sources.
func TestAliases(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range forms() {
		f, before := lookup(t, text), randomState(r)
		mask := r.Uint32()
		if r.IntN(2) == 0 {
			mask = full
		}
		whole := run(f, *before, mask)
		for i := range 4 {
			s := *before
			s.d[0] = s.s[i] // what D[0] holds where it is not written
			exp := run(f, s, mask)
			o := s.ops()
			o.D[0] = o.S[i]
			f(o, mask)
			if s.s[i] != exp.d[0] || s.pd != whole.pd || s.cc != whole.cc {
				t.Errorf("%s: differs if the destination is source %d", text, i)
			}
		}
	}
}

// sourceBits is how many bits of source i count, 0 if none does.
func sourceBits(d *isa.Desc, i int) int {
	bits := 8 * d.Type.Size()
	switch op := d.Row.Opcode; {
	case op == "cvt" || op == "set" || op == "cvt.pack" || op == "slct" && i == 2:
		return 8 * d.SType.Size()
	case (op == "shl" || op == "shr") && i == 1:
		return 32
	case op == "bfe" && i > 0, op == "bfi" && i > 1, op == "lop3" && i == 3:
		return 8
	case d.Fn == isa.FnWide && i == 2:
		return 2 * bits
	case (op == "add" || op == "sub") && d.SType != isa.NoType && i == 0,
		op == "fma" && d.SType != isa.NoType && i < 2:
		return 16
	}
	return bits
}

// resultBits is how wide the result is.
func resultBits(d *isa.Desc) int {
	switch {
	case d.Fn == isa.FnWide:
		return 16 * d.Type.Size()
	case d.Row.Opcode == "popc" || d.Row.Opcode == "clz" || d.Row.Opcode == "bfind" ||
		d.Row.Opcode == "cvt.pack":
		return 32
	}
	return 8 * d.Type.Size()
}

// Bits above the type of a source do not count, and none are set above the type of the result: PTX
// ISA 9.4.1 and the rule of Lanes.
func TestWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, text := range forms() {
		d := desc(t, text)
		f, clean := lookup(t, text), randomState(r)
		dirty := *clean
		for i := range clean.s {
			if n := sourceBits(d, i); n < 64 {
				junk := r.Uint64() << n
				for l := range clean.s[i] {
					clean.s[i][l] &= 1<<n - 1
					dirty.s[i][l] = clean.s[i][l] | junk
				}
			}
		}
		a, b := run(f, *clean, full), run(f, dirty, full)
		if a.d[0] != b.d[0] || a.pd != b.pd || a.cc != b.cc {
			t.Errorf("%s: bits above the type of a source change the result", text)
		}
		if n := resultBits(d); n > 0 && n < 64 {
			for l, v := range a.d[0] {
				if v>>n != 0 && a.d[0] != clean.d[0] {
					t.Errorf("%s: lane %d is %#x, wider than %d bits", text, l, v, n)
					break
				}
			}
		}
	}
}

// Sources returns the number of sources that matter: the others may be absent, and their values
// change nothing.
func TestSources(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, text := range forms() {
		n, ok := Sources(desc(t, text))
		if !ok {
			t.Errorf("%s: no number of sources", text)
		}
		s := randomState(r)
		whole := run(lookup(t, text), *s, full)
		o := s.ops()
		for i := n; i < len(o.S); i++ {
			o.S[i] = nil
		}
		lookup(t, text)(o, full)
		if s.d[0] != whole.d[0] || s.pd != whole.pd {
			t.Errorf("%s: depends on more than %d sources", text, n)
		}
	}
	for _, text := range []string{"ld.global.u32", "bar.sync", "vote.sync.any.pred"} {
		if _, ok := Sources(desc(t, text)); ok {
			t.Errorf("%s is none of this package's", text)
		}
	}
}
