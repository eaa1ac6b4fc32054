// expect: not verified; sizes verified aligned
// Values that a proof may take for equal, known or uniform, and that are not.

// Two reads of one word around another thread's atomic.
__global__ void around_atomic(int *a, int *n) {
  int x = *(volatile int *)n;
  atomicAdd(n, 1);
  int y = *(volatile int *)n;
  a[y - x + threadIdx.x] = 1;
}
// A value read back after a store through another pointer of the same thread.
__global__ void read_back(int *a, int *b, int i, int j) {
  __shared__ int s[64];
  s[i & 63] = 0;
  s[j & 63] = 1;
  if (s[i & 63] == 0) a[0] = threadIdx.x;
}
// A uniform value that was stored by each thread of a warp: equal values are tolerated, the index behind it is not.
__global__ void uniform_store(int *a, int n) {
  __shared__ int s;
  s = n;
  __syncthreads();
  a[threadIdx.x * s] = threadIdx.x;
}
// The barrier's condition is loaded, and another thread stores to it in the same interval.
__global__ void loaded_condition(int *a) {
  __shared__ int go;
  if (threadIdx.x == 0) go = 1;
  __syncthreads();
  if (threadIdx.x == 0) go = 0;
  if (go) __syncthreads();
  a[threadIdx.x] = 1;
}
// The condition is volatile: two threads may read different values, without a data race.
__global__ void volatile_condition(int *a, volatile int *go) {
  if (*go) __syncthreads();
  a[threadIdx.x] = 1;
  if (threadIdx.x == 0) *go = 0;
}
// The clock is no uniform value.
__global__ void clocked(int *a) { if (clock() & 1) __syncthreads(); a[threadIdx.x] = 1; }
// Neither is the number of the multiprocessor or of the warp's slot.
__global__ void by_warpid(int *a) {
  unsigned w;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(w));
  a[w] = threadIdx.x;
}
__global__ void by_smid(int *a) {
  unsigned m;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(m));
  a[m * 64 + threadIdx.x] = blockIdx.x;
}
// An uninitialized variable.
__global__ void uninitialized(int *a, int n) {
  int i;
  if (threadIdx.x < n) i = threadIdx.x;
  a[i] = threadIdx.x;
}
// Uninitialized shared memory is uniform, and may be 0.
__global__ void uninitialized_shared(int *a) { __shared__ int s; a[s * threadIdx.x] = threadIdx.x; }
// Division by zero yields the same for all, whatever that is.
__global__ void by_zero(int *a, int n) { a[threadIdx.x / (n - n)] = threadIdx.x; }
// A float comparison with NaN is false both ways.
__global__ void not_a_number(int *a, float x) {
  int t = threadIdx.x;
  if (x < 0.f) a[t] = 1; else if (x >= 0.f) a[t] = 2; else a[0] = t;
}
// The sine of two angles.
__global__ void sine(int *a) { a[(int)(63 * __sinf(threadIdx.x))] = threadIdx.x; }
// A loop's trip count is loaded from an array that the loop itself changes.
__global__ void changing_bound(int *a) {
  for (int i = 0; i < a[0]; i++) { a[1 + 64 * i + threadIdx.x] = i; if (threadIdx.x == 0) a[0]--; }
}
// A value carried through local memory, at an index from outside.
__global__ void through_local(int *a, int k) {
  int v[4] = {0, 1, 2, (int)threadIdx.x};
  a[v[k & 3]] = threadIdx.x;
}
// The local array is overwritten by a neighbour's index.
__global__ void local_shift(int *a, int k) {
  int v[8];
  for (int i = 0; i < 8; i++) v[i] = threadIdx.x + i;
  a[v[k & 7] - (k & 3)] = threadIdx.x;
}
// A struct returned by value, with the fields exchanged in one of two returns.
struct Range { int from, to; };
__device__ Range range(int t, bool turned) { if (turned) return Range{t + 1, t}; return Range{t, t + 1}; }
__global__ void returned(int *a, int n) { Range r = range(threadIdx.x, threadIdx.x == (unsigned)n); a[r.from] = threadIdx.x; }
// An array passed by value and changed in the callee.
struct Table { int v[4]; };
__device__ int change(Table t, int i) { t.v[i] = 0; return t.v[i & 2]; }
__global__ void by_value(int *a, int i) { Table t = {{(int)threadIdx.x, 1, (int)threadIdx.x, 3}}; a[change(t, i & 3)] = threadIdx.x; }
// sizeof an int is not one.
__global__ void sizes(char *a) { *(int *)(a + threadIdx.x) = threadIdx.x; }
// A static local variable is one for all threads.
__global__ void static_local(int *a) { static __device__ int n; n++; a[threadIdx.x] = n; }
// A dependence through a bit that looks constant: 1 & (t*t + t) is always 0, (t*t + t) / 2 & 1 is not.
__global__ void parity(int *a) { unsigned t = threadIdx.x; a[(t * t + t) / 2 & 1 ? t : t & ~1u] = t; }
// Equal hash of two keys.
__global__ void hashed(int *a, const unsigned *key) { a[key[threadIdx.x] * 2654435761u >> 26] = threadIdx.x; }
// Saturation of a half-word: 40000 and 50000 both become 32767.
__global__ void saturated(int *a) {
  int v;
  asm("cvt.sat.s16.s32 %0, %1;" : "=r"(v) : "r"((int)threadIdx.x + 32740));
  a[v - 32740] = threadIdx.x;
}
// The carry of an addition.
__global__ void carry(int *a) {
  unsigned lo, hi;
  asm("add.cc.u32 %0, %2, 0xffffffff; addc.u32 %1, 0, 0;" : "=r"(lo), "=r"(hi) : "r"(threadIdx.x));
  a[hi] = threadIdx.x;
}
// Bytes permuted: the selector takes byte 0 four times.
__global__ void permuted(int *a) { a[__byte_perm(threadIdx.x * 0x01000001u, 0, 0x4440) & 31] = threadIdx.x; }
// lop3 with the table of "b": the thread's index is dropped.
__global__ void logic(int *a, unsigned n) {
  unsigned r;
  asm("lop3.b32 %0, %1, %2, %1, 0xcc;" : "=r"(r) : "r"(threadIdx.x), "r"(n));
  a[r] = threadIdx.x;
}
// A shift by 32 and more gives 0 in PTX.
__global__ void shifted_out(int *a, unsigned n) {
  unsigned r;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(threadIdx.x), "r"(n));
  a[r] = threadIdx.x;
}
// bfe of 0 bits is 0.
__global__ void no_bits(int *a, unsigned n) {
  unsigned r;
  asm("bfe.u32 %0, %1, 0, %2;" : "=r"(r) : "r"(threadIdx.x), "r"(n));
  a[r] = threadIdx.x;
}
