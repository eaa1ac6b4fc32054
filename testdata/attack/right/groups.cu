// expect: not bug; pitched as launched; scatter as launched
// Right kernels with cooperative groups, pipelines, barriers of libcu++ and host code.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void tile_sync(int *a) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = 1;
  t.sync();
  a[threadIdx.x] = s[threadIdx.x ^ 15];
}
__global__ void block_sync(int *a) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[b.thread_rank()] = 1;
  b.sync();
  a[b.thread_rank()] = s[b.size() - 1 - b.thread_rank()];
}
// The halves of a split barrier, with the thread's own work in between.
__global__ void split(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  s[threadIdx.x] = 1;
  auto token = b.barrier_arrive();
  int v = in[threadIdx.x];
  b.barrier_wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x] + v;
}
__global__ void group_copy(int *a, const int *in) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, in, 256);
  cg::wait(b);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void tile_copy(int *a, const int *in) {
  __shared__ int s[64];
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  cg::memcpy_async(t, s + 32 * t.meta_group_rank(), in + 32 * t.meta_group_rank(), 128);
  cg::wait(t);
  a[threadIdx.x] = s[threadIdx.x ^ 31];
}
__global__ void reduced(int *a) {
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  int v = cg::reduce(t, a[threadIdx.x], cg::plus<int>());
  if (t.thread_rank() == 0) a[64 + t.meta_group_rank()] = v;
}
__global__ void coalesced_ranks(int *a, const int *in) {
  if (in[threadIdx.x] > 0) {
    auto g = cg::coalesced_threads();
    a[threadIdx.x / 32 * 32 + threadIdx.x % 32] = g.thread_rank();
  }
}
__global__ void thread_pipeline(int *a, const int *in) {
  __shared__ int s[64];
  auto p = cuda::make_pipeline();
  p.producer_acquire();
  cuda::memcpy_async(s + threadIdx.x, in + threadIdx.x, 4, p);
  p.producer_commit();
  p.consumer_wait();
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
  p.consumer_release();
}
__global__ void libcu_barrier(int *a) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  s[threadIdx.x] = 1;
  b.arrive_and_wait();
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void libcu_split(int *a) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  s[threadIdx.x] = 1;
  auto token = b.arrive();
  int v = a[64 + threadIdx.x];
  b.wait(std::move(token));
  a[threadIdx.x] = s[63 - threadIdx.x] + v;
}
// A cooperative launch with a barrier of the grid on both sides of the exchange.
__global__ void grid_rounds(int *a, int n) {
  auto g = cg::this_grid();
  for (int i = 0; i < n; i++) {
    a[g.thread_rank()] += i;
    g.sync();
    a[64 + g.thread_rank()] = a[63 - g.thread_rank()];
    g.sync();
  }
}
void run_grid(int *a) {
  int n = 3;
  void *args[] = {&a, &n};
  cudaLaunchCooperativeKernel((void *)grid_rounds, dim3(2), dim3(32), args, 0, 0);
}
// The host passes halves of one buffer.
__global__ void two_halves(int *to, const int *from) { to[threadIdx.x] = from[63 - threadIdx.x]; }
void run_halves() { int *d; cudaMalloc(&d, 512); two_halves<<<1, 64>>>(d, d + 64); }
// The pitch that the host passes is the row's length.
__global__ void pitched(int *a, int pitch) { a[threadIdx.y * pitch + threadIdx.x] = threadIdx.y; }
void run_pitched(int *a) { pitched<<<1, dim3(16, 4)>>>(a, 16); }
// The host fills the index array with a permutation.
__global__ void scatter(int *a, const int *at) { a[at[threadIdx.x]] = threadIdx.x; }
void run_scatter() {
  int h[64], *d, *a;
  for (int i = 0; i < 64; i++) h[i] = 63 - i;
  cudaMalloc(&d, sizeof h); cudaMalloc(&a, 256);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  scatter<<<1, 64>>>(a, d);
}
// One buffer twice, each thread on its own element.
__global__ void in_place(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
void run_in_place() { int *d; cudaMalloc(&d, 256); in_place<<<1, 64>>>(d, d); }
// As many blocks as the image needs, with a bound check.
__global__ void image(int *to, const int *from, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) to[y * w + x] = from[y * w + x];
}
void run_image(int *to, int *from, int w, int h) { image<<<dim3((w + 15) / 16, (h + 3) / 4), dim3(16, 4)>>>(to, from, w, h); }
// A template with its tile.
template <int N> __global__ void tile(int *a) { __shared__ int s[N]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[N - 1 - threadIdx.x]; }
void run_tile(int *a) { tile<64><<<1, 64>>>(a); }
// Dynamic shared memory of the block's size.
__global__ void dynamic(int *a) { extern __shared__ int s[]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }
void run_dynamic(int *a) { int n = 64; dynamic<<<1, n, n * sizeof(int)>>>(a); }
// A counter that the host clears gives each thread its slot.
__device__ int slots;
__global__ void take(int *a) { a[atomicAdd(&slots, 1)] = threadIdx.x; }
void run_take() { int *a, none = 0; cudaMalloc(&a, 1024); cudaMemcpyToSymbol(slots, &none, sizeof none); take<<<4, 64>>>(a); }
