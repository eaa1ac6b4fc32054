package exec_test

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
	"heddle/internal/testing/program"
)

// dependentPrograms launch a kernel and then another one, which may begin before the first has
// ended.
var dependentPrograms = []struct {
	name, first, second string // the bodies of the kernels, over the arrays p and q
	between             string // what the program does between the launches
	plain               bool   // the second launch has no attribute
	finding             bool
}{
	// PTX ISA 9.7.13.13: behind the wait everything of the grids before is there.
	{name: "waits", first: "TRIGGER; p[i] = 1;", second: "WAIT; q[i] = p[i];"},
	{name: "reads early", first: "TRIGGER; p[i] = 1;", second: "int x = p[i]; WAIT; q[i] = x;", finding: true},
	{name: "writes early", first: "TRIGGER; q[i] = p[i];", second: "p[i] = 2; WAIT;", finding: true},
	{name: "both only read", first: "TRIGGER; q[i] = p[i];", second: "int x = p[i]; WAIT; q[i] = x;"},
	{name: "other memory", first: "TRIGGER; p[i] = 1;", second: "int x = p[i + 64]; WAIT; q[i] = x;"},
	{name: "never waits", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];", finding: true},
	// Another thread waits, and a barrier follows (9.7.13.13, 8.9.5).
	{name: "one thread waits", first: "TRIGGER; p[i] = 1;", second: "if (i == 0) WAIT; __syncthreads(); q[i] = p[i];"},
	{name: "one thread waits without a barrier", first: "TRIGGER; p[i] = 1;", second: "if (i == 0) WAIT; q[i] = p[i];", finding: true},
	// Without the trigger, the second grid begins when the first has ended (CUDA C++ Programming
	// Guide, "Programmatic Dependent Launch and Synchronization"); and without the attribute.
	{name: "no trigger", first: "p[i] = 1;", second: "int x = p[i]; WAIT; q[i] = x;"},
	{name: "no attribute", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];", plain: true},
	// The launch before is another one, or none.
	{name: "a memset between", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];", between: "cudaMemsetAsync(q, 0, 4, s);"},
	{name: "the host waits", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];", between: "cudaStreamSynchronize(s);"},
	{name: "a launch between", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];", between: "other<<<1, 32, 0, s>>>();"},
	{name: "a launch in another stream", first: "TRIGGER; p[i] = 1;", second: "q[i] = p[i];",
		between: "cudaStream_t t; cudaStreamCreate(&t); other<<<1, 32, 0, t>>>();", finding: true},
}

// TestDependentLaunches: accesses in front of the wait are errors where they race with the launch
// before, and nowhere else.
func TestDependentLaunches(t *testing.T) {
	const text = `#include <cstdio>
#define WAIT cudaGridDependencySynchronize()
#define TRIGGER cudaTriggerProgrammaticLaunchCompletion()
__global__ void other() {}
__global__ void first(int *p, int *q) { int i = threadIdx.x; FIRST }
__global__ void second(int *p, int *q) { int i = threadIdx.x; SECOND }
int main() {
  int *p, *q; cudaMalloc(&p, 1024); cudaMalloc(&q, 1024);
  cudaStream_t s; cudaStreamCreate(&s);
  cudaLaunchAttribute a = {}; a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = PLAIN;
  cudaLaunchConfig_t c = {}; c.gridDim = 1; c.blockDim = 64; c.stream = s; c.attrs = &a; c.numAttrs = 1;
  first<<<1, 64, 0, s>>>(p, q); BETWEEN
  printf("%d ", cudaLaunchKernelEx(&c, second, p, q));
  printf("%d\n", cudaDeviceSynchronize());
}
`
	for _, c := range dependentPrograms {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			allowed := "1"
			if c.plain {
				allowed = "0"
			}
			src := strings.NewReplacer("FIRST", c.first, "SECOND", c.second, "BETWEEN", c.between, "PLAIN", allowed).Replace(text)
			got := start(t, []string{program.OfTextFor(t, "sm_90", src)}, nil)
			var codes, want []string
			for _, f := range got.findings {
				code, _, _ := strings.Cut(f, " ")
				codes = append(codes, code)
			}
			if c.finding {
				want = []string{"pdl-early-access"}
			}
			if !slices.Equal(codes, want) || got.stdout != "0 0\n" {
				t.Errorf("findings %q, want %q; output %q, messages %q", got.findings, want, got.stdout, got.stderr)
			}
		})
	}
}
