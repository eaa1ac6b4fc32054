// expect: not verified
// Named barriers and barriers with counts (PTX ISA 9.7.13.1).
#define SYNC(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory")
#define ARRIVE(id, n) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory")

// The producer arrives before it writes.
__global__ void arrive_first(int *a) {
  __shared__ int s[32];
  if (threadIdx.x < 32) { ARRIVE(1, 64); s[threadIdx.x] = 1; }
  else { SYNC(1, 64); a[threadIdx.x] = s[threadIdx.x - 32]; }
}
// The consumer's side arrives and reads on.
__global__ void consumer_arrives(int *a) {
  __shared__ int s[32];
  if (threadIdx.x < 32) { s[threadIdx.x] = 1; SYNC(1, 64); }
  else { ARRIVE(1, 64); a[threadIdx.x] = s[threadIdx.x - 32]; }
}
// Two barriers, and the second is awaited where the first was meant.
__global__ void ids(int *a) {
  __shared__ int s[32];
  if (threadIdx.x < 32) { ARRIVE(1, 64); s[threadIdx.x] = 1; ARRIVE(2, 64); }
  else { SYNC(1, 64); a[threadIdx.x] = s[threadIdx.x - 32]; SYNC(2, 64); }
}
// The count is that of one warp: the barrier does not wait for the other.
__global__ void one_warp(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  SYNC(1, 32);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// A barrier for each warp.
__global__ void each_warp(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  SYNC(1 + threadIdx.x / 32, 32);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// The count exceeds the block: nobody comes.
__global__ void too_many(int *a) { SYNC(1, 96); a[threadIdx.x] = 1; }
// The consumer waits twice, the producer arrives once.
__global__ void waits_twice(int *a) {
  if (threadIdx.x < 32) ARRIVE(1, 64);
  else { SYNC(1, 64); SYNC(1, 64); }
  a[threadIdx.x] = 1;
}
// The order of two barriers is crossed.
__global__ void crossed(int *a) {
  if (threadIdx.x < 32) { SYNC(1, 64); SYNC(2, 64); } else { SYNC(2, 64); SYNC(1, 64); }
  a[threadIdx.x] = 1;
}
// A ring of two buffers with one "full" barrier and no "empty" one.
__global__ void no_empty(int *a, int n) {
  __shared__ int s[2][32];
  for (int i = 0; i < 4; i++)
    if (threadIdx.x < 32) { s[i & 1][threadIdx.x] = i; ARRIVE(1, 64); }
    else { SYNC(1, 64); a[32 * i + threadIdx.x] = s[i & 1][threadIdx.x - 32]; }
}
// Full and empty for each buffer, but the consumer releases the buffer before it reads it.
__global__ void early_empty(int *a) {
  __shared__ int s[2][32];
  for (int i = 0; i < 4; i++)
    if (threadIdx.x < 32) {
      if (i > 1) SYNC(3 + (i & 1), 64);
      s[i & 1][threadIdx.x] = i;
      ARRIVE(1 + (i & 1), 64);
    } else {
      SYNC(1 + (i & 1), 64);
      if (i < 2) ARRIVE(3 + (i & 1), 64);
      a[32 * i + threadIdx.x] = s[i & 1][threadIdx.x - 32];
    }
}
// bar.red counts 64 threads, of which 32 take part.
__global__ void red_half(int *a) {
  int v = 1;
  if (threadIdx.x < 32) v = __syncthreads_count(a[threadIdx.x]);
  a[threadIdx.x] = v;
}
// __syncthreads_or in a loop that ends by its own thread's value instead of the common one.
__global__ void own_value(int *a) {
  int more = 1;
  for (int i = 0; more && i < 8; i++) {
    __syncthreads_or(a[threadIdx.x + i]);
    more = a[threadIdx.x + i];
  }
}
// The barrier 0 with a count of half of the block.
__global__ void zero_half(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  SYNC(0, 32);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// The count comes from an input.
__global__ void given_count(int *a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  SYNC(0, n);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// The id comes from the thread.
__global__ void own_id(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  SYNC(threadIdx.x & 1, 64);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// blockDim.x as the count of a two-dimensional block.
// heddle: grid=1 block=32,2
__global__ void row_count(int *a) {
  __shared__ int s[2][32];
  s[threadIdx.y][threadIdx.x] = 1;
  SYNC(0, blockDim.x);
  a[threadIdx.y * 32 + threadIdx.x] = s[1 - threadIdx.y][threadIdx.x];
}
// A predicated barrier in assembly, whose predicate is the thread's.
__global__ void predicated(int *a, int n) {
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p bar.sync 0; }" ::"r"((int)threadIdx.x), "r"(n) : "memory");
  a[threadIdx.x] = 1;
}
// A barrier without a "memory" clobber: the source's store is behind it for the compiler, the race is in what is written.
__global__ void no_clobber(int *a) {
  __shared__ int s[64];
  asm volatile("bar.sync 0;");
  s[threadIdx.x] = 1;
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// bar.warp.sync in assembly, in one of two arms, with the whole mask.
__global__ void asm_warp(int *a) {
  if (threadIdx.x & 1) asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  __syncthreads();
  a[threadIdx.x] = 1;
}
