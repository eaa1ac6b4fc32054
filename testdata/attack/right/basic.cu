// expect: not bug
// Right kernels whose order or indices are easily mistaken.

// t(t+1)/2 is a permutation modulo 64.
__global__ void triangular(int *a) { unsigned t = threadIdx.x; a[t * (t + 1) / 2 % 64] = t; }
// An odd multiplier modulo a power of two.
__global__ void odd(int *a) { a[threadIdx.x * 37 % 64] = threadIdx.x; }
// Bits reversed within 6 bits.
__global__ void reversed(int *a) { a[__brev(threadIdx.x) >> 26] = threadIdx.x; }
// The Gray code is injective.
__global__ void gray(int *a) { unsigned t = threadIdx.x; a[t ^ t >> 1] = t; }
// A rotation of all 6 bits.
__global__ void rotated(int *a) { unsigned t = threadIdx.x; a[(t << 2 | t >> 4) & 63] = t; }
// A swizzle by a part of the row that stays within it.
// heddle: grid=1 block=16,8
__global__ void swizzle(int *a) { a[threadIdx.y * 16 + (threadIdx.x ^ threadIdx.y)] = threadIdx.y; }
// Morton order of 8 by 8.
// heddle: grid=1 block=8,8
__global__ void morton(int *a) {
  unsigned i = 0;
  for (int b = 0; b < 3; b++) i |= (threadIdx.x >> b & 1) << 2 * b | (threadIdx.y >> b & 1) << (2 * b + 1);
  a[i] = threadIdx.y;
}
// A tree whose loop ends with its barrier.
__global__ void tree(int *a) {
  __shared__ int s[128];
  s[threadIdx.x] = s[threadIdx.x + 64] = a[threadIdx.x];
  int d = 64;
  do {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    d /= 2;
    __syncthreads();
  } while (d);
  a[threadIdx.x] = s[0];
}
// Every second iteration has no barrier, and uses what is the thread's own.
__global__ void own_rounds(int *a, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; i++) {
    s[threadIdx.x] = a[64 * i + threadIdx.x];
    if (i % 2) continue;
    __syncthreads();
    a[64 * i + threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
  }
}
// Double buffering with one barrier a round.
__global__ void buffers(int *a, int n) {
  __shared__ int s[2][64];
  for (int i = 0; i < n; i++) {
    s[i & 1][threadIdx.x] = a[64 * i + threadIdx.x];
    __syncthreads();
    a[64 * i + threadIdx.x] = s[i & 1][63 - threadIdx.x];
  }
}
// Three buffers by pointers in a ring.
__global__ void pointer_ring(int *a, int n) {
  __shared__ int s[3][64];
  int *p = s[0], *q = s[1], *r = s[2];
  for (int i = 0; i < n; i++) {
    p[threadIdx.x] = i;
    __syncthreads();
    a[64 * i + threadIdx.x] = p[63 - threadIdx.x];
    int *o = p; p = q; q = r; r = o;
  }
}
// A scan with two buffers (Hillis and Steele).
__global__ void scan(int *a) {
  __shared__ int s[2][64];
  int t = threadIdx.x, in = 0;
  s[0][t] = a[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    s[1 - in][t] = t >= d ? s[in][t] + s[in][t - d] : s[in][t];
    in = 1 - in;
    __syncthreads();
  }
  a[t] = s[in][t];
}
// A reduction in a warp with a barrier of the warp on both sides of each write.
__global__ void warp_tail(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  if (t < 32) {
    for (int d = 32; d; d /= 2) {
      int v = s[t] + s[t + d & 63];
      __syncwarp();
      s[t] = v;
      __syncwarp();
    }
  }
  if (t == 0) a[0] = s[0];
}
// Lanes exchange by shuffles alone.
__global__ void shuffles(int *a) {
  int v = a[threadIdx.x];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) a[64 + threadIdx.x / 32] = v;
}
// The elected lane of each key's group, in an array of a row for each warp.
__global__ void leaders(int *a, const int *key) {
  unsigned m = __match_any_sync(~0u, key[threadIdx.x] & 15);
  if (__ffs(m) - 1 == threadIdx.x % 32) a[threadIdx.x / 32 * 16 + (key[threadIdx.x] & 15)] = m;
}
// A uniform condition from memory that nobody writes.
__global__ void uniform(int *a, const int *go) { if (go[blockIdx.x] > 0) __syncthreads(); a[threadIdx.x + 64 * blockIdx.x] = 1; }
// The condition is broadcast, and changed behind a barrier.
__global__ void broadcast(int *a) {
  __shared__ int more;
  if (threadIdx.x == 0) more = 3;
  __syncthreads();
  while (more > 0) {
    __syncthreads();
    if (threadIdx.x == 0) more--;
    __syncthreads();
  }
  a[threadIdx.x] = 0;
}
// __syncthreads_or decides together.
__global__ void together(int *a) {
  int i = 0;
  while (__syncthreads_or(a[threadIdx.x + 64 * i] > 0) && i < 8) { a[threadIdx.x + 64 * i] = 0; i++; }
}
// A switch whose cases write apart.
__global__ void cases(int *a) {
  switch (threadIdx.x % 4) {
  case 0: a[threadIdx.x] = 0; break;
  case 1: a[threadIdx.x + 1] = 1; break;
  case 2: a[threadIdx.x - 1] = 2; break;
  default: a[threadIdx.x] = 3;
  }
}
// All threads of a warp store one value by one instruction (tolerated by default).
__global__ void one_value(int *a, int n) { if (threadIdx.x < 32) a[0] = n; }
// Bytes of one word by four threads are apart.
__global__ void bytes(char *a) { a[threadIdx.x] = threadIdx.x; }
// Halves of a word.
__global__ void halves(short *a) { a[threadIdx.x ^ 1] = threadIdx.x; }
// A struct array, each thread one field.
struct Fields { int x, y, z, w; };
__global__ void fields(Fields *f) {
  Fields &g = f[threadIdx.x / 4];
  switch (threadIdx.x % 4) { case 0: g.x = 1; break; case 1: g.y = 2; break; case 2: g.z = 3; break; default: g.w = 4; }
}
// An atomic histogram that is read behind a barrier.
__global__ void histogram(int *out, const unsigned char *in) {
  __shared__ int h[64];
  h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[in[threadIdx.x] & 63], 1);
  __syncthreads();
  out[threadIdx.x] = h[threadIdx.x];
}
// Stream compaction with slots of a counter.
__global__ void compact(int *out, int *n, const int *in) {
  int v = in[blockIdx.x * 64 + threadIdx.x];
  if (v > 0) out[atomicAdd(n, 1)] = v;
}
// A warp's leader takes slots for its lanes.
__global__ void warp_compact(int *out, int *n, const int *in) {
  int v = in[blockIdx.x * 64 + threadIdx.x];
  unsigned m = __ballot_sync(~0u, v > 0);
  int base = 0;
  if (threadIdx.x % 32 == 0) base = atomicAdd(n, __popc(m));
  base = __shfl_sync(~0u, base, 0);
  if (v > 0) out[base + __popc(m & ((1u << threadIdx.x % 32) - 1))] = v;
}
// A column-major transpose through a padded tile.
// heddle: grid=2,2 block=16,16
__global__ void transpose(float *to, const float *from) {
  __shared__ float s[16][17];
  s[threadIdx.y][threadIdx.x] = from[(blockIdx.y * 16 + threadIdx.y) * 32 + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  to[(blockIdx.x * 16 + threadIdx.y) * 32 + blockIdx.y * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
// A grid-stride loop.
__global__ void grid_stride(int *a, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i]++; }
// Vector stores of 16 bytes a thread.
__global__ void vectors(int4 *a) { a[blockIdx.x * 64 + threadIdx.x] = make_int4(1, 2, 3, 4); }
// A local array that is indexed by data is the thread's own.
__global__ void local_table(int *a) { int v[8]; for (int i = 0; i < 8; i++) v[i] = a[threadIdx.x] * i; a[threadIdx.x] = v[a[threadIdx.x] & 7]; }
// Recursion on the thread's own part.
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursive(int *a) { a[threadIdx.x] = fib(threadIdx.x & 7); }
// A function pointer to functions that write the thread's own.
__device__ void inc(int *p) { ++*p; }
__device__ void dec(int *p) { --*p; }
__global__ void pointer(int *a, int n) { void (*f)(int *) = (int)threadIdx.x < n ? inc : dec; f(a + threadIdx.x); }
// Named barriers of a producer and a consumer, with an empty barrier.
#define SYNC(id) asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory")
#define ARRIVE(id) asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory")
__global__ void named(int *a) {
  __shared__ int s[32];
  for (int i = 0; i < 4; i++)
    if (threadIdx.x < 32) { s[threadIdx.x] = i; ARRIVE(1); SYNC(2); }
    else { SYNC(1); a[32 * i + threadIdx.x] = s[threadIdx.x - 32]; ARRIVE(2); }
}
#define SYNC_OF(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory")
#define ARRIVE_OF(id, n) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory")
// The producer waits for the other buffer's release, which comes after that of its own in the first case and before
// a release that it has waited for in the second.
__global__ void other_empty(int *a) {
  __shared__ int s[2][32];
  for (int i = 0; i < 4; i++)
    if (threadIdx.x < 32) {
      if (i > 1) SYNC_OF(3 + (i + 1 & 1), 64);
      s[i & 1][threadIdx.x] = i;
      ARRIVE_OF(1 + (i & 1), 64);
    } else {
      SYNC_OF(1 + (i & 1), 64);
      a[32 * i + threadIdx.x] = s[i & 1][threadIdx.x - 32];
      if (i < 2) ARRIVE_OF(3 + (i & 1), 64);
    }
}
// An asynchronous copy that is waited for and published.
#include <cuda_pipeline.h>
__global__ void async_copy(int *a, const int *in) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
}
