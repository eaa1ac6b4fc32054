package lockstep_test

import (
	"testing"

	"heddle/internal/lockstep"
)

// shareTraps are copies that a group makes together: which thread copies an element is open (CUDA
// C++ Programming Guide, memcpy_async), so that no proof may rest on it.
var shareTraps = []textTrap{
	{"a thread uses the element of its rank", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); __pipeline_wait_prior(0); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`,
		"it waited for what it copied itself, and another thread may have copied this element"},
	{"all wait", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`, ""},
	{"a write in front of the copy", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		s[threadIdx.x] = 1; memcpy_async(g, s, a, sizeof s); wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`,
		"the copy of the element may be made by another thread"},
	{"a write in front of the copy, and a barrier", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		s[threadIdx.x] = 1; g.sync(); memcpy_async(g, s, a, sizeof s); wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`, ""},
	{"a write behind the copy", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); s[threadIdx.x] = 1; wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`,
		"the copy may be under way"},
	{"two copies to one place", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); memcpy_async(g, s, a + 64, sizeof s); wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`,
		"an element of the two copies may be copied by two threads"},
	{"two copies to two places", `__global__ void k(const int *a, int *o) { __shared__ int s[64], r[64]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); memcpy_async(g, r, a + 64, sizeof r); wait(g); o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x] + r[63 - threadIdx.x]; }`, ""},
	{"a copy in a loop", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block(); int sum = 0;
		for (int i = 0; i < 4; i++) { memcpy_async(g, s, a + 64 * i, sizeof s); wait(g); sum += s[threadIdx.x]; g.sync(); } o[blockIdx.x * 64 + threadIdx.x] = sum; }`, ""},
	{"a copy in a loop without the second barrier", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; auto g = this_thread_block(); int sum = 0;
		for (int i = 0; i < 4; i++) { memcpy_async(g, s, a + 64 * i, sizeof s); wait(g); sum += s[threadIdx.x]; } o[blockIdx.x * 64 + threadIdx.x] = sum; }`,
		"the next copy may overwrite what a thread has not read yet: its own element too, since another thread may copy it"},
	{"a plain copy", `__global__ void k(const char *a, int *o) { __shared__ char s[63]; auto g = this_thread_block();
		memcpy_async(g, s, a, sizeof s); if (threadIdx.x < 63) o[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }`,
		"each thread reads the element of its rank without a wait"},
	{"a copy that a barrier object completes", `__global__ void k(const int *a, int *o) { __shared__ int s[64]; __shared__ cuda::barrier<cuda::thread_scope_block> b;
		auto g = this_thread_block(); cuda::memcpy_async(g, s, a, sizeof s, b); __syncthreads(); s[threadIdx.x] = 1; }`,
		"nobody waited for the barrier object: the copy may be under way"},
}

func TestShares(t *testing.T) {
	proveTexts(t, "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n#include <cuda/barrier>\nusing namespace cooperative_groups;\n", shareTraps, lockstep.Options{})
}

// pureTraps call functions of which nothing is known.
var pureTraps = []textTrap{
	{"what it returns is used as an index", `__device__ int f(int); __global__ void k(int *a) { a[f(threadIdx.x)] = threadIdx.x; }`, "it may return the same to all threads"},
	{"two calls with one argument", `__device__ int f(int); __global__ void k(int *a) { if (f(3) != f(3)) a[0] = threadIdx.x; }`, "it need not return the same twice"},
	{"its results make a barrier diverge", `__device__ int f(int); __global__ void k(int *a) { if (f(3)) __syncthreads(); }`, "it may return different values to two threads"},
	{"it does no harm", `__device__ int f(int); __global__ void k(int *a) { a[threadIdx.x + 64 * blockIdx.x] = f(threadIdx.x); }`, ""},
}

// TestPureCalls: under --extern pure the results may be anything.
func TestPureCalls(t *testing.T) {
	proveTexts(t, "", pureTraps, lockstep.Options{PureExtern: true})
}
