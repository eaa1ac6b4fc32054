package exec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/program"
)

// initPrologue begins the programs of TestInitCheck: p and o have 64 numbers each.
const initPrologue = `#include <cstring>
__device__ int table[64];
__global__ void put(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = threadIdx.x; }
__global__ void get(const int *p, int *to, int n) { if (threadIdx.x < n) to[threadIdx.x] = p[threadIdx.x]; }
__global__ void own(int *p) { p[threadIdx.x] = 1; __syncthreads(); p[64 + threadIdx.x] = p[threadIdx.x ^ 1]; }
__global__ void lookup(int *to) { to[threadIdx.x] = table[threadIdx.x]; }
__global__ void heap(int *to) { int *x = (int *)malloc(8); x[0] = 1; to[threadIdx.x] = x[0] + x[1]; free(x); }
int main(int argc, char **argv) {
	int *p, *o, *m, q[64] = {};
	size_t pitch;
	cudaMalloc(&p, 256); cudaMalloc(&o, 256);
`

// initCases are bodies of a block in main; found says that a launch reads what nothing has written.
var initCases = []struct {
	name, body string
	found      bool
}{
	{"nothing", `get<<<1, 64>>>(p, o, 64);`, true},
	{"memset", `cudaMemset(p, 0, 256); get<<<1, 64>>>(p, o, 64);`, false},
	{"memset of a part", `cudaMemset(p, 0, 255); get<<<1, 64>>>(p, o, 64);`, true},
	{"copy", `cudaMemcpy(p, q, 256, cudaMemcpyHostToDevice); get<<<1, 64>>>(p, o, 64);`, false},
	{"copy in a stream", `cudaStream_t s; cudaStreamCreate(&s);
			cudaMemcpyAsync(p, q, 256, cudaMemcpyHostToDevice, s); get<<<1, 64, 0, s>>>(p, o, 64);`, false},
	{"another launch", `put<<<1, 64>>>(p, 64); get<<<1, 64>>>(p, o, 64);`, false},
	{"another launch, of a part", `put<<<1, 64>>>(p, 63); get<<<1, 64>>>(p, o, 64);`, true},
	{"what is read only in part", `put<<<1, 64>>>(p, 20); get<<<1, 64>>>(p, o, 20);`, false},
	{"its own", `cudaMalloc(&p, 512); own<<<1, 64>>>(p);`, false},
	{"managed", `cudaMallocManaged(&m, 256); memset(m, 0, 256); get<<<1, 64>>>(m, o, 64);`, false},
	{"pinned", `cudaMallocHost(&m, 256); memset(m, 0, 256); get<<<1, 64>>>(m, o, 64);`, false},
	{"variable", `lookup<<<1, 64>>>(o);`, false},
	{"rows", `cudaMallocPitch(&m, &pitch, 40, 3); cudaMemset2D(m, pitch, 0, 40, 3); get<<<1, 64>>>(m, o, 10);
			get<<<1, 64>>>(m + 2 * pitch / 4, o, 10);`, false},
	{"between rows", `cudaMallocPitch(&m, &pitch, 40, 3); cudaMemset2D(m, pitch, 0, 40, 3); get<<<1, 64>>>(m, o, 11);`, true},
	{"new memory", `cudaMemset(p, 0, 256); cudaFree(p); cudaMalloc(&p, 256); get<<<1, 64>>>(p, o, 64);`, true},
	{"reset", `heap<<<1, 1>>>(o); cudaMemset(p, 0, 256); cudaDeviceReset(); cudaMalloc(&p, 256); cudaMalloc(&o, 256);
			get<<<1, 64>>>(p, o, 64);`, true},
}

// TestInitCheck: reads of device memory that nothing has written are found, and no others.
func TestInitCheck(t *testing.T) {
	text := initPrologue
	for _, c := range initCases {
		text += fmt.Sprintf("if (!strcmp(argv[1], %q)) {\n%s\nreturn cudaDeviceSynchronize();\n}\n", c.name, c.body)
	}
	built := program.OfText(t, text+"return 99;\n}\n")
	for _, c := range initCases {
		got := start(t, []string{built, c.name}, func(o *exec.Options) { o.InitCheck = true })
		var want []string
		if c.found {
			want = []string{"uninitialized"}
		}
		for i, f := range got.findings {
			got.findings[i], _, _ = strings.Cut(f, " ")
		}
		if !slices.Equal(got.findings, want) || got.End != nil {
			t.Errorf("%s: findings %q (%v), want %q; messages %q", c.name, got.findings, got.End, want, got.stderr)
		}
	}
}
