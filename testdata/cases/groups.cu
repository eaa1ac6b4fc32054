// expect: swap verified; total clean|verified|unknown
// A shuffle of a vector in a tile, and a cooperative kernel whose ranks read three dimensions of a one-dimensional launch.
#include <heddle.h> // its macro __all is a name of CUDA too
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void swap(uint4 *a) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  uint4 v = a[threadIdx.x];
  a[threadIdx.x] = tile.shfl_xor(v, 1);
}
__global__ void total(const float *in, float *out, unsigned n) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  extern __shared__ double s[];
  s[block.thread_rank()] = 0;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) s[block.thread_rank()] += in[i];
  cg::sync(block);
  if (block.thread_rank() == 0) {
    double sum = 0;
    for (unsigned i = 0; i < block.size(); i++) sum += s[i];
    out[blockIdx.x] = sum;
  }
  cg::sync(grid);
  if (grid.thread_rank() == 0)
    for (unsigned i = 1; i < gridDim.x; i++) out[0] += out[i];
}
