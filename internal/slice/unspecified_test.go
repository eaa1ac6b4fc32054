package slice

import (
	"strings"
	"testing"
)

// The elements of a vector are operands (PTX ISA 6.4.3): if one is the index of the block, the
// slice depends on it, and if one is a register of the machine, the result is unknown.
func TestSpecialInVector(t *testing.T) {
	const rest = "\n\tsetp.ne.u64 %p1, %w1, 0;\n\t@%p1 bra END;\n\tbar.sync 0;\nEND:\n\tret;\n"
	for _, c := range []struct {
		text          string
		block, unsure bool
	}{
		{"mov.b64 %w1, {%ctaid.x, %tid.x};", true, false},
		{"mov.b64 %w1, {%x1, %nctaid.y};", false, true}, // the grid is not specified
		{"mov.b64 %w1, {%tid.x, %smid};", false, true},
		{"mov.b64 %w1, {%tid.x, %ntid.x};", false, false},
	} {
		s, k := roundsModule(t, "", "\tmov.u32 %x1, 0;\n\t"+c.text+rest)
		unsure := false
		for _, b := range k.Blocks {
			for _, in := range b.Instrs {
				unsure = unsure || s.Role(k, in) == Unknown
			}
		}
		if s.BlockIndex != c.block || unsure != c.unsure {
			t.Errorf("%s: block index %v, unknown %v", c.text, s.BlockIndex, unsure)
		}
	}
}

// The result of a multiplication may be fused with a sum (PTX ISA 9.7.3.3 to 9.7.3.5) if it comes
// there by operations that an optimizer sees through, and then how the sum is rounded is open. What
// was an integer between, or came from another lane, is not the product any more; and a rounding
// mode excludes it.
func TestFused(t *testing.T) {
	const mul = "\tmul.f32 %f1, %f0, %f0;\n"
	for _, c := range []struct {
		text string
		open bool
	}{
		{mul + "\tadd.f32 %f2, %f1, %f0;\n", true},
		{mul + "\tmov.f32 %f3, %f1;\n\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tneg.f32 %f3, %f1;\n\tadd.f32 %f2, %f0, %f3;\n", true},
		{mul + "\tabs.f32 %f3, %f1;\n\tsub.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tselp.f32 %f3, %f1, %f0, %p1;\n\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tmov.b32 %r1, %f1;\n\txor.b32 %r1, %r1, 0x80000000;\n\tmov.b32 %f3, %r1;\n" +
			"\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tst.shared.f32 [s], %f1;\n\tld.shared.f32 %f3, [s];\n\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tcall (%f3), same, (%f1);\n\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tcvt.f64.f32 %fd1, %f1;\n\tcvt.rn.f32.f64 %f3, %fd1;\n\tadd.f32 %f2, %f3, %f0;\n", true},
		{mul + "\tcall (%f2), more, (%f1);\n", true},
		{mul + "\tadd.rn.f32 %f2, %f1, %f0;\n", false},
		{"\tmul.rn.f32 %f1, %f0, %f0;\n\tadd.f32 %f2, %f1, %f0;\n", false},
		{mul + "\tadd.f32 %f2, %f0, %f0;\n", false},
		{mul + "\tld.const.f32 %f3, [c];\n\tadd.f32 %f2, %f3, %f0;\n", false},
		{mul + "\tcvt.rzi.s32.f32 %r1, %f1;\n\tcvt.rn.f32.s32 %f3, %r1;\n" +
			"\tadd.f32 %f2, %f3, %f0;\n", false},
		{mul + "\tsetp.lt.f32 %p2, %f1, %f0;\n\tselp.f32 %f3, 0f3F800000, %f0, %p2;\n" +
			"\tadd.f32 %f2, %f3, %f0;\n", false},
		{mul + "\tmov.b32 %r1, %f1;\n\tshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n\tmov.b32 %f3, %r2;\n" +
			"\tadd.f32 %f2, %f3, %f0;\n", false},
		{"\tld.shared.f32 %f3, [s];\n\tadd.f32 %f2, %f3, %f0;\n", false}, // no multiplication at all
	} {
		_, got := sliced(t, ".const .f32 c = 0f3F800000;\n.shared .align 4 .b8 s[4];\n"+
			".func (.reg .f32 r) same(.reg .f32 x)\n{\n\tmov.f32 r, x;\n\tret;\n}\n"+
			".func (.reg .f32 r) more(.reg .f32 x)\n{\n\tadd.f32 r, x, 0f3F800000;\n\tret;\n}\n"+
			".visible .entry k()\n"+begin+"\t.reg .f64 %fd<4>;\n\tmov.f32 %f0, 0f3F800001;\n"+
			"\tsetp.eq.u32 %p1, 0, 0;\n"+c.text+"\tsetp.eq.f32 %p3, %f2, 0f00000000;\n\t@%p3 bra E;\n"+
			"\tbar.sync 0;\nE:\n"+end, Options{})
		if open := strings.Contains(got["k"]+got["more"], "unknown"); open != c.open {
			t.Errorf("open %v, want %v, of\n%s%s", open, c.open, c.text, got["k"])
		}
	}
}
