package lower

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// Device code that does not compile costs the kernels that need it; the others are compiled. Where
// leaving it out could change the meaning of other code, the file is rejected: want is empty then.
var omitCases = []struct {
	name, src string
	kept      []string // kernels of the result
	omitted   []string // kernels that are left out, with a part of the reason after a colon
}{
	{"body of a kernel", `__global__ void bad(int *p) { p[0] = missing(p); }
` + goodKernel, []string{"good"}, []string{"bad: k.cu:1:38: use of undeclared identifier 'missing'"}},
	{"missing header", `#include <mylib/scan.cuh>
__global__ void bad(float *a) { __shared__ typename mylib::Scan<float>::Temp t; a[0] = 1; }
` + goodKernel, []string{"good"}, []string{"bad: header mylib/scan.cuh was not found"}},
	{"function and its callers", `__device__ int f(int x) { return x + nope; }
__device__ int g(int x) { return f(x) + 1; }
__global__ void direct(int *p) { p[0] = f(p[1]); }
__global__ void twice(int *p) { p[0] = g(p[1]); }
` + goodKernel, []string{"good"},
		[]string{"direct: it needs f, which does not compile", "twice: it needs f, which does not"}},
	{"signature of a kernel", `__global__ void bad(Vec v) { v.x = 1; }
` + goodKernel + `int main() { bad<<<1, 1>>>(Vec()); good<<<1, 1>>>(nullptr); }`,
		[]string{"good"}, []string{"bad: unknown type name 'Vec'"}},
	{"signature of a function of a unique name", `__device__ float weigh(Fp8 x) { return x.f; }
__global__ void bad(float *p) { p[0] = weigh(p[1]); }
` + goodKernel, []string{"good"}, []string{"bad: undeclared identifier 'weigh'"}},
	{"class with a missing base", `struct Wide : Missing { int n; __device__ int get() { return n; } };
__global__ void bad(int *p) { Wide w; p[0] = w.get(); }
` + goodKernel, []string{"good"}, []string{"bad: unknown type name 'Wide'"}},
	// Without the class, Wide would be the alias.
	{"class that hides another", `namespace all { typedef int Wide; }
using namespace all;
namespace own {
struct Wide : Missing { int n; };
__global__ void bad(Wide *p) { p[0] = 1; }
}
` + goodKernel, nil, nil},
	// Without weigh(Fp8), p[1] would convert to double, and bad would be another kernel.
	{"signature of an overload", `__device__ float weigh(Fp8 x) { return x.f; }
__device__ float weigh(double x) { return 0; }
__global__ void bad(float *p) { p[0] = weigh(p[1]); }
` + goodKernel, nil, nil},
	// Without the specialization, Width<float> is that of the primary template.
	{"specialization of a trait", `template <class T> struct Width { enum { n = 1 }; };
template <> struct Width<float> { enum { n = sizeof(Unknown) }; };
__global__ void bad(float *p) { p[Width<float>::n * threadIdx.x] = 1; }
` + goodKernel, nil, nil},
	{"specialization of a class with a missing base", `template <class T> struct Width { enum { n = 1 }; };
template <> struct Width<float> : lib::Base { enum { n = 4 }; };
__global__ void bad(float *p) { p[Width<float>::n * threadIdx.x] = 1; }
` + goodKernel, nil, nil},
	// Without its body, the result type of f is void, and call resolution may depend on it.
	{"deduced result", `__device__ auto f(int x) { return x + nope; }
` + goodKernel, nil, nil},
	{"constant function", `constexpr int f(int x) { return x + nope; }
` + goodKernel, nil, nil},
	{"address taken", `typedef int (*Fn)(int);
__device__ int f(int x) { return x + nope; }
__device__ Fn table[1] = {f};
` + goodKernel, nil, nil},
	{"call through a pointer", `__device__ int f(int x) { return x + nope; }
__global__ void any(int *p, int (*fn)(int)) { p[0] = fn(1); }
` + goodKernel, []string{"good"}, []string{"any: calls a function through a pointer"}},
	{"template", `template <class T> __global__ void bad(T *p) { p[0] = T::none(); }
template <class T> __global__ void fine(T *p) { p[0] = 1; }
int main() { bad<<<1, 1>>>((int *)0); fine<<<1, 1>>>((int *)0); }
`, []string{"fine"}, []string{"bad: cannot be used prior to '::'"}},
	// A member of a class that kernels use decides its layout.
	{"layout of a class", `struct Cell { Unknown u; int x; };
__global__ void bad(Cell *p) { p[threadIdx.x].x = 1; }
` + goodKernel, nil, nil},
	{"layout of a class behind an alias", `struct Cell { Unknown u; int x; };
typedef Cell Grid;
__global__ void bad(Grid *p) { p[threadIdx.x].x = 1; }
` + goodKernel, nil, nil},
	{"layout of a class as a template argument", `struct Cell { Unknown u; int x; };
template <class T> __global__ void bad(T *p) { p[threadIdx.x].x = 1; }
int main() { bad<<<1, 1>>>((Cell *)0); }
` + goodKernel, nil, nil},
	{"layout of a class with alignment", `typedef struct __align__(8) { Unknown u; int x; } Cell;
__global__ void bad(Cell *p) { p[threadIdx.x].x = 1; }
` + goodKernel, nil, nil},
	{"layout of a class with two names", `typedef struct cell { Unknown u; int x; } Cell;
__global__ void bad(Cell *p) { p[threadIdx.x].x = 1; }
` + goodKernel, nil, nil},
	{"overloads of the host", `static void show(const Unknown &u) { u.show(); }
static void show(const int &u) {}
` + goodKernel, []string{"good"}, nil},
	{"class of the host", `class Window { Unknown u; int x; void show() { u.show(); } };
` + goodKernel, []string{"good"}, nil},
	// The macro hides the attribute; helpers are found by what the preprocessor makes of them.
	{"attribute in a macro", `#define HD __host__ __device__
HD int f(int x) { return x + nope; }
__global__ void bad(int *p) { p[0] = f(3); }
` + goodKernel, []string{"good"}, []string{"bad: it needs f"}},
	{"template of a function", `template <class T> __device__ T f(T x) { return x + nope; }
template <class T> __device__ T g(T x) { return x; }
__global__ void bad(int *p) { p[0] = f(p[1]); }
__global__ void fine(int *p) { p[0] = g(p[1]); }
`, []string{"fine"}, []string{"bad: it needs f"}},
	{"call operator", `struct Bad { __device__ int operator()(int a) const { return a + nope; } };
struct Fine { __device__ int operator()(int a) const { return a; } };
template <class F> __global__ void apply(int *p, F f) { p[threadIdx.x] = f(threadIdx.x); }
int main() { apply<<<1, 1>>>((int *)0, Bad()); apply<<<1, 1>>>((int *)0, Fine()); }
`, []string{"apply"}, []string{"apply: it needs operator()"}},
	// The table of virtual functions holds the address of f.
	{"virtual function", `struct A { __device__ virtual int f() { return nope(); } };
__global__ void bad(int *p) { A a; A *b = &a; p[0] = b->f(); }
` + goodKernel, nil, nil},
	// clang omits the calls of empty constructors in some places.
	{"constructor", `struct A { int x; __device__ A() { x = nope(); } };
__global__ void bad(int *p) { A a; p[0] = a.x; }
` + goodKernel, nil, nil},
	// Without ns::f(Bad), the call finds ::f.
	{"function of an inner scope", `__device__ int f(int x) { return x; }
namespace ns {
__device__ int f(Bad x) { return 1; }
__global__ void bad(int *p) { p[0] = f(1); }
}
` + goodKernel, nil, nil},
	{"variable of an inner scope", `__device__ int total;
namespace ns {
__device__ Unknown total;
__global__ void bad(int *p) { p[0] = total; }
}
` + goodKernel, nil, nil},
	{"assembly with invalid operands", `__global__ void bad(int *p) { asm("mov %0;" : "=z"(p[0])); }
` + goodKernel, []string{"good"}, []string{"bad: invalid output constraint '=z' in asm"}},
}

