package exec_test

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/source"
	"heddle/internal/testing/program"
)

// stacks has launches at the end of several chains of calls: of functions that the compiler inlines
// and such that it does not, through system headers and headers of the runtime, by another thread,
// recursively, and from a library function that calls back.
const stacks = `#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>
__global__ void a(int *p) { p[0] = threadIdx.x; }
__global__ void b(int *p) { p[1] = threadIdx.x; }
__global__ void c(int *p) { p[2] = threadIdx.x; }
__global__ void d(int *p) { p[3] = threadIdx.x; }
__global__ void e(int *p) { p[4] = threadIdx.x; }
__global__ void f(int *p) { p[5] = threadIdx.x; }
__global__ void g(int *p) { p[6] = threadIdx.x; }
static int *p;
namespace deep {
struct solver {
  template <class T> __attribute__((noinline)) void step(T n) { a<<<n, 64>>>(p); }
  void once() { step(1); }
};
static inline void half(solver &s) { s.once(); }
__attribute__((noinline)) void solve(solver &s) { half(s); }
}
__attribute__((noinline)) void configured() {
  cudaLaunchConfig_t l = {};
  l.gridDim = 1, l.blockDim = 64;
  cudaLaunchKernelEx(&l, c, p);
}
__attribute__((noinline)) int again(int n) {
  if (n == 0) e<<<1, 64>>>(p); else again(n - 1);
  return n;
}
static int compare(const void *, const void *) { f<<<1, 64>>>(p); return 0; }
int main() {
  cudaMalloc(&p, 64);
  deep::solver s;
  deep::solve(s);
  std::thread([] { b<<<1, 64>>>(p); }).join();
  configured();
  std::vector<int> v = {1};
  std::for_each(v.begin(), v.end(), [](int) { d<<<1, 64>>>(p); });
  again(2);
  int two[2] = {};
  qsort(two, 2, 4, compare);
  g<<<1, 64>>>(p);
  return cudaDeviceSynchronize();
}
`

// wantStacks are the calls in the source, of each kernel: the caller first, then its caller. main
// alone is no stack: the place of the launch says as much.
var wantStacks = map[string]string{
	"a(int*)": "void deep::solver::step<int>(int) at 15, called by deep::solver::once() at 16, " +
		"called by deep::half(deep::solver&) at 18, called by deep::solve(deep::solver&) at 19, " +
		"called by main at 34",
	"b(int*)": "",
	"c(int*)": "configured() at 24, called by main at 36",
	"d(int*)": "main::{lambda(int)#1}::operator()(int) const at 38, called by main at 38",
	"e(int*)": "again(int) at 27, called by again(int) at 27, called by again(int) at 27, called by " +
		"main at 39",
	"g(int*)": "",
}

// TestHostStack: a finding has the calls of the host that led to the launch, whatever the compiler
// has inlined.
func TestHostStack(t *testing.T) {
	built := program.OfText(t, stacks)
	got := make(map[string][]string) // notes by kernel
	start(t, []string{built}, func(o *exec.Options) {
		o.Printer = func(*source.Set) diag.Printer {
			return diag.FindingFunc(func(d *diag.Diagnostic) { got[d.Kernel] = d.Notes })
		}
	})
	for kernel, want := range wantStacks {
		i := slices.IndexFunc(got[kernel], func(s string) bool {
			return strings.HasPrefix(s, "host call stack: ")
		})
		stack := ""
		if i >= 0 {
			stack = strings.TrimPrefix(got[kernel][i], "host call stack: ")
		}
		var lines []string // without the name of the file
		for part := range strings.SplitSeq(stack, ", called by ") {
			name, place, _ := strings.Cut(part, " at ")
			if _, line, ok := strings.Cut(place, "p.cu:"); ok {
				name += " at " + line
			}
			lines = append(lines, name)
		}
		if stack = strings.Join(lines, ", called by "); len(got[kernel]) == 0 || stack != want {
			t.Errorf("%s: host call stack %q, want %q; notes %q", kernel, stack, want, got[kernel])
		}
	}
	// qsort has no frame pointers: frames may be missing, and none is wrong.
	for _, s := range got["f(int*)"] {
		if stack, ok := strings.CutPrefix(s, "host call stack: "); ok {
			for part := range strings.SplitSeq(stack, ", called by ") {
				if !strings.HasPrefix(part, "compare(") && !strings.HasPrefix(part, "main at") {
					t.Errorf("a frame that is not there: %q", stack)
				}
			}
		}
	}
}

// Launches in two streams that nothing orders, each in a function of its own, with a dim3 that is
// made from values at run time.
const streamStacks = `__global__ void a(int *p) { p[threadIdx.x] = 1; }
__global__ void b(int *p) { p[threadIdx.x] = 2; }
static int *p;
__attribute__((noinline)) void first(cudaStream_t s, int n) {
  dim3 grid(n, n); grid.y = 1;
  a<<<grid, dim3(n * 32, n), 0, s>>>(p);
}
static void second(cudaStream_t s, int n) { b<<<dim3(n), dim3(n * 32, n), 0, s>>>(p); }
int main(int argc, char **) {
  cudaMalloc(&p, 128);
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  first(s, argc);
  second(t, argc);
  return cudaDeviceSynchronize();
}
`

// TestStreamStacks: a race between streams has the calls that led to both launches, and the places
// of the launches are in the program.
func TestStreamStacks(t *testing.T) {
	built := program.OfText(t, streamStacks)
	var got []diag.Diagnostic
	start(t, []string{built}, func(o *exec.Options) {
		o.Printer = func(*source.Set) diag.Printer { return keeper(&got) }
	})
	if len(got) != 1 || got[0].Code != diag.CodeRaceStream {
		t.Fatalf("findings %+v, want one race between streams", got)
	}
	d := got[0]
	if d.Span.Start.Line() != 8 || d.Related[0].Span.Start.Line() != 6 {
		t.Errorf("lines %d and %d, want 8 and 6", d.Span.Start.Line(), d.Related[0].Span.Start.Line())
	}
	text := strings.Join(d.Notes, "\n")
	for _, want := range []string{"host call stack of (1): first(", "p.cu:6, called by main at ",
		"host call stack of (2): second(", "p.cu:8, called by main at "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the notes\n%s", want, text)
		}
	}
}

// keeper is a printer that keeps findings.
func keeper(list *[]diag.Diagnostic) diag.Printer {
	return diag.FindingFunc(func(d *diag.Diagnostic) { *list = append(*list, *d) })
}
