package emu

import "testing"

// In a team of one device a multimem address is that of one location (PTX ISA 8.2.3, 9.7.9.14): a
// store is seen by a load with any reduction, and a reduction changes what is there.
func TestMultimem(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint32
	}{
		{"multimem.st.global.u32 [%o], 7;", 7},
		{"multimem.st.relaxed.sys.b32 [%o], 7; multimem.red.add.u32 [%o], 5;", 12},
		{"multimem.st.u32 [%o], 7; multimem.red.release.gpu.global.min.u32 [%o], 5;", 5},
		{"multimem.st.u32 [%o], 7; multimem.ld_reduce.global.max.u32 %i, [%o]; st.global.u32 [%o], %i;", 7},
		{"multimem.st.u32 [%o], 0xffff; multimem.red.and.b32 [%o], 0xff0;", 0xff0},
		{"multimem.st.b32 [%o], 0x3c003c00; multimem.red.add.f16x2 [%o], %pair;", 0x40003c00},
		{"multimem.st.b32 [%o], 0x3f800000; multimem.red.add.v2.f32 [%o], {1.0, 2.0};", 0x40000000},
		{"multimem.st.u32 [%o], 9; multimem.ld_reduce.acquire.gpu.add.v2.f32 {%fa, %fb}, [%o]; mov.b32 %i, %fa; st.global.u32 [%o], %i;", 9},
	} {
		k := kernel(t, ".reg .f32 %fa, %fb; .reg .b32 %pair; mov.b32 %pair, 0x3c000000; setp.eq.u32 %c, %t, 0; @!%c ret;\n"+c.text+"\nret;")
		res, _ := completed(t, k, config(1, 32, buffer("out", 16)), Options{})
		if got := words(t, res, "out", 4)[0]; got != c.want {
			t.Errorf("%s: %#x, want %#x", c.text, got, c.want)
		}
	}
}
