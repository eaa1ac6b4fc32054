package slice

import (
	"slices"
	"strings"
	"testing"
)

// TestRetries: a test of an mbarrier is a wait if the answer False leads to a test for the same phase,
// before anything that a trace sees: to itself, or to another wait behind which all is as if the
// answer had been True (docs/theory/phases.md, "Waits").
func TestRetries(t *testing.T) {
	const (
		ask   = "\tmbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1;\n"
		again = "\t@!%p1 bra L;\n"
		// The answer as a number: the other forms by which compilers write a condition.
		number = "L:\n" + ask + "\tselp.u32 %r2, 1, 0, %p1;\n"
		other  = "W:\n\tmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r1;\n\t@!%p2 bra W;\nD:\n"
		slow   = "\tmbarrier.try_wait.parity.shared.b64 %p1, [bar], %r4;\n\t@%p1 bra D;\n"
		after  = "W:\n\tmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r4;\n\t@!%p2 bra W;\nD:\n"
		token  = "\tmbarrier.test_wait.parity.shared.b64 %p1, [bar], %r1;\n"
	)
	for _, c := range []struct {
		what, body string
		want       []bool // of each test
	}{
		{"until True", "L:\n" + ask + again, []bool{true}},
		{"while True", "L:\n" + ask + "\t@%p1 bra L;\n", []bool{false}},
		{"once", ask, []bool{false}},
		{"until a number is not 0", number + "\tsetp.eq.u32 %p2, %r2, 0;\n\t@%p2 bra L;\n",
			[]bool{true}},
		{"until a number is 0", number + "\tsetp.ne.u32 %p2, %r2, 0;\n\t@%p2 bra L;\n",
			[]bool{false}},
		{"a bit of a number", number + "\tand.b32 %r3, %r2, 1;\n\tsetp.eq.u32 %p2, %r3, 0;\n" +
			"\t@%p2 bra L;\n", []bool{true}},
		{"a number or 0", number + "\tor.b32 %r3, %r2, 0;\n\tsetp.eq.u32 %p2, %r3, 0;\n" +
			"\t@%p2 bra L;\n", []bool{true}},
		{"a number or 1", number + "\tor.b32 %r3, %r2, 1;\n\tsetp.eq.u32 %p2, %r3, 0;\n" +
			"\t@%p2 bra L;\n", []bool{false}},
		{"the other number", number + "\txor.b32 %r3, %r2, 1;\n\tsetp.ne.u32 %p2, %r3, 0;\n" +
			"\t@%p2 bra L;\n", []bool{true}},
		{"the same number", number + "\txor.b32 %r3, %r2, 0;\n\tsetp.ne.u32 %p2, %r3, 0;\n" +
			"\t@%p2 bra L;\n", []bool{false}},
		{"a converted number", number + "\tcvt.u64.u32 %d1, %r2;\n\tsetp.eq.u64 %p2, %d1, 0;\n" +
			"\t@%p2 bra L;\n", []bool{true}},
		{"True and something", "L:\n" + ask + "\tand.pred %p2, %p1, %p3;\n\t@!%p2 bra L;\n",
			[]bool{true}},
		{"True or something", "L:\n" + ask + "\tor.pred %p2, %p1, %p3;\n\t@!%p2 bra L;\n",
			[]bool{false}},
		{"not False and something", "L:\n" + ask + "\tor.pred %p2, %p3, !%p1;\n\t@%p2 bra L;\n",
			[]bool{true}},
		{"an address that is computed anew", "L:\n\tmov.u32 %r3, bar;\n\tadd.u32 %r3, %r3, 8;\n" +
			"\tmbarrier.try_wait.parity.shared.b64 %p1, [%r3], %r1;\n" + again, []bool{true}},
		{"another phase each time", "L:\n" + ask + "\txor.b32 %r1, %r1, 1;\n" + again,
			[]bool{false}},
		{"another object each time", "L:\n\tmbarrier.try_wait.parity.shared.b64 %p1, [%r3], %r1;\n" +
			"\tadd.u32 %r3, %r3, 8;\n" + again, []bool{false}},
		{"attempts until a trap", "L:\n" + ask + "\t@%p1 bra D;\n\tadd.u32 %r3, %r3, 1;\n" +
			"\tsetp.gt.u32 %p2, %r3, 999;\n\t@!%p2 bra L;\n\ttrap;\nD:\n", []bool{true}},
		{"attempts that decide an address", "L:\n\tadd.u32 %r3, %r3, 4;\n" + ask + again +
			"\tst.shared.u32 [%r3], 1;\n", []bool{false}},
		{"a store before the next attempt", "L:\n" + ask + "\t@%p1 bra D;\n" +
			"\tst.shared.u32 [s], 1;\n\tbra L;\nD:\n", []bool{false}},
		{"lanes of a guard", "L:\n\t@%p3 mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1;\n" +
			"\tand.pred %p2, %p3, !%p1;\n\t@%p2 bra L;\n", []bool{true}},
		{"lanes of another guard", "L:\n\t@%p3 mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1;\n" +
			"\tand.pred %p2, %p4, !%p1;\n\t@%p2 bra L;\n", []bool{false}},
		{"a token", token + "\t@%p1 bra D;\n" + other, []bool{true, true}},
		{"a token of another phase", "\tmbarrier.test_wait.parity.shared.b64 %p1, [bar], %r4;\n" +
			"\t@%p1 bra D;\n" + other, []bool{false, true}},
		{"a parity of the opposite condition",
			"\tsetp.eq.u32 %p3, %r1, 1;\n\tselp.u32 %r4, 1, 0, %p3;\n" + slow + "\tsetp.ne.u32 %p3, %r1, 1;\n\tselp.u32 %r4, 1, 0, %p3;\n" + after, []bool{false, true}},
		{"a parity of the same condition", "\tsetp.eq.u32 %p3, %r1, 1;\n\tselp.u32 %r4, 1, 0, %p3;\n" +
			slow + "\tsetp.eq.u32 %p3, %r1, 1;\n\tselp.u32 %r4, 1, 0, %p3;\n" + after, []bool{true, true}},
		{"a parity under the opposite guard", "\tmov.u32 %r4, 0;\n\t@%p3 mov.u32 %r4, %r2;\n" + slow +
			"\tmov.u32 %r4, 0;\n\t@!%p3 mov.u32 %r4, %r2;\n" + after, []bool{false, true}},
		{"the upper half of a product", "\tmul.lo.u32 %r4, %r1, %r2;\n" + slow +
			"\tmul.hi.u32 %r4, %r1, %r2;\n" + after, []bool{false, true}},
		// 1 as the bits of a float is about 1e-45, of which the integer is 0.
		{"the integer of a tiny number", "\tmov.u32 %r4, 1;\n" + slow +
			"\tmov.b32 %f1, 1;\n\tcvt.rzi.u32.f32 %r4, %f1;\n" + after, []bool{false, true}},
		// The trace executes the first test, which orders more (PTX ISA 9.7.13.15.16).
		{"a token that acquires, before a wait that does not",
			"\tmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [bar], %r1;\n\t@%p1 bra D;\n" +
				"W:\n\tmbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [bar], %r1;\n" +
				"\t@!%p2 bra W;\nD:\n", []bool{false, true}},
		{"a parity from a pair", "\tmov.b64 %d1, {%r1, 0};\n\tcvt.u32.u64 %r4, %d1;\n" + slow +
			"\tmov.b64 %d1, {%r1, 0};\n\tcvt.u32.u64 %r4, %d1;\n" + after, []bool{true, true}},
		{"a parity from another pair", "\tmov.b64 %d1, {0, %r1};\n\tcvt.u32.u64 %r4, %d1;\n" + slow +
			"\tmov.b64 %d1, {1, %r1};\n\tcvt.u32.u64 %r4, %d1;\n" + after, []bool{false, true}},
		{"a token that decides an address", token + "\tmov.u32 %r3, 0;\n\t@%p1 bra D;\n" +
			"\tmov.u32 %r3, 4;\n" + other + "\tst.shared.u32 [%r3], 1;\n", []bool{false, true}},
		{"a token that decides a value", token + "\tmov.u32 %r3, 0;\n\t@%p1 bra D;\n" +
			"\tmov.u32 %r3, 4;\n" + other + "\tst.shared.u32 [s], %r3;\n", []bool{true, true}},
		{"a token of no wait", token + "\t@%p1 bra D;\n\tmbarrier.try_wait.parity.shared.b64 %p2, " +
			"[bar], %r1;\nD:\n", []bool{false, false}},
	} {
		text := ".shared .align 8 .b8 bar[16];\n.shared .align 4 .b8 s[256];\n" +
			".visible .entry k(.param .u32 in)\n" + begin + "\tld.param.u32 %r1, [in];\n" + c.body + end
		s, _ := sliced(t, text, Options{})
		f := s.order[0]
		var got []bool
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if strings.HasPrefix(in.Text(), "mbarrier") {
					got = append(got, s.Retries(f)[in.Index])
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
