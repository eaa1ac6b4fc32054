package host_test

import (
	"strings"
	"testing"
)

// inlinedLaunches makes launches in functions that the compiler inlines. The launch is in the body
// of the function that kernels of a library have, in several instances.
const inlinedLaunches = `#include <cstdlib>
__global__ void fill(int *p, int n, int v) { p[threadIdx.x] = v; }
namespace deep {
template <int N> static inline void launch(int *p) { fill<<<1, 32>>>(p, N, 1); }
template <int N> struct solver {
  static inline void once(int *p) { launch<N>(p); }
};
}
static int *p;
template <int N> __attribute__((noinline)) void solve() { deep::solver<N>::once(p); }
int main() {
  cudaMalloc(&p, 128);
  solve<1>();
  solve<2>();
  return cudaDeviceSynchronize();
}
`

// TestFrames: the functions that contain a return address, from the innermost one on. They are read
// once, since a program of templates has ten thousand functions, and each launch asks for a stack.
func TestFrames(t *testing.T) {
	out := start(t, inlinedLaunches)
	if len(out.devices) != 1 || len(out.devices[0].callers) != 2 {
		t.Fatalf("%+v", out)
	}
	sites, callers := out.devices[0].sites, out.devices[0].callers
	for i, n := range []string{"1", "2"} {
		var got []string
		for _, f := range sites.Frames(callers[i]) {
			got = append(got, f.Func)
		}
		if want := "launch<N>(int*) once(int*) solve<N>()"; normal(got, n) != want {
			t.Errorf("frames %q, want %q", normal(got, n), want)
		}
	}
	if n := testing.AllocsPerRun(3, func() { sites.Frames(callers[0]) }); n != 0 {
		t.Errorf("%v allocations for an address that was asked for before", n)
	}
}

// normal joins names without the namespaces, results and the instance n.
func normal(names []string, n string) string {
	text := strings.Join(names, " ")
	for _, r := range []string{"void ", "deep::", "solver<" + n + ">::"} {
		text = strings.ReplaceAll(text, r, "")
	}
	return strings.ReplaceAll(text, "<"+n+">", "<N>")
}
