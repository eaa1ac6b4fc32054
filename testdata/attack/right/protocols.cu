// expect: not bug
// Right kernels that synchronize through memory (PTX ISA 8.8, 8.9).
__device__ unsigned count;
__device__ int lock, flag[64], data[1024];
#define LOAD(p) (*(volatile int *)(p))

// The last block sums up; the parts are published by a barrier and the leader's fence.
// heddle: grid=4 block=64
__global__ void last_block(int *out, const int *in) {
  __shared__ bool last;
  data[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); last = atomicAdd(&count, 1) == gridDim.x - 1; __threadfence(); }
  __syncthreads();
  if (last) { __threadfence(); for (unsigned b = 0; b < gridDim.x; b++) out[threadIdx.x] += data[b * 64 + threadIdx.x]; }
}
// A spin lock of one thread a block.
// heddle: grid=4 block=1
__global__ void spin_lock(int *a) {
  while (atomicCAS(&lock, 0, 1)) {}
  __threadfence(); a[0]++; __threadfence();
  atomicExch(&lock, 0);
}
// The block's leader takes the lock, and barriers bracket what the block does.
// heddle: grid=4 block=64
__global__ void block_lock(int *a) {
  if (threadIdx.x == 0) { while (atomicCAS(&lock, 0, 1)) {} __threadfence(); }
  __syncthreads();
  a[threadIdx.x]++;
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); atomicExch(&lock, 0); }
}
// A flag with fences on both sides.
// heddle: grid=2 block=1
__global__ void message(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; __threadfence(); LOAD(flag) = 1; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// A chain of blocks, each waiting for the one before.
// heddle: grid=4 block=32
__global__ void chain(int *out) {
  int b = blockIdx.x;
  if (threadIdx.x == 0 && b > 0) { while (!LOAD(flag + b - 1)) {} __threadfence(); }
  __syncthreads();
  out[threadIdx.x] += b;
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); LOAD(flag + b) = 1; }
}
// A ticket lock.
__device__ unsigned next, serving;
// heddle: grid=4 block=1
__global__ void ticket(int *a) {
  unsigned t = atomicAdd(&next, 1);
  while (atomicAdd(&serving, 0) != t) {}
  __threadfence(); a[0]++; __threadfence();
  atomicAdd(&serving, 1);
}
// A grid barrier made by hand, with a target that grows.
__device__ unsigned arrived;
// heddle: grid=2 block=1
__global__ void grid_barrier(int *out) {
  for (unsigned r = 1; r <= 2; r++) {
    data[blockIdx.x] = r;
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < 2 * r * gridDim.x - gridDim.x) {}
    __threadfence();
    out[2 * r + blockIdx.x] = data[blockIdx.x ^ 1];
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < 2 * r * gridDim.x) {}
    __threadfence();
  }
}
// Slots of an output by a counter: each thread has its own.
// heddle: grid=4 block=64
__global__ void slots(int *out, const int *in) { if (in[threadIdx.x] > 0) out[atomicAdd(&count, 1)] = threadIdx.x; }
// Acquire and release of libcu++.
#include <cuda/atomic>
// heddle: grid=2 block=1
__global__ void libcu(int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) { data[0] = 1; f.store(1, cuda::memory_order_release); }
  else { while (!f.load(cuda::memory_order_acquire)) {} out[0] = data[0]; }
}
// Two warps of a block and a flag in shared memory, with block fences.
// heddle: grid=1 block=64
__global__ void between_warps(int *out) {
  __shared__ volatile int ready;
  __shared__ int value;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) { value = 1; __threadfence_block(); ready = 1; }
  if (threadIdx.x == 32) { while (!ready) {} __threadfence_block(); out[0] = value; }
}
