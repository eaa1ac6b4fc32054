package slice

import "testing"

// A number of rounds that is computed from a parameter has the smallest parameter that gives it, by
// the meaning of the operations (PTX ISA 9.7.1 and 9.7.8). Operations that may fall as the
// parameter grows, that wrap around for some, or whose operand is not known give none.
func TestQuotient(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		ops  string
		want [3]int64 // parameters for 0, 1 and 100 rounds; none
	}{
		{"add.s32 %x1, %x0, 63; shr.s32 %n1, %x1, 6;", [3]int64{0, 1, 6337}}, // (k + 63) / 64
		{"add.s32 %x1, %x0, 63; shr.s32 %x2, %x1, 31; shr.u32 %x3, %x2, 26; add.s32 %x4, %x1, %x3; " +
			"shr.s32 %n1, %x4, 6;", [3]int64{0, 1, 6337}},
		{"div.u32 %n1, %x0, 3;", [3]int64{0, 3, 300}},
		{"div.s32 %n1, %x0, 3;", [3]int64{0, 3, 300}},
		{"mul.wide.u32 %w1, %x0, 4; shr.u64 %w2, %w1, 4; cvt.u32.u64 %n1, %w2;", [3]int64{0, 4, 400}},
		{"cvt.u64.u32 %w1, %x0; shl.b64 %w2, %w1, 20; shr.u64 %w3, %w2, 22; cvt.u32.u64 %n1, %w3;",
			[3]int64{0, 4, 400}},
		{"shr.u32 %x1, %x0, 2; add.u32 %n1, %x1, 1;", [3]int64{none, 0, 396}},
		{"shr.u32 %x1, %x0, 1; sub.u32 %x2, %x1, 0; shr.u32 %n1, %x2, 0;", [3]int64{0, 2, 200}},
		{"mul.lo.u32 %n1, %x0, 2;", [3]int64{none, none, none}},                   // wraps for some
		{"sub.u32 %n1, 100, %x0;", [3]int64{none, none, none}},                    // falls
		{"sub.u32 %x1, %x0, 1; shr.u32 %n1, %x1, 1;", [3]int64{none, none, none}}, // below 0 for 0
		{"and.b32 %n1, %x0, 127;", [3]int64{none, none, none}},                    // falls
		{"shr.u32 %n1, %x0, %t;", [3]int64{none, none, none}},                     // by what is not known
		{"div.u32 %n1, %x0, 0;", [3]int64{none, none, none}},                      // undefined
		{"shr.u32 %n1, 4096, %x0;", [3]int64{none, none, none}},                   // falls
		{"shr.u32 %n1, %x0, 2; setp.eq.u32 %p7, %x0, 9; @%p7 ret;", [3]int64{none, none, none}},
		{"shr.u32 %n1, %x0, 2; setp.lt.u32 %p7, %x0, 8; @%p7 ret;", [3]int64{0, 4, 400}},
		{"shr.u32 %n1, %x0, 2; setp.gt.u32 %p7, %x0, 7; @%p7 ret;", [3]int64{0, 4, 400}},
		{"shr.u32 %n1, %x0, 2; setp.le.u32 %p7, 8, %x0; @%p7 ret;", [3]int64{0, 4, 400}},
		{"shr.u32 %n1, %x0, 2; setp.ge.u32 %p7, %x0, 9; @%p7 ret;", [3]int64{none, none, none}},
		{"setp.eq.u32 %p6, %t, 0; shr.u32 %n1, %x0, 2; setp.lt.and.u32 %p7, %x0, 8, %p6; @%p7 ret;",
			[3]int64{none, none, none}}, // two conditions in one
	} {
		s, k := roundsModule(t, "", "\tmov.u32 %t, %tid.x;\n\tld.param.u32 %x0, [n];\n\t"+c.ops+`
	mov.u32 %i, 0;
LOOP:
	bar.sync 0;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p1, %i, %n1;
	@%p1 bra LOOP;
	ret;
`)
		r, why := s.CountedBy(param(t, k, "n"))
		for i, n := range []uint64{0, 1, 100} {
			got := int64(none)
			if r != nil {
				if v, ok, _ := r.Argument(n); ok {
					got = int64(v)
				}
			}
			if got != c.want[i] {
				t.Errorf("%s: %d rounds with %d, want %d (%s)", c.ops, n, got, c.want[i], why)
			}
		}
	}
}
