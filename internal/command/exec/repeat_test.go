package exec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/program"
)

// repeatsPrologue begins the programs of TestRepeats. value copies the first number of an array, and
// round runs its argument ten times with i from 0 to 9.
const repeatsPrologue = `#include <cstdio>
#include <cstring>
__constant__ int factor = 1;
__device__ int offset;
__managed__ int shared_offset;
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void more(int *p) { p[threadIdx.x]++; }
__global__ void sum(const int *in, int *to) { atomicAdd(to, in[threadIdx.x]); }
__global__ void scaled(const int *in, int *out) { out[threadIdx.x] = factor * in[threadIdx.x]; }
__global__ void moved(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + offset; }
__global__ void managed(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + shared_offset; }
__global__ void print(const int *in) { if (threadIdx.x == 0) printf("%d ", in[0]); }
__global__ void timed(long long *out) { out[threadIdx.x] = clock64(); }
__global__ void heap(int *out) { int *p = (int *)malloc(4); *p = threadIdx.x; out[threadIdx.x] = *p; free(p); }
__global__ void chase(int **in, int *out) { out[threadIdx.x] = in[0][threadIdx.x]; }
__global__ void fetch(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
__global__ void scratch(const int *in, int *tmp, int *out) {
  tmp[threadIdx.x] = in[threadIdx.x] + 1; __syncthreads(); out[threadIdx.x] = tmp[31 - threadIdx.x];
}
static int value(const int *p) { int v; cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v; }
template <class F> void rounds(F f) { for (int i = 0; i < 10; i++) f(i); }
int main(int argc, char **argv) {
  int *a, *b, *c, h[32], n[32];
  cudaMalloc(&a, 128), cudaMalloc(&b, 128), cudaMalloc(&c, 128);
  for (int i = 0; i < 32; i++) h[i] = 7, n[i] = i;
  cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice), cudaMemset(b, 0, 128), cudaMemset(c, 0, 128);
`

