package lockstep_test

import (
	"testing"

	"heddle/internal/lockstep"
)

// readBackTraps are about what a thread reads back after its own stores. A wrong belief lets the
// threads meet in a[0].
var readBackTraps = []textTrap{
	{"read back", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, ""},
	{"read back another value", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; if (s[threadIdx.x] == 5) a[0] = threadIdx.x; }`, "it is 5"},
	{"the later store counts", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; s[threadIdx.x] = 6; if (s[threadIdx.x] == 6) a[0] = threadIdx.x; }`, "it is 6"},
	{"another thread stores behind a barrier", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; __syncthreads(); s[threadIdx.x ^ 1] = 6; __syncthreads(); if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, "it is 6"},
	{"another lane stores behind a barrier of the warp", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; __syncwarp(); if (threadIdx.x & 1) s[threadIdx.x ^ 1] = 6; __syncwarp(); if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`,
		"the other lane's store is ordered between"},
	{"another thread stores behind a barrier on one path", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 5; if (n) { __syncthreads(); s[threadIdx.x ^ 1] = 6; __syncthreads(); } if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, "n = 1"},
	{"no barrier on one path, and there it is known", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 5; if (n) { __syncthreads(); s[threadIdx.x ^ 1] = 6; __syncthreads(); } if (!n && s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, ""},
	{"volatile", `__global__ void k(int *a) { __shared__ volatile int s[1]; s[0] = threadIdx.x; if (s[0] != threadIdx.x) a[0] = threadIdx.x; }`, "another thread's volatile store is no race, and may come between"},
	{"an atomic between", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 5; atomicAdd(&s[threadIdx.x], 1); if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, "it is 6"},
	{"an asynchronous copy between", `__global__ void k(int *a, const int *b) { __shared__ int s[64]; s[threadIdx.x] = 5; __pipeline_memcpy_async(&s[threadIdx.x], &b[threadIdx.x], 4); __pipeline_commit(); __pipeline_wait_prior(0); if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, "it is what b holds"},
	{"a store in a loop", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 0; for (int i = 0; i < n; i++) { if (s[threadIdx.x] != 0) a[0] = threadIdx.x; s[threadIdx.x] = 1; } }`, "it is 1 from the second iteration on"},
	{"a store in a loop, read behind it", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 0; for (int i = 0; i < n; i++) s[threadIdx.x] = i; if (s[threadIdx.x] != 0) a[0] = threadIdx.x; }`, "n = 2"},
	{"a loop that stores elsewhere", `__global__ void k(int *a, int n) { __shared__ int s[64], r[64]; s[threadIdx.x] = 0; for (int i = 0; i < n; i++) r[threadIdx.x] = i; if (s[threadIdx.x] != 0) a[0] = threadIdx.x; }`, ""},
	{"a store on one path", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 1; if (n > 3) s[threadIdx.x] = 2; if (s[threadIdx.x] == 2 && n <= 3) a[0] = threadIdx.x; }`, ""},
	{"a store on one path that is taken", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 1; if (n > 3) s[threadIdx.x] = 2; if (s[threadIdx.x] == 2 && n <= 4) a[0] = threadIdx.x; }`, "n = 4"},
	{"a store through a pointer of which the array is not known", `__global__ void k(int *a, int **b) { __shared__ int s[64]; s[threadIdx.x] = 5; *b[threadIdx.x + 64 * blockIdx.x] = 6; if (s[threadIdx.x] != 5) a[0] = threadIdx.x; }`, "it may point to s"},

	{"an array of the thread", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; l[1] = 2; l[2] = 3; if (l[1] != 2) a[0] = threadIdx.x; }`, ""},
	{"an array of the thread over barriers", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; __syncthreads(); if (l[0] != 1) a[0] = threadIdx.x; }`, ""},
	{"an array of the thread with an index", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; l[n & 3] = 2; if (l[0] != 1) a[0] = threadIdx.x; }`, "n = 0"},
	{"an array of the thread with another index", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; l[1 + (n & 1)] = 2; if (l[0] != 1) a[0] = threadIdx.x; }`, ""},
	{"a part of a word", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; ((volatile char *)l)[1] = 7; if (l[0] == 0x701) a[0] = threadIdx.x; }`, "it is 0x701"},
	{"what was not stored", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 1; if (l[1] != 0) a[0] = threadIdx.x; }`, "it may be anything"},
	{"an array of the thread in a loop", `__global__ void k(int *a, int n) { volatile int l[4]; l[0] = 0; for (int i = 0; i < n; i++) l[0] = l[0] + 1; if (l[0] != 0) a[0] = threadIdx.x; }`, "n = 1"},

	{"for threads that are not here", `__global__ void k(int *a) { volatile int z = 50; if (threadIdx.x & 1) { z = 100; int x = z; __global_assert(x == 100); } }`, "it is 50 for the others"},
	{"a postcondition about memory", `__shared__ int s[64]; __device__ int f(int x) { s[threadIdx.x] = 1; __ensures(s[threadIdx.x] == 1); s[threadIdx.x] = x; return x; } __global__ void k(int *a, int n) { a[threadIdx.x + 64 * blockIdx.x] = f(n); }`, "it is x at the end"},
	{"an invariant of all loops", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = 1; __function_wide_invariant(s[threadIdx.x] == 1); for (int i = 0; i < n; i++) s[threadIdx.x] = 2; }`, "it is 2 in the second iteration"},
	{"an assertion about memory", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = n; __assert(s[threadIdx.x] == n); }`, ""},
	{"an assertion about memory that is false", `__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = n; __assert(s[threadIdx.x] == 3); }`, "n = 0"},
}

func TestReadBack(t *testing.T) {
	proveTexts(t, "#include \"heddle.h\"\n#include <cuda_pipeline.h>\n", readBackTraps, lockstep.Options{})
}

// TestPureCallsAndPointers: a function without a body may write to memory of the thread.
func TestPureCallsAndPointers(t *testing.T) {
	proveTexts(t, "", []textTrap{
		{"a pointer is passed", `__device__ void f(volatile int *); __global__ void k(int *a) { volatile int l[1]; l[0] = 1; f(l); if (l[0] != 1) a[0] = threadIdx.x; }`, "the function may have changed it"},
	}, lockstep.Options{PureExtern: true})
}
