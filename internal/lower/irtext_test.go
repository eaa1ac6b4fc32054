package lower

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A module with typed pointers, as LLVM 14 prints it, and one with opaque pointers.
const irSample = `source_filename = "k.cu"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%struct.P = type { i32, [2 x float], i8 }
@s = internal addrspace(3) global [4 x i32] undef, align 4
define void @k(ptr noundef %p, ptr noundef byval(%struct.P) align 4 %v, i32 noundef %0) #0 !dbg !5 {
entry:
  %l = alloca %struct.P, align 4
  %e = getelementptr inbounds %struct.P, ptr %l, i64 0, i32 1
  store i32 1, ptr %l, align 4, !dbg !7
  store i32 1, ptr %p, align 4, !dbg !7, !tbaa !9
  %a = load i32, ptr addrspace(3) @s, align 4, !dbg !7
  %b = load volatile i32, ptr %p, align 4, !dbg !7
  %c = load i32, ptr %v, align 4, !dbg !7
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %l, ptr align 4 %p, i64 16, i1 false), !dbg !8
  call void @dead()
  switch i32 %a, label %out [
    i32 0, label %out
  ], !dbg !7
out:
  ret void, !dbg !8
}
define void @dead() !dbg !5 {
  ret void
}
define void @unreached() !dbg !5 {
  ret void
}
attributes #0 = { nounwind }
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!nvvm.annotations = !{!3, !4}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2)
!2 = !DIFile(filename: "k.cu", directory: "/d")
!3 = !{ptr @k, !"kernel", i32 1}
!4 = !{ptr @unreached, !"maxntidx", i32 4}
!5 = distinct !DISubprogram(name: "k", linkageName: "_Z1k", scope: !2, file: !2, line: 3, unit: !1)
!6 = distinct !DILexicalBlock(scope: !5, file: !2, line: 4, column: 1)
!7 = !DILocation(line: 10, column: 3, scope: !6)
!8 = !DILocation(line: 20, column: 4, scope: !5, inlinedAt: !7)
!9 = !{}
`

func lowerSample(text string) (*irModule, *lowered) {
	m := parseIR([]byte(text))
	expandCopies(m, "copy")
	d := &debugInfo{meta: m.meta, chains: map[string][]frame{}, files: map[string]string{},
		names: func(p string) string { return p }, skip: func(string) bool { return false }}
	return m, lowerIR(m, d, true, false)
}

// TestCopiedFields checks which bytes of a copy are copied: those of the fields that clang names,
// the rest of a field whose type in LLVM has padding, and otherwise all.
func TestCopiedFields(t *testing.T) {
	meta := map[string]string{"!1": "!{i64 0, i64 1, !9, i64 8, i64 8, !9}",
		"!2": "!{i64 0, i64 16, !9}"}
	scalars := []element{{0, 1, "i8"}, {8, 8, "double"}}
	for attached, want := range map[string]int64{"": 16, ", !tbaa.struct !1": 9,
		", !tbaa.struct !2, !dbg !3": 16, ", !dbg !3, !tbaa.struct !1": 9} {
		line := "  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 16, i1 false)" + attached
		bytes := [16]int{}
		total := int64(0)
		for _, e := range withRest(scalars, copiedFields(line, meta, 16), 8) {
			total += e.size
			for i := range e.size {
				bytes[e.off+i]++
			}
			if e.off%min(e.size, 8) != 0 {
				t.Errorf("%q: %v is not aligned", attached, e)
			}
		}
		for i, n := range bytes {
			if n > 1 || n == 0 && want == 16 {
				t.Errorf("%q: byte %d is copied %d times", attached, i, n)
			}
		}
		if total != want {
			t.Errorf("%q: %d bytes are copied, want %d", attached, total, want)
		}
	}
}

// TestReachable: what is kept of a module with a kernel, alone and as one of several files.
func TestReachable(t *testing.T) {
	m := parseIR([]byte(`@v = addrspace(1) global ptr @held, align 8
define ptx_kernel void @k() #0 {
  call void @called()
  ret void
}
define internal void @called() {
  ret void
}
define internal void @held() {
  ret void
}
define dso_local noundef i32 @exported() {
  call void @helper()
  ret i32 0
}
define internal void @helper() {
  ret void
}
define weak_odr void @instance() {
  ret void
}
define linkonce_odr void @inline() {
  ret void
}
define internal void @static() {
  ret void
}
`))
	for separate, want := range map[bool]string{
		false: "called held k",
		true:  "called exported held helper instance k",
	} {
		got := slices.Sorted(maps.Keys(m.reachable(separate)))
		if strings.Join(got, " ") != want {
			t.Errorf("separate %v: %q, want %s", separate, got, want)
		}
	}
}