// repeatCases: a launch repeats another one if it reads the same bytes with the same contents. The
// first one of a kind only says that there is one, and the second is examined, so that of ten that
// repeat each other eight are not executed; where a launch reads what it writes, what it found there
// is only known from the third on. What the programs print is what they print on a GPU.
var repeatCases = []struct {
	name, body, stdout string
	repeated           uint64
	findings           []string
}{
	{name: "same", body: `rounds([&](int) { twice<<<1, 32>>>(a, b); }); printf("%d", value(b));`,
		stdout: "14", repeated: 8},
	{name: "other input", body: `rounds([&](int i) { h[0] = i; cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice);
			twice<<<1, 32>>>(a, b); printf("%d ", value(b)); });`, stdout: "0 2 4 6 8 10 12 14 16 18 "},
	{name: "input again", body: `rounds([&](int i) { if (i == 5) h[3] = 1;
			cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice); twice<<<1, 32>>>(a, b); printf("%d ", value(b + 3)); });`,
		stdout: "14 14 14 14 14 2 2 2 2 2 ", repeated: 7},
	{name: "output overwritten", body: `rounds([&](int i) { cudaMemset(b, 0, 128); twice<<<1, 32>>>(a, b);
			printf("%d ", value(b + i)); });`, stdout: "14 14 14 14 14 14 14 14 14 14 ", repeated: 8},
	{name: "in place", body: `rounds([&](int) { more<<<1, 32>>>(a); printf("%d ", value(a)); });`,
		stdout: "8 9 10 11 12 13 14 15 16 17 "},
	{name: "in place, input again", body: `rounds([&](int) { cudaMemcpy(a, n, 128, cudaMemcpyHostToDevice);
			more<<<1, 32>>>(a); printf("%d ", value(a + 3)); });`, stdout: "4 4 4 4 4 4 4 4 4 4 ", repeated: 7},
	{name: "atomics", body: `rounds([&](int) { cudaMemset(b, 0, 4); sum<<<1, 32>>>(a, b); printf("%d ", value(b)); });`,
		stdout: "224 224 224 224 224 224 224 224 224 224 ", repeated: 7},
	{name: "atomics, not reset", body: `rounds([&](int) { sum<<<1, 32>>>(a, b); }); printf("%d", value(b));`,
		stdout: "2240"},
	{name: "scratch", body: `rounds([&](int) { scratch<<<1, 32>>>(a, b, c); }); printf("%d", value(c));`,
		stdout: "8", repeated: 7},
	{name: "constant memory", body: `rounds([&](int i) { if (i % 3 == 0) cudaMemcpyToSymbol(factor, &i, 4);
			scaled<<<1, 32>>>(a, b); printf("%d ", value(b)); });`, stdout: "0 0 0 21 21 21 42 42 42 63 ", repeated: 5},
	{name: "variable", body: `rounds([&](int i) { i /= 9; cudaMemcpyToSymbol(offset, &i, 4); moved<<<1, 32>>>(a, b);
			printf("%d ", value(b)); });`, stdout: "7 7 7 7 7 7 7 7 7 8 ", repeated: 7},
	// The host may change these while the kernel runs.
	{name: "managed variable", body: `rounds([&](int i) { shared_offset = i / 9; managed<<<1, 32>>>(a, b);
			printf("%d ", value(b)); });`, stdout: "7 7 7 7 7 7 7 7 7 8 "},
	{name: "managed memory", body: `int *m; cudaMallocManaged(&m, 128); memcpy(m, h, 128);
			rounds([&](int i) { twice<<<1, 32>>>(m, b); }); printf("%d", value(b));`, stdout: "14"},
	{name: "pinned memory", body: `int *m; cudaMallocHost(&m, 128); rounds([&](int i) { twice<<<1, 32>>>(a, m); });
			cudaDeviceSynchronize(); printf("%d", m[0]);`, stdout: "14"},
	{name: "printf", body: `rounds([&](int) { print<<<1, 32>>>(a); });`, stdout: "7 7 7 7 7 7 7 7 7 7 "},
	{name: "clock", body: `rounds([&](int) { timed<<<1, 16>>>((long long *)b); });`},
	{name: "heap", body: `rounds([&](int) { heap<<<1, 32>>>(b); }); printf("%d", value(b + 9));`, stdout: "9"},
	{name: "pointers", body: `int *p[2] = {a, c}; cudaMemcpy(b, p, 8, cudaMemcpyHostToDevice); int *to = b + 8;
			cudaMemcpy(c, n, 96, cudaMemcpyHostToDevice);
			rounds([&](int i) { if (i == 4) cudaMemcpy(b, p + 1, 8, cudaMemcpyHostToDevice);
			if (i == 8) cudaMemset(c + 2, 0, 4);
			chase<<<1, 24>>>((int **)b, to); printf("%d ", value(to + 2)); });`, stdout: "7 7 7 7 2 2 2 2 0 0 ",
		repeated: 6},
	// The object may get another meaning under the same handle.
	{name: "texture", body: `cudaResourceDesc r = {}; cudaTextureDesc d = {}; cudaTextureObject_t t;
			r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = a; r.res.linear.sizeInBytes = 128;
			r.res.linear.desc = cudaCreateChannelDesc<int>(); cudaCreateTextureObject(&t, &r, &d, NULL);
			rounds([&](int) { fetch<<<1, 32>>>(t, b); }); printf("%d", value(b));`, stdout: "7"},
	{name: "freed", body: `rounds([&](int i) { if (i == 5) cudaFree(b); twice<<<1, 32>>>(a, b); });`, repeated: 3,
		findings: []string{"out-of-bounds"}},
	{name: "other shape", body: `rounds([&](int i) { twice<<<1, 16 + i>>>(a, b); }); printf("%d", value(b));`, stdout: "14"},
	{name: "other arguments", body: `rounds([&](int i) { twice<<<1, 16>>>(a + i, b); }); printf("%d", value(b));`, stdout: "14"},
	// A repeat takes part in the order between streams.
	{name: "streams", body: `cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t);
			rounds([&](int) { twice<<<1, 32, 0, s>>>(a, b); }); cudaDeviceSynchronize();
			twice<<<1, 32, 0, s>>>(a, b), more<<<1, 32, 0, t>>>(b);`, repeated: 9, findings: []string{"race-stream"}},
	{name: "streams, in order", body: `cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t);
			rounds([&](int) { twice<<<1, 32, 0, s>>>(a, b); }); cudaDeviceSynchronize();
			more<<<1, 32, 0, t>>>(b);`, repeated: 8},
	{name: "reset", body: `rounds([&](int i) { if (i == 5) { cudaDeviceReset(); cudaMalloc(&a, 128), cudaMalloc(&b, 128);
			cudaMemset(a, 0, 128); } twice<<<1, 32>>>(a, b); printf("%d ", value(b)); });`,
		stdout: "14 14 14 14 14 0 0 0 0 0 ", repeated: 6},
}

