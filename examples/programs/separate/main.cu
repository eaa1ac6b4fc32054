// Separate compilation of device code: the kernel calls a function of another file and shares its
// variables. With nvcc: nvcc -rdc=true main.cu hash.cu
#include <cstdio>
#include <vector>
#include "hash.h"

static __device__ unsigned mix(unsigned x) { return x + 1; } // another one than in hash.cu

__global__ void count(unsigned long long *out) { *out = calls; }

__global__ void fill(unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mix(hash(i));
}

int main() {
  const int n = 300;
  unsigned *out;
  unsigned long long called;
  cudaMalloc(&out, n * sizeof(unsigned));
  std::vector<unsigned> got(n);
  int wrong = 0;
  for (unsigned rounds = 3; rounds < 5; rounds++) {
    set_rounds(rounds);
    fill<<<2, 160>>>(out, n);
    cudaMemcpy(got.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < n; i++) {
      unsigned x = i;
      for (unsigned k = 0; k < rounds; k++) x = ((x + k) ^ (x + k) >> 15) * 0x2c1b3c6du;
      wrong += got[i] != x + 1;
    }
  }
  unsigned long long *counted;
  cudaMalloc(&counted, sizeof *counted);
  count<<<1, 1>>>(counted);
  cudaMemcpy(&called, counted, sizeof called, cudaMemcpyDeviceToHost);
  cudaFree(counted);
  cudaFree(out);
  printf("%llu calls, %d wrong, %s\n", called, wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong != 0;
}
