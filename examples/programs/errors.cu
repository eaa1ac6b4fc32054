// What wrong calls return, and that the program goes on after them.
#include <cstdio>

__global__ void nothing(int *) {}
__device__ int value;

static int wrong;
static void expect(const char *what, cudaError_t got, cudaError_t want) {
  if (got == want) return;
  printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
  wrong++;
}

int main() {
  int *p, host = 0;
  cudaStream_t stream;
  expect("malloc", cudaMalloc(&p, 400), cudaSuccess);
  nothing<<<1, 2048>>>(p);
  expect("block of 2048 threads", cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  expect("the error stays", cudaGetLastError(), cudaErrorInvalidConfiguration);
  expect("until it was read", cudaGetLastError(), cudaSuccess);
  nothing<<<0, 32>>>(p);
  expect("empty grid", cudaGetLastError(), cudaErrorInvalidConfiguration);
  nothing<<<1, 32, 64 << 10>>>(p);
  expect("64 KiB of shared memory", cudaGetLastError(), cudaErrorInvalidValue);
  expect("opt-in", cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
  nothing<<<1, 32, 64 << 10>>>(p);
  expect("64 KiB after the opt-in", cudaGetLastError(), cudaSuccess);
  expect("launch of no kernel", cudaLaunchKernel((const void *)&host, dim3(1), dim3(1), nullptr), cudaErrorInvalidDeviceFunction);
  expect("copy beyond the end", cudaMemcpy(p + 50, p, 400, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  expect("host pointer as device", cudaMemcpy(&host, p, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect("direction", cudaMemcpy(p, &host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
  expect("symbol too small", cudaMemcpyToSymbol(value, p, 8, 0, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  expect("no symbol", cudaMemcpyToSymbol(host, &host, 4), cudaErrorInvalidSymbol);
  expect("more than the device has", cudaMalloc(&p + 0, (size_t)1 << 50), cudaErrorMemoryAllocation);
  expect("40 GiB", cudaMalloc(&p, (size_t)40 << 30), cudaSuccess);
  expect("and its last byte", cudaMemset((char *)p + ((size_t)40 << 30) - 1, 1, 1), cudaSuccess);
  expect("inside of an allocation", cudaFree(p + 1), cudaErrorInvalidValue);
  expect("free", cudaFree(p), cudaSuccess);
  expect("free twice", cudaFree(p), cudaErrorInvalidValue);
  expect("free of null", cudaFree(nullptr), cudaSuccess);
  expect("device 1", cudaSetDevice(1), cudaErrorInvalidDevice);
  expect("stream", cudaStreamCreate(&stream), cudaSuccess);
  expect("destroy", cudaStreamDestroy(stream), cudaSuccess);
  expect("destroy twice", cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  expect("at the end", cudaDeviceSynchronize(), cudaSuccess);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
