// expect: guarded verified; qualified verified
// Headers test the include guard of the runtime and the macro of nvcc.
#include <cuda_runtime.h>
#if !defined(__NVCC__)
#define __device__
#endif
__device__ float twice(float x) { return 2 * x; }
#ifdef __CUDA_RUNTIME_H__
static inline int chosen() { return 0; }
#endif
__global__ void guarded(int *a) { a[threadIdx.x] = 1; }
__global__ void qualified(float *a) { a[threadIdx.x] = twice(a[threadIdx.x]); }
int main() {
  int device = chosen(), *a;
  float *b;
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  guarded<<<1, 64>>>(a);
  qualified<<<1, 64>>>(b);
  return device;
}
