// A histogram with private bins in shared memory, and printf from the device.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char *data, int n, unsigned *bins) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[data[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
  if (blockIdx.x == 0 && threadIdx.x == 0) printf("histogram of %d bytes by %d blocks\n", n, gridDim.x);
}

int main() {
  const int n = 20000;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> want(256), got(256);
  unsigned seed = 1;
  for (auto &x : data) {
    seed = seed * 1664525 + 1013904223;
    x = seed >> 24;
    want[x]++;
  }
  unsigned char *d_data;
  unsigned *d_bins;
  cudaMalloc(&d_data, n);
  cudaMalloc(&d_bins, 256 * sizeof(unsigned));
  cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, 256 * sizeof(unsigned));
  histogram<<<6, 192>>>(d_data, n, d_bins);
  cudaMemcpy(got.data(), d_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
  printf("%s\n", got == want ? "right" : "wrong");
  return got != want;
}
