package slice

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// sliced slices kernel k of a module whose declarations are given. It returns "role opcode" for
// every instruction that is not skipped, by function.
func sliced(t *testing.T, text string, opt Options) (*Slice, map[string]string) {
	t.Helper()
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	s := Of(m.Kernel("k"), opt)
	out := map[string]string{}
	for _, f := range s.order {
		var list []string
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if r := s.Role(f, in); r != Skip {
					list = append(list, [...]string{"", "run", "touch", "unknown", "join"}[r]+" "+in.Text())
				}
			}
		}
		out[f.Name] = strings.Join(list, "; ")
	}
	return s, out
}

// The registers and the end of a function in the tests below.
const (
	begin = "{\n\t.reg .pred %p<8>;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %d<8>;\n\t.reg .f32 %f<4>;\n"
	end   = "\tret;\n}\n"
)

// The result of a function decides an address of shared memory in its caller: what computes the
// result runs, what else the function computes does not.
func TestResultOfFunction(t *testing.T) {
	call := ".visible .entry k()\n" + begin + "\t.shared .align 4 .b8 s[256];\n" +
		"\tmov.u32 %r1, %tid.x;\n\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %r1;\n\tcall (b), f, (a);\n" +
		"\tld.param.b32 %r2, [b];\n\t}\n\tst.shared.u32 [%r2], 1;\n" + end
	// Both forms of results (PTX ISA 7.1): variables in .param space, and registers.
	for what, f := range map[string]string{
		"in memory": ".func (.param .b32 out) f(.param .b32 x)\n" + begin +
			"\tld.param.b32 %r1, [x];\n\tmul.lo.u32 %r2, %r1, 4;\n\tadd.u32 %r3, %r2, 1;\n" +
			"\tst.param.b32 [out], %r2;\n" + end,
		"in a register": ".func (.reg .b32 out) f(.param .b32 x)\n" + begin +
			"\tld.param.b32 %r1, [x];\n\tmul.lo.u32 out, %r1, 4;\n\tadd.u32 %r3, %r1, 1;\n" + end,
	} {
		c := call
		want := "run ld.param.b32; run mul.lo.u32; run st.param.b32; run ret"
		if what == "in a register" {
			c = strings.ReplaceAll(c, "\t.param .b32 b;\n", "")
			c = strings.ReplaceAll(c, "call (b)", "call (%r2)")
			c = strings.ReplaceAll(c, "\tld.param.b32 %r2, [b];\n", "")
			want = "run ld.param.b32; run mul.lo.u32; run ret"
		}
		_, got := sliced(t, f+c, Options{})
		if got["f"] != want {
			t.Errorf("%s: of f %s, want %s", what, got["f"], want)
		}
		if k := got["k"]; !strings.Contains(k, "run call") || !strings.Contains(k, "run st.param") ||
			!strings.Contains(k, "touch st.shared") {
			t.Errorf("%s: of k %s", what, k)
		}
	}
}

// A function may store what concerns only its own calls in .param space: that is no result.
func TestArgumentsOfUnusedCall(t *testing.T) {
	_, got := sliced(t, ".func (.param .b32 out) g(.param .b32 x)\n"+begin+
		"\tld.param.b32 %r1, [x];\n\tst.param.b32 [out], %r1;\n"+end+
		".visible .entry k()\n"+begin+"\tmov.u32 %r1, 7;\n\t{\n\t.param .b32 a;\n\t.param .b32 b;\n"+
		"\tst.param.b32 [a], %r1;\n\tcall (b), g, (a);\n\t}\n\tbar.sync 0;\n"+end, Options{})
	if want := "run bar.sync; run ret"; got["k"] != want {
		t.Errorf("of k %s, want %s", got["k"], want)
	}
}

