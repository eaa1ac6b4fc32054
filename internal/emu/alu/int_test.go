package alu

import "testing"

// Corner values of the integer instructions; the numbers are sections of the PTX ISA.
func TestIntegerCorners(t *testing.T) {
	const m32, m64 = 0xffffffff, 0xffffffffffffffff
	for _, c := range []struct {
		text string
		want uint64
		src  []uint64
	}{
		// 9.7.1.1, 9.7.1.2: wraps; .sat clamps to MININT..MAXINT.
		{"add.u32", 0, []uint64{m32, 1}},
		{"add.u16", 0, []uint64{0xffff, 1}},
		{"add.s64", 0, []uint64{m64, 1}},
		{"add.s32", 0x80000000, []uint64{0x7fffffff, 1}},
		{"add.sat.s32", 0x7fffffff, []uint64{0x7fffffff, 1}},
		{"add.sat.s32", 0x80000000, []uint64{0x80000000, m32}},
		{"sub.sat.s32", 0x7fffffff, []uint64{0x7fffffff, m32}},
		{"sub.s16", 0xffff, []uint64{0, 1}},
		{"add.u16x2", 0x0000_0001, []uint64{0xffff_0000, 0x0001_0001}},
		// 9.4.1: only the bits of the type are read, nothing above the result is set.
		{"add.u32", 3, []uint64{0xdeadbeef_00000001, 0xdeadbeef_00000002}},
		// 9.7.1.3: halves of the product.
		{"mul.hi.u32", 0xfffffffe, []uint64{m32, m32}},
		{"mul.hi.s32", 0, []uint64{m32, m32}},
		{"mul.lo.s32", 1, []uint64{m32, m32}},
		{"mul.wide.u32", 0xfffffffe00000001, []uint64{m32, m32}},
		{"mul.wide.s32", 1, []uint64{m32, m32}},
		{"mul.wide.s32", m64, []uint64{m32, 1}},
		{"mul.wide.s16", m32, []uint64{0xffff, 1}},
		{"mul.wide.u16", 0xfffe0001, []uint64{0xffff, 0xffff}},
		{"mul.hi.s16", 0x4000, []uint64{0x8000, 0x8000}},
		{"mul.hi.s64", 0x4000000000000000, []uint64{1 << 63, 1 << 63}},
		{"mul.hi.u64", m64 - 1, []uint64{m64, m64}},
		// 9.7.1.4
		{"mad.lo.s32", 7, []uint64{2, 3, 1}},
		{"mad.hi.sat.s32", 0x7fffffff, []uint64{0x40000000, 0x40000000, 0x7fffffff}},
		{"mad.wide.s32", m64, []uint64{m32, 2, 1}},
		// 9.7.1.5, 9.7.1.6: bits 47..16 and 31..0 of the 48-bit product.
		{"mul24.lo.s32", 1, []uint64{0xffffff, 0xffffff}},
		{"mul24.hi.u32", 0xfffffe00, []uint64{0xffffff, 0xffffff}},
		{"mad24.hi.sat.s32", 0x7fffffff, []uint64{0x7fffff, 0x7fffff, 0x7fffffff}},
		// 9.7.1.7
		{"sad.s32", 11, []uint64{m32, 9, 1}},
		{"sad.u32", 0xfffffff7, []uint64{m32, 9, 1}},
		// 9.7.1.8, 9.7.1.9
		{"div.s32", 0xfffffffe, []uint64{0xfffffffb, 2}},
		{"rem.s32", m32, []uint64{0xfffffffb, 2}},
		{"div.s32", 0x80000000, []uint64{0x80000000, m32}},
		{"rem.s64", 0, []uint64{1 << 63, m64}},
		{"div.u16", 0x7fff, []uint64{0xffff, 2}},
		// 9.7.1.10 to 9.7.1.13
		{"abs.s32", 0x80000000, []uint64{0x80000000}},
		{"abs.s16", 1, []uint64{0xffff}},
		{"neg.s64", m64, []uint64{1}},
		{"min.s32", m32, []uint64{m32, 1}},
		{"min.u32", 1, []uint64{m32, 1}},
		{"max.relu.s32", 0, []uint64{0x80000000, m32}},
		{"min.relu.s16x2", 0x0005_0000, []uint64{0x0005_ffff, 0x0007_0001}},
		{"max.s16x2", 0x0007_0001, []uint64{0x0005_ffff, 0x0007_0001}},
		{"min.u16x2", 0x0005_0001, []uint64{0x0005_ffff, 0x0007_0001}},
		// 9.7.1.14 to 9.7.1.18
		{"popc.b64", 64, []uint64{m64}},
		{"popc.b32", 32, []uint64{m64}},
		{"clz.b32", 32, []uint64{0}},
		{"clz.b64", 64, []uint64{0}},
		{"clz.b32", 0, []uint64{0x80000000}},
		{"bfind.u32", m32, []uint64{0}},
		{"bfind.s32", m32, []uint64{m32}},
		{"bfind.s32", 30, []uint64{0x80000000}},
		{"bfind.shiftamt.s64", 63, []uint64{1}},
		{"bfind.shiftamt.u32", 0, []uint64{0x80000000}},
		{"brev.b32", 0x80000000, []uint64{1}},
		{"brev.b64", 1, []uint64{1 << 63}},
		{"fns.b32", 3, []uint64{0xaaaaaaaa, 3, 1}},
		{"fns.b32", 3, []uint64{0xaaaaaaaa, 3, m32}},
		{"fns.b32", 3, []uint64{0xaaaaaaaa, 2, 1}},
		{"fns.b32", 1, []uint64{0xaaaaaaaa, 2, m32}},
		{"fns.b32", m32, []uint64{0xaaaaaaaa, 2, 0}},
		// 9.7.1.21, 9.7.1.22
		{"szext.clamp.s32", 0xffffff80, []uint64{0x180, 8}},
		{"szext.wrap.u32", 0, []uint64{m32, 0}},
		{"szext.clamp.s32", 0x12345678, []uint64{0x12345678, 32}},
		{"szext.wrap.s32", 0xfffffffe, []uint64{2, 34}},
		{"bmsk.wrap.b32", 6, []uint64{1, 2}},
		{"bmsk.clamp.b32", 0, []uint64{32, 2}},
		{"bmsk.clamp.b32", 0xfffffff0, []uint64{4, 32}},
		{"bmsk.wrap.b32", 0, []uint64{4, 32}},
		// 9.7.1.23, 9.7.1.24
		{"dp4a.u32.u32", 10, []uint64{0x01010101, 0x01020304, 0}},
		{"dp4a.s32.s32", 0xfffffff6, []uint64{0xffffffff, 0x01020304, 0}},
		{"dp2a.hi.u32.u32", 2 + 3 + 5, []uint64{0x0001_0001, 0x02030405, 5}},
		{"dp2a.lo.s32.u32", 0xfffffff7, []uint64{0xffff_ffff, 0x02030405, 0}},
	} {
		want(t, c.text, c.want, c.src...)
	}
}

