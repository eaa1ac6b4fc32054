// Tiles of more than a warp: reductions, shuffles, votes and barriers of 64 to 512 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

template <int N> __global__ void work(int *out, double *sums) {
  __shared__ cg::block_tile_memory<512> memory;
  __shared__ int passed[512];
  cg::thread_block block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<N>(block);
  int t = threadIdx.x;
  int sum = cg::reduce(tile, t, cg::plus<int>());
  int last = tile.shfl(t, N - 1);
  passed[t] = t;
  tile.sync();
  int next = passed[tile.meta_group_rank() * N + (tile.thread_rank() + 1) % N];
  out[4 * t] = sum;
  out[4 * t + 1] = last;
  out[4 * t + 2] = next;
  out[4 * t + 3] = tile.any(t == 70) * 2 + tile.all(t < N);
  sums[t] = cg::reduce(tile, (double)t, cg::greater<double>());
}

template <int N> int check(int *out, double *sums) {
  work<N><<<1, 512>>>(out, sums);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int t = 0; t < 512; t++) {
    int first = t / N * N, sum = 0;
    for (int i = 0; i < N; i++) sum += first + i;
    wrong += out[4 * t] != sum || out[4 * t + 1] != first + N - 1 ||
             out[4 * t + 2] != first + (t - first + 1) % N ||
             out[4 * t + 3] != (first <= 70 && 70 < first + N) * 2 + (first == 0) ||
             sums[t] != first + N - 1;
  }
  printf("%d: %d wrong\n", N, wrong);
  return wrong != 0;
}

int main() {
  int *out;
  double *sums;
  cudaMallocManaged(&out, 4 * 512 * sizeof(int));
  cudaMallocManaged(&sums, 512 * sizeof(double));
  int bad = check<32>(out, sums) + check<64>(out, sums) + check<128>(out, sums) +
            check<512>(out, sums);
  cudaFree(out);
  cudaFree(sums);
  return bad;
}
