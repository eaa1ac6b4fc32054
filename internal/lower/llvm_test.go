package lower

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// needLLC skips without any LLVM back end, and fails in CI.
func needLLC(t *testing.T) []*toolchain {
	t.Helper()
	backends, err := findBackends(context.Background(), "", &probeCache{testCache})
	if err != nil {
		t.Skip(err)
	}
	return backends
}

const nvptx = "target triple = \"nvptx64-nvidia-cuda\"\n"

// The IR has loads and stores that any optimizer would merge, remove or forward: it must be
// analysed without changes.
const plainIR = nvptx + `
@s = internal addrspace(3) global [64 x i32] undef, align 4

define void @k(ptr %out, i32 %n) !dbg !4 {
entry:
  %p = addrspacecast ptr addrspace(3) @s to ptr
  store i32 1, ptr %p, align 4, !dbg !8
  store i32 2, ptr %p, align 4, !dbg !9
  %a = load i32, ptr %p, align 4, !dbg !9
  %b = load i32, ptr %p, align 4, !dbg !9
  %unused = load i32, ptr %out, align 4, !tbaa !11
  ret void, !dbg !9
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!nvvm.annotations = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "src/k.cu", directory: "/somewhere")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{ptr @k, !"kernel", i32 1}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 7, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!8 = !DILocation(line: 9, column: 3, scope: !4)
!9 = !DILocation(line: 10, column: 5, scope: !4)
!11 = !{!12, !12, i64 0}
!12 = !{!"int", !13, i64 0}
!13 = !{!"Simple C++ TBAA"}
`

