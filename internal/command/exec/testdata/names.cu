// Functions of the driver by the names that NVIDIA's cuda.h gives them, and the kernel and the
// variable of the program by the functions for their module.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

extern "C" {
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxDestroy_v2(CUcontext);
CUresult cuCtxCreate_v4(CUcontext *, const CUctxCreateParams *, unsigned, CUdevice);
}

__device__ int counter = 5;
__global__ void bump(int n, int *out) { *out = counter += n; }

int main() {
  int failed = cuInit(0), n = 7, got = 0, seen = 0;
  CUcontext old, newer;
  failed |= cuCtxCreate_v2(&old, 0, 0) | cuCtxDestroy_v2(old);
  failed |= cuCtxCreate_v4(&newer, nullptr, 0, 0);
  cudaFunction_t f;
  CUmodule module;
  CUdeviceptr out, at;
  size_t size;
  const char *name;
  failed |= cudaGetFuncBySymbol(&f, bump);
  failed |= cuFuncGetName(&name, f) | cuFuncGetModule(&module, f);
  failed |= cuModuleGetGlobal_v2(&at, &size, module, "counter") | cuMemAlloc_v2(&out, sizeof(int));
  void *args[] = {&n, &out};
  failed |= cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0);
  failed |= cuMemcpyDtoH_v2(&got, out, sizeof got) | cuMemcpyDtoH_v2(&seen, at, sizeof seen);
  failed |= cuMemFree_v2(out) | cuCtxDestroy_v2(newer);
  int missing = cudaGetFuncBySymbol(&f, (const void *)main);
  printf("error %d, %s, %d bytes, %d %d, then error %d\n", failed, name, (int)size, got, seen, missing);
}
