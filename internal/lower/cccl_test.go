package lower

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeCCCL writes headers with the names of CCCL's below a directory, by the parts of a layout. Each
// defines a macro with the given number, which a kernel writes to memory: the PTX shows which copy
// was used.
func fakeCCCL(t *testing.T, dir string, number int, cub, thrust, cuda string) string {
	t.Helper()
	for name, part := range map[string]string{"cub/cub.cuh": cub, "thrust/version.h": thrust,
		"cuda/std/own_test": cuda, "cuda/atomic": cuda} {
		if part == "" {
			continue
		}
		path := filepath.Join(dir, part, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, fmt.Sprintf("#pragma once\n#define COPY_%s %d\n",
			filepath.Base(filepath.Dir(name)), number))
	}
	return dir
}

// noCCCL hides the copies of the machine from a test.
func noCCCL(t *testing.T) {
	t.Helper()
	for _, v := range append([]string{CCCLVar}, toolkitVars...) {
		t.Setenv(v, "")
	}
	installed := ccclInstalled
	ccclInstalled = nil
	t.Cleanup(func() { ccclInstalled = installed })
}

// usesCUB writes the number of the copy to memory.
const usesCUB = "#include <cub/cub.cuh>\n__global__ void k(int *p) { *p = COPY_cub; }\n"

// stored reports whether the PTX stores a constant.
func stored(r *Result, n int) bool {
	text := strings.ReplaceAll(string(r.PTX), "\t", " ")
	return strings.Contains(text, fmt.Sprintf(", %d;", n))
}

