// Writes one element too many: the grid is rounded up, and the kernel does not compare with n. On a GPU this often
// goes unnoticed, because allocations are rounded up, too.
#include <cstdio>

__global__ void fill(int *p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
  const int n = 1000;
  int *d_p, last = 0;
  cudaMalloc(&d_p, n * sizeof(int));
  fill<<<(n + 127) / 128, 128>>>(d_p, 7);
  cudaError_t e = cudaMemcpy(&last, d_p + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d, %s\n", last, cudaGetErrorString(e));
  return e != cudaSuccess;
}
