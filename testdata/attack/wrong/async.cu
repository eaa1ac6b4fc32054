// expect: not verified
// Asynchronous copies: used too early, reused too early, counted wrongly, not published (PTX ISA 9.7.9.25.3).
#include <cuda_pipeline.h>

// No wait at all.
__global__ void no_wait(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  out[threadIdx.x] = s[threadIdx.x];
}
// A barrier is no wait.
__global__ void barrier_only(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// A wait is no barrier.
__global__ void wait_only(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// The barrier comes before the wait.
__global__ void exchanged(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// wait_prior(1) leaves the last group pending.
__global__ void one_pending(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// No commit: the copy is in no group, so that waiting for groups does not cover it.
__global__ void no_commit(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_wait_prior(0);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// Two stages with no barrier behind the use.
__global__ void reused(int *out, const int *in, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; i++) {
    __pipeline_memcpy_async(s + threadIdx.x, in + 64 * i + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 * i + threadIdx.x] = s[63 - threadIdx.x];
  }
}
// Two stages, and a buffer index that lags.
__global__ void stages(int *out, const int *in, int n) {
  __shared__ int s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], in + threadIdx.x, 4);
  __pipeline_commit();
  for (int i = 0; i < n; i++) {
    __pipeline_memcpy_async(&s[(i + 1) & 1][threadIdx.x], in + 64 * (i + 1) + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[64 * i + threadIdx.x] = s[(i + 1) & 1][63 - threadIdx.x];
    __syncthreads();
  }
}
// The source is overwritten while the copy may read it.
__global__ void source(int *a, int *out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, a + threadIdx.x, 4);
  a[threadIdx.x] = 0;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}
// A thread stores to the word that its own copy fills.
__global__ void own_word(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  s[threadIdx.x] = 7;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}
// 16 bytes a thread, a stride of 4: each copy covers the words of three others.
__global__ void sixteen(int *out, const int4 *in) {
  alignas(16) __shared__ int s[256];
  __pipeline_memcpy_async(s + 4 * (threadIdx.x / 2), in + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
// The zero fill writes the whole 16 bytes, although 4 are copied.
__global__ void zero_fill(int *out, const int4 *in) {
  alignas(16) __shared__ int s[260];
  if (threadIdx.x < 32) __pipeline_memcpy_async(s + 4 * threadIdx.x, in + threadIdx.x, 16, 12);
  else s[4 * (threadIdx.x - 32) + 3] = 1;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[4 * (threadIdx.x & 31)];
}
// Only half of the threads wait; the others' copies are not complete at the barrier.
__global__ void half_wait(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  if (threadIdx.x < 32) __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// The wait is in a branch on an input.
__global__ void some_wait(int *out, const int *in, int n) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  if (n > 0) __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// __syncwarp behind the wait publishes to the warp only.
__global__ void warp_published(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// A copy still pending at __syncwarp, and a lane that reads behind it.
__global__ void warp_pending(int *out, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
// The loop's last copy is waited for by nobody, and its buffer is used behind the loop.
__global__ void last_copy(int *out, const int *in, int n) {
  __shared__ int s[2][64];
  for (int i = 0; i < n; i++) {
    __pipeline_memcpy_async(&s[i & 1][threadIdx.x], in + 64 * i + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
  }
  out[threadIdx.x] = s[(n + 1) & 1][63 - threadIdx.x];
}
// A group's copy of libcu++ through a barrier whose arrival is forgotten: the copy's own wait is another barrier's.
#include <cuda/barrier>
__global__ void wrong_barrier(int *out, const int *in) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> a, b;
  if (threadIdx.x == 0) { init(&a, 64); init(&b, 64); }
  __syncthreads();
  cuda::memcpy_async(s + threadIdx.x, in + threadIdx.x, 4, a);
  b.arrive_and_wait();
  out[threadIdx.x] = s[63 - threadIdx.x];
  a.arrive_and_wait();
}
// The token of an arrival is thrown away: arrive without wait.
__global__ void arrive_only(int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> a;
  if (threadIdx.x == 0) init(&a, 64);
  __syncthreads();
  s[threadIdx.x] = 1;
  (void)a.arrive();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// The expected count is half of the threads: the phase completes with any 32 of them.
__global__ void half_count(int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> a;
  if (threadIdx.x == 0) init(&a, 32);
  __syncthreads();
  s[threadIdx.x] = 1;
  a.arrive_and_wait();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// The barrier is used before its initialization is published.
__global__ void unpublished(int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> a;
  if (threadIdx.x == 0) init(&a, 64);
  s[threadIdx.x] = 1;
  a.arrive_and_wait();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
