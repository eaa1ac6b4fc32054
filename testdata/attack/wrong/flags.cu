// expect: not verified
// Flags between blocks and between warps, with one thing wrong (PTX ISA 8.8, 8.9.4; docs/theory/lock-step.md, "Flags").
__device__ int flag[64];
__device__ int data[64];
#define LOAD(p) (*(volatile int *)(p))

// No fence at the writer.
// heddle: grid=2 block=1
__global__ void no_release(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; LOAD(flag) = 1; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// No fence at the reader.
// heddle: grid=2 block=1
__global__ void no_acquire(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; __threadfence(); LOAD(flag) = 1; }
  else { while (!LOAD(flag)) {} out[0] = data[0]; }
}
// The flag is set before the data.
// heddle: grid=2 block=1
__global__ void reversed(int *out) {
  if (blockIdx.x == 0) { __threadfence(); LOAD(flag) = 1; data[0] = 42; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// The data are read before the flag is found.
// heddle: grid=2 block=1
__global__ void read_first(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; __threadfence(); LOAD(flag) = 1; }
  else { int v = data[0]; while (!LOAD(flag)) {} __threadfence(); out[0] = v; }
}
// The reader waits for zero, which the flag is at first.
// heddle: grid=2 block=1
__global__ void waits_for_zero(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; __threadfence(); LOAD(flag) = 1; }
  else { while (LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// The reader looks once, and reads anyway.
// heddle: grid=2 block=1
__global__ void once(int *out) {
  if (blockIdx.x == 0) { data[0] = 42; __threadfence(); LOAD(flag) = 1; }
  else { int f = LOAD(flag); __threadfence(); out[f] = data[0]; }
}
// Two writers set one flag; the reader uses the data of both.
// heddle: grid=3 block=1
__global__ void two_writers(int *out) {
  if (blockIdx.x < 2) { data[blockIdx.x] = 42; __threadfence(); LOAD(flag) = 1; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0] + data[1]; }
}
// Stages: the flag is 1 after the first datum, 2 after the second; the reader waits for 1 and reads both.
// heddle: grid=2 block=1
__global__ void stages(int *out) {
  if (blockIdx.x == 0) {
    data[0] = 1; __threadfence(); LOAD(flag) = 1;
    data[1] = 2; __threadfence(); LOAD(flag) = 2;
  } else { while (LOAD(flag) < 1) {} __threadfence(); out[0] = data[0] + data[1]; }
}
// The wrong flag: block b waits for b, not for its neighbour's.
// heddle: grid=4 block=1
__global__ void own_flag(int *out) {
  data[blockIdx.x] = 1;
  __threadfence();
  LOAD(flag + blockIdx.x) = 1;
  while (!LOAD(flag + blockIdx.x)) {}
  __threadfence();
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
// The neighbour's data of two hops: flags do not pass on what the neighbour has not waited for.
// heddle: grid=4 block=1
__global__ void two_hops(int *out) {
  int b = blockIdx.x;
  data[b] = 1;
  __threadfence();
  LOAD(flag + b) = 1;
  if (b > 1) { while (!LOAD(flag + b - 1)) {} __threadfence(); out[b] = data[b - 2]; }
}
// The datum is written again behind the flag.
// heddle: grid=2 block=1
__global__ void again(int *out) {
  if (blockIdx.x == 0) { data[0] = 1; __threadfence(); LOAD(flag) = 1; data[0] = 2; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// The reader writes back, with no flag in the other direction.
// heddle: grid=2 block=1
__global__ void ping(int *out) {
  if (blockIdx.x == 0) { data[0] = 1; __threadfence(); LOAD(flag) = 1; out[0] = data[0]; }
  else { while (!LOAD(flag)) {} __threadfence(); data[0] = 2; }
}
// In a loop the flag stays set from the first round.
// heddle: grid=2 block=1
__global__ void rounds(int *out, int n) {
  for (int i = 0; i < n; i++) {
    if (blockIdx.x == 0) { data[0] = i; __threadfence(); LOAD(flag) = 1; }
    else { while (!LOAD(flag)) {} __threadfence(); out[i] = data[0]; }
  }
}
// The flag counts rounds, the reader waits for "not less" and may be a round late.
// heddle: grid=2 block=1
__global__ void counted(int *out, int n) {
  for (int i = 1; i <= n; i++) {
    if (blockIdx.x == 0) { data[0] = i; __threadfence(); LOAD(flag) = i; }
    else { while (LOAD(flag) < i) {} __threadfence(); out[i] = data[0]; }
  }
}
// The leader waits, and the rest of its block is not behind a barrier.
// heddle: grid=2 block=64
__global__ void block_reader(int *out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) { data[0] = 1; __threadfence(); LOAD(flag) = 1; }
  } else {
    if (threadIdx.x == 0) { while (!LOAD(flag)) {} __threadfence(); }
    out[threadIdx.x] = data[0];
  }
}
// The block writes, its leader sets the flag without a barrier.
// heddle: grid=2 block=64
__global__ void block_writer(int *out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    if (threadIdx.x == 0) { __threadfence(); LOAD(flag) = 1; }
  } else if (threadIdx.x == 0) { while (!LOAD(flag)) {} __threadfence(); out[0] = data[63]; }
}
// The fence is before the barrier, in another thread than the one that sets the flag, and is no fence.sc pair... of the block.
// heddle: grid=2 block=64
__global__ void fence_of_block(int *out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 0) LOAD(flag) = 1;
  } else if (threadIdx.x == 0) { while (!LOAD(flag)) {} __threadfence(); out[0] = data[63]; }
}
// A byte of the flag word.
// heddle: grid=2 block=1
__global__ void byte_flag(int *out) {
  if (blockIdx.x == 0) { data[0] = 1; __threadfence(); *(volatile char *)flag = 1; }
  else { while (!LOAD(flag)) {} __threadfence(); out[0] = data[0]; }
}
// Each thread of the reading block waits for another flag, and reads all data.
// heddle: grid=2 block=32
__global__ void one_of_many(int *out) {
  if (blockIdx.x == 0) { data[threadIdx.x] = 1; __threadfence(); LOAD(flag + threadIdx.x) = 1; }
  else { while (!LOAD(flag + threadIdx.x)) {} __threadfence(); out[threadIdx.x] = data[threadIdx.x ^ 1]; }
}
// The flag is the datum's own array: element 0 is a flag and is also counted in.
// heddle: grid=2 block=1
__global__ void in_band(int *out) {
  if (blockIdx.x == 0) { data[1] = 1; __threadfence(); data[0] = 1; }
  else { while (!LOAD(data)) {} __threadfence(); out[0] = data[1]; }
}
// The reader accepts any flag of two, and reads the first one's datum.
// heddle: grid=3 block=1
__global__ void either(int *out) {
  if (blockIdx.x < 2) { data[blockIdx.x] = 1; __threadfence(); LOAD(flag + blockIdx.x) = 1; }
  else { while (!(LOAD(flag) | LOAD(flag + 1))) {} __threadfence(); out[0] = data[0]; }
}
// The loop ends when the flag is set or after a number of tries.
// heddle: grid=2 block=1
__global__ void tries(int *out, int n) {
  if (blockIdx.x == 0) { data[0] = 1; __threadfence(); LOAD(flag) = 1; }
  else { for (int i = 0; i < n && !LOAD(flag); i++) {} __threadfence(); out[0] = data[0]; }
}
// An atomic sets the flag: relaxed, with no fence around it.
// heddle: grid=2 block=1
__global__ void atomic_flag(int *out) {
  if (blockIdx.x == 0) { data[0] = 1; atomicExch(flag, 1); }
  else { while (!atomicAdd(flag, 0)) {} out[0] = data[0]; }
}
// A reduction (red) of release order; the reader's load is relaxed.
#include <cuda/atomic>
// heddle: grid=2 block=1
__global__ void relaxed_load(int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) { data[0] = 1; f.store(1, cuda::memory_order_release); }
  else { while (!f.load(cuda::memory_order_relaxed)) {} out[0] = data[0]; }
}
// Release and acquire, of the block's scope.
// heddle: grid=2 block=1
__global__ void block_scope(int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_block> f(*flag);
  if (blockIdx.x == 0) { data[0] = 1; f.store(1, cuda::memory_order_release); }
  else { while (!f.load(cuda::memory_order_acquire)) {} out[0] = data[0]; }
}
// A failed compare-and-swap releases nothing (it stores nothing).
// heddle: grid=2 block=1
__global__ void failed_cas(int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  int expected = 5;
  if (blockIdx.x == 0) { f.store(1, cuda::memory_order_relaxed); data[0] = 1; f.compare_exchange_strong(expected, 2, cuda::memory_order_acq_rel); }
  else { while (!f.load(cuda::memory_order_acquire)) {} out[0] = data[0]; }
}
// A flag within a block, between warps: no fence.
// heddle: grid=1 block=64
__global__ void between_warps(int *out) {
  __shared__ volatile int ready;
  __shared__ int value;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) { value = 1; ready = 1; }
  if (threadIdx.x == 32) { while (!ready) {} __threadfence_block(); out[0] = value; }
}
// A grid barrier made by hand, used twice with one counter and one target.
__device__ unsigned arrived;
// heddle: grid=2 block=1
__global__ void twice(int *out) {
  for (int r = 0; r < 2; r++) {
    data[blockIdx.x] = r;
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {}
    __threadfence();
    out[2 * r + blockIdx.x] = data[blockIdx.x ^ 1];
  }
}
