// expect: mine bug race-shared; theirs unsupported
// A header that is not there costs the kernel that needs it, and not the other.
#include <missing_library/reduce.cuh>
__global__ void theirs(float *a) {
  __shared__ missing_library::Reduce<float, 64>::Storage storage;
  a[threadIdx.x] = missing_library::Reduce<float, 64>(storage).Sum(a[threadIdx.x]);
}
__global__ void mine(float *a) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[63 - threadIdx.x];
}
