// A filter in place: each pixel becomes the mean of its row neighbours, which a texture of the same
// memory reads. Another thread may have written them already, and the texture cache is not coherent
// with writes of the same launch: a race. With an argument, the result goes to other memory.
#include <cstdio>

__global__ void mean(cudaTextureObject_t in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = tex1Dfetch<float>(in, i - 1) + tex1Dfetch<float>(in, i + 1);
    out[i] = sum / 2;
  }
}

int main(int argc, char **) {
  const int n = 512;
  float *data, *other;
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&other, n * sizeof(float));
  cudaMemset(data, 0, n * sizeof(float));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = data;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = n * sizeof(float);
  cudaTextureDesc t = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &r, &t, nullptr);
  mean<<<2, 256>>>(texture, argc > 1 ? other : data, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaDestroyTextureObject(texture);
  cudaFree(other);
  cudaFree(data);
}
