// expect: block verified; tile verified; before_a_barrier verified; other_tile bug; first clean|bug|unknown; twice clean|bug|unknown; told clean|bug|unknown; places verified; two_calls clean|bug|unknown
// One member of a group runs the function of invoke_one and invoke_one_broadcast: which one, the guide leaves open. So two
// calls may run it in two members, and no other code may count on the first member.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// heddle: grid=2 block=64
__global__ void block(int *a) {
  cg::invoke_one(cg::this_thread_block(), [&] { a[blockIdx.x] = 1; });
}
// heddle: grid=1 block=64
__global__ void tile(int *a) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  cg::invoke_one(t, [&] { a[t.meta_group_rank()] = 1; });
}
// heddle: grid=1 block=64
__global__ void before_a_barrier(int *a) {
  auto b = cg::this_thread_block();
  cg::invoke_one(b, [&] { a[0] = 1; });
  b.sync();
  if (threadIdx.x == 3)
    a[0] = 2;
}
// heddle: grid=1 block=64
__global__ void other_tile(int *a) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  cg::invoke_one(t, [&] { a[0] = threadIdx.x; });
}
// heddle: grid=1 block=64
__global__ void first(int *a) {
  cg::invoke_one(cg::this_thread_block(), [&] { a[0] = 1; });
  if (threadIdx.x == 0)
    a[0] = 2;
}
// heddle: grid=1 block=64
__global__ void twice(int *a) {
  auto b = cg::this_thread_block();
  cg::invoke_one(b, [&] { a[0] = 1; });
  cg::invoke_one(b, [&] { a[0] = 2; });
}
// heddle: grid=1 block=32
__global__ void told(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  int v = cg::invoke_one_broadcast(t, [&] { a[0] = threadIdx.x; return 5; });
  if (t.thread_rank() == 0)
    a[0] = v;
}
// The result is that of the chosen member, whichever it is: each tile has 32 places of its own.
// heddle: grid=1 block=64
__global__ void places(int *a, unsigned *n) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  unsigned at = cg::invoke_one_broadcast(t, [&] { return atomicAdd(n, 32); });
  a[at + t.thread_rank()] = 1;
}
// Each iteration may choose another member.
// heddle: grid=1 block=64
__global__ void two_calls(int *a) {
  auto b = cg::this_thread_block();
  for (int i = 0; i < 2; i++)
    cg::invoke_one(b, [&] { a[0] = i; });
}
