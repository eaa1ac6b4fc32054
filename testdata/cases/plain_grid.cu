// expect: plain clean|bug|unknown; cooperative verified; both clean|bug|unknown
// A barrier of the grid needs a cooperative launch (CUDA guide, "Grid Synchronization"); <<<>>> is none.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ void exchange(int *a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  cg::this_grid().sync();
  a[64 + blockIdx.x * 32 + threadIdx.x] = a[(blockIdx.x ^ 1) * 32 + threadIdx.x];
}
__global__ void plain(int *a) { exchange(a); }
__global__ void cooperative(int *a) { exchange(a); }
__global__ void both(int *a) { exchange(a); } // the plain launch is wrong, whatever the other is
void host(int *a) {
  plain<<<2, 32>>>(a);
  void *args[] = {&a};
  cudaLaunchCooperativeKernel((void *)cooperative, dim3(2), dim3(32), args, 0, 0);
  cudaLaunchCooperativeKernel((void *)both, dim3(2), dim3(32), args, 0, 0);
  both<<<2, 32>>>(a);
}
