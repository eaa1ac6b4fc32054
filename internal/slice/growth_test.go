package slice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// instruction returns the first instruction of a kernel whose text begins with one.
func instruction(t *testing.T, k *ir.Func, text string) *ir.Instr {
	t.Helper()
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if strings.HasPrefix(in.Text(), text) {
				return in
			}
		}
	}
	t.Fatalf("no %s", text)
	return nil
}

// grownFrom examines the loop of countedLoop, with %i and some other registers differing.
func grownFrom(t *testing.T, body string, delta map[string]uint64,
	small ...string) (*Rounds, *ir.Func, map[ir.RegID]uint64, map[ir.RegID]bool) {
	t.Helper()
	s, k := roundsModule(t, "", body)
	r, why := s.CountedBy(param(t, k, "n"))
	if r == nil {
		t.Fatalf("%s\n%s", why, body)
	}
	d, sm := make(map[ir.RegID]uint64), make(map[ir.RegID]bool)
	for name, v := range delta {
		d[register(t, k, name)] = v
	}
	for _, name := range small {
		sm[register(t, k, name)] = true
	}
	return r, k, d, sm
}

// copies copies %i to %c1, that to %c2, and so on up to n.
func copies(n int) string {
	text, from := ".reg .u32 %c<9>; ", "%i"
	for i := 1; i <= n; i++ {
		to := "%c" + strconv.Itoa(i)
		text += "mov.u32 " + to + ", " + from + "; "
		from = to
	}
	return text
}

