package exec_test

import (
	"testing"

	"heddle/internal/testing/program"
)

// TestWordsOfNVCC: nvcc accepts alignas behind __shared__, and __device__ beside it; clang rejects
// both in the code of both passes. The alignment is that of the source.
func TestWordsOfNVCC(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
template <int N> __global__ void reversed(float *p) {
  __shared__ alignas(alignof(float4)) float a[N][8];
  __device__ __shared__ int b[2];
  alignas(8) __shared__ int c[2];
  a[threadIdx.x][0] = threadIdx.x;
  b[0] = c[0] = 2;
  __syncthreads();
  p[threadIdx.x] = a[N - 1 - threadIdx.x][0] + b[0] + c[0];
}
struct alignas(16) V { float v[4]; };
__global__ void aligned(float *p) {
  __shared__ char one;
  __shared__ alignas(1024) V v[2];
  one = 1;
  p[1] = (size_t)__cvta_generic_to_shared(v) % 1024;
}
int main() {
  float *p, h[4];
  cudaMalloc(&p, sizeof h);
  reversed<4><<<1, 4>>>(p);
  aligned<<<1, 1>>>(p);
  int failed = cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %g %g %g %g\n", failed, h[0], h[1], h[2], h[3]);
}
`)}, nil)
	if got.stdout != "0 7 0 5 4\n" {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}

// TestLengthOfNVCC: nvcc accepts a length of an external array in shared memory, which is the
// dynamic shared memory of the launch all the same; clang rejects it. Thread i gets the value of
// its partner in the other row, and 0 + 1 + ... + 63 = 2016.
func TestLengthOfNVCC(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
__device__ float sum(int n) {
  extern __shared__ float all[];
  float r = 0;
  for (int i = 0; i < n; i++) r += all[i];
  return r;
}
__global__ void swapped(float *p) {
  extern __shared__ float s[2][32];
  s[threadIdx.x / 32][threadIdx.x % 32] = threadIdx.x;
  __syncthreads();
  p[threadIdx.x] = s[1 - threadIdx.x / 32][threadIdx.x % 32] + sum(64);
}
int main() {
  float *p, h[64];
  cudaMalloc(&p, sizeof h);
  swapped<<<1, 64, 256>>>(p);
  int failed = cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %g %g\n", failed, h[0], h[63]);
  swapped<<<1, 64, 128>>>(p); // too little
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
`)}, nil)
	if got.stdout != "0 2048 2047\n" || got.Exit() != 1 {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}

// TestAsmOfNVCC: in the string of an asm statement nvcc takes %laneid as it is, also several of
// them and beside %%tid, and it does without the comma between two operands; clang takes neither.
// Lane 9 of block 1 adds 9, 1 and 9.
func TestAsmOfNVCC(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
__device__ unsigned lane() { unsigned r; asm("mov.u32 %0, %laneid;" : "=r"(r)); return r; }
__device__ unsigned sum() {
  unsigned r;
  asm("{ .reg .u32 t; mov.u32 t, %ctaid.x; mov.u32 %0, %laneid;\n\t"
      "add.u32 %0, %0, t; mov.u32 t, %%tid.x; }" : "=r"(r));
  return r;
}
__global__ void k(unsigned *p) {
  asm volatile("st.global.u32 [%1], %0;" ::"r"(lane() + sum()) "l"(p + 32 * blockIdx.x + threadIdx.x) : "memory");
}
int main() {
  unsigned *p, h[64];
  cudaMalloc(&p, sizeof h);
  k<<<2, 32>>>(p);
  int failed = cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %u\n", failed, h[41]);
}
`)}, nil)
	if got.stdout != "0 19\n" {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}

// TestHalfOnTheHost: cuda_fp16.h and cuda_bf16.h declare comparisons and arithmetic for host and
// device, so that a function of both may call them. libcu++ compares so.
func TestHalfOnTheHost(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class T> __host__ __device__ T some(T a, T b, T c) {
  return __hlt(a, b) && !__hisnan(c) ? __hadd(a, __hneg(b))
                                     : __hmax(__hmul(a, b), __hdiv(b, __habs(c)));
}
template <class T> __global__ void k(T *p) {
  p[0] = some(T(1), T(2), T(3));
  p[1] = some(T(3), T(2), T(-0.5));
}
template <class T> void print() {
  T *p, h[2];
  cudaMalloc(&p, sizeof h);
  k<<<1, 1>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d ", __heq(h[0], some(T(1), T(2), T(3))), !__hneu(h[1], some(T(3), T(2), T(-0.5))));
  printf("%g %g\n", (float)h[0], (float)h[1]);
}
int main() { print<half>(); print<__nv_bfloat16>(); }
`)}, nil)
	if got.stdout != "1 1 -1 6\n1 1 -1 6\n" {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}
