// Managed memory: host and device use one pointer, and a __managed__ variable.
#include <cmath>
#include <cstdio>

__managed__ float scale = 1;
__managed__ int calls;

__global__ void saxpy(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += scale * x[i];
  if (i == 0) calls++;
}

int main() {
  const int n = 3000;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
  for (int k = 0; k < 3; k++) {
    scale = 0.5f * (k + 1);
    saxpy<<<(n + 127) / 128, 128>>>(n, x, y);
    cudaDeviceSynchronize();
  }
  int wrong = calls != 3;
  for (int i = 0; i < n; i++) wrong += fabsf(y[i] - (1 + 3.0f * i)) > 1e-3f * i;
  cudaFree(x);
  cudaFree(y);
  printf("%d calls, %d wrong\n", calls, wrong);
  return wrong != 0;
}