// TestDifferences: two executions differ by multiples of D in %i, of 4 in %j (which a round adds 4
// to), and of D in the wide %l. By multiples of what the result in %e (or %d1) differs follows from
// arithmetic modulo 2^32 (PTX ISA 9.7.1): 1 is anything. %i is bounded where bounded says so, by
// small; then it is a number, and its quotients are (docs/theory/periods.md, "Numbers").
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		ops     string
		delta   uint64 // of %i and %l
		small   bool
		want    uint64
		bounded bool
	}{
		{"mov.u32 %e, %i;", 6, false, 6, false},
		{"mov.u32 %e, %t;", 6, false, 0, false},
		{"mov.b32 %f0, %i; mov.b32 %e, %f0;", 6, false, 1, false}, // no integer
		{"cvt.u32.u64 %e, %l;", 6, false, 6, false},               // modulo 2^32
		{"cvt.u64.u32 %d1, %i;", 6, false, 2, false},              // the power of two, as a number
		{"cvt.u64.u32 %d1, %i;", 6, true, 6, true},
		{"cvt.u64.u32 %d1, %i;", 8, false, 8, false},
		{"mov.u32 %x0, %i; add.u32 %x1, %x0, 5; cvt.u64.u32 %d1, %x1;", 6, true, 6, true},
		{copies(6) + "cvt.u64.u32 %d1, %c6;", 6, true, 6, true},
		{copies(7) + "cvt.u64.u32 %d1, %c7;", 6, true, 2, false}, // bounds are looked for in six steps
		{"cvt.u32.u8 %e, %i;", 256, false, 1, false},             // reads a part
		{"add.u32 %e, %i, 5;", 6, false, 6, false},
		{"add.u32 %e, %i, %t;", 6, false, 6, false},
		{"sub.u32 %e, 5, %i;", 6, false, 6, false},
		{"add.u32 %e, %i, %j;", 6, false, 2, false}, // gcd of 6 and 4
		{"add.sat.s32 %e, %i, 5;", 6, false, 1, false},
		{"add.u16x2 %e, %i, %t;", 6, false, 1, false},
		{"setp.eq.u32 %p2, %t, 0; selp.u32 %e, %i, %j, %p2;", 6, false, 2, false},
		{"setp.eq.u32 %p2, %t, 0; selp.u32 %e, %i, 7, %p2;", 6, false, 6, false},
		{"and.b32 %x0, %i, 4; setp.eq.u32 %p2, %x0, 0; selp.u32 %e, %i, %j, %p2;", 6, false, 1, false},
		{"and.b32 %x0, %i, 4; setp.eq.u32 %p2, %x0, 0; selp.u32 %e, 4, 5, %p2;", 6, false, 1, false},
		{"shl.b32 %e, %i, 3;", 6, false, 48, false},
		{"shl.b32 %e, %i, 0;", 6, false, 6, false},
		{"shl.b32 %e, %i, 31;", 3, false, 3 << 31, false},
		{"shl.b32 %e, %i, 32;", 6, false, 1, false},
		{"shl.b32 %e, %i, %t;", 6, false, 1, false},
		{"shl.b64 %d1, %l, 31;", 1 << 32, false, 1, false}, // may be beyond 2^64 in uint64
		{"mul.lo.u32 %e, %i, 5;", 6, false, 30, false},
		{"mul.lo.u32 %e, %i, 1048576;", 6, false, 6 << 20, false},
		{"mul.lo.u32 %e, %i, 1048577;", 6, false, 1, false}, // too large for the sums of uint64
		{"mul.lo.u64 %d1, %l, 5;", 1 << 40, false, 1, false},
		{"mul.lo.u32 %e, %i, 0;", 6, false, 1, false},
		{"mul.lo.u32 %e, %i, -1;", 6, false, 1, false},
		{"mul.lo.u32 %e, %i, %t;", 6, false, 1, false},
		{"mul.hi.u32 %e, %i, 5;", 6, false, 1, false},
		{"mul.wide.u32 %d1, %i, 5;", 6, false, 10, false}, // the number differs by multiples of 2
		{"mul.wide.u32 %d1, %i, 5;", 6, true, 30, true},
		{"mad.lo.u32 %e, %i, 5, %t;", 6, false, 30, false},
		{"mad.lo.u32 %e, %i, 5, %j;", 6, false, 2, false},
		{"mad.lo.u32 %e, %t, 5, %j;", 6, false, 4, false},
		{"mad.wide.u32 %d1, %t, 5, %l;", 6, false, 6, false}, // the product does not differ
		{"and.b32 %e, %i, 3;", 4, false, 0, false},
		{"and.b32 %e, %i, 4;", 4, false, 4, false}, // the two low bits agree
		{"and.b32 %e, %i, 4;", 8, false, 0, false},
		{"and.b32 %e, %i, 3;", 6, false, 2, false}, // the low bit agrees
		{"and.b32 %e, %i, %t;", 4, false, 4, false},
		{"and.b32 %e, %i, -1;", 4, false, 4, false},
		{"and.b32 %e, %i, 2147483648;", 4, false, 4, false},
		{"shr.u32 %e, %i, 1;", 6, false, 1, false}, // multiples of 2 as a number
		{"shr.u32 %e, %i, 1;", 6, true, 3, true},
		{"shr.u32 %e, %i, 2;", 8, false, 2, false},
		{"shr.u32 %e, %i, 0;", 8, false, 8, false},
		{"shr.u32 %e, %i, 3;", 4, false, 1, false},
		{"shr.u32 %e, %i, %t;", 8, false, 1, false},
		{"shr.u64 %d1, %l, 30;", 1 << 31, false, 2, false},
		{"shr.u64 %d1, %l, 31;", 1 << 31, false, 1, false},
		{"rem.u32 %e, %i, 4;", 4, false, 0, false},
		{"rem.u32 %e, %i, 3;", 6, false, 1, false}, // 2^32 is 1 modulo 3
		{"rem.u32 %e, %i, 3;", 6, true, 0, true},
		{"rem.u32 %e, %i, 4;", 6, true, 1, true},
		{"rem.u32 %e, %t, %i;", 6, true, 1, false},
		{"rem.u32 %e, %i, %t;", 6, true, 1, false},
		{"rem.u32 %e, 12, %i;", 6, true, 1, false},
		{"rem.s32 %e, %i, 4;", 4, false, 1, false}, // -1 and 3
		// a remainder that differs at all is anything below 12, so that its multiples are numbers
		{"rem.u32 %x0, %i, 12; mul.lo.u32 %x1, %x0, 3; cvt.u64.u32 %d1, %x1;", 6, false, 3, true},
		{"rem.u64 %d2, %l, 12; mul.lo.u64 %d3, %d2, 6; div.u64 %d1, %d3, 3;", 6, false, 2, true},
		{"and.b64 %d1, %l, 4294967299;", 4, false, 4, false}, // bit 32 too
		{"rem.s32 %e, %i, 4;", 4, true, 0, true},
		{"rem.s64 %d1, %l, 4;", 4, false, 1, false},
		{"rem.u64 %d1, %l, 4;", 4, false, 0, false},
		{"rem.u64 %d1, %l, 2147483648;", 1 << 31, false, 1, false}, // constants are below 2^31
		{"div.u32 %e, %i, 3;", 6, false, 1, false},
		{"div.u32 %e, %i, 3;", 6, true, 2, true},
		{"div.u32 %e, %i, 4;", 8, false, 2, false},
		{"div.s32 %e, %i, 4;", 8, false, 1, false},
		{"div.s32 %e, %i, 4;", 8, true, 2, true},
		{"xor.b32 %e, %i, 4;", 8, false, 8, false},
		{"xor.b32 %e, %i, 4;", 12, false, 4, false}, // 12 ^ 4 is 8, and 24 ^ 4 is 28
		{"or.b32 %e, %i, %j;", 6, false, 2, false},
		{"not.b32 %e, %i;", 6, false, 2, false},
		{"not.b64 %d1, %l;", 8, false, 8, false},
		{"lop3.b32 %e, %i, %t, 5, 150;", 8, false, 8, false},
		{"lop3.b32 %e, %i, %j, 5, 150;", 8, false, 4, false},
		{"bfe.u32 %e, %i, 1, 2;", 8, false, 0, false},
		{"bfe.u32 %e, %i, 1, 3;", 8, false, 4, false}, // bits 1 and 2 agree
		{"bfe.s32 %e, %i, 1, 3;", 8, false, 4, false}, // so they do below the sign
		{"bfe.s32 %e, %i, 1, 2;", 8, false, 0, false},
		{"bfe.u32 %e, %i, 3, 3;", 8, false, 1, false},
		{"bfe.u32 %e, %i, 4, 3;", 8, false, 1, false},
		{"bfe.u32 %e, %i, 4, 0;", 1, false, 0, false},
		{"bfe.u32 %e, %i, 30, 3;", 8, false, 1, false}, // beyond the register
		{"bfe.u32 %e, %i, %t, 3;", 8, false, 1, false},
		{"bfe.u32 %e, %t, %i, 3;", 8, false, 1, false},
		{"bfe.u64 %d1, %l, 2, 30;", 1 << 32, false, 0, false},
	} {
		dst := "%e"
		if strings.Contains(c.ops, "%d1") {
			dst = "%d1"
		}
		body := "\tmov.u32 %j, 0;\n\tmov.u64 %l, 0;\n" + withParts(part{"IN",
			strings.ReplaceAll(c.ops, "; ", ";\n\t") + "\n\tsetp.eq.u32 %p3, %e, 77;\n" +
				"\tsetp.eq.u64 %p4, %d1, 77;\n\t" + branchOn("%p3") + "\t" + branchOn("%p4") +
				"\tadd.u32 %j, %j, 4;\n\tadd.u64 %l, %l, 2;"})
		var small []string
		if c.small {
			small = []string{"%i", "%l"}
		}
		r, k, delta, sm := grownFrom(t, body,
			map[string]uint64{"%i": c.delta, "%j": 4, "%l": c.delta}, small...)
		r.small = sm
		d := r.differences(delta)
		compared := -1
		for _, b := range k.Blocks {
			for _, in := range b.Instrs {
				if len(in.Src) == 2 && in.Src[1].Kind == ir.Imm && in.Src[1].Val == 77 &&
					in.Src[0].Reg == register(t, k, dst) {
					compared = in.Index
				}
			}
		}
		got := d.of(r.f.instrs[compared], register(t, k, dst))
		if got != c.want || r.Bounded != c.bounded {
			t.Errorf("%s with %d: differs by %d, bounded %v; want %d, %v", c.ops, c.delta, got, r.Bounded,
				c.want, c.bounded)
		}
	}
}

