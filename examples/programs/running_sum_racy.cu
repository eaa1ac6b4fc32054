// A running sum that is right for up to 256 numbers. With more there are several blocks, and each reads the last sum
// of the block before it while that block may still write it: __syncthreads does not wait for other blocks. Executed
// block after block the result is right, so a test passes. The kernel does not say how many blocks there are; the
// program does.
//
//   heddle exec running_sum_racy.cu -- 200     clean: one block
//   heddle exec running_sum_racy.cu -- 1000    a race
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void running_sum(int *data, int n) {
  __shared__ int sum[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  sum[t] = i < n ? data[i] : 0;
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    int add = t >= k ? sum[t - k] : 0;
    __syncthreads();
    sum[t] += add;
    __syncthreads();
  }
  int before = blockIdx.x > 0 ? data[blockIdx.x * 256 - 1] : 0;
  if (i < n) data[i] = before + sum[t];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  std::vector<int> v(n, 1);
  int *d;
  cudaMalloc(&d, n * sizeof(int));
  cudaMemcpy(d, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  running_sum<<<(n + 255) / 256, 256>>>(d, n);
  cudaMemcpy(v.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += v[i] != i + 1;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