func TestLowerIR(t *testing.T) {
	_, low := lowerSample(irSample)
	ir := string(low.ir)
	for _, want := range []string{
		"store i32 1, ptr %l, align 4, !dbg",          // a local
		"store volatile i32 1, ptr %p, align 4, !dbg", // not
		"load volatile i32, ptr addrspace(3) @s",      // shared memory
		"%c = load i32, ptr %v",                       // a parameter passed by value
		"load volatile float, ptr %heddle.copy",       // a copy, scalar by scalar
		"store i8 %heddle.copy",                       // its last member, to the local
		"define void @dead()",                         // reached by a call
		"!nvvm.annotations = !{!3}",                   // without the function that is dropped
		"  switch i32 %a, label %out [\n    i32 0, label %out\n  ], !dbg",
	} {
		if !strings.Contains(ir, want) {
			t.Errorf("no %q in\n%s", want, ir)
		}
	}
	for _, no := range []string{"@unreached", "!tbaa", "DW_LANG_C_plus_plus, file: !2",
		"llvm.memcpy"} {
		if strings.Contains(ir, no) {
			t.Errorf("%q in\n%s", no, ir)
		}
	}
	kinds := map[access]int{}
	for _, l := range low.locs[1:] {
		kinds[l.kind]++
		if n := len(l.chain); n > 2 || n == 2 &&
			(l.chain[0] != frame{"/d/k.cu", 20, 4, "_Z1k"} ||
				l.chain[1] != frame{"/d/k.cu", 10, 3, "_Z1k"}) {
			t.Errorf("chain %v", l.chain)
		}
	}
	// One store, one shared load, and the loads of the copy: of four scalars and of three bytes of
	// padding, since no field of an assignment is named; one volatile load of the source.
	if kinds[plainAccess] != 9 || kinds[volatileAccess] != 1 {
		t.Errorf("kinds %v", kinds)
	}
	if k := low.kernels; len(k) != 1 || k[0].name != "k" || k[0].line != 3 || len(k[0].params) != 3 ||
		!k[0].params[0].Pointer || k[0].params[1].Pointer ||
		k[0].params[2] != (Param{"arg2", false, "i32"}) {
		t.Errorf("kernels %+v", k)
	}
}

func TestParamType(t *testing.T) {
	for p, want := range map[string]string{
		"ptr noundef %x":                         "ptr",
		"i32* noundef %x":                        "i32*",
		"%struct.P* noundef byval(%struct.P) %x": "%struct.P*",
		"{ i32, i32 } %x":                        "{ i32, i32 }",
		"<2 x float> noundef %x":                 "<2 x float>",
		"ptr addrspace(1) noundef %x":            "ptr addrspace(1)",
		"void (i32)* %x":                         "void (i32)*",
		"[2 x i64] %x.coerce":                    "[2 x i64]",
	} {
		if got, _ := paramType(p); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

// Sizes and offsets by the NVPTX data layout agree with sizeof and offsetof of the C types.
func TestLayouts(t *testing.T) {
	l := newLayouts([]string{"%struct.A = type { i8, i32, i8, double }",
		"%struct.B = type <{ i8, i32 }>", "%struct.R = type { %struct.R }"})
	for typ, want := range map[string]struct {
		n    int
		size int64
		last int64 // offset of the last scalar
	}{
		"%struct.A":          {4, 24, 16},
		"%struct.B":          {2, 5, 1},
		"[3 x %struct.B]":    {6, 15, 11},
		"{ i16, [2 x ptr] }": {3, 24, 16},
		"<4 x float>":        {4, 16, 12},
		"<3 x i32>":          {3, 16, 8}, // as four (OpenCL C 3.0, 6.3.5)
		"[2 x <3 x i8>]":     {6, 8, 6},
	} {
		elems, size, _, ok := l.scalars(typ)
		if !ok || len(elems) != want.n || size != want.size || elems[len(elems)-1].off != want.last {
			t.Errorf("%s: %v, size %d, %v", typ, elems, size, ok)
		}
	}
	for _, typ := range []string{"", "%struct.R", "%none", "[65 x i8]", "[9 x [9 x i8]]", "i37", "["} {
		if _, _, _, ok := l.scalars(typ); ok {
			t.Errorf("%q is understood", typ)
		}
	}
}

func FuzzIR(f *testing.F) {
	f.Add(irSample, "\t.loc\t1 3 0\n\tld.volatile.global.u32 %r1, [%rd1];\n")
	f.Fuzz(func(t *testing.T, ir, ptx string) {
		_, low := lowerSample(ir)
		finishPTX([]byte(ptx), low, writeFacts(low, func(string) []byte { return []byte(ir) }), false)
	})
}

func FuzzFacts(f *testing.F) {
	f.Add(
		[]byte("// heddle.kernel _Z1kPii 3 17 k.cu\n// heddle.param _Z1kPii 0 p ptr ptr\n.version 7.5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range readFacts(b) {
			for _, p := range k.Params {
				if p.Name == "" && p.Type == "" && k.Name == "" {
					t.Fatal("an empty kernel")
				}
			}
		}
	})
}

func TestDepPaths(t *testing.T) {
	got := depPaths("x: a.cu /usr/b\\ c.h \\\n  d$$e.h \\#f.h\n")
	if want := "a.cu|/usr/b c.h|d$e.h|#f.h"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
}

// TestSplitParams: parameters are separated at commas that are in no brackets.
func TestSplitParams(t *testing.T) {
	for _, c := range []struct {
		define string
		want   []string
	}{
		{"define void @k() #0 {", nil},
		{"define dso_local void @k(ptr noundef byval(%struct.map) align 64 %0, i32 %n) #0 {",
			[]string{"ptr noundef byval(%struct.map) align 64 %0", "i32 %n"}},
		{`define void @"k(int, int)"({ i32, i32 } %a, [2 x <4 x i8>] %b) {`,
			[]string{"{ i32, i32 } %a", "[2 x <4 x i8>] %b"}},
		{"define void", nil},
	} {
		if got := splitParams(c.define); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.define, got, c.want)
		}
	}
}