// The layouts in which CCCL is distributed: a checkout, an include directory as the packages of a
// distribution fill it, a CUDA toolkit up to 12, and from 13 on. The same directory is found from
// wherever the user points to.
func TestFindCCCL(t *testing.T) {
	root := t.TempDir()
	fakeCCCL(t, root+"/checkout", 1, "cub", "thrust", "libcudacxx/include")
	fakeCCCL(t, root+"/usr/include", 1, ".", ".", ".")
	fakeCCCL(t, root+"/cuda13/include/cccl", 1, ".", ".", ".")
	fakeCCCL(t, root+"/onlycub", 1, ".", "", "")
	if err := os.MkdirAll(root+"/empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"checkout": "checkout/cub/cub checkout/thrust/thrust checkout/libcudacxx/include/cuda",
		"usr":      "usr/include/cub usr/include/thrust usr/include/cuda",

		"usr/include":    "usr/include/cub usr/include/thrust usr/include/cuda",
		"cuda13":         "cuda13/include/cccl/cub cuda13/include/cccl/thrust cuda13/include/cccl/cuda",
		"cuda13/include": "cuda13/include/cccl/cub cuda13/include/cccl/thrust cuda13/include/cccl/cuda",
		"onlycub":        "onlycub/cub",
		"empty":          "",
		"missing":        "",
	} {
		var got []string
		for _, d := range findCCCL(filepath.Join(root, dir)).list() {
			rel, _ := filepath.Rel(root, d)
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	// -I CCCL/cub is a part of the checkout.
	if c := findCCCLFrom(root + "/checkout/cub"); c == nil || c.dirs["thrust"] == "" {
		t.Errorf("-I of a part of a checkout finds %v", c)
	}
}

// The order of precedence: the flag, a directory of -I, the environment, a CUDA toolkit, and what a
// distribution installs. The headers of a toolkit that are not CCCL's stay unused.
func TestCCCLPrecedence(t *testing.T) {
	compilers(t)
	noCCCL(t)
	root := t.TempDir()
	flag := fakeCCCL(t, root+"/flag", 101, "cub", "thrust", "libcudacxx/include")
	user := fakeCCCL(t, root+"/user", 102, ".", "", "")
	env := fakeCCCL(t, root+"/env", 103, "cub", "thrust", "libcudacxx/include")
	toolkit := fakeCCCL(t, root+"/toolkit", 104, "include", "include", "include")
	writeFile(t, toolkit+"/include/cuda_runtime.h", "#error the runtime of a toolkit\n")
	usr := fakeCCCL(t, root+"/usr/include", 105, ".", ".", ".")
	ccclInstalled = []string{usr}
	source := "#include <cuda_runtime.h>\n" + usesCUB
	for _, step := range []struct {
		number int
		set    func(*Options)
	}{
		{105, func(*Options) {}},
		{104, func(*Options) { t.Setenv("CUDA_HOME", toolkit) }},
		{103, func(*Options) { t.Setenv(CCCLVar, env) }},
		{102, func(o *Options) { o.Includes = []string{user} }},
		{101, func(o *Options) { o.CCCL = flag }},
	} {
		var opt Options
		step.set(&opt)
		if r := lowerSource(t, source, opt); !stored(r, step.number) {
			t.Errorf("the kernel does not store %d:\n%s", step.number, r.PTX)
		}
	}
}

// A header that heddle has, such as cuda/atomic, is its own unless the user names a copy, with the
// flag or with -I: what happens to be installed must not replace it. A file that needs a copy gets
// all of its headers from there.
func TestOwnCCCLHeaders(t *testing.T) {
	compilers(t)
	noCCCL(t)
	dir := fakeCCCL(t, t.TempDir(), 7, ".", ".", ".")
	t.Setenv(CCCLVar, dir)
	const atomic = "#include <cuda/atomic>\n"
	const own = atomic + `__global__ void k(int *p) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(*p).fetch_add(1);
}`
	const others = atomic + "__global__ void k(int *p) { *p = COPY_cuda; }"
	if r := lowerSource(t, own, Options{}); count(r.PTX, `atom\.`) != 1 {
		t.Errorf("heddle's own cuda/atomic is not used:\n%s", r.PTX)
	}
	for name, opt := range map[string]Options{"--cccl": {CCCL: dir}, "-I": {Includes: []string{dir}}} {
		if r := lowerSource(t, others, opt); !stored(r, 7) {
			t.Errorf("%s: the copy's cuda/atomic is not used:\n%s", name, r.PTX)
		}
	}
	if r := lowerSource(t, "#include <cub/cub.cuh>\n"+others, Options{}); !stored(r, 7) {
		t.Errorf("the copy's cuda/atomic is not used beside cub/cub.cuh:\n%s", r.PTX)
	}
}

// Without a copy the message is at the #include and says what to install and which flag names a
// copy. Kernels that need nothing of it are still analysed.
func TestMissingCCCL(t *testing.T) {
	compilers(t)
	noCCCL(t)
	_, err := File(context.Background(), writeSource(t, "k.cu", usesCUB), Options{CacheDir: testCache})
	var ce *CompileError
	if !errors.As(err, &ce) || !strings.Contains(ce.Output, "k.cu:1:10: fatal error: 'cub/cub.cuh'") {
		t.Fatalf("%v, want an error at 1:10", err)
	}
	for _, want := range []string{"libcub-dev", "libthrust-dev", "--cccl DIR"} {
		if !strings.Contains(ce.Help, want) {
			t.Errorf("no %q in the help %q", want, ce.Help)
		}
	}
	r := lowerSource(t, goodKernel+"#include <thrust/sort.h>\nint main() { thrust::sort(0); }\n",
		Options{})
	if len(r.Kernels) != 1 || len(r.Warnings) == 0 ||
		!strings.Contains(r.Warnings[0], "k.cu:2:10: header thrust/sort.h not found") ||
		!strings.Contains(r.Warnings[0], "--cccl") {
		t.Errorf("kernels %v, warnings %q", r.Kernels, r.Warnings)
	}
	// A directory without the headers is a mistake, whatever the file includes.
	_, err = File(context.Background(), writeSource(t, "k.cu", goodKernel), Options{CCCL: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "found neither cub/cub.cuh nor thrust/version.h") {
		t.Errorf("%v, want an error about --cccl", err)
	}
	// A copy that lacks a header is named.
	dir := fakeCCCL(t, t.TempDir(), 1, ".", ".", ".")
	_, err = File(context.Background(), writeSource(t, "k.cu", "#include <cub/none.cuh>\n"+usesCUB),
		Options{CCCL: dir, CacheDir: testCache})
	if !errors.As(err, &ce) || !strings.Contains(ce.Help, dir+" does not have cub/none.cuh") {
		t.Errorf("%v: help %q", err, ce.Help)
	}
}

// A result in the cache is that of its copy: another copy, a header that has changed, and a copy
// that did not exist before give another one.
func TestCCCLCache(t *testing.T) {
	compilers(t)
	noCCCL(t)
	root := t.TempDir()
	a := fakeCCCL(t, root+"/a", 11, ".", "", "")
	b := fakeCCCL(t, root+"/b", 12, ".", "", "")
	later := root + "/later"
	if err := os.MkdirAll(later, 0o755); err != nil {
		t.Fatal(err)
	}
	ccclInstalled = []string{later}
	opt := Options{CacheDir: t.TempDir()}
	name := writeSource(t, "k.cu", "#ifdef HERE\n#include <cub/cub.cuh>\n#else\n"+
		"#include <cub/cub.cuh>\n#endif\n__global__ void k(int *p) {\n#ifdef COPY_cub\n"+
		"  *p = COPY_cub;\n#else\n  *p = 10;\n#endif\n}\n")
	check := func(number int, cached bool) {
		t.Helper()
		r, err := File(context.Background(), name, opt)
		if err != nil {
			t.Fatal(err)
		}
		if !stored(r, number) || r.Cached != cached {
			t.Errorf("cached %v, want %v with %d:\n%s", r.Cached, cached, number, r.PTX)
		}
	}
	check(10, false) // none
	check(10, true)
	t.Setenv(CCCLVar, a)
	check(11, false)
	check(11, true)
	t.Setenv(CCCLVar, b)
	check(12, false)
	fakeCCCL(t, root+"/b", 13, ".", "", "")
	check(13, false)
	check(13, true)
	t.Setenv(CCCLVar, "")
	check(10, true)
	fakeCCCL(t, later, 14, ".", "", "")
	check(14, false)
}

// These libraries need all of the C++ library: without one of the host the help says so, and no part
// of a copy is left out as host code that does not compile.
func TestCCCLNeedsHost(t *testing.T) {
	compilers(t)
	noCCCL(t)
	dir := fakeCCCL(t, t.TempDir(), 1, ".", "", "")
	opt := Options{CCCL: dir, CacheDir: testCache}
	compile := func(header string, args ...string) *CompileError {
		t.Helper()
		writeFile(t, dir+"/cub/cub.cuh", "#pragma once\n"+header)
		opt.Args = args
		_, err := File(context.Background(), writeSource(t, "k.cu", "#include <cub/cub.cuh>\n"+goodKernel),
			opt)
		var ce *CompileError
		if !errors.As(err, &ce) {
			t.Fatalf("%v, want a CompileError", err)
		}
		return ce
	}
	if ce := compile("#include <vector>\n", "-nostdinc++"); !strings.Contains(ce.Help, "libstdc++") {
		t.Errorf("help %q", ce.Help)
	}
	if ce := compile("inline void f() { int x = missing; }\n"); !strings.Contains(ce.Output, "missing") {
		t.Errorf("output %q", ce.Output)
	}
}

// The directories of the copy are at the head of the PTX, by the names in its line information.
func TestCCCLFacts(t *testing.T) {
	compilers(t)
	noCCCL(t)
	dir := fakeCCCL(t, t.TempDir(), 1, "cub", "thrust", "")
	writeFile(t, dir+"/cub/cub/cub.cuh",
		"template <class T> __device__ void put(T *p) { p[threadIdx.x] = 3; }\n")
	r := lowerSource(t, "#include <cub/cub.cuh>\n__global__ void k(int *p) { put(p); }\n",
		Options{CCCL: dir})
	for _, want := range []string{"// heddle.library " + dir + "/cub/cub\n",
		"// heddle.library " + dir + "/thrust/thrust\n", `"` + dir + `/cub/cub/cub.cuh"`} {
		if !strings.Contains(string(r.PTX), want) {
			t.Errorf("no %q in\n%s", want, r.PTX)
		}
	}
	if c := findCCCL(dir); !slices.Equal(slices.Sorted(maps.Keys(c.dirs)), []string{"cub", "thrust"}) {
		t.Errorf("directories %v", c.dirs)
	}
}

// TestGuidesOfCCCL: the deduction guides of a copy belong to device code, too, although its header
// gives them no attributes where __NVCC__ is defined.
func TestGuidesOfCCCL(t *testing.T) {
	noCCCL(t)
	dir := fakeCCCL(t, t.TempDir(), 1, "cub", "thrust", "libcudacxx/include")
	header := filepath.Join(dir, "libcudacxx/include/cuda", guideHeader)
	if err := os.MkdirAll(filepath.Dir(header), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, header, "#pragma once\n#define _CCCL_HOST_DEVICE __host__ __device__\n"+
		"#ifdef __NVCC__\n#define "+guideMacro+"\n#endif\n")
	const src = `#include <cub/cub.cuh>
#include <cuda/std/__cccl/execution_space.h>
template <class V, class F = bool> struct pair { V v; F f; };
template <class V, class F = bool> _CCCL_DEDUCTION_GUIDE_ATTRIBUTES pair(V, F) -> pair<V, F>;
__global__ void k(int *p) { constexpr auto a = pair{77, false}; *p = a.v; }
`
	in := Input{Name: "guides.cu", Lang: CUDA, Content: []byte(src)}
	results, err := Lower(t.Context(), in, Options{CCCL: dir, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if !stored(results[0], 77) || len(results[0].Omitted) > 0 {
		t.Errorf("%+v\n%s", results[0].Omitted, results[0].PTX)
	}
}
