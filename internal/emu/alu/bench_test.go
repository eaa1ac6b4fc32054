package alu

import (
	"math/rand/v2"
	"testing"

	"heddle/internal/isa"
)

// Nanoseconds for a warp instruction of 32 lanes; divide by 32 for a lane.
func BenchmarkWarp(b *testing.B) {
	for _, c := range []struct {
		text string
		mask uint32
	}{
		{"mov.u32", full}, {"add.u32", full}, {"add.u32", 0x0000ffff}, {"add.u32", 1}, {"add.s64", full},
		{"mad.lo.s32", full}, {"mul.wide.s32", full}, {"mul.hi.u32", full}, {"shl.b32", full},
		{"and.b32", full}, {"lop3.b32", full}, {"shf.l.wrap.b32", full}, {"bfe.u32", full},
		{"prmt.b32", full},
		{"min.s32", full}, {"div.s32", full}, {"popc.b32", full}, {"selp.b32", full},
		{"setp.lt.s32", full}, {"setp.eq.and.u32", full}, {"setp.lt.f32", full}, {"set.lt.u32.s32", full},
		{"add.f32", full}, {"add.ftz.f32", full}, {"fma.rn.f32", full}, {"fma.rn.ftz.f32", full},
		{"fma.rz.f32", full}, {"add.rm.f32", full}, {"mul.rp.f32", full}, {"div.rz.f32", full},
		{"div.rn.f32", full}, {"sqrt.rn.f32", full}, {"max.f32", full}, {"neg.f32", full},
		{"add.f64", full}, {"fma.rn.f64", full}, {"add.rp.f64", full}, {"fma.rn.f16x2", full},
		{"ex2.approx.f32", full}, {"sin.approx.f32", full},
		{"cvt.rn.f32.s32", full}, {"cvt.rzi.s32.f32", full}, {"cvt.u64.u32", full}, {"cvt.s64.s32", full},
		{"cvt.f64.f32", full}, {"cvt.rn.f16.f32", full}, {"cvt.rni.s32.f64", full},
	} {
		name := c.text
		switch c.mask {
		case full:
		case 1:
			name += "/one"
		default:
			name += "/half"
		}
		b.Run(name, func(b *testing.B) {
			f, s := lookup(b, c.text), benchState(desc(b, c.text))
			o := s.ops()
			b.ReportAllocs()
			for b.Loop() {
				f(o, c.mask)
			}
		})
	}
}

// benchState has operands as programs have them: numbers of moderate size.
func benchState(d *isa.Desc) *state {
	r := rand.New(rand.NewPCG(1, 1))
	s := randomState(r)
	ty := d.Type
	if d.SType != isa.NoType && d.Row.Opcode == "cvt" {
		ty = d.SType
	}
	for i := range s.s {
		for l := range 32 {
			x := r.Float64()*200 - 100
			switch ty {
			case isa.F32:
				s.s[i][l] = packF32(float32(x))
			case isa.F64:
				s.s[i][l] = double.pack(isa.RN, numberOf(false, r.Uint64()>>36), false)
			case isa.F16x2:
				s.s[i][l] = 0x3c003c00 + uint64(r.IntN(0x300))<<16 + uint64(r.IntN(0x300))
			default:
				s.s[i][l] = uint64(r.IntN(1000))
			}
		}
	}
	return s
}
