package irgen

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// stack prints an inline stack, innermost first.
func stack(set *source.Set, f *source.Frame) string {
	if f == nil {
		return "-"
	}
	var b strings.Builder
	for sep := ""; f != nil; f, sep = f.Parent, " < " {
		fmt.Fprintf(&b, "%s%s %s", sep, f.Func, set.Format(f.Pos))
	}
	return b.String()
}

// The example of PTX ISA 11.5.4, in a kernel, with what a debugger would say of each instruction.
func TestLines(t *testing.T) {
	m := module(t, header+`
.visible .entry _Z6kernelPi(.param .u64 p)
{
	.reg .b32 %r<9>; .reg .pred %p<3>;
	mov.u32 %r1, 0;
	.loc 1 20 0
	mov.u32 %r1, 1;
	.loc 1 21 3
	.loc 1 9 3, function_name info_string0, inlined_at 1 21 3
	mov.u32 %r1, 2;
	mov.u32 %r1, 3;
	.loc 1 27 3
	.loc 1 10 5, function_name info_string1, inlined_at 1 27 3
	.loc 1 15 3, function_name .debug_str+16, inlined_at 1 10 5
	mov.u32 %r1, 4;
	.loc 1 0 3
	mov.u32 %r1, 5;
	.loc 1 0 3, function_name info_string0, inlined_at 1 21 3
	mov.u32 %r1, 6;
	.loc 2 7 1, function_name info_string1+8, inlined_at 1 30 9
	mov.u32 %r1, 7;
	.loc 9 1 1
	mov.u32 %r1, 8;
	.loc 1 9 3, function_name info_string0, inlined_at 1 21 3
	mov.u32 %r1, 9;
}
.file 1 "a.cu"
.file 2 "b.h"
.section .debug_str {
info_string0:
	.b8 95, 90, 51, 102, 111, 111, 118, 0
info_string1:
	.b8 95, 90, 51, 98, 97, 114, 118, 0
	.b8 95, 90, 51, 99, 97, 114, 118, 0
}
`)
	f := m.Kernel("_Z6kernelPi")
	k := "kernel(int*) a.cu:"
	want := []string{
		"-", k + "20",
		"foo() a.cu:9:3 < " + k + "21:3", "foo() a.cu:9:3 < " + k + "21:3",
		"car() a.cu:15:3 < bar() a.cu:10:5 < " + k + "27:3",
		"-", k + "21:3",
		"car() b.h:7:1 < " + k + "30:9", // a call site that no .loc gave is in the kernel
		"-", "foo() a.cu:9:3 < " + k + "21:3",
	}
	in := f.Blocks[0].Instrs
	for i, w := range want {
		if got := stack(m.Files, in[i].Loc); got != w {
			t.Errorf("%s: got %s, want %s", f.Format(in[i]), got, w)
		}
	}
	if in[2].Loc != in[3].Loc || in[2].Loc != in[9].Loc {
		t.Error("instructions of one place do not share their frame")
	}
	if got := stack(m.Files, f.Src); got != k+"20" || f.Demangled != "kernel(int*)" {
		t.Errorf("the kernel %s is at %s", f.Demangled, got)
	}
}

// Positions that are their own call sites do not make endless stacks.
func TestSelfInlined(t *testing.T) {
	line := "\t.loc 1 5 3, function_name s, inlined_at 1 5 3\n\tmov.u32 %r1, 1;\n"
	m := module(t, header+".entry k() {\n.reg .b32 %r<2>;\n"+strings.Repeat(line, 1000)+"}\n.file 1 \"a.cu\"\n")
	for _, in := range m.Kernel("k").Blocks[0].Instrs {
		if n := in.Loc.Depth(); n > maxInline+1 {
			t.Fatalf("a stack of %d frames", n)
		}
	}
}

