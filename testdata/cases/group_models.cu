// expect: stored clean|bug|unknown; fence_too_early bug; valid verified; invalid clean|bug|unknown; nested bug; nested_right verified; ranks bug; selector bug
// Functions whose models in the headers said more than their documentation: which member of a group stores a result
// (any one), what a fence with the order acquire orders in front of it (nothing), whether a launch is cooperative (not
// known), which tile of its parent a tile is, whose ranks form tiles of coalesced threads, and selectors of __byte_perm
// (three bits).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// heddle: grid=1 block=32
__global__ void stored(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  cg::reduce_store_async(t, a, (int)threadIdx.x, cg::plus<int>());
  if (t.thread_rank() == 0)
    a[1] = a[0];
}
// heddle: grid=2 block=1
__global__ void fence_too_early(int *flag, int *data, int *out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0)
      ;
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    *out = *data;
  }
}
// heddle: grid=1 block=64
__global__ void valid(int *a) {
  if (cg::this_grid().is_valid())
    a[threadIdx.x] = 1;
}
// heddle: grid=1 block=64
__global__ void invalid(int *a) {
  if (!cg::this_grid().is_valid())
    a[0] = threadIdx.x;
}
// heddle: grid=1 block=64
__global__ void nested(int *a) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  auto q = cg::tiled_partition<4>(w);
  a[q.meta_group_rank() * 4 + q.thread_rank()] = threadIdx.x;
}
// heddle: grid=1 block=64
__global__ void nested_right(int *a) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  auto q = cg::tiled_partition<4>(w);
  a[w.meta_group_rank() * 32 + q.meta_group_rank() * 4 + q.thread_rank()] = threadIdx.x;
}
// The tile of lanes 1, 3, 5 and 7 has the ranks 0 to 3: lanes 1 and 3 store a[9].
// heddle: grid=1 block=32
__global__ void ranks(int *a) {
  if (threadIdx.x & 1) {
    auto g = cg::tiled_partition(cg::coalesced_threads(), 4);
    a[(int)threadIdx.x - 2 * (int)g.thread_rank() + 8] = threadIdx.x;
  }
}
// Selector 8 is byte 0, whose lowest bit is 0: two threads store one element.
// heddle: grid=1 block=64
__global__ void selector(int *a) {
  unsigned t = threadIdx.x, b = __byte_perm((t & 1) << 7, 0, 0x4448) & 1;
  a[(t & ~1u) + b] = t;
}