func TestOmitted(t *testing.T) { testOmitted(t, "") }

// With -O, clang inlines functions without a body, so that its module does not show which kernels
// need them. All of these cases run: such a kernel would be verified without what it does.
func TestOmittedOptimized(t *testing.T) { testOmitted(t, "2") }

// testOmitted compiles the cases with a level of optimization.
func testOmitted(t *testing.T, level string) {
	compiler := compilers(t)[0]
	for _, c := range omitCases {
		t.Run(c.name, func(t *testing.T) {
			inlined := slices.ContainsFunc(c.omitted, func(o string) bool {
				return strings.Contains(o, "it needs")
			})
			if level == "" || !inlined {
				long.Sample(t, 4)
			}
			r, err := File(context.Background(), writeSource(t, "k.cu", c.src),
				Options{Compiler: compiler, CacheDir: testCache, OptLevel: level})
			var ce *CompileError
			switch {
			case c.kept == nil && !errors.As(err, &ce):
				t.Fatalf("got %v, want a CompileError", err)
			case c.kept == nil:
				return
			case err != nil:
				t.Fatal(err)
			}
			var kept []string
			for _, k := range r.Kernels {
				kept = append(kept, baseName(k.Name))
			}
			if !slices.Equal(kept, c.kept) {
				t.Errorf("kernels %v, want %v", kept, c.kept)
			}
			for _, want := range c.omitted {
				name, reason, _ := strings.Cut(want, ": ")
				if !slices.ContainsFunc(r.Omitted, func(o Omitted) bool {
					return baseName(o.Name) == name && strings.Contains(o.Reason, reason)
				}) {
					t.Errorf("want %q among the omitted kernels, found %v", want, r.Omitted)
				}
			}
			if len(r.Omitted) != len(c.omitted) {
				t.Errorf("omitted %v, want %d", r.Omitted, len(c.omitted))
			}
		})
	}
}

