// Heat on a plate: many small steps between two buffers that change their roles.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

__global__ void step(const float *from, float *to, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x;
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
    to[i] = from[i];
  else
    to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - w] + from[i + w]);
}

int main() {
  const int w = 50, h = 40, steps = 20;
  std::vector<float> plate(w * h), next(w * h), got(w * h);
  for (int x = 0; x < w; x++) plate[x] = 100;

  float *a, *b;
  cudaMalloc(&a, w * h * sizeof(float));
  cudaMalloc(&b, w * h * sizeof(float));
  cudaMemcpy(a, plate.data(), w * h * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(16, 8), grid((w + 15) / 16, (h + 7) / 8);
  for (int k = 0; k < steps; k++) {
    step<<<grid, block>>>(a, b, w, h);
    std::swap(a, b);
  }
  cudaMemcpy(got.data(), a, w * h * sizeof(float), cudaMemcpyDeviceToHost);

  for (int k = 0; k < steps; k++) {
    next = plate;
    for (int y = 1; y < h - 1; y++)
      for (int x = 1; x < w - 1; x++) {
        int i = y * w + x;
        next[i] = 0.25f * (plate[i - 1] + plate[i + 1] + plate[i - w] + plate[i + w]);
      }
    plate = next;
  }
  int wrong = 0;
  for (int i = 0; i < w * h; i++) wrong += fabsf(got[i] - plate[i]) > 1e-4f;
  printf("%d of %d points are wrong\n", wrong, w * h);
  return wrong != 0;
}
