package emu

import (
	"strings"
	"testing"
)

// Conversions to narrow formats in kernels, by PTX ISA 9.7.9.21: a pair of .e2m1 is in a register of
// 8 bits, four sources are one list, and random bits follow them. 1.5 is 0b0011 in .e2m1 (exponent
// 1, fraction 1) and -3.0 is 0b1101; 1.25 is in the middle of 1.0 (0b0010) and 1.5, so that 8 random
// bits round it up if they are at least 0x80: those of the third source are, the lower byte of the
// upper half, and those of the second are not, the upper byte of the lower half. In .e4m3 the values
// are 0x3c, 0xc4 and 0x3a.
func TestCvtNarrow(t *testing.T) {
	const head = `.reg .b8 %y;
	.reg .b32 %j;
	.reg .f32 %k;
	mov.f32 %f, 0f3FC00000;
	mov.f32 %g, 0fC0400000;
	mov.f32 %k, 0f3FA00000;
	mov.u32 %u, 0x7f80007f;
`
	for text, want := range map[string]uint32{
		"cvt.rn.satfinite.e2m1x2.f32 %y, %f, %g;\ncvt.u32.u8 %j, %y;":                                        0x3d,
		"cvt.rn.satfinite.e2m1x2.f32 %y, %f, %g;\nmov.b32 %j, {%y, %y, %y, %y};":                             0x3d3d3d3d,
		"cvt.rn.satfinite.e2m1x2.f32 %y, %f, %g;\ncvt.rn.f16x2.e2m1x2 %j, %y;":                               0x3e00c200,
		"mov.b32 %j, 0x3d00;\nmov.b32 {_, %y, _, _}, %j;\ncvt.rn.f16x2.e2m1x2 %j, %y;":                       0x3e00c200,
		"cvt.rn.satfinite.e2m3x2.f32 %h, %f, %g;\ncvt.u32.u16 %j, %h;":                                       0x0c34,
		"cvt.rn.satfinite.e3m2x2.f32 %h, %f, %g;\ncvt.rn.relu.f16x2.e3m2x2 %j, %h;":                          0x3e000000,
		"cvt.rp.satfinite.ue8m0x2.f32 %h, %f, %g;\ncvt.u32.u16 %j, %h;":                                      0x8081,
		"mov.b32 %j, 0x3fc0c040;\ncvt.rn.satfinite.e2m1x2.bf16x2 %y, %j;\ncvt.u32.u8 %j, %y;":                0x3d,
		"cvt.rs.satfinite.e2m1x4.f32 %h, {%f, %k, %k, %g}, %u;\ncvt.u32.u16 %j, %h;":                         0x323d,
		"cvt.rs.satfinite.e4m3x4.f32 %j, {%f, %k, %g, %f}, %u;":                                              0x3c3ac43c,
		"setp.gt.u32 %c, %t, 40;\nmov.b32 %j, 9;\n@%c cvt.rs.satfinite.e4m3x4.f32 %j, {%f, %k, %g, %f}, %u;": 9,
		"cvt.rs.bf16x2.f32 %j, %f, %g, %u;":                                                                  0x3fc0c040,
	} {
		res, _ := completed(t, kernel(t, head+text+"\nst.global.u32 [%p], %j;\nret;"),
			config(1, 32, buffer("out", 128)), Options{})
		if got := words(t, res, "out", 32)[9]; got != want {
			t.Errorf("%s: %#x, want %#x", text, got, want)
		}
	}
	for text, message := range map[string]string{
		"cvt.rn.satfinite.s2f6x2.f32 %h, %f, %g;":           "fixed-point numbers",
		"cvt.rs.satfinite.e2m1x4.f32 %h, {%f, %k, %k}, %u;": "3 operands where 4 are expected",
	} {
		_, res, _ := start(t, kernel(t, head+text+"\nret;"), config(1, 32, buffer("out", 128)), Options{})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
}
