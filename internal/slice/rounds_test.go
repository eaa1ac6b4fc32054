package slice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// roundsModule slices kernel k of a module with the parameters and registers of the tests below.
func roundsModule(t *testing.T, before, body string) (*Slice, *ir.Func) {
	t.Helper()
	text := ".version 8.8\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n" +
		".shared .align 16 .b8 s[256];\n.shared .align 8 .b64 bar;\n" + before +
		".visible .entry k(.param .u32 n, .param .u32 m, .param .u64 wide, .param .u16 half," +
		" .param .f32 real, .param .u32 two[2], .param .align 64 .b8 map[128])\n{\n" +
		"\t.reg .pred %p<8>;\n\t.reg .b16 %h<8>;\n\t.reg .b32 %n<8>, %i, %j, %t, %x<8>, %e;\n" +
		"\t.reg .b64 %w<8>, %l, %d<8>;\n\t.reg .f32 %f<8>;\n\t.local .align 8 .b8 frame[16];\n" +
		"\t.reg .b128 %q<2>;\n\t.param .b32 pass;\n" +
		body + "}\n"
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], body)
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], body)
	}
	k := m.Kernel("k")
	return Of(k, Options{}), k
}

// param returns a parameter of a kernel.
func param(t *testing.T, k *ir.Func, name string) *ir.Var {
	t.Helper()
	for _, v := range k.Params {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no parameter %s", name)
	return nil
}

// register returns a register by its name.
func register(t *testing.T, k *ir.Func, name string) ir.RegID {
	t.Helper()
	i := slices.IndexFunc(k.Regs, func(r ir.Reg) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no register %s", name)
	}
	return ir.RegID(i)
}

// shown describes what CountedBy has found: loops as the counters with their steps.
func shown(k *ir.Func, r *Rounds) string {
	var loops []string
	for _, l := range r.Loops {
		var c []string
		for i, reg := range l.Counters {
			c = append(c, fmt.Sprintf("%s+%d", k.Regs[reg].Name, l.Steps[i]))
		}
		loops = append(loops, strings.Join(c, ","))
	}
	return fmt.Sprintf("%s least %d slack %d above %d equal %d", strings.Join(loops, "; "), r.Least,
		r.Slack, r.Above, len(r.pred))
}

// countedLoop is a loop in which %i counts from 0 to n. Tests replace its placeholders: BEFORE, in
// front of the loop; IN, at the start of each round; TEST, which decides whether another round
// follows; and BEHIND, after the loop.
const countedLoop = "\tmov.u32 %t, %tid.x;\n\tld.param.u32 %n0, [n];\n\tBEFORE\n" +
	"\tmov.u32 %i, 0;\nROUND:\n\tIN\n\tbar.sync 0;\n\tadd.u32 %i, %i, 1;\n\tTEST\n" +
	"\t@%p0 bra ROUND;\n\tBEHIND\n\tret;\n"

// part is what one of the placeholders of countedLoop stands for.
type part struct{ name, text string }

// withParts replaces the placeholders; those that are not given are empty, and the usual test.
func withParts(parts ...part) string {
	body := countedLoop
	for _, p := range append(parts, part{"BEFORE", ""}, part{"BEHIND", ""}, part{"TEST",
		"setp.lt.u32 %p0, %i, %n0;"}, part{"IN", ""}) {
		body = strings.Replace(body, "\t"+p.name+"\n", "\t"+p.text+"\n", 1)
	}
	return body
}

// What decides whether a thread takes part in a barrier is in the slice, and what is the address of
// an access: the tests use these forms to make a register count.
func branchOn(p string) string {
	return "@" + p + " bra L" + p[1:] + ";\n\tbar.sync 1, 32;\nL" + p[1:] + ":\n"
}

func at(reg string) string { return "st.shared.u32 [" + reg + "], %t;" }

// TestCountedBy: n decides numbers of rounds only if registers hold n plus a constant, and it is
// compared with counters and constants only (docs/theory/periods.md, "Rounds"). The numbers say
// from where on the comparisons have one outcome: i + a < n + b needs n - i > a - b (Slack), and
// i + a and n + b are at least 1 so that no difference of them wraps around (Above, Least);
// n + b <= c has one outcome for n > c - b (Least), and i + a <= c for i > c - a (Above). Constants
// are at most 2^15, so that two of them are at most the 2^16 that the range of the verdict leaves.
func TestCountedBy(t *testing.T) {
	const plain = "%i+1 least 1 slack 1 above 1 equal 1"
	in := func(text ...string) string { return withParts(part{"IN", strings.Join(text, "\n\t")}) }
	test := func(text string) string { return withParts(part{"TEST", text}) }
	before := func(text string) string { return withParts(part{"BEFORE", text}) }
	behind := func(text ...string) string {
		return withParts(part{"BEHIND", strings.Join(text, "\n\t")})
	}
	whole := func(text string) string { return text }
	for _, c := range roundsCases(in, test, before, behind, whole) {
		s, k := roundsModule(t, c.module, c.body)
		name := c.param
		if name == "" {
			name = "n"
		}
		want := c.want
		if want == "" {
			want = plain
		}
		r, why := s.CountedBy(param(t, k, name))
		switch {
		case r == nil && (!strings.HasPrefix(want, "no: ") || !strings.Contains(why, want[4:])):
			t.Errorf("%s: %q, want %q\n%s", c.what, why, want, c.body)
		case r != nil && shown(k, r) != want:
			t.Errorf("%s: %s, want %s\n%s", c.what, shown(k, r), want, c.body)
		}
	}
}

// A roundsCase is a kernel with what CountedBy should say: "" is a loop that counts to n with no
// constants, "no: " and a part of the reason that it is none.
type roundsCase struct{ what, body, want, param, module string }

func roundsCases(in func(...string) string, test, before func(string) string,
	behind func(...string) string, whole func(string) string) []roundsCase {
	const (
		reads    = "no: reads more than"
		part0    = "no: it reads a part of n"
		computes = "no: it computes with n"
		noCount  = "is not a counter"
		large    = "large number"
	)
	nested := func(outer, inner, behind string) string {
		return "\tmov.u32 %t, %tid.x;\n\tld.param.u32 %n0, [n];\n\tld.param.u32 %x0, [m];\n" +
			"\tmov.u32 %j, 0;\n\tmov.u32 %i, 0;\nOUTER:\n\t" + outer + "\nROUND:\n\tbar.sync 0;\n\t" +
			"add.u32 %i, %i, 1;\n\t" + inner + "\n\tsetp.lt.u32 %p0, %i, %n0;\n\t@%p0 bra ROUND;\n" +
			"\t" + behind + "\n\tadd.u32 %j, %j, 1;\n\tsetp.lt.u32 %p1, %j, 3;\n\t@%p1 bra OUTER;\n\tret;\n"
	}
	return []roundsCase{
		{what: "a loop", body: in()},

		// what is no part of these kernels
		{what: "a function", body: in("call f, ();"), want: "no: it calls functions",
			module: ".func f()\n{\n\tbar.sync 0;\n\tret;\n}\n"},
		{what: "an address in shared memory", body: in("ld.shared.u32 %x0, [s];", at("%x0"))},
		{what: "n in shared memory", body: in("st.shared.u32 [s], %n0;", "ld.shared.u32 %x0, [s];",
			at("%x0")), want: "no: st.shared.u32 depends on n, and is not a comparison"},
		{what: "n in shared memory, which nothing loads", body: in("st.shared.u32 [s], %n0;")},
		{what: "an address in local memory", body: in("st.local.u32 [frame], %t;",
			"ld.local.u32 %x0, [frame];", at("%x0")), want: "no: depends on values in local memory"},
		{what: "an address in a parameter of a call", body: in("st.param.b32 [pass], %t;",
			"ld.param.b32 %x0, [pass];", at("%x0")), want: "no: depends on parameters of calls"},
		{what: "128 bits", body: in("mov.b128 %q0, {%d0, %d1};", "mov.b128 {%d0, %d1}, %q0;",
			"cvt.u32.u64 %x0, %d1;", at("%x0")), want: "no: it computes with 128 bits"},
		{what: "a real number", body: in(), param: "real", want: "no: real is not an integer"},
		{what: "an array", body: in(), param: "two", want: "no: two is not an integer"},
		{what: "16 bits", body: in(), param: "half", want: "no: half is not an integer"},
		{what: "a carry", body: in("add.cc.u32 %x0, %t, 1;", "addc.u32 %x1, %t, 0;", at("%x1")),
			want: "no: it computes with a carry"},
		{what: "a carry that decides nothing", body: in("add.cc.u32 %x0, %t, 1;",
			"addc.u32 %x1, %t, 0;", "st.shared.u32 [s], %x1;")},

		// how n is read
		{what: "an address of another variable", body: in("mov.u32 %x0, dyn;", at("%x0+4"))},
		{what: "the address of n", body: in("mov.b64 %d0, n;", "ld.param.u32 %x0, [%d0];", at("%x0")),
			want: "no: it takes the address of"},
		{what: "the generic address of n", body: in("cvta.param.u64 %d0, n;",
			"cvt.u32.u64 %x0, %d0;", at("%x0")), want: "no: it takes the address of"},
		{what: "another parameter", body: in("ld.param.u32 %x0, [two+4];", at("%x0"))},
		{what: "behind a parameter", body: in("ld.param.u32 %x0, [m+4];", at("%x0")), want: reads},
		{what: "in front of a parameter", body: in("ld.param.u32 %x0, [m+-4];", at("%x0")), want: reads},
		{what: "a pair from one", body: in("ld.param.v2.u32 {%x0, %x1}, [m];", at("%x0")), want: reads},
		{what: "a pair from two", body: in("ld.param.v2.u32 {%x0, %x1}, [two];", at("%x0"))},
		{what: "half of n", body: in("ld.param.u16 %h0, [n+2];", "cvt.u32.u16 %x0, %h0;", at("%x0")),
			want: part0},

		// registers that hold it
		{what: "a copy", body: before("mov.u32 %n0, %n0;")},
		{what: "two copies", body: withParts(part{"BEFORE", "mov.b32 %n1, %n0;\n\tmov.u32 %n2, %n1;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n2;"})},
		{what: "a sum", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, 7;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "%i+1 least 0 slack 1 above 1 equal 1"},
		{what: "a sum in the other order", body: withParts(part{"BEFORE", "add.u32 %n1, 7, %n0;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "%i+1 least 0 slack 1 above 1 equal 1"},
		{what: "a difference", body: withParts(part{"BEFORE", "sub.u32 %n1, %n0, 7;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "%i+1 least 8 slack 8 above 1 equal 1"},
		{what: "2^32 - 1 is -1 in 32 bits", body: withParts(part{"BEFORE",
			"add.u32 %n1, %n0, 4294967295;"}, part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}),
			want: "%i+1 least 2 slack 2 above 1 equal 1"},
		{what: "2^32 - 1 is not -1 in 64 bits", body: "\tld.param.u64 %w0, [wide];\n" +
			"\tadd.u64 %w1, %w0, 4294967295;\n\tmov.u64 %l, 0;\nROUND:\n\tbar.sync 0;\n" +
			"\tadd.u64 %l, %l, 1;\n\tsetp.lt.u64 %p0, %l, %w1;\n\t@%p0 bra ROUND;\n\tret;\n",
			param: "wide", want: "no: it computes with"},
		{what: "a constant minus n", body: withParts(part{"BEFORE", "sub.u32 %n1, 7, %n0;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: sub.u32 depends on"},
		{what: "n plus the thread", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, %t;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: add.u32 depends on"},
		{what: "the thread plus n", body: withParts(part{"BEFORE", "add.u32 %n1, %t, %n0;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: add.u32 depends on"},
		{what: "the low half of n", body: withParts(part{"BEFORE", "cvt.u32.u16 %n1, %n0;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: cvt.u32.u16 depends on"},
		{what: "a wider copy", body: "\tld.param.u32 %n0, [n];\n\tcvt.u64.u32 %w0, %n0;\n" +
			"\tmov.u64 %l, 0;\nROUND:\n\tbar.sync 0;\n\tadd.u64 %l, %l, 1;\n" +
			"\tsetp.lt.u64 %p0, %l, %w0;\n\t@%p0 bra ROUND;\n\tret;\n",
			want: "%l+1 least 1 slack 1 above 1 equal 1"},
		{what: "a packed sum", body: withParts(part{"BEFORE", "add.u16x2 %n1, %n0, %t;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: add.u16x2 depends on"},
		{what: "the halves of n", body: "\tld.param.u64 %w0, [wide];\n\tmov.b64 {%x0, %x1}, %w0;\n" +
			"\tmov.u32 %i, 0;\nROUND:\n\tbar.sync 0;\n\tadd.u32 %i, %i, 1;\n" +
			"\tsetp.lt.u32 %p0, %i, %x0;\n\t@%p0 bra ROUND;\n\tret;\n",
			param: "wide", want: "no: mov.b64 depends on"},
		{what: "2^15 more", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, 32768;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "%i+1 least 0 slack 1 above 1 equal 1"},
		{what: "2^15 less", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, -32768;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}),
			want: "%i+1 least 32769 slack 32769 above 1 equal 1"},
		{what: "more than 2^15", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, 32769;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: computes},
		{what: "less than -2^15", body: withParts(part{"BEFORE", "add.u32 %n1, %n0, -32769;"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: computes},
		{what: "n in some threads", body: withParts(part{"BEFORE", "setp.eq.u32 %p1, %t, 0;\n" +
			"\t@%p1 mov.u32 %n1, %n0;"}, part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: computes},
		{what: "n as a real number", body: withParts(part{"BEFORE", "mov.b32 %f0, %n0;"},
			part{"TEST", "setp.lt.f32 %p0, %f0, 0f3f800000;"}), want: computes},
		{what: "two sums in one register", body: withParts(part{"BEFORE", "mov.u32 %n1, %n0;\n" +
			"\tsetp.eq.u32 %p1, %t, 0;\n\t@%p1 bra A;\n\tadd.u32 %n1, %n0, 1;\nA:\n"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: holds different sums"},
		{what: "n or 5", body: withParts(part{"BEFORE", "mov.u32 %n1, %n0;\n" +
			"\tsetp.eq.u32 %p1, %t, 0;\n\t@%p1 bra A;\n\tmov.u32 %n1, 5;\nA:\n"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: at some places only"},
		{what: "n or the thread", body: withParts(part{"BEFORE", "mov.u32 %n1, %n0;\n" +
			"\tsetp.eq.u32 %p1, %t, 0;\n\t@%p1 bra A;\n\tadd.u32 %n1, %t, 1;\nA:\n"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"}), want: "no: at some places only"},
		{what: "n or another value on a path that nothing reaches", body: withParts(part{"BEFORE",
			"mov.u32 %n1, %n0;\n\tbra A;\n\tmov.u32 %n1, 5;\nA:\n"},
			part{"TEST", "setp.lt.u32 %p0, %i, %n1;"})},

		// what reads it
		{what: "n is stored", body: in("st.shared.u32 [s], %n0;")},
		{what: "n is an address", body: in(at("%n0")), want: "no: st.shared.u32 depends on"},
		{what: "a sum of it and a counter is an address", body: in("add.u32 %x0, %n0, %i;",
			at("%x0")), want: "no: add.u32 depends on"},
		{what: "a comparison with a third operand", body: withParts(part{"IN",
			"setp.eq.u32 %p2, %t, 0;"}, part{"TEST", "setp.lt.and.u32 %p0, %i, %n0, %p2;"}),
			want: "no: is not a comparison with a counter"},
		{what: "a comparison as real numbers", body: test("setp.lt.f32 %p0, %i, %n0;"),
			want: "no: is not a comparison with a counter"},
		{what: "a comparison with the thread", body: test("setp.lt.u32 %p0, %tid.x, %n0;"),
			want: "no: is not a comparison with a counter"},
		{what: "no loop, which needs no words", body: "\tld.param.u32 %n0, [n];\n\t" +
			"setp.eq.u32 %p0, %n0, 0;\n\t" + branchOn("%p0") + "\tret;\n", want: "no: "},
		{what: "irreducible", body: behind("setp.eq.u32 %p1, %t, 0;", "@%p1 bra B;\nA:",
			"bar.sync 0;\nB:", "setp.eq.u32 %p2, %t, 1;", "@%p2 bra A;"), want: "no: irreducible"},

		// n and constants
		{what: "n <= 10", body: behind("setp.le.u32 %p1, %n0, 10;", branchOn("%p1")),
			want: "%i+1 least 11 slack 1 above 1 equal 2"},
		{what: "10 >= n", body: behind("setp.ge.u32 %p1, 10, %n0;", branchOn("%p1")),
			want: "%i+1 least 11 slack 1 above 1 equal 2"},
		{what: "n + 3 <= 10", body: behind("add.u32 %n1, %n0, 3;", "setp.le.u32 %p1, %n1, 10;",
			branchOn("%p1")), want: "%i+1 least 8 slack 1 above 1 equal 2"},
		{what: "n > -1", body: behind("setp.gt.s32 %p1, %n0, -1;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "n < 2^32 - 1", body: behind("setp.lt.u32 %p1, %n0, 4294967295;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "n <= 2^15", body: behind("setp.le.u32 %p1, %n0, 32768;", branchOn("%p1")),
			want: "%i+1 least 32769 slack 1 above 1 equal 2"},
		{what: "n > -2^15", body: behind("setp.gt.s32 %p1, %n0, -32768;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "n > 2^15 + 1", body: behind("setp.gt.u32 %p1, %n0, 32769;", branchOn("%p1")),
			want: "no: " + large},
		{what: "n > -2^15 - 1", body: behind("setp.gt.s32 %p1, %n0, -32769;", branchOn("%p1")),
			want: "no: " + large},
		{what: "2^32 + 1 in 64 bits", body: "\tld.param.u64 %w0, [wide];\n\tmov.u64 %l, 0;\nROUND:\n" +
			"\tbar.sync 0;\n\tadd.u64 %l, %l, 1;\n\tsetp.lt.u64 %p0, %l, %w0;\n\t@%p0 bra ROUND;\n" +
			"\tsetp.lt.u64 %p1, %w0, 4294967297;\n\t" + branchOn("%p1") + "\tret;\n", param: "wide",
			want: "no: " + large},

		// n and counters
		{what: "n > i", body: test("setp.gt.u32 %p0, %n0, %i;")},
		{what: "not equal", body: test("setp.ne.b32 %p0, %n0, %i;")},
		{what: "i + 5 < n", body: test("add.u32 %x0, %i, 5;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "%i+1 least 1 slack 6 above 0 equal 1"},
		{what: "i + 2 + 3 < n", body: test("add.u32 %x0, %i, 2;\n\tadd.u32 %x1, %x0, 3;\n" +
			"\tsetp.lt.u32 %p0, %x1, %n0;"), want: "%i+1 least 1 slack 6 above 0 equal 1"},
		{what: "i - 5 < n", body: test("sub.u32 %x0, %i, 5;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "%i+1 least 1 slack 1 above 6 equal 1"},
		{what: "5 - i < n", body: test("sub.u32 %x0, 5, %i;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: %x0, which " + noCount},
		{what: "i + thread < n", body: test("add.u32 %x0, %i, %t;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: %x0, which " + noCount},
		{what: "thread + i < n", body: test("add.u32 %x0, %t, %i;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: %x0, which " + noCount},
		{what: "a register with a constant", body: behind("mov.u32 %x0, 5;",
			"setp.lt.u32 %p1, %x0, %n0;", branchOn("%p1")), want: "no: %x0, which " + noCount},
		{what: "the thread", body: behind("setp.lt.u32 %p1, %t, %n0;", branchOn("%p1")),
			want: "no: %t, which " + noCount},
		{what: "a sum in some threads", body: test("setp.eq.u32 %p1, %t, 0;\n" +
			"\t@%p1 add.u32 %x0, %i, 1;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: %x0, which " + noCount},
		{what: "two sums in one register", body: test("setp.eq.u32 %p1, %t, 0;\n" +
			"\tadd.u32 %x0, %i, 1;\n\t@%p1 add.u32 %x0, %i, 2;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: %x0, which " + noCount},
		{what: "a second sum that nothing reaches", body: withParts(part{"TEST",
			"add.u32 %x0, %i, 5;\n\tsetp.lt.u32 %p0, %x0, %n0;"}, part{"BEHIND",
			"ret;\n\tadd.u32 %x0, %i, 6;"}), want: "%i+1 least 1 slack 6 above 0 equal 1"},
		{what: "a copy through a real number", body: test("mov.b32 %f0, %i;\n\tmov.b32 %x0, %f0;\n" +
			"\tsetp.lt.u32 %p0, %x0, %n0;"), want: "no: %x0, which " + noCount},
		{what: "a copy as a real number", body: test("mov.b32 %f0, %i;\n" +
			"\tsetp.ne.b32 %p0, %f0, %n0;"), want: "no: is no integer"},
		{what: "i + 2^15", body: test("add.u32 %x0, %i, 32768;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "%i+1 least 1 slack 32769 above 0 equal 1"},
		{what: "i + 2^15 + 1", body: test("add.u32 %x0, %i, 32769;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: " + large},
		{what: "i - 2^15", body: test("sub.u32 %x0, %i, 32768;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "%i+1 least 1 slack 1 above 32769 equal 1"},
		{what: "i - 2^15 - 1", body: test("sub.u32 %x0, %i, 32769;\n\tsetp.lt.u32 %p0, %x0, %n0;"),
			want: "no: " + large},
		{what: "one loop with two comparisons", body: in("setp.lt.u32 %p1, %i, %n0;",
			branchOn("%p1")), want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "two counters", body: withParts(part{"BEFORE", "mov.u32 %j, 0;"}, part{"IN",
			"setp.lt.u32 %p1, %j, %n0;\n\tadd.u32 %j, %j, 2;\n\t" + branchOn("%p1")}),
			want: "%j+2,%i+1 least 1 slack 2 above 1 equal 2"},
		{what: "two loops", body: behind("mov.u32 %i, 0;\nMORE:", "bar.sync 0;",
			"add.u32 %i, %i, 2;", "setp.lt.u32 %p1, %i, %n0;", "@%p1 bra MORE;"),
			want: "no: two loops one after the other"},
		{what: "two loops with a counter each", body: behind("mov.u32 %j, 0;\nMORE:", "bar.sync 0;",
			"add.u32 %j, %j, 2;", "setp.lt.u32 %p1, %j, %n0;", "@%p1 bra MORE;"),
			want: "%i+1; %j+2 least 1 slack 2 above 1 equal 2"},

		// where counters are read
		{what: "in front of the loop", body: "\tld.param.u32 %n0, [n];\n\tmov.u32 %i, 0;\n" +
			"\tsetp.lt.u32 %p0, %i, %n0;\n\t" + branchOn("%p0") + "ROUND:\n\tbar.sync 0;\n" +
			"\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %p1, %i, %n0;\n\t@%p1 bra ROUND;\n\tret;\n",
			want: "no: does not count there yet"},
		{what: "behind the loop", body: behind("setp.lt.u32 %p1, %i, %n0;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "set anew behind the loop", body: behind("mov.u32 %i, 1000;",
			"setp.lt.u32 %p1, %i, %n0;", branchOn("%p1")), want: "no: may have another value there"},
		{what: "set anew in another block behind it", body: behind("mov.u32 %i, 1000;",
			"setp.eq.u32 %p2, %t, 0;", branchOn("%p2"), "setp.lt.u32 %p1, %i, %n0;", branchOn("%p1")),
			want: "no: may have another value there"},
		{what: "set anew two blocks before", body: behind("mov.u32 %i, 1000;",
			"setp.eq.u32 %p2, %t, 0;", branchOn("%p2"), "setp.eq.u32 %p3, %t, 1;", branchOn("%p3"),
			"setp.lt.u32 %p1, %i, %n0;", branchOn("%p1")), want: "no: may have another value there"},
		{what: "set anew behind the loop and not read", body: behind("setp.eq.u32 %p1, %t, 0;",
			"mov.u32 %i, 1000;", branchOn("%p1"), at("%i"))},

		// counters
		{what: "begins with the thread", body: strings.Replace(in(), "mov.u32 %i, 0",
			"add.u32 %i, %t, 1", 1)},
		{what: "steps of 2^15", body: strings.Replace(in(), "%i, %i, 1", "%i, %i, 32768", 1),
			want: "%i+32768 least 1 slack 32768 above 1 equal 1"},
		{what: "steps above 2^15", body: strings.Replace(in(), "%i, %i, 1", "%i, %i, 32769", 1),
			want: "no: does not grow by one constant"},
		{what: "no step", body: strings.Replace(in(), "%i, %i, 1", "%i, %i, 0", 1),
			want: "no: does not grow by one constant"},
		{what: "counts down", body: strings.Replace(in(), "%i, %i, 1", "%i, %i, -1", 1),
			want: "no: does not grow by one constant"},
		{what: "in some threads", body: strings.Replace(in("setp.eq.u32 %p1, %t, 0;"),
			"add.u32 %i, %i, 1", "@%p1 add.u32 %i, %i, 1", 1),
			want: "no: does not grow by one constant"},
		{what: "a packed sum", body: strings.Replace(in(), "add.u32 %i, %i, 1",
			"add.u16x2 %i, %i, %t", 1), want: "no: %i, which " + noCount},
		{what: "twice in a round", body: in("add.u32 %i, %i, 1;"),
			want: "no: does not grow by one constant"},
		{what: "outside of a loop", body: before("mov.u32 %i, 3;\n\tadd.u32 %i, %i, 1;"),
			want: "no: does not grow by one constant"},
		{what: "in some rounds", body: strings.Replace(in("setp.eq.u32 %p1, %t, 0;"),
			"add.u32 %i, %i, 1;", "@%p1 bra A;\n\tadd.u32 %i, %i, 1;\nA:\n", 1),
			want: "no: does not grow in each round"},
		{what: "begins anew in a round", body: in("mov.u32 %i, 0;"),
			want: "no: begins anew within its loop"},
		{what: "begins in some threads", body: strings.Replace(before("setp.eq.u32 %p1, %t, 0;"),
			"mov.u32 %i, 0", "@%p1 mov.u32 %i, 0", 1), want: "no: does not begin anew"},
		{what: "begins on a path", body: strings.Replace(before("setp.eq.u32 %p1, %t, 0;"),
			"mov.u32 %i, 0;", "@%p1 bra A;\n\tmov.u32 %i, 0;\nA:\n", 1), want: "no: does not begin anew"},
		{what: "begins twice", body: strings.Replace(before("setp.eq.u32 %p1, %t, 0;"),
			"mov.u32 %i, 0;", "mov.u32 %i, 0;\n\t@%p1 mov.u32 %i, 1;\n", 1)},
		{what: "a loop in a loop", body: nested("mov.u32 %i, 0;", "", "")},
		{what: "not set anew in the outer loop", body: nested("", "", ""),
			want: "no: does not begin anew"},
		{what: "grows in both loops", body: nested("mov.u32 %i, 0;", "", "add.u32 %i, %i, 1;"),
			want: "no: begins anew within its loop"},
		{what: "grows in both loops", body: nested("", "", "add.u32 %i, %i, 1;"),
			want: "no: does not begin anew"},

		// counters and constants
		{what: "i <= 10", body: in("setp.le.u32 %p1, %i, 10;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 11 equal 2"},
		{what: "10 >= i", body: in("setp.ge.u32 %p1, 10, %i;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 11 equal 2"},
		{what: "i + 3 <= 10", body: in("add.u32 %x0, %i, 3;", "setp.le.u32 %p1, %x0, 10;",
			branchOn("%p1")), want: "%i+1 least 1 slack 1 above 8 equal 2"},
		{what: "i - 3 > -1", body: in("add.u32 %x0, %i, -3;", "setp.gt.s32 %p1, %x0, -1;",
			branchOn("%p1")), want: "%i+1 least 1 slack 1 above 4 equal 2"},
		{what: "i < 2^32 - 1", body: in("setp.lt.u32 %p1, %i, 4294967295;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "i <= 2^15", body: in("setp.le.u32 %p1, %i, 32768;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 32769 equal 2"},
		{what: "i <= 2^15 + 1", body: in("setp.le.u32 %p1, %i, 32769;", branchOn("%p1"))},
		{what: "i > -2^15", body: in("setp.gt.s32 %p1, %i, -32768;", branchOn("%p1")),
			want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "i > -2^15 - 1", body: in("setp.gt.s32 %p1, %i, -32769;", branchOn("%p1"))},
		{what: "i + 2^15 > 5", body: in("add.u32 %x0, %i, 32768;", "setp.gt.u32 %p1, %x0, 5;",
			branchOn("%p1")), want: "%i+1 least 1 slack 1 above 1 equal 2"},
		{what: "i + 2^15 + 1 > 5", body: in("add.u32 %x0, %i, 32769;", "setp.gt.u32 %p1, %x0, 5;",
			branchOn("%p1"))},
		{what: "i - 2^15 > 5", body: in("sub.u32 %x0, %i, 32768;", "setp.gt.u32 %p1, %x0, 5;",
			branchOn("%p1")), want: "%i+1 least 1 slack 1 above 32774 equal 2"},
		{what: "i - 2^15 - 1 > 5", body: in("sub.u32 %x0, %i, 32769;", "setp.gt.u32 %p1, %x0, 5;",
			branchOn("%p1"))},
		{what: "2^32 + 5 in 64 bits", body: "\tld.param.u64 %w0, [wide];\n\tmov.u64 %l, 0;\nROUND:\n" +
			"\tbar.sync 0;\n\tadd.u64 %l, %l, 1;\n\tsetp.lt.u64 %p1, %l, 4294967301;\n\t" +
			branchOn("%p1") + "\tsetp.lt.u64 %p0, %l, %w0;\n\t@%p0 bra ROUND;\n\tret;\n",
			param: "wide", want: "%l+1 least 1 slack 1 above 1 equal 1"},
		{what: "a comparison of two registers", body: withParts(part{"IN",
			"setp.lt.u32 %p1, %i, %t;\n\t" + branchOn("%p1")}, part{"TEST",
			"add.u32 %x0, %i, 5;\n\tsetp.lt.u32 %p0, %x0, %n0;"}),
			want: "%i+1 least 1 slack 6 above 0 equal 1"},
		{what: "a comparison of the thread", body: in("setp.lt.u32 %p1, %tid.x, 5;", branchOn("%p1"))},
		{what: "a comparison of another register", body: in("setp.lt.u32 %p1, %t, 5;",
			branchOn("%p1"))},
		{what: "a comparison of a counter with a third operand", body: in("setp.eq.u32 %p2, %t, 0;",
			"setp.lt.and.u32 %p1, %i, 5, %p2;", branchOn("%p1"))},
		{what: "a comparison of a counter as a real number", body: in(
			"setp.lt.f32 %p1, %i, 0f00000005;", branchOn("%p1"))},
		{what: "a counter in front of its loop", body: strings.Replace(in(), "ROUND:\n",
			"\tsetp.lt.u32 %p1, %i, 5;\n\t"+branchOn("%p1")+"ROUND:\n", 1)},
		{what: "i - 1", body: in("sub.u32 %x0, %i, 1;", at("%x0")),
			want: "%i+1 least 1 slack 1 above 2 equal 1"},
		{what: "i - 64", body: in("sub.u32 %x0, %i, 64;", at("%x0")),
			want: "%i+1 least 1 slack 1 above 65 equal 1"},
		{what: "i - 65 has no bound", body: in("sub.u32 %x0, %i, 65;", at("%x0"))},
		{what: "i + 5 has one anyway", body: in("add.u32 %x0, %i, 5;", at("%x0"))},
		{what: "thread - 1", body: in("sub.u32 %x0, %t, 1;", at("%x0"))},
		{what: "a copy of i", body: withParts(part{"IN", "mov.u32 %x1, %i;\n\t" + at("%x1")},
			part{"TEST", "add.u32 %x0, %i, 5;\n\tsetp.lt.u32 %p0, %x0, %n0;"}),
			want: "%i+1 least 1 slack 6 above 0 equal 1"},
		{what: "i and 3", body: in("and.b32 %x0, %i, 3;", at("%x0"))},
		{what: "i times 100", body: in("mul.lo.u32 %x0, %i, 100;", at("%x0"))},
	}
}

// TestMaxCounted: a counter that is compared with n + 2^15 ends one step above that, and another
// sum with 2^15 is compared with a constant by a difference of at most 2^15. None of it is
// negative.
func TestMaxCounted(t *testing.T) {
	const step, constants = maxBeside, 3 * maxBeside
	if int64(MaxCounted)+step+constants > math.MaxInt32 {
		t.Errorf("n of %d is too large", MaxCounted)
	}
}
