// expect: not verified
// Cooperative groups: a group that is smaller than what it should order, and members that do not take part.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A tile of 16 does not order a warp.
__global__ void tile16(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  t.sync();
  a[threadIdx.x] = s[threadIdx.x ^ 16];
}
// A tile of 4, and a reduction over 8.
__global__ void tile4(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<4>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  t.sync();
  a[threadIdx.x] = s[threadIdx.x ^ 4];
}
// Coalesced threads of a branch.
__global__ void coalesced(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x & 1) { auto g = cg::coalesced_threads(); g.sync(); a[threadIdx.x] = s[threadIdx.x ^ 1]; }
}
// The sync of the block in a branch.
__global__ void branch(int *a) {
  auto b = cg::this_thread_block();
  if (threadIdx.x < 32) b.sync();
  a[threadIdx.x] = 1;
}
// A shuffle orders no memory, of a tile neither.
__global__ void tile_shuffle(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  t.shfl(0, 0);
  a[threadIdx.x] = s[threadIdx.x ^ 1];
}
// thread_rank of the tile is not that of the block: all tiles write the first 32 words.
__global__ void rank(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  a[t.thread_rank()] = threadIdx.x;
}
// meta_group_rank times the wrong size.
__global__ void meta(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  a[t.meta_group_rank() * 16 + t.thread_rank()] = threadIdx.x;
}
// The block's rank in a grid of blocks that overlap by one.
// heddle: grid=4 block=64
__global__ void grid_rank(int *a) {
  auto g = cg::this_grid();
  a[g.block_rank() * 63 + threadIdx.x] = blockIdx.x;
}
// grid.sync in one block only.
// heddle: grid=2 block=32
__global__ void some_blocks(int *a) {
  if (blockIdx.x == 0) cg::this_grid().sync();
  a[blockIdx.x * 32 + threadIdx.x] = 1;
}
// The block's sync where the grid's is needed.
// heddle: grid=2 block=32
__global__ void block_for_grid(int *a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  cg::this_thread_block().sync();
  a[64 + blockIdx.x * 32 + threadIdx.x] = a[(blockIdx.x ^ 1) * 32 + threadIdx.x];
}
// Two rounds with one grid.sync in each: the read of a round meets the write of the next.
// heddle: grid=2 block=32
__global__ void rounds(int *a, int n) {
  auto g = cg::this_grid();
  for (int i = 0; i < n; i++) {
    a[g.thread_rank()] += i;
    g.sync();
    a[64 + g.thread_rank()] = a[63 - g.thread_rank()];
  }
}
// memcpy_async without wait.
#include <cooperative_groups/memcpy_async.h>
__global__ void no_wait(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, in, 256);
  b.sync();
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// The wait of a tile for a copy of the tile, read across tiles.
__global__ void tile_copy(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(b);
  cg::memcpy_async(t, s + 32 * t.meta_group_rank(), in + 32 * t.meta_group_rank(), 128);
  cg::wait(t);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// The buffer is stored to while the group's copy is under way.
__global__ void copy_store(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, in, 256);
  s[threadIdx.x] = 1;
  cg::wait(b);
  a[threadIdx.x] = s[threadIdx.x];
}
// Which thread copies which element is open: own element behind no wait.
__global__ void own_element(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, in, 256);
  a[threadIdx.x] = s[threadIdx.x];
  cg::wait(b);
}
// A labeled partition's sync orders its members only.
__global__ void labeled(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  auto g = cg::labeled_partition(t, (int)(threadIdx.x & 3));
  g.sync();
  a[threadIdx.x] = s[threadIdx.x ^ 1];
}
// The reduction of a group returns one value, it does not order what was stored.
#include <cooperative_groups/reduce.h>
__global__ void reduced(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  int v = cg::reduce(t, 1, cg::plus<int>());
  a[threadIdx.x] = v + s[threadIdx.x ^ 1];
}
// A tile of 64 is two warps, and its sync is none of the block of 128 threads.
// heddle: grid=1 block=128
__global__ void two_tiles(int *a) {
  __shared__ int s[128];
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  t.sync();
  a[threadIdx.x] = s[threadIdx.x ^ 64];
}
// The leader of each tile writes the block's word.
__global__ void tile_leaders(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  if (t.thread_rank() == 0) a[blockIdx.x] = threadIdx.x;
}
// The elected one of coalesced threads: one for each group of lanes that come together, not one for the warp.
__global__ void elected(int *a) {
  if (threadIdx.x % 2) { auto g = cg::coalesced_threads(); if (g.thread_rank() == 0) a[0] = threadIdx.x; }
  else { auto g = cg::coalesced_threads(); if (g.thread_rank() == 0) a[0] = threadIdx.x; }
}
// Between barrier_arrive and barrier_wait nothing is ordered: r is written there and read behind the wait by all.
__global__ void between_halves(int *a) {
  __shared__ int s[64], r[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto token = b.barrier_arrive();
  r[threadIdx.x] = 2;
  b.barrier_wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x] + r[63 - threadIdx.x];
}
// And read there what others write before they arrive.
__global__ void early_half(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto token = b.barrier_arrive();
  a[threadIdx.x] = s[63 - threadIdx.x];
  b.barrier_wait(std::move(token));
}
// A barrier of the grid in a launch by <<<>>>, which does not promise that all blocks run.
__global__ void not_cooperative(int *a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  cg::this_grid().sync();
  a[64 + blockIdx.x * 32 + threadIdx.x] = a[(blockIdx.x ^ 1) * 32 + threadIdx.x];
}
void launch_plainly(int *a) { not_cooperative<<<2, 32>>>(a); }