// llc fails for a whole module: the kernels that it can lower alone are lowered together.
func TestOmitFailing(t *testing.T) {
	const jump = `__global__ void jump(int *p, int n) {
  void *t[] = {&&a, &&b};
  goto *t[n & 1];
a: p[0] = 1; return;
b: p[1] = 2;
}
`
	opt := Options{Compiler: compilers(t)[0], CacheDir: testCache}
	r := lowerSource(t, jump+goodKernel+"__global__ void fine(int *p) { p[1] = 1; }\n", opt)
	if len(r.Kernels) != 2 || len(r.Omitted) != 1 || baseName(r.Omitted[0].Name) != "jump" ||
		!strings.Contains(r.Omitted[0].Reason, "computed goto") {
		t.Errorf("kernels %v, omitted %v", r.Kernels, r.Omitted)
	}
	var te *ToolError
	if _, err := File(context.Background(), writeSource(t, "k.cu", jump), opt); !errors.As(err, &te) {
		t.Errorf("one kernel that cannot be lowered: %v, want a ToolError", err)
	}
}

// __device__ beside __shared__ in a function has no effect (CUDA C++ Programming Guide,
// "__shared__": "optionally used together with __device__"), and clang rejects it.
func TestDeviceShared(t *testing.T) {
	r := lowerSource(t, `__global__ void k(int *p) {
  __device__ __shared__ int s[32];
  __shared__ __device__ int u[32];
  s[threadIdx.x] = u[threadIdx.x] = 1;
}`, Options{Compiler: compilers(t)[0]})
	if n := count(r.PTX, `\.shared \.align 4 \.b8 _ZZ1kPiE1[su]\[128\]`); n != 2 || len(r.Omitted) > 0 {
		t.Errorf("%d shared arrays, omitted %v:\n%s", n, r.Omitted, r.PTX)
	}
}