// TestMatters: a trace depends on the addresses of shared memory, on the number and count of a
// barrier, on the mask of a warp operation, and on the mbarrier, state or parity, and size of what
// signals; not on data, on addresses of global memory, or on the limit of a wait's time.
func TestMatters(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"st.shared.u32 [%x0], %x1;", "[0]"},
		{"st.global.u32 [%d0], %x1;", "[]"},
		{"bar.red.popc.u32 %x2, %x0, %x1, %p1;", "[0 1]"},
		{"bar.sync %x0, %x1;", "[0 1]"},
		{"shfl.sync.idx.b32 %x0, %x1, %x2, 31, %x3;", "[3]"},
		{"cp.async.ca.shared.global [%x0], [%d0], 4;", "[0]"},
		{"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%x0], [%d0], %x1, [%x2];",
			"[0 2 3]"},
		{"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%x0], %x1;", "[1 2]"},
		{"mbarrier.try_wait.parity.shared.b64 %p1, [%x0], %x1, %x2;", "[0 1]"},
		{"mbarrier.arrive.expect_tx.shared.b64 _, [%x0], %x1;", "[0 1]"},
		{"add.u32 %x0, %x1, %x2;", "[0 1]"},
		{"bar.warp.sync %x0;", "[0]"},
	} {
		s, k := roundsModule(t, "", "\tmov.u32 %t, %tid.x;\n\t"+c.text+"\n\tret;\n")
		r := &Rounds{s: s, f: s.funcs[k]}
		in := k.Blocks[0].Instrs[1]
		got := []int{}
		for i := range in.Src {
			if r.matters(in, i) {
				got = append(got, i)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.text, got, c.want)
		}
	}
}

