package irgen

import "testing"

// Operands that stand for a computation, as the instructions that they become.
func TestComputedOperands(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{".shared .u32 a[8]; .reg .b32 %r<3>;\nld.shared.u32 %r1, a[3];", "b0 ld.shared.u32 %r1, [a+12]\n"},
		{".shared .u16 a[8]; .reg .u64 %i; .reg .b16 %h;\nld.shared.u16 %h, a[%i-1];",
			"b0 mul.lo.u64 %heddle_2, %i, 2\nb0 mov.u64 %heddle_3, a-2\nb0 add.u64 %heddle_4, %heddle_3, %heddle_2\nb0 ld.shared.u16 %h, [%heddle_4]\n"},
		{".shared .v4 .f32 a[8]; .reg .s32 %i; .reg .f32 %f;\nld.shared.f32 %f, a[%i];",
			"b0 mul.wide.s32 %heddle_2, %i, 16\nb0 mov.u64 %heddle_3, a\nb0 add.u64 %heddle_4, %heddle_3, %heddle_2\nb0 ld.shared.f32 %f, [%heddle_4]\n"},
		{".reg .b32 %r<3>;\nadd.u32 %r1, %r2-1, 7;", "b0 add.u32 %heddle_2, %r2, 0xffffffff\nb0 add.u32 %r1, %heddle_2, 7\n"},
		{".reg .b32 %r<4>;\nvmad.s32.s32.u32.sat %r1, %r2.h1, -%r3.b0, %r1;", "b0 vmad.s32.s32.u32.sat %r1, %r2.h1, -%r3.b0, %r1\n"},
	} {
		got := text(kernel(t, c.body))
		if want := c.want + "b0 ret\n"; got != want {
			t.Errorf("%s\ngot\n%swant\n%s", c.body, got, want)
		}
	}
}