// The register of a parameter is written by the call.
func TestParameterInRegister(t *testing.T) {
	s, _ := sliced(t, ".func f(.reg .b32 x)\n"+begin+"\t.shared .align 4 .b8 s[256];\n"+
		"\tst.shared.u32 [x], %r1;\n\tst.shared.u32 [%r2], 1;\n"+end+
		".visible .entry k()\n"+begin+"\tmov.u32 %r1, %tid.x;\n\tcall f, (%r1);\n"+end, Options{})
	for fn, f := range s.funcs {
		var got []string
		for _, r := range f.unwritten {
			got = append(got, fn.Regs[r].Name)
		}
		if want := map[string][]string{"f": {"%r2"}}[fn.Name]; !slices.Equal(got, want) {
			t.Errorf("of %s, %q are read before they are written, want %q", fn.Name, got, want)
		}
	}
}

// Stores to a global variable and to shared memory are none to the local memory of a function,
// whose contents decide an address of shared memory here.
func TestGlobalInFunction(t *testing.T) {
	_, got := sliced(t, ".global .align 4 .b8 g[4];\n.func f(.param .b32 x)\n"+begin+
		"\t.shared .align 4 .b8 s[256];\n\t.local .align 4 .b8 l[4];\n\tld.param.b32 %r1, [x];\n"+
		"\tst.local.u32 [l], %r1;\n\tld.local.u32 %r2, [l];\n\tst.shared.u32 [%r2], 1;\n"+
		"\tmov.u64 %d1, g;\n\tst.u32 [%d1], %r1;\n"+end+
		".visible .entry k()\n"+begin+"\tmov.u32 %r1, %tid.x;\n\t{\n\t.param .b32 a;\n"+
		"\tst.param.b32 [a], %r1;\n\tcall f, (a);\n\t}\n"+end, Options{})
	want := "run ld.param.b32; run st.local.u32; run ld.local.u32; touch st.shared.u32; run ret"
	if f := got["f"]; f != want {
		t.Errorf("of f %s, want %s", f, want)
	}
}

// The lanes of activemask are input, unless a warp runs in lock step.
func TestActiveMask(t *testing.T) {
	for _, lockstep := range []bool{false, true} {
		want := "unknown activemask.b32"
		if lockstep {
			want = "run activemask.b32"
		}
		_, got := sliced(t, ".visible .entry k()\n"+begin+"\tactivemask.b32 %r1;\n"+
			"\tbar.warp.sync %r1;\n"+end, Options{Lockstep: lockstep})
		if list := strings.Split(got["k"], "; "); list[0] != want {
			t.Errorf("lock step %v: %v, want %s first", lockstep, list, want)
		}
	}
}