// TestRepeats: a launch is executed unless its result is known, and the program sees no difference.
func TestRepeats(t *testing.T) {
	text := repeatsPrologue
	for _, c := range repeatCases {
		text += fmt.Sprintf("if (!strcmp(argv[1], %q)) {\n%s\n}\n", c.name, c.body)
	}
	built := program.OfText(t, text+"return 0;\n}\n")
	for _, c := range repeatCases {
		t.Run(c.name, func(t *testing.T) {
			got := start(t, []string{built, c.name}, nil)
			var codes []string
			for _, f := range got.findings {
				code, _, _ := strings.Cut(f, " ")
				codes = append(codes, code)
			}
			var repeated uint64
			for _, k := range got.Kernels {
				repeated += k.Repeated
			}
			if got.stdout != c.stdout || repeated != c.repeated || !slices.Equal(codes, c.findings) {
				t.Errorf("output %q, %d repeated, findings %q; want %q, %d, %q; messages %q", got.stdout, repeated,
					got.findings, c.stdout, c.repeated, c.findings, got.stderr)
			}
			all := start(t, []string{built, c.name}, func(o *exec.Options) { o.ExecuteRepeats = true })
			if all.stdout != c.stdout || !slices.Equal(all.findings, got.findings) {
				t.Errorf("with all launches executed: output %q, findings %q", all.stdout, all.findings)
			}
			for _, k := range all.Kernels {
				if k.Repeated > 0 {
					t.Errorf("%d launches of %s were not executed", k.Repeated, k.Name)
				}
			}
		})
	}
}

// TestRepeatsChecked: a repeat of a launch that the detector watched counts as checked, one of
// another does not. With every:4 the detector watches the launches 1 and 5 of those that are
// executed; the repeats are those of launch 2.
func TestRepeatsChecked(t *testing.T) {
	built := program.OfText(t, repeatsPrologue+"rounds([&](int) { twice<<<1, 32>>>(a, b); });\n}\n")
	for _, c := range []struct {
		policy            exec.Policy
		repeated, checked uint64
	}{
		{exec.Policy{}, 8, 10},
		{exec.Policy{First: 3}, 8, 10},
		{exec.Policy{First: 1}, 8, 1},
		{exec.Policy{Every: 4}, 8, 1},
	} {
		got := start(t, []string{built}, func(o *exec.Options) { o.Check = c.policy })
		k := got.Kernels[0]
		if k.Launches != 10 || k.Repeated != c.repeated || k.Checked != c.checked {
			t.Errorf("%v: %d launches, %d repeated, %d checked; want 10, %d, %d", c.policy, k.Launches, k.Repeated,
				k.Checked, c.repeated, c.checked)
		}
	}
}
