package lower

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

const goodKernel = `__global__ void good(int *p) { p[threadIdx.x] = 1; }
`

// Host code that does not compile must not prevent the analysis of the kernels in the file.
var hostCases = []struct {
	name string
	src  string
	// kernels that must be in the result, and a part of an expected warning
	kernels []string
	warning string
}{
	{"unknown host header", `#include <nowhere/program_options.hpp>
#include "mylib/io.h"
` + goodKernel + `int main() { return 0; }`,
		[]string{"good"}, "header nowhere/program_options.hpp not found"},
	{"unknown type in main", goodKernel + `int main(int argc, char **argv) {
  cv::Mat img = cv::imread(argv[1]);
  good<<<1, 32>>>((int *)img.data);
  return 0;
}`, []string{"good"}, "host code that does not compile"},
	{"plain error in main", goodKernel +
		`int main() { int x = "text"; undefined_function(3); return x }`,
		[]string{"good"}, "k.cu:2:"},
	{"unknown type in a host signature", goodKernel + `static Foo *make(Bar b) { return new Foo(b); }
std::unordered_thing<int> global_thing;
int main() { make(3); }`, []string{"good"}, "host code that does not compile"},
	{"template instantiated by a broken main", `template <int N, typename T> __global__ void scale(T *p) { p[threadIdx.x] *= N; }
int main() {
  thrust::device_vector<float> d(3);
  scale<4, float><<<1, 32>>>(thrust::raw_pointer_cast(d.data()));
  for (auto &x : d) { std::printf("%f", x); }
}`, []string{"scale"}, "host code that does not compile"},
	{"host class with kernels beside it", `class Renderer {
 public:
  explicit Renderer(const Config &c) : config(c) { window = glfwCreateWindow(1, 2); }
  void draw() { good<<<1, 1>>>(buffer); }
 private:
  Config config;
  GLFWwindow *window;
  int *buffer;
};
` + goodKernel, []string{"good"}, "host code that does not compile"},
	{"asm for the host", goodKernel +
		`void pause() { unsigned r; asm volatile("cpuid" : "=a"(r) : : "bogus_register"); }`,
		[]string{"good"}, ""},
	{"error in a namespace with device code", `namespace app {
__device__ int twice(int x) { return 2 * x; }
void run(Missing m) { m.go(); }
__global__ void good(int *p) { p[0] = twice(p[1]); }
}
int main() { app::run(Missing{}); }`, []string{"good"}, "host code that does not compile"},
	{"error inside a preprocessor branch", goodKernel + `int main() {
#ifdef USE_FOO
  foo();
#else
  bar();
#endif
  return 0;
}`, []string{"good"}, "k.cu:6:"},
	{"alias of a missing namespace", `#include <nowhere/program_options.hpp>
namespace po = boost::program_options;
po::options_description options("x");
using namespace po;
static po::value *make(const po::variables_map &m) { return m.get(); }
` + goodKernel, []string{"good"}, "header nowhere/program_options.hpp not found"},
	{"alias of a missing type", `#include "lib.h"
typedef lib::Matrix<float> M;
using Row = M::row;
M product(const M &a, M *b, std::initializer_list<M>);
Row first(M a) { return a[0]; }
struct Wide : M { int n; };
` + goodKernel, []string{"good"}, "header lib.h not found"},
	{"class with a missing base", `#include <gtest/gtest.h>
template <class T> class Window : public QWidget, Base<T> {
  Q_OBJECT
 public:
  Window() : QWidget(nullptr) { show(); }
  int n;
};
struct Fixture : ::testing::Test {
  void SetUp() override { good<<<1, 32>>>(p); }
  int *p;
};
void open(Window<int> &w) { w.show(); }
` + goodKernel, []string{"good"}, "header gtest/gtest.h not found"},
	{"enumeration and specialization of a missing library", `#include <fmt/format.h>
enum class Mode { A = lib::kA, B };
struct Params { Mode m; };
template <> struct fmt::formatter<Params> { int x; };
` + goodKernel + `void print(Params p) { fmt::print("{}", p); }`, []string{"good"},
		"header fmt/format.h not found"},
	{"macros of a missing header on lines of their own", `#include <lib/config.h>
LIB_NAMESPACE_BEGIN
__device__ int twice(int x) { return 2 * x; }
LIB_NAMESPACE_END
` + goodKernel, []string{"good"}, "header lib/config.h not found"},
	{"C++ library in host code", `#include <vector>
#include <string>
#include <iostream>
#include <algorithm>
` + goodKernel + `int main() { std::vector<int> v(4); std::string s("x"); std::cout << s << v.size() << std::endl; std::sort(v.begin(), v.end()); return std::max(1, 2); }`,
		[]string{"good"}, ""},
}