// TestState: the state of a test names another phase in each round, and may differ; its address and
// its limit of time may not, nor a state that is no result of an arrival, nor a parity.
func TestState(t *testing.T) {
	for _, c := range []struct {
		from, text string
		want       string
	}{
		{"mbarrier.arrive.shared.b64 %d0, [bar];", "mbarrier.test_wait.shared.b64 %p1, [bar], %d0;", "[1]"},
		{"mov.u64 %d0, 5;", "mbarrier.test_wait.shared.b64 %p1, [bar], %d0;", "[]"},
		{"mov.u32 %x0, 1;", "mbarrier.test_wait.parity.shared.b64 %p1, [bar], %x0;", "[]"},
		{"mbarrier.arrive.shared.b64 %d0, [bar];", "mbarrier.test_wait.shared.b64 %p1, [%d0], %d0;", "[1]"},
		{"mbarrier.arrive.shared.b64 %d0, [bar];", "add.u64 %d1, %d1, %d0;", "[]"},
	} {
		s, k := roundsModule(t, "", "\t"+c.from+"\n\t"+c.text+"\n\tret;\n")
		r := &Rounds{s: s, f: s.funcs[k]}
		got := []int{}
		for i := range k.Blocks[0].Instrs[1].Src {
			if r.state(k.Blocks[0].Instrs[1], i) {
				got = append(got, i)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s %s: %v, want %s", c.from, c.text, got, c.want)
		}
	}
}

// TestLive: the registers that are compared between rounds are those that the slice needs at the
// start of one, apart from those that hold n.
func TestLive(t *testing.T) {
	s, k := roundsModule(t, "", withParts(part{"IN", at("%x0")}, part{"BEFORE", "mov.u32 %x0, 4;"}))
	r, why := s.CountedBy(param(t, k, "n"))
	if why != "" || len(r.Loops) != 1 {
		t.Fatalf("%q, %d loops", why, len(r.Loops))
	}
	var names []string
	for _, reg := range r.Loops[0].Live {
		names = append(names, k.Regs[reg].Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "%i %x0" {
		t.Errorf("live: %s, want %%i %%x0", got)
	}
}

// TestGrows: what the slice does must not depend on the number of the round.
func TestGrows(t *testing.T) {
	const guard, round = "whether", "depends on the number of the round"
	const product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, " +
		"%d0, %d0, %p3, 1, 1, 0, 0;"
	// %p1 is in the slice, since it decides an address in no bit, and guards an instruction outside.
	const perhaps = "and.b32 %x0, %i, 7;\n\tsetp.eq.u32 %p1, %x0, 0;\n\tselp.u32 %x1, 1, 0, %p1;\n" +
		"\tbfe.u32 %x2, %x1, 0, 0;\n\tst.shared.u32 [%x2], %t;\n\t@%p1 add.f32 %f0, %f0, %f1;\n\t"
	for _, c := range []struct{ what, body, want string }{
		{"nothing depends on it", withParts(), ""},
		{"it is stored", withParts(part{"IN", "st.shared.u32 [s], %i;"}), ""},
		{"an address", withParts(part{"IN", at("%i")}), round},
		{"an address modulo 4", withParts(part{"IN", "and.b32 %x0, %i, 3;\n\t" + at("%x0")}), ""},
		{"an address modulo 8", withParts(part{"IN", "and.b32 %x0, %i, 7;\n\t" + at("%x0")}), round},
		{"a comparison with a constant", withParts(part{"IN",
			"setp.lt.u32 %p1, %i, 7;\n\t" + branchOn("%p1")}), ""},
		{"a comparison with the thread", withParts(part{"IN",
			"setp.lt.u32 %p1, %i, %t;\n\t" + branchOn("%p1")}), guard},
		{"a comparison with a constant as real numbers", withParts(part{"IN",
			"setp.lt.f32 %p1, %i, 0f00000007;\n\t" + branchOn("%p1")}), guard},
		{"a guard", withParts(part{"IN", "and.b32 %x0, %i, 7;\n\tsetp.eq.u32 %p1, %x0, 0;\n" +
			"\t@%p1 st.shared.u32 [s], %t;"}), guard},
		{"a sum made in some rounds", withParts(part{"IN", "and.b32 %x0, %i, 7;\n" +
			"\tsetp.eq.u32 %p1, %x0, 0;\n\tmov.u32 %x1, 4;\n\t@%p1 mov.u32 %x1, 8;\n\t" + at("%x1")}),
			guard},
		{"a register overwritten before it is read", withParts(part{"IN",
			"mov.u32 %x0, %i;\n\tmov.u32 %x0, 4;\n\t" + at("%x0")}), ""},
		{"overwritten in some threads", withParts(part{"IN", "setp.eq.u32 %p1, %t, 0;\n" +
			"\tmov.u32 %x0, %i;\n\t@%p1 mov.u32 %x0, 4;\n\t" + at("%x0")}), round},
		{"overwritten in some threads, and read in another block", withParts(part{"IN",
			"setp.eq.u32 %p1, %t, 0;\n\tmov.u32 %x0, %i;\n\t@%p1 mov.u32 %x0, 4;\n\t" +
				branchOn("%p1") + at("%x0")}), round},
		{"overwritten, and read in another block", withParts(part{"IN", "setp.eq.u32 %p1, %t, 0;\n" +
			"\tmov.u32 %x0, %i;\n\tmov.u32 %x0, 4;\n\t" + branchOn("%p1") + at("%x0")}), ""},
		{"read in another block", withParts(part{"IN", "setp.eq.u32 %p1, %t, 0;\n" +
			"\tmov.u32 %x0, %i;\n\t" + branchOn("%p1") + at("%x0")}), round},
		{"it counts a barrier", withParts(part{"IN", "bar.sync 1, %i;"}), round},
		{"a state", withParts(part{"IN", "mbarrier.arrive.shared.b64 %d0, [bar];\nW:\n" +
			"\tmbarrier.test_wait.shared.b64 %p1, [bar], %d0;\n\t@!%p1 bra W;"}), ""},
		{"a state that is copied", withParts(part{"IN", "mbarrier.arrive.shared.b64 %d0, [bar];\n" +
			"\tadd.u64 %d1, %d0, 0;\nW:\n\tmbarrier.test_wait.shared.b64 %p1, [bar], %d1;\n" +
			"\t@!%p1 bra W;"}), round},
		{"a state as an address", withParts(part{"IN", "mbarrier.arrive.shared.b64 %d0, [bar];\n" +
			"\tcvt.u32.u64 %x0, %d0;\n\t" + at("%x0")}), round},
		{"a parity", withParts(part{"IN", "and.b32 %x0, %i, 1;\nW:\n" +
			"\tmbarrier.test_wait.parity.shared.b64 %p1, [bar], %x0;\n\t@!%p1 bra W;"}), ""},
		{"a parity of every fourth round", withParts(part{"IN", "shr.u32 %x0, %i, 2;\n" +
			"\tand.b32 %x0, %x0, 1;\nW:\n\tmbarrier.test_wait.parity.shared.b64 %p1, [bar], %x0;\n" +
			"\t@!%p1 bra W;"}), round},
		{"a counter that begins elsewhere", withParts(part{"BEHIND", "mov.u32 %j, %i;\nMORE:\n" +
			"\tbar.sync 0;\n\tadd.u32 %j, %j, 1;\n\tsetp.lt.u32 %p1, %j, %n0;\n\t@%p1 bra MORE;"}),
			"counter %j does not begin with the same value"},
		{"an address in shared memory", withParts(part{"IN", "st.shared.u32 [s], %t;\n\t" +
			"ld.shared.u32 %x0, [s];\n\t" + at("%x0")}), ""},
		{"an address of the round in shared memory", withParts(part{"IN",
			"st.shared.u32 [s], %i;\n\tld.shared.u32 %x0, [s];\n\t" + at("%x0")}), round},
		{"it is beside an address in shared memory", withParts(part{"IN",
			"st.shared.v2.u32 [s], {%t, %i};\n\tld.shared.u32 %x0, [s];\n\t" + at("%x0")}), round},
		{"a descriptor", withParts(part{"IN", "cvt.u64.u32 %d0, %i;\n\t" + product}), round},
		{"a descriptor modulo 4", withParts(part{"IN", "and.b32 %x0, %i, 3;\n" +
			"\tcvt.u64.u32 %d0, %x0;\n\t" + product}), ""},
		{"whether D is added", withParts(part{"IN", "setp.lt.u32 %p3, %i, %t;\n\t" + product}), ""},
		{"the guard of an accumulator's addition", withParts(part{"IN", perhaps + product}), guard},
		{"the guard of another addition", withParts(part{"IN", perhaps}), ""},
	} {
		r, _, delta, small := grownFrom(t, c.body, map[string]uint64{"%i": 4})
		why := r.Grows(delta, small)
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q\n%s", c.what, why, c.want, c.body)
		}
	}
}

// TestTensorMap: the tensor map of a copy is in the parameter that its operand names, the source of
// a copy to shared memory and the destination of one from there (PTX ISA 9.7.9.27.1.2).
func TestTensorMap(t *testing.T) {
	const load = "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
		" [%x0], [%d0, {%x1}], [bar];"
	for _, c := range []struct{ text, want string }{
		{load, "map"},
		{"add.s64 %d1, %d0, 128;\n\tadd.s64 %d2, %d1, -64;\n\t" + strings.ReplaceAll(load, "%d0", "%d2"),
			"map+64"},
		{"cvta.param.u64 %d1, %d0;\n\t" + strings.ReplaceAll(load, "[%d0", "[%d1+8"), "map+8"},
		{"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d0, {%x1}], [%x0];", "map"},
		{"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%x0], 16;", ""},
		{"st.shared.u32 [%x0], %x1;", ""},
		{"mov.b64 %d1, wide;\n\tselp.b64 %d0, %d0, %d1, %p0;\n\t" + load, ""},
		{"atom.global.exch.b64 %d1, [%d2], 0;\n\tselp.b64 %d0, %d0, %d1, %p0;\n\t" + load, ""},
	} {
		s, k := roundsModule(t, "", "\tmov.b64 %d0, map;\n\t"+c.text+"\n\tret;\n")
		list := k.Blocks[0].Instrs
		p, got := s.TensorMap(list[len(list)-2]), ""
		if p.Var != nil {
			got = p.Name()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	// The copy is in a function, at an index that is the number of instructions of the kernel, which
	// is looked into first.
	s, k := roundsModule(t, ".global .align 64 .b8 x[128];\n.func f()\n{\n"+
		"\t.reg .b32 %x<8>;\n\t.reg .b64 %d<8>;\n\tmov.b64 %d0, x;\n\tmov.u32 %x1, 0;\n\t"+load+
		"\n\tret;\n}\n",
		"\tcall f, ();\n\tret;\n")
	f := s.order[1]
	in := instruction(t, f, "cp.async.bulk.tensor")
	if k.NumInstrs != in.Index {
		t.Fatalf("the kernel has %d instructions, the copy is number %d", k.NumInstrs, in.Index)
	}
	if p := s.TensorMap(in); p.Var == nil || p.Name() != "x" {
		t.Errorf("in a function: %v, want x", p.Var)
	}
}

// TestLoads: the slice reads a parameter if a load of it decides an address, and can be reached.
func TestLoads(t *testing.T) {
	s, k := roundsModule(t, "", "\tld.param.u32 %n0, [n];\n\tld.param.u32 %x0, [m];\n"+
		"\tst.shared.u32 [%n0], %x0;\n\tret;\n\tld.param.u64 %d0, [wide];\n\tcvt.u32.u64 %n0, %d0;\n"+
		"\tst.shared.u32 [%n0], %x0;\n\tret;\n")
	for name, want := range map[string]bool{"n": true, "m": false, "wide": false, "half": false} {
		if got := s.Loads(param(t, k, name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
