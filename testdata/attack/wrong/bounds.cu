// expect: not verified; local_frame verified local arrays; by_data verified stays in it; by_hash verified stays in it
// Accesses outside of arrays whose size is known (docs/verdicts.md: "verified").

// The loop goes one element too far, into the thread's other array.
__global__ void local_frame(int *a, int n) {
  int v[4], w[4];
  for (int i = 0; i < 4; i++) w[i] = i;
  for (int i = 0; i <= 4; i++) v[i] = i;
  a[threadIdx.x] = w[n & 3] + v[n & 3];
}
// The last thread's neighbour.
__global__ void neighbour(int *a) { __shared__ int s[64]; s[threadIdx.x + 1] = 1; __syncthreads(); a[threadIdx.x] = s[threadIdx.x]; }
// The first thread's.
__global__ void before(int *a) { __shared__ int s[64]; s[threadIdx.x] = 0; __syncthreads(); a[threadIdx.x] = s[(int)threadIdx.x - 1]; }
// A bound from an argument.
__global__ void by_argument(int *a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  int v = 0;
  for (int i = 0; i < n; i++) v += s[i];
  a[threadIdx.x] = v;
}
// An index from memory: the verdict names the access.
__global__ void by_data(int *a, const int *in) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[in[threadIdx.x]]; }
// A hash of data that is one bit too wide.
__global__ void by_hash(int *a, const unsigned *in) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[in[threadIdx.x] * 2654435761u >> 25]; }
// A pointer table: both arrays have 16 elements, the block 64 threads.
__global__ void pointers(int *a, int k) {
  __shared__ int x[16], y[16];
  int *p[2] = {x, y};
  p[k & 1][threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = x[threadIdx.x & 15];
}
// A constant table of 16.
__constant__ int table[16];
__global__ void constant_table(int *a) { a[threadIdx.x] = table[threadIdx.x]; }
// A variable of the device of 32.
__device__ int variable[32];
__global__ void device_variable() { variable[threadIdx.x] = 1; }
// The last row of a matrix is overrun.
__global__ void last_row(int *a) { __shared__ int s[4][16]; s[threadIdx.x / 16][threadIdx.x % 16 + (threadIdx.x == 63)] = 1; __syncthreads(); a[threadIdx.x] = s[0][0]; }
// Dynamic shared memory for half of the block.
// heddle: grid=1 block=64 shared=128
__global__ void dynamic_half(int *a) { extern __shared__ int d[]; d[threadIdx.x] = 1; a[threadIdx.x] = d[threadIdx.x]; }
// A local array of 4, an index from an argument.
__global__ void local_index(int *a, int n) { int v[4] = {0, 1, 2, 3}; a[threadIdx.x] = v[n]; }
// An atomic beyond the bins.
__global__ void bins(int *a) { __shared__ int s[16]; if (threadIdx.x < 16) s[threadIdx.x] = 0; __syncthreads(); atomicAdd(&s[threadIdx.x / 3], 1); __syncthreads(); a[threadIdx.x] = s[threadIdx.x & 15]; }
// 65 bytes into 64.
__global__ void copied(int *a) { __shared__ int s[16]; if (threadIdx.x == 0) memcpy(s, a, 65); __syncthreads(); a[threadIdx.x] = s[threadIdx.x & 15]; }
// A pointer that ends one behind the end, and is used there.
__global__ void past_end(char *a) { __shared__ char s[16]; if (threadIdx.x == 0) for (char *p = s; p <= s + 16; p++) *p = 0; __syncthreads(); a[threadIdx.x] = s[0]; }
// A halo of one on each side of a tile without room for it.
__global__ void halo(int *a) {
  __shared__ int s[65];
  s[threadIdx.x + 1] = a[threadIdx.x];
  if (threadIdx.x == 0) s[0] = 0;
  if (threadIdx.x == 63) s[threadIdx.x + 2] = 0;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1];
}
// An asynchronous copy of 16 bytes at the last 4 bytes of the array.
#include <cuda_pipeline.h>
__global__ void copy_end(int *a, const int4 *in) {
  alignas(16) __shared__ int s[68];
  if (threadIdx.x < 18) __pipeline_memcpy_async(s + 4 * threadIdx.x, in + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
// A negative shift of the row: unsigned arithmetic makes it huge.
__global__ void unsigned_row(int *a, unsigned r) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[(threadIdx.x & 31) + 32 * ((r & 1) - 1)]; }