func TestLogicShiftCorners(t *testing.T) {
	const m32, m64 = 0xffffffff, 0xffffffffffffffff
	for _, c := range []struct {
		text string
		want uint64
		src  []uint64
	}{
		{"not.b16", 0xffff, []uint64{0}},
		{"cnot.b32", 1, []uint64{0xff_00000000}},
		{"cnot.b64", 0, []uint64{0xff_00000000}},
		{"xor.b32", 0x0f, []uint64{0xff, 0xf0}},
		// 9.7.8.8, 9.7.8.9: amounts above the width are clamped.
		{"shl.b32", 0, []uint64{m32, 32}},
		{"shl.b32", 0, []uint64{m32, m32}},
		{"shl.b64", 0, []uint64{m64, 64}},
		{"shl.b16", 0x8000, []uint64{0xffff, 15}},
		{"shr.s32", m32, []uint64{0x80000000, 100}},
		{"shr.u32", 0, []uint64{0x80000000, 100}},
		{"shr.s16", 0xfffe, []uint64{0x8000, 14}},
		{"shr.b64", 1, []uint64{1 << 63, 63}},
		// 9.7.8.7
		{"shf.l.clamp.b32", 0x11111111, []uint64{0x11111111, 0x22222222, 40}},
		{"shf.r.clamp.b32", 0x22222222, []uint64{0x11111111, 0x22222222, 40}},
		{"shf.l.wrap.b32", 0x22222222, []uint64{0x11111111, 0x22222222, 32}},
		{"shf.r.wrap.b32", 0x21111111, []uint64{0x11111111, 0x22222222, 36}},
		{"shf.l.wrap.b32", 0x22222221, []uint64{0x11111111, 0x22222222, 4}},
		// 9.7.8.6: the ISA's own tables of examples.
		{"lop3.b32", 0xff & 0xf0 & 0x3c, []uint64{0xff, 0xf0, 0x3c, 0x80}},
		{"lop3.b32", 0x01 | 0xf0 | 0x0c, []uint64{0x01, 0xf0, 0x0c, 0xfe}},
		{"lop3.b32", 0xff & 0xf0 &^ 0x3c, []uint64{0xff, 0xf0, 0x3c, 0x40}},
		{"lop3.b32", (0xff&0xf1 | 0x3c) ^ 0xff, []uint64{0xff, 0xf1, 0x3c, 0x1a}},
		// 9.7.9.7
		{"prmt.b32", 0x77665544, []uint64{0x33221100, 0x77665544, 0x7654}},
		{"prmt.b32", 0xff000033, []uint64{0x33221100, 0x80665544, 0xf883}},
		{"prmt.b32.f4e", 0x44332211, []uint64{0x33221100, 0x77665544, 1}},
		{"prmt.b32.b4e", 0x66770011, []uint64{0x33221100, 0x77665544, 5}},
		{"prmt.b32.rc8", 0x22222222, []uint64{0x33221100, 0x77665544, 2}},
		{"prmt.b32.ecl", 0x33222222, []uint64{0x33221100, 0x77665544, 2}},
		{"prmt.b32.ecr", 0x22221100, []uint64{0x33221100, 0x77665544, 2}},
		{"prmt.b32.rc16", 0x33223322, []uint64{0x33221100, 0x77665544, 3}},
		// 9.7.6.4
		{"slct.u32.s32", 1, []uint64{1, 2, 0}},
		{"slct.u32.s32", 2, []uint64{1, 2, m32}},
		{"slct.b64.f32", 2, []uint64{1, 2, 0x7fc00000}},
		{"slct.b64.f32", 1, []uint64{1, 2, 0x80000000}},
		{"slct.b64.f32", 2, []uint64{1, 2, 0x80000001}},
		{"slct.ftz.b64.f32", 1, []uint64{1, 2, 0x80000001}},
	} {
		want(t, c.text, c.want, c.src...)
	}
}