// The .loc directives of a compiler for Python, whose call sites are in comments (callsite.go): as
// LLVM prints them, cut off, and of hostile forms.
func TestCallSites(t *testing.T) {
	deep := "f.py:5:5"
	for range maxInline {
		deep = "f.py:5:5 @[ " + deep + " ]"
	}
	const user, lib = "k /home/f.py:", " /lib/triton/language/standard.py:"
	for _, tt := range []struct{ name, loc, want string }{
		{"the kernel", "1 9 3 // f.py:9:3", user + "9:4"},
		{"no column", "1 9 0 // f.py:9:0", user + "9"},
		{"inlined", "2 43 17 // standard.py:43:17 @[ f.py:14:27 ]", lib + "43:18 < " + user + "14:28"},
		{"twice", "2 7 1 // standard.py:7:1 @[ standard.py:43:17 @[ f.py:14:27 ] ]",
			lib + "7:2 < " + lib + "43:18 < " + user + "14:28"},
		{"CRLF", "2 43 17\t// standard.py:43:17 @[ f.py:14:27 ]\r", lib + "43:18 < " + user + "14:28"},
		{"a semicolon", "2 43 17; // standard.py:43:17 @[ f.py:14:27 ]",
			lib + "43:18 < " + user + "14:28"},
		{"line 0 counts for its call site", "2 0 1 // standard.py:0:1 @[ f.py:14:27 ]", user + "14:28"},
		{"a function of the user", "1 3 5 // f.py:3:5 @[ f.py:14:27 ]", " /home/f.py:3:6 < " + user + "14:28"},
		{"two files of that name", "2 7 1 // standard.py:7:1 @[ util.py:5:2 @[ f.py:14:27 ] ]",
			lib + "7:2 < " + user + "14:28"},
		{"a file that is not listed", "2 7 1 // standard.py:7:1 @[ other.py:5:2 @[ f.py:14:27 ] ]",
			lib + "7:2 < " + user + "14:28"},
		{"no comment: a library is inlined somewhere", "2 43 17", lib + "43:18 < " + user + "8"},
		{"a call site in the library alone", "2 7 1 // standard.py:7:1 @[ standard.py:5:2 ]",
			lib + "7:2 < " + lib + "5:3 < " + user + "8"},
		{"a comment without call sites", "2 43 17 // standard.py:43:17", lib + "43:18 < " + user + "8"},
		{"cut off", "1 9 3 // f.py:9:3 @[ f.py:14:27", user + "9:4"},
		{"too few brackets", "1 9 3 // f.py:9:3 @[ f.py:2:2 @[ f.py:14:27 ]", user + "9:4"},
		{"no place", "1 9 3 // f.py:9:3 @[ nonsense ]", user + "9:4"},
		{"a number that is too large", "1 9 3 // f.py:9:3 @[ f.py:99999999999:1 ]", user + "9:4"},
		{"too deep", "1 9 3 // f.py:9:3 @[ " + deep + " ]", user + "9:4"},
		{"inlined_at says it", "1 9 3, function_name s, inlined_at 1 14 27 // f.py:9:3 @[ f.py:2:2 ]",
			" /home/f.py:9:4 < " + user + "14:28"},
	} {
		m := module(t, header+".entry k() {\n.reg .b32 %r<2>;\n.loc 1 8 0 // f.py:8:0\n\t.loc "+tt.loc+
			"\n\tmov.u32 %r1, 1;\n}\n.file 1 \"/home/f.py\"\n"+
			".file 2 \"/lib/triton/language/standard.py\"\n.file 3 \"/a/util.py\"\n.file 4 \"/b/util.py\"\n")
		k := m.Kernel("k")
		in := k.Blocks[0].Instrs[0]
		if got := stack(m.Files, in.Loc); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		for f := in.Loc; f != nil; f = f.Parent {
			if lib := strings.Contains(m.Files.Format(f.Pos), "standard.py"); lib != f.Library {
				t.Errorf("%s: %s is in a library: %v", tt.name, m.Files.Format(f.Pos), f.Library)
			}
		}
		if got := stack(m.Files, k.Src); got != user+"8" {
			t.Errorf("%s: the kernel is at %s", tt.name, got)
		}
	}
}

// A kernel is not in the library that its first instruction comes from, whose kernels would not be
// examined.
func TestKernelOutsideOfLibrary(t *testing.T) {
	const lib = ".file 2 \"/lib/triton/language/standard.py\"\n"
	for loc, want := range map[string]string{
		".loc 2 43 17\nmov.u32 %r1, 1;\n.loc 1 9 3\n": "k /home/f.py:9:4", ".loc 2 43 17\n": "-",
	} {
		m := module(t, header+".entry k() {\n.reg .b32 %r<2>;\n"+loc+"\tmov.u32 %r1, 1;\n}\n"+
			".file 1 \"/home/f.py\"\n"+lib)
		if got := stack(m.Files, m.Kernel("k").Src); got != want {
			t.Errorf("%q: the kernel is at %s, want %s", loc, got, want)
		}
	}
}

