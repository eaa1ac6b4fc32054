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
