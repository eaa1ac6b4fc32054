// expect: between clean|bug|unknown; beside verified; barrier_between clean|bug|unknown; half clean|bug|unknown; two_arrivals clean|bug|unknown
// barrier_arrive and barrier_wait order what precedes the arrivals before what follows the waits, and not what lies
// between (CUDA guide, "barrier_arrive and barrier_wait"): between() reads there what others still write.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void between(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  auto token = b.barrier_arrive();
  s[threadIdx.x] = 1;
  b.barrier_wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void beside(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto token = b.barrier_arrive();
  int v = in[threadIdx.x];
  b.barrier_wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x] + v;
}
// The guide forbids other collective operations of the group between the two: a barrier there may meet the arrivals.
__global__ void barrier_between(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto token = b.barrier_arrive();
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
  b.barrier_wait(std::move(token));
}
// All threads arrive, and once.
__global__ void half(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  cg::thread_block::arrival_token token;
  if (threadIdx.x < 32)
    token = b.barrier_arrive();
  b.barrier_wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void two_arrivals(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto first = b.barrier_arrive();
  auto second = b.barrier_arrive();
  b.barrier_wait(std::move(second));
  a[threadIdx.x] = s[63 - threadIdx.x];
  b.barrier_wait(std::move(first));
}