// Many files of one name, and many call sites, do not take a search for each.
func TestManyCallSites(t *testing.T) {
	var text, files strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "\t.loc 1 9 3 // f.py:9:3 @[ x/u.py:%d:1 ]\n\tmov.u32 %%r1, 1;\n", i+1)
		fmt.Fprintf(&files, ".file %d \"/d%d/u.py\"\n", i+2, i)
	}
	m := module(t, header+".entry k() {\n.reg .b32 %r<2>;\n"+text.String()+"}\n.file 1 \"/f.py\"\n"+
		files.String())
	if got := stack(m.Files, m.Kernel("k").Blocks[0].Instrs[9].Loc); got != "k /f.py:9:4" {
		t.Errorf("the place is %s", got)
	}
}

// Directories of libraries of Python. A user's file in the directory above is none of them, and
// neither is a kernel that Triton brings.
func TestPythonLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"/env/site-packages/triton/language/standard.py":               "/env/site-packages/triton/language/",
		"/me/triton/python/triton/language/core.py":                    "/me/triton/python/triton/language/",
		"/env/triton/experimental/gluon/language/_core.py":             "/env/triton/experimental/gluon/language/",
		"/env/nvidia_cutlass_dsl/python_packages/cutlass/cute/core.py": "/env/nvidia_cutlass_dsl/",
		"/me/triton/python/tutorials/01-vector-add.py":                 "",
		"/env/site-packages/triton/ops/matmul.py":                      "",
		"standard.py": "",
	} {
		if got := pythonLibrary(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	m := module(t, header+`
// heddle: grid=4
// heddle.future whatever
// heddle.kernel _Z1kPiiS_ 12 17 /src/my kernel.cu
// heddle.param _Z1kPiiS_ 0 in ptr ptr
// heddle.param _Z1kPiiS_ 1 n val i32
// heddle.param _Z1kPiiS_ 2 - val i64
// heddle.kernel dropped 1 1 x.cu
.visible .entry _Z1kPiiS_(.param .u64 a, .param .u32 b, .param .u64 c)
{
	.reg .b64 %rd<3>; .reg .b32 %r<2>;
	.loc 1 99 1
	ld.param.u64 %rd1, [c];
	ld.global.u32 %r1, [%rd1];
	ret;
}
.file 1 "other.cu"
`)
	k := m.Kernel("_Z1kPiiS_")
	if got := stack(m.Files, k.Src); got != "k(int*, int, int*) /src/my kernel.cu:12:17" {
		t.Errorf("the kernel is at %s", got)
	}
	type fact struct {
		name string
		ptr  bool
	}
	for i, want := range []fact{{"in", true}, {"n", false}, {"", false}} { // what lowering says counts, not the use
		if got := (fact{k.Params[i].Source, k.Params[i].Pointer}); got != want {
			t.Errorf("parameter %d: %v, want %v", i, got, want)
		}
	}
}

// Initial values (PTX ISA 5.4.4), little endian.
func TestInitialisers(t *testing.T) {
	m := module(t, header+`
.const .f32 vals[8] = { 0.33, 0.25, 0f3e000000 };
.global .s32 x[3][2] = { {1,2}, {3} };
.global .u16 open[] = { 1, 2, 0xffff };
.global .s8 neg[2] = { -1, 1+1 };
.global .f64 d = -0.5;
.global .v2 .u16 v[2] = { {1, 2}, {3, 4} };
.global .u32 foo = 42;
.global .u64 ptr[3] = { generic(foo), foo+4, 7 };
.global .u64 fns[] = { f };
.global .b8 bytes[4] = { 0xFF(foo), 0xFF00(generic(foo)), 0xff0000(0x123456), 9 };
.global .u32 zero[100];
.func f() { ret; }
`)
	byName := make(map[string]*ir.Var)
	for _, v := range m.Vars {
		byName[v.Name] = v
	}
	for name, want := range map[string]string{
		"vals":  "c3f5a83e 0000803e 0000003e",
		"x":     "01000000 02000000 03000000",
		"open":  "0100 0200 ffff",
		"neg":   "ff 02",
		"d":     "000000000000e0bf",
		"v":     "0100 0200 0300 0400",
		"foo":   "2a000000",
		"ptr":   "0000000000000000 0000000000000000 0700000000000000",
		"fns":   "0000000000000000",
		"bytes": "00 00 12 09",
		"zero":  "",
	} {
		if got := fmt.Sprintf("%x", byName[name].Init); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if v := byName["open"]; v.Size != 6 || v.Unsized {
		t.Errorf("open has %d bytes", v.Size)
	}
	if byName["vals"].Size != 32 || byName["v"].Align != 4 {
		t.Error("sizes or alignments are wrong")
	}
	foo := byName["foo"]
	for _, c := range []struct {
		v    string
		want []ir.Reloc
	}{
		{"ptr", []ir.Reloc{{Size: 8, Target: foo, Generic: true}, {Offset: 8, Size: 8, Target: foo, Addend: 4}}},
		{"fns", []ir.Reloc{{Size: 8, Func: m.Funcs[0]}}},
		{"bytes", []ir.Reloc{{Size: 1, Target: foo}, {Offset: 1, Size: 1, Target: foo, Generic: true, Shift: 8}}},
	} {
		got := byName[c.v].Relocs
		if len(got) != len(c.want) {
			t.Errorf("%s: %d relocations", c.v, len(got))
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: relocation %+v, want %+v", c.v, got[i], c.want[i])
			}
		}
	}
}

// Before version 3.1 a variable's name in an initialiser is its generic address.
func TestLegacyAddress(t *testing.T) {
	m := module(t, ".version 3.0\n.target sm_20\n.address_size 64\n.global .u32 a;\n.global .u64 p = a;\n")
	if r := m.Vars[1].Relocs[0]; !r.Generic {
		t.Error("not generic")
	}
}

// A call table in a body (PTX ISA 9.7.12.5), an alias (11.2.3), and an .extern variable that the
// module defines as well.
func TestLinking(t *testing.T) {
	m := module(t, header+`
.extern .global .u32 shared_name;
.func (.reg .u32 r) f(.reg .u32 a) { ret; }
.func (.reg .u32 r) g(.reg .u32 a);
.alias g, f;
.entry k()
{
	.reg .b64 %rd<2>; .reg .b32 %r<2>;
	.global .u64 table[2] = { f, g };
	ld.global.u64 %rd1, [table];
	call (%r1), %rd1, (%r1), table;
	call (%r1), g, (%r1);
	mov.u64 %rd1, shared_name;
}
.visible .global .u32 shared_name = 3;
`)
	k := m.Kernel("k")
	in := k.Blocks[0].Instrs
	if len(in[1].Targets) != 2 || in[1].Targets[0].Name != "f" || in[1].Callee != nil {
		t.Errorf("candidates %v", in[1].Targets)
	}
	if in[2].Callee.Name != "f" {
		t.Errorf("the alias calls %s", in[2].Callee.Name)
	}
	if v := in[3].Src[0].Var; v.Extern || len(v.Init) != 4 || len(m.Vars) != 1 {
		t.Errorf("%+v", v)
	}
}

// Frames and kernels of the directories that heddle.library names are marked, and no others: a file
// whose name only begins like a directory is not in it.
func TestLibraries(t *testing.T) {
	m := module(t, "// heddle.library /lib/cub\n// heddle.kernel k 1 1 a.cu\n"+
		"// heddle.kernel l 2 1 /lib/cub/d.cuh\n"+header+`
.visible .entry k()
{
	.reg .b32 %r<9>;
	.loc 1 21 3
	.loc 2 9 3, function_name info, inlined_at 1 21 3
	mov.u32 %r1, 2;
	.loc 3 9 3
	mov.u32 %r1, 3;
}
.visible .entry l() { ret; }
.file 1 "a.cu"
.file 2 "/lib/cub/block/b.cuh"
.file 3 "/lib/cubes.h"
.section .debug_str {
info:
	.b8 95, 90, 51, 102, 111, 111, 118, 0
}
`)
	k, l := m.Kernel("k"), m.Kernel("l")
	in := k.Blocks[0].Instrs
	if !in[0].Loc.Library || in[0].Loc.Parent.Library || in[1].Loc.Library {
		t.Errorf("frames %+v, %+v, %+v", in[0].Loc, in[0].Loc.Parent, in[1].Loc)
	}
	if k.Src.Library || !l.Src.Library {
		t.Errorf("kernels at %+v and %+v", k.Src, l.Src)
	}
	if len(m.Libraries) != 1 || m.Libraries[0] != "/lib/cub/" {
		t.Errorf("libraries %q", m.Libraries)
	}
}