func TestHostCode(t *testing.T) {
	compiler := compilers(t)[0]
	for _, c := range hostCases {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			r := lowerSource(t, c.src, Options{Compiler: compiler})
			for _, want := range c.kernels {
				found := false
				for _, k := range r.Kernels {
					found = found || baseName(k.Name) == want
				}
				if !found {
					t.Errorf("kernel %s is missing; have %v", want, r.Kernels)
				}
			}
			if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, c.warning) {
				t.Errorf("warnings do not say %q:\n%s", c.warning, all)
			}
			if c.warning == "" && len(r.Warnings) != 0 {
				t.Errorf("unexpected warnings: %q", r.Warnings)
			}
		})
	}
}

// Removing host code must not move the positions of kernels.
func TestHostCodeKeepsPositions(t *testing.T) {
	compiler := compilers(t)[0]
	r := lowerSource(t, `void host() {
  Unknown u; u.x = "multi
  line";
}
#define M 3
__global__ void k(int *p) {
  p[M] = 1;
}`, Options{Compiler: compiler})
	if !strings.Contains(string(r.PTX), ".loc 1 7 8") {
		t.Errorf("the store is not at 7:8:\n%s", r.PTX)
	}
}

// An error that every kernel needs is reported with clang's text and position, however the function
// is marked as device code, and whatever else is wrong in host code.
func TestDeviceErrors(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"in a kernel", `__global__ void k(int *p) { p[0] = undeclared; }`,
			"k.cu:1:36: error: use of undeclared identifier 'undeclared'"},
		{"in a device function",
			"__device__ int f() { return g(); }\n__global__ void k(int *p) { p[0] = f(); }",
			"k.cu:1:29: error"},
		{"through a macro", "#define HD __host__ __device__\nHD int f(int x) { return x + nope; }\n__global__ void k(int *p) { p[0] = f(3); }", "k.cu:2:30: error"},
		{"signature of a kernel", "__global__ void k(Vec v) { }",
			"k.cu:1:19: error: unknown type name 'Vec'"},
		{"a constexpr function that kernels use",
			"constexpr int f(int x) { return x + nope; }\n__global__ void k(int *p) { p[0] = f(p[1]); }",
			"error"},
		{"host type used by a kernel",
			"struct S { Missing m; int x; };\n__global__ void k(S *p) { p->m = 1; }", "error"},
		// Device code by a pragma that the heuristics for host code do not see.
		{"function of the host and the device", `#pragma clang force_cuda_host_device begin
static int f(int x) { nope(x); return x + 1; }
#pragma clang force_cuda_host_device end
__global__ void k(int *p) { p[0] = f(p[1]); }`, "k.cu:2:23: error"},
		{"missing brace", "__global__ void k(int *p) { p[0] = 1;", "error: expected '}'"},
		{"host error too", "__global__ void k(int *p) { p[0] = undeclared; }\nint main() { nope(); }",
			"k.cu:1:36: error"},
	}
	compiler := compilers(t)[0]
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			for _, level := range []string{"", "2"} {
				_, err := File(context.Background(), writeSource(t, "k.cu", c.src),
					Options{Compiler: compiler, CacheDir: testCache, OptLevel: level})
				var ce *CompileError
				if !errors.As(err, &ce) {
					t.Fatalf("level %q: got %v, want a CompileError", level, err)
				}
				if !strings.Contains(ce.Output, c.want) {
					t.Errorf("level %q: clang's output does not say %q:\n%s", level, c.want, ce.Output)
				}
			}
		})
	}
}

// An invalid host function in an included file is removed; a kernel in that file stays.
func TestHostCodeInHeader(t *testing.T) {
	compiler := compilers(t)[0]
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "util.cuh"),
		"inline void report(Logger &l) { l.say(); }\n__device__ inline int inc(int x) { return x + 1; }\n")
	writeFile(t, filepath.Join(dir, "k.cu"),
		"#include \"util.cuh\"\n__global__ void k(int *p) { p[0] = inc(p[1]); }\n")
	t.Chdir(dir)
	r, err := File(context.Background(), "k.cu", Options{Compiler: compiler, CacheDir: testCache})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Kernels) != 1 || len(r.Warnings) == 0 ||
		!strings.Contains(r.Warnings[0], "util.cuh:1:20") {
		t.Errorf("kernels %v, warnings %q", r.Kernels, r.Warnings)
	}
	if !strings.Contains(string(r.PTX), `.file 1 "k.cu"`) ||
		!strings.Contains(string(r.PTX), `"util.cuh"`) {
		t.Errorf("files are not named as the user names them:\n%s", r.PTX)
	}
}

// A template without an instance is not analysed, and a warning says so.
func TestUninstantiatedTemplate(t *testing.T) {
	compiler := compilers(t)[0]
	r := lowerSource(t, `template <class T> __global__ void tk(T *p) { p[0] = 1; }
template <int N> __global__ void __launch_bounds__(N * 2, 1 + 1) bounds(int *p) { p[0] = N; }
template __global__ void bounds<32>(int *);
template <int N> __global__ __launch_bounds__(N) void special(int *p) {}
template <> __global__ void special<3>(int *p) { p[0] = 3; }
`+goodKernel, Options{Compiler: compiler})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		"kernel template tk is not instantiated") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
