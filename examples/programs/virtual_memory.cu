// Two pieces of memory at adjacent addresses, by the driver API. With an argument, a kernel uses
// them after they were unmapped.
#include <cstdio>
#include <cuda.h>
#include <vector>

__global__ void count(unsigned *p, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += i;
}

#define E(CALL) bad += (CALL) != CUDA_SUCCESS
#define INVALID(CALL) bad += (CALL) != CUDA_ERROR_INVALID_VALUE

int main(int argc, char **) {
  int bad = 0;
  CUdevice device;
  CUcontext context;
  E(cuInit(0));
  E(cuDeviceGet(&device, 0));
  E(cuDevicePrimaryCtxRetain(&context, device));
  E(cuCtxSetCurrent(context));
  CUmemAllocationProp kind = {};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t piece;
  E(cuMemGetAllocationGranularity(&piece, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr at;
  E(cuMemAddressReserve(&at, 2 * piece, 0, 0, 0));
  for (int i = 0; i < 2; i++) {
    CUmemGenericAllocationHandle memory;
    INVALID(cuMemCreate(&memory, piece + 1, &kind, 0));
    E(cuMemCreate(&memory, piece, &kind, 0));
    E(cuMemMap(at + i * piece, piece, 0, memory, 0));
    INVALID(cuMemMap(at + i * piece, piece, 0, memory, 0)); // mapped already
    E(cuMemRelease(memory));
  }
  INVALID(cuMemsetD8(at, 0, 4)); // not accessible yet
  CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  E(cuMemSetAccess(at, 2 * piece, &access, 1));
  unsigned n = 2 * piece / 4, step = n / 64, wrong = 0;
  E(cuMemsetD32(at, 7, n));
  unsigned *p = (unsigned *)at + n / 2 - step; // across the border
  count<<<(2 * step + 255) / 256, 256>>>(p, 2 * step);
  std::vector<unsigned> host(n);
  E(cuMemcpyDtoH(host.data(), at, 2 * piece));
  for (unsigned i = 0; i < n; i++) {
    unsigned first = n / 2 - step;
    wrong += host[i] != (i >= first && i < first + 2 * step ? 7 + i - first : 7);
  }
  INVALID(cuMemAddressFree(at, 2 * piece)); // still mapped
  E(cuMemUnmap(at, 2 * piece));
  INVALID(cuMemcpyDtoH(host.data(), at, 4));
  if (argc > 1) {
    count<<<1, 32>>>(p, 32);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  E(cuMemAddressFree(at, 2 * piece));
  INVALID(cuMemAddressFree(at, 2 * piece));
  printf("%u wrong, %d calls\n", wrong, bad);
  return wrong || bad;
}
