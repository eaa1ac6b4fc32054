package repair

import (
	"strings"
	"testing"

	"heddle/internal/ir"
)

// An address that is computed in another branch is that of its variable, or is computed again, with
// the counter of the loop at hand. Two ways to compute it are one object, and other elements of an
// array are others.
func TestObjectsHere(t *testing.T) {
	const loops = "mov.u64 %d8, s;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra CONSUMER;\nmov.u32 %r1, 0;\nPRODUCE:\n" +
		"and.b32 %r2, %r1, 1;\nmul.wide.u32 %d2, %r2, 8;\nadd.u64 %d3, %d8, %d2;\n" +
		"cvta.shared.u64 %d4, %d3;\ncvta.to.shared.u64 %d5, %d4;\ncvt.u32.u64 %r3, %d5;\n" +
		"mbarrier.arrive.shared::cta.b64 _, [%r3+16];\n" +
		"cvt.u32.u64 %r4, %d3;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4+16], 64;\n" +
		"xor.b32 %r5, %r2, 1;\nmul.wide.u32 %d6, %r5, 8;\nadd.u64 %d7, %d8, %d6;\ncvt.u32.u64 %r6, %d7;\n" +
		"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r6+16], 32;\n" +
		"add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 4;\n@%p2 bra PRODUCE;\nbra END;\n" +
		"CONSUMER:\nmov.u32 %r7, 0;\nCONSUME:\nld.shared.u32 %r8, [s+32];\n" +
		"add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 4;\n@%p3 bra CONSUME;\nEND:\n"
	r, k := stepper(t, loops)
	read := r.x.where(instrs(k, "ld.shared")[0])
	arrival, _ := r.objectOf(instrs(k, "mbarrier.arrive.shared")[0])
	expect, _ := r.objectOf(instrs(k, "mbarrier.arrive.expect_tx")[0])
	other, _ := r.objectOf(instrs(k, "mbarrier.expect_tx")[0])
	if arrival.key != expect.key || arrival.key == other.key {
		t.Errorf("keys %q, %q and, of another element, %q", arrival.key, expect.key, other.key)
	}
	o, ok := r.here(arrival, read)
	text := o.within("mbarrier.arrive.shared::cta.b64 _, " + o.text + ";")
	if !ok || !strings.Contains(text, "and.b32 \t%fix1_a0, %r7, 1;") || !strings.HasSuffix(o.text, "+16]") ||
		strings.Contains(text, "%r1,") {
		t.Errorf("%v: %s", ok, text)
	}
	if _, ok := r.here(arrival, Point{Block: k.Func.Blocks[0].ID}); ok {
		t.Error("an object by the counter of a loop where there is none")
	}

	r, k = stepper(t, "setp.eq.u32 %p1, %r0, 0;\n@%p1 bra READ;\nmov.u64 %d8, s;\nadd.u64 %d2, %d8, 8;\n"+
		"cvt.u32.u64 %r1, %d2;\nmov.b32 %r2, 256;\n"+
		"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2;\nREAD:\nld.shared.u32 %r3, [s+32];\n")
	in := instrs(k, "mbarrier.arrive")[0]
	if o, _ := r.objectOf(in); o.text != "[s+8]" || o.reg != ir.NoReg {
		t.Errorf("%s, want the variable", o.text)
	}
	if n, ok := r.number(&in.Src[1]); !ok || n != 256 {
		t.Errorf("%d %v, want the number in the register", n, ok)
	}
}

// A register that two instructions write, or one under a guard, is not computed again.
func TestNotComputedAgain(t *testing.T) {
	for _, body := range []string{
		"@%p1 bra READ;\nmov.u64 %d8, s;\n@%p2 add.u64 %d8, %d8, 8;\ncvt.u32.u64 %r1, %d8;\n",
		"@%p1 bra READ;\nmov.u64 %d8, s;\n@%p2 bra NEXT;\nmov.u64 %d8, s;\nNEXT:\ncvt.u32.u64 %r1, %d8;\n",
		"@%p1 bra READ;\nld.global.u32 %r1, [%d8];\n",
	} {
		r, k := stepper(t, body+"mbarrier.arrive.shared::cta.b64 _, [%r1];\nREAD:\nld.shared.u32 %r3, [s+32];\n")
		o, _ := r.objectOf(instrs(k, "mbarrier.arrive")[0])
		if o, ok := r.here(o, r.x.where(instrs(k, "ld.shared")[0])); ok {
			t.Errorf("%s: %v", body, o)
		}
	}
}
