// Two kernels in turn, each launched so that it may begin before the one in front of it has ended
// (programmatic dependent launch): the factors, which no kernel writes, are loaded early, and the
// numbers only behind the wait. With the argument "racy" the numbers are loaded early as well.

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void step(const float *factor, const float *in, float *out, int n, bool racy) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = i < n ? factor[i] : 0, x = 0;
  if (racy && i < n) x = in[i];
  cudaGridDependencySynchronize();
  if (!racy && i < n) x = in[i];
  cudaTriggerProgrammaticLaunchCompletion(); // the next launch may begin
  if (i < n) out[i] = f * x;
}

int main(int argc, char **argv) {
  const int n = 1000, block = 256, steps = 6;
  bool racy = argc > 1 && !strcmp(argv[1], "racy");
  std::vector<float> host(n), factors(n);
  for (int i = 0; i < n; i++) host[i] = i, factors[i] = i % 2 ? 2 : 0.5f;
  float *a, *b, *factor;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&factor, n * sizeof(float));
  cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(factor, factors.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = (n + block - 1) / block;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t e = cudaSuccess;
  for (int k = 0; k < steps && e == cudaSuccess; k++)
    e = cudaLaunchKernelEx(&config, step, (const float *)factor, (const float *)(k % 2 ? b : a), k % 2 ? a : b, n, racy);
  if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
  std::vector<float> result(n);
  cudaMemcpy(result.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += result[i] != (i % 2 ? i * 64.0f : i / 64.0f);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(e));
  return wrong != 0;
}
