// Transposes a matrix in pitched memory by tiles.
#include <cstdio>
#include <vector>

#define TILE 16

__global__ void transpose(const float *in, size_t in_pitch, float *out, size_t out_pitch, int w, int h) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = *(const float *)((const char *)in + y * in_pitch + x * sizeof(float));
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < h && y < w) *(float *)((char *)out + y * out_pitch + x * sizeof(float)) = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int w = 70, h = 45;
  std::vector<float> m(w * h), t(w * h);
  for (int i = 0; i < w * h; i++) m[i] = i;
  float *in, *out;
  size_t in_pitch, out_pitch;
  cudaMallocPitch(&in, &in_pitch, w * sizeof(float), h);
  cudaMallocPitch(&out, &out_pitch, h * sizeof(float), w);
  cudaMemcpy2D(in, in_pitch, m.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
  transpose<<<dim3((w + TILE - 1) / TILE, (h + TILE - 1) / TILE), dim3(TILE, TILE)>>>(in, in_pitch, out, out_pitch, w, h);
  cudaMemcpy2D(t.data(), h * sizeof(float), out, out_pitch, h * sizeof(float), w, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) wrong += t[x * h + y] != m[y * w + x];
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
