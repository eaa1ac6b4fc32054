// A filter whose weights are in constant memory, with a halo in shared memory.
#include <cmath>
#include <cstdio>
#include <vector>

#define RADIUS 4
#define BLOCK 128

__constant__ float weights[2 * RADIUS + 1];
__device__ int blocks_done;

__global__ void filter(const float *in, float *out, int n) {
  __shared__ float tile[BLOCK + 2 * RADIUS];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += BLOCK) {
    int from = (int)(blockIdx.x * BLOCK) + k - RADIUS;
    tile[k] = from >= 0 && from < n ? in[from] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[threadIdx.x + k];
  if (i < n) out[i] = sum;
  if (threadIdx.x == 0) atomicAdd(&blocks_done, 1);
}

int main() {
  const int n = 1000;
  float w[2 * RADIUS + 1];
  for (int k = 0; k <= 2 * RADIUS; k++) w[k] = 1.0f / (1 + k);
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; i++) in[i] = i % 17;

  float *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpyToSymbol(weights, w, sizeof(w));
  cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  filter<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n);
  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  int done = 0;
  cudaMemcpyFromSymbol(&done, blocks_done, sizeof(int));

  int wrong = done != (n + BLOCK - 1) / BLOCK;
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
      if (i + k >= 0 && i + k < n) sum += w[k + RADIUS] * in[i + k];
    wrong += fabsf(sum - out[i]) > 1e-4f;
  }
  printf("%d blocks, %d wrong\n", done, wrong);
  return wrong != 0;
}
