// The device half of a program in two files:
//
//   heddle exec main.cpp kernels.cu
#include "vector.h"

static __device__ double result;

static __global__ void scale_kernel(float *p, size_t n, float by) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) p[i] *= by;
}

static __global__ void dot_kernel(const float *a, const float *b, size_t n) {
  double sum = 0;
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) sum += (double)a[i] * b[i];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
  if (threadIdx.x % 32 == 0) atomicAdd(&result, sum);
}

Vector make_vector(const float *from, size_t n) {
  Vector v = {nullptr, n};
  cudaMalloc(&v.data, n * sizeof(float));
  cudaMemcpy(v.data, from, n * sizeof(float), cudaMemcpyHostToDevice);
  return v;
}

void scale(Vector v, float by) { scale_kernel<<<(v.size + 255) / 256, 256>>>(v.data, v.size, by); }

float dot(Vector a, Vector b) {
  double sum = 0;
  cudaMemcpyToSymbol(result, &sum, sizeof(sum));
  dot_kernel<<<1, 256>>>(a.data, b.data, a.size);
  cudaMemcpyFromSymbol(&sum, result, sizeof(sum));
  return (float)sum;
}

void free_vector(Vector v) { cudaFree(v.data); }