// Tables are the variables whose initial values decide an address, each once.
func TestTables(t *testing.T) {
	const decls = ".const .align 4 .b8 given[8] = {4, 0, 0, 0, 8, 0, 0, 0};\n" +
		".const .align 4 .b8 unset[8];\n.global .align 4 .b8 blank[8];\n.global .align 4 .b8 other[8] = {1};\n" +
		".global .align 4 .b8 table[8] = {4, 0, 0, 0};\n"
	for _, c := range []struct {
		loads []string
		want  []string
	}{
		{[]string{"ld.const.u32 %r1, [given]", "ld.const.u32 %r2, [given+4]"}, []string{"given"}},
		{[]string{"ld.global.u32 %r1, [table]", "ld.const.u32 %r2, [given]"},
			[]string{"given", "table"}},
		{[]string{"mov.u64 %d1, given", "cvta.const.u64 %d2, %d1", "ld.u32 %r1, [%d2]",
			"mov.u32 %r2, 4"}, []string{"given"}},
		// A comparison passes no address on, so that a store elsewhere does not reach the table.
		{[]string{"mov.u64 %d1, table", "setp.eq.u64 %p1, %d1, table", "ld.global.u64 %d3, [blank]",
			"st.global.u32 [%d3], 7", "ld.global.u32 %r1, [%d1]", "mov.u32 %r2, 4"}, []string{"table"}},
		{[]string{"ld.const.u32 %r1, [unset]", "mov.u32 %r2, 4"}, nil},
		{[]string{"ld.global.u32 %r1, [blank]", "mov.u32 %r2, 4"}, nil},
		{[]string{"mov.u32 %r1, 4", "mov.u32 %r2, 4"}, nil},
	} {
		s, _ := sliced(t, decls+".visible .entry k()\n"+begin+"\t.shared .align 4 .b8 s[256];\n\t"+
			strings.Join(c.loads, ";\n\t")+";\n\tst.shared.u32 [%r1], 1;\n\tst.shared.u32 [%r2], 1;\n"+
			"\tld.global.u32 %r5, [other];\n"+end, Options{})
		var got []string
		for _, v := range s.Tables {
			got = append(got, v.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: tables %v, want %v", c.loads, got, c.want)
		}
	}
}

// TestEscapes: the address of a variable escapes where it is stored or computed with; the contents
// of a table are no address of it, and those of a parameter may be (PTX ISA 6.4.1).
func TestEscapes(t *testing.T) {
	const decls = ".const .align 8 .b8 given[8] = {4, 0, 0, 0, 8, 0, 0, 0};\n"
	for op, want := range map[string]string{
		"ld.const.u64 %d1, [given]":                   "",
		"mov.u64 %d1, given":                          "given",
		"mov.u64 %d2, given; ld.const.u64 %d1, [%d2]": "",
		"ld.param.u64 %d1, [in]":                      "in",
	} {
		s, _ := sliced(t, decls+".visible .entry k(.param .u64 in)\n"+begin+
			"\t.shared .align 8 .b8 s[256];\n\t"+op+";\n\tst.shared.u64 [s], %d1;\n"+end, Options{})
		var got []string
		for v := range s.escaped() {
			got = append(got, v.Name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q escapes, want %q", op, text, want)
		}
	}
}

// A generic access to a variable is one to the space of the variable, and one by a register is to
// each space whose addresses the register may hold (PTX ISA 6.4.1.1).
func TestGenericAddress(t *testing.T) {
	const decls = ".shared .align 4 .b8 s[256];\n"
	for _, c := range []struct{ what, body, want string }{
		{"the name of a shared variable", "\tst.u32 [s], 1;\n", "touch st.u32; run ret"},
		{"a converted address", "\tmov.u64 %d1, s;\n\tcvta.shared.u64 %d2, %d1;\n\tst.u32 [%d2], 1;\n",
			"run mov.u64; run cvta.shared.u64; touch st.u32; run ret"},
		{"a copy of the address, in the text before it", "\tbra b;\na:\n\tmov.u64 %d3, %d2;\n" +
			"\tst.u32 [%d3], 1;\n\tbra c;\nb:\n\tmov.u64 %d1, s;\n\tcvta.shared.u64 %d2, %d1;\n" +
			"\tbra a;\nc:\n", "run bra; run mov.u64; touch st.u32; run bra; run mov.u64; " +
			"run cvta.shared.u64; run bra; run ret"},
		{"a local variable", "\t.local .align 4 .b8 l[8];\n\tmov.u64 %d1, l;\n" +
			"\tcvta.local.u64 %d2, %d1;\n\tst.u32 [%d2], 1;\n", "run ret"},
		{"what a local variable holds", "\t.local .align 4 .b8 l[8];\n\tmov.u64 %d1, l;\n" +
			"\tcvta.local.u64 %d2, %d1;\n\tst.u32 [%d2], 8;\n\tld.u32 %r1, [%d2];\n" +
			"\tst.shared.u32 [%r1], 1;\n", "run mov.u64; run cvta.local.u64; run st.u32; run ld.u32; " +
			"touch st.shared.u32; run ret"},
		{"a pointer to either", "\t.local .align 4 .b8 l[8];\n\tmov.u64 %d1, l;\n" +
			"\tcvta.local.u64 %d2, %d1;\n\tmov.u64 %d3, s;\n\tcvta.shared.u64 %d4, %d3;\n" +
			"\tmov.u32 %r2, %tid.x;\n\tsetp.eq.u32 %p1, %r2, 0;\n\tselp.b64 %d5, %d2, %d4, %p1;\n" +
			"\tst.u32 [%d5], 8;\n\tld.local.u32 %r1, [l];\n\tst.shared.u32 [%r1], 1;\n",
			"run mov.u64; run cvta.local.u64; run mov.u64; run cvta.shared.u64; run mov.u32; " +
				"run setp.eq.u32; run selp.b64; run st.u32; run ld.local.u32; touch st.shared.u32; run ret"},
		{"a parameter", "\tld.param.u64 %d1, [in];\n\tst.u32 [%d1], 1;\n", "run ret"},
		{"an address from shared memory", "\tmov.u64 %d1, s;\n\tcvta.shared.u64 %d2, %d1;\n" +
			"\tst.shared.u64 [s], %d2;\n\tld.shared.u64 %d3, [s];\n\tst.u32 [%d3], 1;\n",
			"run mov.u64; run cvta.shared.u64; run st.shared.u64; run ld.shared.u64; " +
				"run st.u32; run ret"}, // both stores: either may write what is loaded
	} {
		_, got := sliced(t, decls+".visible .entry k(.param .u64 in)\n"+begin+c.body+end, Options{})
		if got["k"] != c.want {
			t.Errorf("%s: %s, want %s", c.what, got["k"], c.want)
		}
	}
}

// A function that is passed pointers may access shared memory by them.
func TestPointerToFunction(t *testing.T) {
	_, got := sliced(t, ".shared .align 8 .b8 s[256];\n.func f(.param .b64 x)\n"+begin+
		"\tld.param.u64 %d1, [x];\n\tst.u32 [%d1], 1;\n"+end+
		".visible .entry k()\n"+begin+"\tmov.u64 %d1, s;\n\tcvta.shared.u64 %d2, %d1;\n"+
		"\t{\n\t.param .b64 a;\n\tst.param.b64 [a], %d2;\n\tcall f, (a);\n\t}\n"+end, Options{})
	if want := "run ld.param.u64; touch st.u32; run ret"; got["f"] != want {
		t.Errorf("of f %s, want %s", got["f"], want)
	}
	want := "run mov.u64; run cvta.shared.u64; run st.param.b64; run call; run ret"
	if got["k"] != want {
		t.Errorf("of k %s, want %s", got["k"], want)
	}
}

// What is left out since an assertion fails there is assumed not to happen. A trap on every path is
// part of the trace itself.
func TestAssumes(t *testing.T) {
	for body, want := range map[string]bool{
		"\tbar.sync 0;\n": false,
		"\ttrap;\n":       false,
		"\tld.param.u64 %d1, [in];\n\tsetp.eq.u64 %p1, %d1, 0;\n\t@!%p1 bra a;\n\tbar.sync 0;\na:\n": false,
		"\tld.param.u64 %d1, [in];\n\tsetp.eq.u64 %p1, %d1, 0;\n\t@!%p1 bra a;\n\ttrap;\na:\n" +
			"\tbar.sync 0;\n": true,
		"\tld.param.u64 %d1, [in];\n\tsetp.eq.u64 %p1, %d1, 0;\n\t@!%p1 bra a;\n\tadd.u64 %d2, %d1, 1;\na:\n" +
			"\tbar.sync 0;\n": false,
	} {
		s, _ := sliced(t, ".visible .entry k(.param .u64 in)\n"+begin+body+end, Options{})
		if s.Assumes != want {
			t.Errorf("assumes %v, want %v:\n%s", s.Assumes, want, body)
		}
	}
}

// A failed assertion calls __assertfail. What another function without a body does is not known:
// one that does not return may end the thread (PTX ISA 11.4). Nothing is assumed of them.
func TestAssumesOfCall(t *testing.T) {
	for declared, want := range map[string]bool{
		".extern .func f() .noreturn;\n":       false,
		".extern .func f();\n":                 false,
		".extern .func __assertfail();\n":      true,
		".func f()\n" + begin + "\ttrap;\n}\n": true,
		".func f()\n" + begin + "\texit;\n}\n": false,
	} {
		name := "f"
		if strings.Contains(declared, "__assertfail") {
			name = "__assertfail"
		}
		s, _ := sliced(t, declared+".visible .entry k(.param .u64 in)\n"+begin+
			"\tld.param.u64 %d1, [in];\n\tsetp.eq.u64 %p1, %d1, 0;\n\t@!%p1 bra a;\n"+
			"\tcall "+name+";\na:\n\tbar.sync 0;\n"+end, Options{})
		if s.Assumes != want {
			t.Errorf("assumes %v, want %v:\n%s", s.Assumes, want, declared)
		}
	}
}

// A declared function without a body is not sliced.
func TestNoBody(t *testing.T) {
	s, _ := sliced(t, ".extern .func f(.param .b32 x);\n.visible .entry k()\n"+begin+
		"\t{\n\t.param .b32 a;\n\tst.param.b32 [a], 1;\n\tcall f, (a);\n\t}\n"+end, Options{})
	if len(s.order) != 1 || s.order[0].Name != "k" {
		t.Errorf("functions %v, want k", names(s.order))
	}
}

// names returns the names of functions.
func names(fs []*ir.Func) (out []string) {
	for _, f := range fs {
		out = append(out, f.Name)
	}
	return out
}

// TestLoadedPointer: a pointer that a function loads may be one to shared memory if addresses of
// shared memory are stored where it loads it, or if its caller may have put it there.
func TestLoadedPointer(t *testing.T) {
	const use = "\tst.u32 [%d3], 1;\n"
	for _, c := range []struct{ what, load, want string }{
		{"from global memory", "\tld.global.u64 %d3, [%d1];\n", "run ret"},
		{"from constants", "\tld.const.u64 %d3, [c];\n", "run ret"},
		{"from shared memory", "\tld.shared.u64 %d3, [s];\n", "touch ld.shared.u64; run ret"},
		{"from an argument", "\tld.param.u64 %d3, [x];\n", "run ld.param.u64; touch st.u32; run ret"},
	} {
		_, got := sliced(t, ".shared .align 8 .b8 s[8];\n.const .align 8 .b8 c[8];\n"+
			".func f(.param .b64 x)\n"+begin+"\tld.param.u64 %d1, [x];\n"+c.load+use+end+
			".visible .entry k(.param .u64 in)\n"+begin+"\tld.param.u64 %d1, [in];\n\t{\n"+
			"\t.param .b64 a;\n\tst.param.b64 [a], %d1;\n\tcall f, (a);\n\t}\n"+end, Options{})
		if got["f"] != c.want {
			t.Errorf("%s: %s, want %s", c.what, got["f"], c.want)
		}
	}
}

// TestLoadedLocalPointer: the same for pointers to local memory: what the caller keeps there is
// needed if such a pointer may lead to what decides an address of shared memory.
func TestLoadedLocalPointer(t *testing.T) {
	const keep = "\tcvta.local.u64 %d4, %d5;\n"
	for _, c := range []struct {
		what, load string
		needed     bool
	}{
		{"from an argument", "\tld.param.u64 %d3, [x];\n", true},
		{"from global memory", "\tld.global.u64 %d3, [%d1];\n", false},
		{"from global memory that has one", keep + "\tst.global.u64 [%d1], %d4;\n" +
			"\tld.global.u64 %d3, [%d1];\n", true},
		{"from shared memory that has one", keep + "\tst.shared.u64 [s], %d4;\n" +
			"\tld.shared.u64 %d3, [s];\n", true},
		{"from constants", keep + "\tst.global.u64 [%d1], %d4;\n\tld.const.u64 %d3, [c];\n", false},
	} {
		_, got := sliced(t, ".shared .align 8 .b8 s[8];\n.const .align 8 .b8 c[8];\n"+
			".func f(.param .b64 x)\n"+begin+"\tld.param.u64 %d1, [x];\n"+c.load+
			"\tld.u32 %r1, [%d3];\n\tst.shared.u32 [%r1], 1;\n"+end+
			".visible .entry k(.param .u64 in)\n"+begin+"\t.local .align 4 .b8 l[4];\n"+
			"\tst.local.u32 [l], 8;\n\tld.param.u64 %d1, [in];\n\t{\n"+
			"\t.param .b64 a;\n\tst.param.b64 [a], %d1;\n\tcall f, (a);\n\t}\n"+end, Options{})
		if needed := strings.Contains(got["k"], "run st.local.u32"); needed != c.needed {
			t.Errorf("%s: %s", c.what, got["k"])
		}
	}
}