func TestLLVMKeepsAccesses(t *testing.T) {
	if needLLC(t)[0].Major < 15 {
		t.Skip("opaque pointers need LLVM 15")
	}
	path := writeSource(t, "k.ll", plainIR)
	r, err := File(context.Background(), path, Options{CacheDir: testCache})
	if err != nil {
		t.Fatal(err)
	}
	text := string(r.PTX)
	for pattern, want := range map[string]int{
		// all of the source, and none is volatile there
		`\bst\.(shared\.)?u32`: 2, `\bld\.(shared\.|global\.)?u32`: 3, `volatile`: 0,
		`\.loc \d+ 9 3\n`: 1, `\.loc \d+ 10 5\n`: 1, `\.file 1 "/somewhere/src/k.cu"`: 1,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(text, -1)); got != want {
			t.Errorf("%s: %d times, want %d", pattern, got, want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	want := []Param{{"out", true, "ptr"}, {"n", false, "i32"}}
	if len(r.Kernels) != 1 || r.Kernels[0].Name != "k" ||
		fmt.Sprint(r.Kernels[0].Params) != fmt.Sprint(want) {
		t.Errorf("kernels %+v", r.Kernels)
	}
	if r.Lang != LLVM || !strings.HasSuffix(r.Name, "k.ptx") || r.Cached {
		t.Errorf("%q %q cached %v", r.Lang, r.Name, r.Cached)
	}
	if again, err := File(context.Background(), path, Options{CacheDir: testCache}); err != nil ||
		!again.Cached || string(again.PTX) != text {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

// Names that the IR does not contain are read from debug info; without debug info, positions refer
// to the module.
func TestLLVMNames(t *testing.T) {
	if needLLC(t)[0].Major < 15 {
		t.Skip("opaque pointers need LLVM 15")
	}
	text := strings.NewReplacer("ptr %out, i32 %n", "ptr %0, i32 %1", "entry:", "", "ptr %out",
		"ptr %0").Replace(plainIR) +
		"!20 = !DILocalVariable(name: \"dst\", arg: 1, scope: !4, file: !1, line: 7, type: !22)\n" +
		"!21 = !DILocalVariable(name: \"count\", arg: 2, scope: !4, file: !1, line: 7, type: !22)\n!22 = !DIBasicType(name: \"int\", size: 32)\n!kept = !{!20, !21}\n"
	r, err := File(context.Background(), writeSource(t, "k.ll", text), Options{CacheDir: testCache})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Kernels[0].Params; p[0].Name != "dst" || p[1].Name != "count" {
		t.Errorf("params %+v", p)
	}
	path := writeSource(t, "bare.ll",
		nvptx+"\n\ndefine ptx_kernel void @bare(i32 %n) {\n  ret void\n}\n")
	r, err = File(context.Background(), path, Options{CacheDir: testCache})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("// heddle.kernel bare 4 25 %s\n", path); !strings.Contains(string(r.PTX),
		want) {
		t.Errorf("no %q in\n%s", want, r.PTX)
	}
}

// The target of the module is used, unless the user specifies another.
func TestLLVMTarget(t *testing.T) {
	if needLLC(t)[0].Major < 18 {
		t.Skip("needs an LLVM that knows PTX 8.3")
	}
	text := nvptx + `define ptx_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="sm_90" "target-features"="+ptx81,+sm_90" }
`
	for arch, want := range map[string]string{"": ".target sm_90\n", "sm_70": ".target sm_70\n"} {
		r, err := File(context.Background(), writeSource(t, "k.ll", text),
			Options{CacheDir: testCache, Arch: arch})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(r.PTX), want) {
			t.Errorf("arch %q: no %q in\n%s", arch, want, r.PTX)
		}
	}
}

// An old LLVM, if one is installed, reads typed pointers.
func TestLLVMTypedPointers(t *testing.T) {
	backends := needLLC(t)
	text := nvptx + "define ptx_kernel void @k(i32* %p) {\n  store i32 1, i32* %p\n  ret void\n}\n"
	r, err := File(context.Background(), writeSource(t, "k.ll", text), Options{CacheDir: testCache})
	if oldest := backends[len(backends)-1]; oldest.Major > 16 {
		if err == nil || !strings.Contains(err.Error(), "cannot read it") {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil || !r.Kernels[0].Params[0].Pointer {
		t.Errorf("%+v, %v", r, err)
	}
}

// A calling convention or an annotation marks a kernel, wherever in its node the word is. A kernel
// that is not recognized would be removed, as a function that no kernel calls.
func TestLLVMKernels(t *testing.T) {
	needLLC(t)
	text := nvptx + `define ptx_kernel void @a() {
  ret void
}
define void @b() {
  ret void
}
define void @c$d() {
  ret void
}
define void @e() {
  ret void
}
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @b, !"maxntidx", i32 64, !"kernel", i32 1}
!1 = !{ptr @c$d, !"kernel", i32 1, !"minctasm", i32 2}
!2 = !{ptr @e, !"align", i32 8}
`
	if needLLC(t)[0].Major > 20 {
		t.Skip("annotations are upgraded by newer LLVMs")
	}
	r, err := File(context.Background(), writeSource(t, "k.ll", text), Options{CacheDir: testCache})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(regexp.MustCompile(`\.entry`).FindAllString(string(r.PTX), -1)); got != 3 ||
		len(r.Kernels) != 3 {
		t.Errorf("%d entries, kernels %v\n%s", got, r.Kernels, r.PTX)
	}
}

func TestBitcode(t *testing.T) {
	tc := needLLC(t)[0]
	path := filepath.Join(t.TempDir(), "k.bc")
	cmd := exec.Command(tc.Opt, "-o", path, "-")
	cmd.Stdin = strings.NewReader(nvptx + "define ptx_kernel void @k() {\n  ret void\n}\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := File(context.Background(), path, Options{CacheDir: testCache})
	if err != nil || len(r.Kernels) != 1 || !strings.Contains(string(r.PTX), ".entry k(") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBadLLVM(t *testing.T) {
	newest := needLLC(t)[0].Major
	kernel := "define ptx_kernel void @k() {\n  ret void\n}\n"
	for _, c := range []struct{ name, text, want string }{
		{"host", "target triple = \"x86_64-pc-linux-gnu\"\ndefine void @f() {\n  ret void\n}\n",
			"the module is for x86_64-pc-linux-gnu, expected nvptx64"},
		{"no triple", kernel, `the module has no target triple; expected target triple = "nvptx64-nvidia-cuda"`},
		{"syntax", nvptx + "define ptx_kernel void @k() {\n  frobnicate void\n}\n", "k.ll:3:3: LLVM "},
		{"newer", nvptx + "define ptx_kernel void @k() {\n  frobnicate void\n}\n!llvm.ident = !{!0}\n!0 = !{!\"clang version 99.1.0\"}\n",
			fmt.Sprintf(
				"k.ll:3:3: LLVM %d cannot read it: expected instruction opcode; LLVM 99 wrote it: install llvm-99", newest)},
		{"unknown arch", nvptx + strings.Replace(kernel, "()", `() "target-cpu"="sm_999"`, 1),
			"does not support sm_999"},
		{"bitcode", "BC\xc0\xdegarbage", "cannot read it"},
	} {
		_, err := File(context.Background(), writeSource(t, "k.ll", c.text), Options{CacheDir: testCache})
		var ie *InputError
		if !errors.As(err, &ie) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.name, err, c.want)
		}
	}
}

func TestProducer(t *testing.T) {
	for message, want := range map[string]int{
		"error: Unknown attribute kind (91) (Producer: 'LLVM21.1.0' Reader: 'LLVM 19.1.7')": 21,
		"error: x": 0,
	} {
		if got := producer(message, nil); got != want {
			t.Errorf("%s: %d", message, got)
		}
	}
	if got := producer("", []byte("!0 = !{!\"Debian clang version 22.1.0 (++2)\"}\n")); got != 22 {
		t.Errorf("ident: %d", got)
	}
}
