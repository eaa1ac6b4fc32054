// A sum in one cooperative launch: all blocks write a partial sum, then wait for each other.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void sum(const int *in, int *parts, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  atomicAdd(&part, mine);
  __syncthreads();
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
  grid.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; b++) all += parts[b];
    *out = all;
  }
}

int main() {
  int n = 10000, per_sm = 0, result = 0;
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum, 128, 0);
  if (!prop.cooperativeLaunch || per_sm < 1) return 1;
  std::vector<int> v(n, 3);
  int *in, *parts, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&parts, 8 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  void *args[] = {&in, &parts, &out, &n};
  cudaError_t e = cudaLaunchCooperativeKernel(sum, dim3(8), dim3(128), args, 0, 0);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  // More blocks than can be resident cannot wait for each other.
  cudaError_t large = cudaLaunchCooperativeKernel(sum, dim3(per_sm * prop.multiProcessorCount + 1), dim3(128), args);
  printf("%s, sum %d; %s\n", cudaGetErrorName(e), result, cudaGetErrorName(large));
  return e != cudaSuccess || result != 3 * n || large != cudaErrorCooperativeLaunchTooLarge;
}
