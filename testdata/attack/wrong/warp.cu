// expect: not verified
// Operations of a warp: masks, lanes that are missing, and orders that they do not make (PTX ISA 9.7.13; CUDA guide 7.22).

// A shuffle orders no memory.
__global__ void shuffle_order(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __shfl_sync(~0u, 0, 0);
  a[threadIdx.x] = s[threadIdx.x ^ 1];
}
// Nor does a vote.
__global__ void vote_order(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (__all_sync(~0u, 1)) a[threadIdx.x] = s[threadIdx.x ^ 1];
}
// Nor does a match or a reduction of the warp.
__global__ void match_order(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  unsigned m = __match_any_sync(~0u, threadIdx.x & 1);
  a[threadIdx.x] = s[(threadIdx.x & 32) + __ffs(m) - 1];
}
__global__ void redux_order(int *a) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = 1;
  a[threadIdx.x] = __reduce_add_sync(~0u, 1) + s[threadIdx.x ^ 1];
}
// __syncwarp of half of the warp, and a read from the other half.
__global__ void half_mask(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncwarp(threadIdx.x & 16 ? 0xffff0000u : 0xffffu);
  a[threadIdx.x] = s[threadIdx.x ^ 16];
}
// __syncwarp orders one warp, the neighbour is in another.
__global__ void other_warp(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncwarp();
  a[threadIdx.x] = s[threadIdx.x ^ 32];
}
// Warps are cut from the linear index: a 16 x 4 block has two rows in a warp.
// heddle: grid=1 block=16,4
__global__ void rows(int *a) {
  __shared__ int s[4][16];
  s[threadIdx.y][threadIdx.x] = 1;
  __syncwarp();
  a[threadIdx.y * 16 + threadIdx.x] = s[(threadIdx.y + 2) & 3][threadIdx.x];
}
// 24 threads in a row: rows and warps do not coincide.
// heddle: grid=1 block=24,4
__global__ void odd_rows(int *a) {
  __shared__ int s[96];
  int t = threadIdx.y * 24 + threadIdx.x;
  s[t] = 1;
  __syncwarp();
  a[t] = s[threadIdx.y * 24 + (threadIdx.x + 12) % 24];
}
// The mask names lanes that take the other branch, which waits at the barrier of the block.
__global__ void missing(int *a) {
  if (threadIdx.x % 2) a[threadIdx.x] = __shfl_down_sync(~0u, 1, 1);
  __syncthreads();
}
// A mask that does not name the lane itself.
__global__ void excluded(int *a) { a[threadIdx.x] = __ballot_sync(0x7fffffffu, 1); __syncthreads(); }
// Two halves pass masks that name each other.
__global__ void disagree(int *a) {
  if (threadIdx.x & 1) __syncwarp(0xffffffffu); else __syncwarp(0x55555555u);
  __syncthreads();
  a[threadIdx.x] = 1;
}
// A loop whose trip count differs, with a full mask inside.
__global__ void uneven(int *a) {
  int v = 0;
  for (unsigned i = 0; i < threadIdx.x % 4; i++) v += __shfl_xor_sync(~0u, v, 1);
  __syncthreads();
  a[threadIdx.x] = v;
}
// The ballot is taken before the loop, the mask used after some lanes have left it.
__global__ void stale(int *a, int n) {
  unsigned m = __ballot_sync(~0u, (int)threadIdx.x < n);
  if ((int)threadIdx.x < n) {
    int v = 0;
    for (int i = 0; i < (int)threadIdx.x; i++) v += __shfl_sync(m, i, 0);
    a[threadIdx.x] = v;
  }
  __syncthreads();
}
// activemask is read before the condition that divides the lanes.
__global__ void early_active(int *a) {
  unsigned m = __activemask();
  if (threadIdx.x & 1) a[threadIdx.x] = __ballot_sync(m, 1);
  __syncthreads();
}
// Two syncwarps with one lane's detour between: the detour's write is behind the first, the read before the second.
__global__ void detour(int *a) {
  __shared__ int s[32];
  int t = threadIdx.x % 32;
  s[t] = 1;
  __syncwarp();
  if (t == 5) s[6] = 2;
  a[threadIdx.x] = s[t];
  __syncwarp();
}
// The last steps of a reduction without any barrier of the warp.
__global__ void tail(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  if (t < 32) { s[t] += s[t + 32]; s[t] += s[t ^ 16]; }
  a[t] = s[t];
}
// The same with volatile: since sm_70 the lanes need not run in lock step.
__global__ void volatile_tail(int *a) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  if (t < 16) { s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; }
  if (t == 0) a[0] = s[0];
}
// A tail of 64 lanes behind __syncwarp: two warps.
__global__ void wide_tail(int *a) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = a[t]; s[t + 64] = a[t + 64];
  __syncthreads();
  s[t] += s[t + 64];
  __syncwarp();
  int v = t < 32 ? s[t] + s[t + 32] : 0;
  a[t] = v;
}
// A reading and a writing between the same pair of syncwarps (the read must be fenced off, too).
__global__ void scan(int *a) {
  __shared__ int s[32];
  int t = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[t] = a[t];
    for (int d = 1; d < 32; d *= 2) {
      __syncwarp();
      if (t >= d) s[t] += s[t - d];
    }
    a[t] = s[t];
  }
}
// The elected lane differs: __ffs of a match mask per value, and all leaders write one word.
__global__ void leaders(int *a, const int *key) {
  unsigned m = __match_any_sync(~0u, key[threadIdx.x]);
  if (__ffs(m) - 1 == threadIdx.x % 32) a[key[threadIdx.x] & 0xff] = m;
}
// A group's count is added by one lane of each warp, plainly.
__global__ void aggregated(int *sum, const int *in) {
  unsigned m = __ballot_sync(~0u, in[threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) *sum += __popc(m);
}
// Lane 0 of a divergent branch reads what the others have written before it, without a barrier.
__global__ void branch_lane(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x % 32 == 0) {
    int sum = 0;
    for (int i = 0; i < 32; i++) sum += s[threadIdx.x + i];
    a[threadIdx.x] = sum;
  }
}
// The lanes synchronize in one branch, the writers are in the other.
__global__ void wrong_branch(int *a) {
  __shared__ int s[64];
  if (threadIdx.x & 1) s[threadIdx.x] = 1;
  else { __syncwarp(0x55555555); a[threadIdx.x] = s[threadIdx.x + 1]; }
}
// An exit of some lanes before a full barrier of the warp is allowed; what they wrote is ordered only by waiting.
__global__ void exited(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x & 1) return;
  __syncwarp();
  a[threadIdx.x] = s[threadIdx.x + 1];
}
// A vote's result is one value for the warp, not for the block: the barrier behind it diverges.
__global__ void warp_uniform(int *a) {
  if (__any_sync(~0u, a[threadIdx.x] > 0)) __syncthreads();
  a[threadIdx.x + 64] = 1;
}
// A shuffle with a width of 16 takes from the own half; the index assumes 32.
__global__ void width(int *a) { a[__shfl_sync(~0u, threadIdx.x, 1 + threadIdx.x, 16)] = 1 + threadIdx.x; }
// Shuffled from the lane above: lane 31 keeps its own, so that lanes 30 and 31 meet.
__global__ void shuffled_index(int *a) { a[__shfl_down_sync(~0u, threadIdx.x, 1)] = threadIdx.x; }
