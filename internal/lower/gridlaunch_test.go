package lower

import (
	"regexp"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// TestLaunchesIn finds the parts of launches in text.
func TestLaunchesIn(t *testing.T) {
	for text, want := range map[string][]string{
		"k<<<1, 2>>>(a, f(b));":                   {"k | 1, 2 | (a, f(b))"},
		"x = c ? ns::k<<<g, b>>>(p) : 0;":         {"ns::k | g, b | (p)"},
		"k<int, T<3>> <<<dim3(1), 2, 0, s>>> (p)": {"k<int, T<3>> | dim3(1), 2, 0, s | (p)"},
		"return ::k<<<1, 1>>>();":                 {"::k | 1, 1 | ()"},
		"(k<1>)<<<1, 1>>>(p)":                     {"(k<1>) | 1, 1 | (p)"},
		"a::b<T>::k<<<n >> 1, (m >> 2)>>>(p)":     {"a::b<T>::k | n >> 1, (m >> 2) | (p)"},
		"// k<<<1, 1>>>(p)\n\"j<<<1, 1>>>(p)\"":   nil,
		"#define L k<<<1, 1>>>(p)\n":              nil,
		"k<<<1, 1>>>(p); j<<<2,\n 2>>>(\"),\");":  {"k | 1, 1 | (p)", "j | 2,\n 2 | (\"),\")"},
		"k<<<1, 1; k>>>(p)":                       nil,
	} {
		var got []string
		for _, l := range launchesIn([]byte(text)) {
			got = append(got, strings.TrimSpace(text[l.start:l.open])+" | "+text[l.open+3:l.close]+" | "+
				text[l.args:l.end])
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRewrittenLaunches: what clang reads has the same lines, and its columns lead back.
func TestRewrittenLaunches(t *testing.T) {
	text := "void f() {\n  k<<<1, 2>>>(a, b); g();\n  t<<<1,\n 2>>>(a, \"x\");\n}\n"
	f := &gridFile{name: "x.cu", content: []byte(text), launches: launchesIn([]byte(text))}
	f.launches[0].form, f.launches[1].form = byKernel, byArguments
	m, err := f.rewritten()
	if err != nil {
		t.Fatal(err)
	}
	const want = "void f() {\n  __heddle_grid<decltype(k), k>( 1, 2)  (a, b); g();\n" +
		"  __heddle_grid<void(typename __heddle_passed<decltype(a)>::type, " +
		"typename __heddle_passed<decltype(\"x\")>::type), t>( 1,\n 2)  (a, \"x\");\n}\n"
	if string(m.text) != want {
		t.Errorf("%s", m.text)
	}
	line := strings.Split(want, "\n")[1]
	if got := m.column(2, strings.Index(line, "g();")+1); got != len("  k<<<1, 2>>>(a, b); ")+1 {
		t.Errorf("the call behind the launch is at column %d", got)
	}
	if got := m.column(2, 3); got != 3 {
		t.Errorf("the launch is at column %d", got)
	}
}

// TestGridLaunches compiles launches of each form in device code, by the standards that programs
// use, and in functions for both sides.
func TestGridLaunches(t *testing.T) {
	const text = `
template <class T> __global__ void t(T *p, T v) { *p = v; }
namespace n { __global__ void k(int *p, int v) { *p = v; } }
struct pair { const int a; char b; };
__global__ void s(char c, pair x, double d, int *p) { *p = x.a + c + d; }
__host__ __device__ void both(int *p) { n::k<<<1, 1>>>(p, 1); }
template <class T> __global__ void self(T *p, int n) {
  if (n) self<T><<<1, 1, 0, cudaStreamTailLaunch>>>(p, n - 1);
  t<<<1, 1>>>(p, T());
}
__device__ void below(int *p) { pair x = {1, 2}; s<<<dim3(1), dim3(2, 2)>>>(3, x, 4, p); }
__global__ void k(int *p) { both(p); below(p); t<int><<<1, 1>>>(p, 2); self<<<1, 1>>>(p, 3); }
`
	for _, std := range []string{"c++11", "c++14", "c++17", "c++20"} {
		in := Input{Name: "grids.cu", Content: []byte(text), Lang: CUDA}
		results, err := Lower(t.Context(), in, Options{Std: std, NoCache: true})
		if err != nil {
			t.Errorf("%s: %v", std, err)
			continue
		}
		if len(results[0].Omitted) > 0 || len(results[0].Warnings) > 0 {
			t.Errorf("%s: %v, %v", std, results[0].Omitted, results[0].Warnings)
		}
		for _, name := range []string{"_Z4selfIiEvPT_i", "_Z1tIiEvPT_S0_", "_ZN1n1kEPii"} {
			if !strings.Contains(string(results[0].PTX), ".entry "+name+"(") {
				t.Errorf("%s: no kernel %s", std, name)
			}
		}
	}
}

// TestOverloadedGrid: overloaded kernels are chosen by the types of the arguments, else by their
// number (C++17 [over.over]). Where neither decides, the launch is refused, with what to do.
func TestOverloadedGrid(t *testing.T) {
	const text = `
__global__ void k(int *p) { *p = 1; }
__global__ void k(float *p) { *p = 1; }
__global__ void k(int *p, unsigned n) { *p = n; }
__global__ void k() {}
namespace n { __global__ void k(int *p, long n, bool b) { *p = n + b; } }
using n::k;
template <class T> __device__ void in(T *p, bool b) {
  k<<<1, 1>>>(p);
  k<<<1, 1>>>(p, b ? 1 : 2);
}
__global__ void parent(int *p) {
  in(p, *p > 2);
  if (*p) k<<<1, 1, 0, 0>>>(p, 1, !*p);
  k<<<1, 1>>>();
}
`
	standards := []string{"c++17"}
	if long.All() {
		standards = append(standards, "c++11", "c++14", "c++20")
	}
	for _, std := range standards {
		in := Input{Name: "grids.cu", Content: []byte(text), Lang: CUDA}
		results, err := Lower(t.Context(), in, Options{Std: std, NoCache: true})
		if err != nil {
			t.Fatalf("%s: %v", std, err)
		}
		if o := results[0].Omitted; len(o) != 0 {
			t.Errorf("%s: %+v", std, o)
		}
		// The address of a kernel stands where it is launched, not at its own entry.
		for _, k := range []struct {
			name     string
			launched bool
		}{{"_Z1kPi", true}, {"_Z1kPij", true}, {"_Z1kv", true}, {"_ZN1n1kEPilb", true}, {"_Z1kPf", false}} {
			address := regexp.MustCompile(`(?m)^\.weak \.global .*__heddle_kernel.* = ` + k.name + `;`)
			if got := address.Match(results[0].PTX); got != k.launched {
				t.Errorf("%s: launched: %t, want %t: %s", std, got, k.launched, k.name)
			}
		}
	}
	in := Input{Name: "grids.cu", Lang: CUDA, Content: []byte(`
__global__ void k(int *p, long n) { *p = n; }
__global__ void k(int *p, double d) { *p = d; }
__global__ void parent(int *p) { k<<<1, 1>>>(p, 1); }
`)}
	results, err := Lower(t.Context(), in, Options{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if o := results[0].Omitted; len(o) != 1 || !strings.Contains(o[0].Reason, "different names") {
		t.Errorf("%+v", o)
	}
}
