// expect: not verified
// Loops whose iterations meet across threads: carried values, breaks, wraps, strides that are one short.

// Stride of one less than the block: thread 63's first element is thread 0's second.
__global__ void short_stride(int *a, int n) { for (int i = threadIdx.x; i < n; i += 63) a[i] = threadIdx.x; }
// The counter is a byte: it wraps to 0 and starts over with another thread's element.
__global__ void byte_counter(int *a) {
  unsigned char i = threadIdx.x;
  for (int k = 0; k < 5; k++, i += 64) a[i] = threadIdx.x + k;
}
// A doubling counter from t+1: threads 0 and 1 meet at 2.
__global__ void doubling(int *a) { for (unsigned i = threadIdx.x + 1; i < 512; i *= 2) a[i] = threadIdx.x; }
// Halving: 2 and 3 meet at 1.
__global__ void halving(int *a) { for (unsigned i = threadIdx.x + 64; i > 0; i >>= 1) a[i] = threadIdx.x; }
// A value carried from the last iteration is written at the index of this one.
__global__ void carried(int *a, int n) {
  int at = threadIdx.x;
  for (int i = 0; i < n; i++) { a[at] = i; at = i * 64 + 63 - threadIdx.x; }
}
// Two registers swap in each iteration; after an odd number t writes its neighbour's word.
__global__ void swapped(int *a, int n) {
  int x = threadIdx.x, y = threadIdx.x ^ 1;
  for (int i = 0; i < n; i++) { int z = x; x = y; y = z; }
  a[threadIdx.x] = 1;
  a[x] = 2 + threadIdx.x;
}
// A ring of three, whose third member is the neighbour: only from the second iteration on.
__global__ void ring(int *a, int n) {
  int x = threadIdx.x, y = threadIdx.x, z = threadIdx.x ^ 1;
  for (int i = 0; i < n; i++) { a[x] = threadIdx.x; int w = x; x = y; y = z; z = w; }
}
// A break leaves the loop with an index that another thread has reached by the loop's end.
__global__ void broken(int *a, const int *in, int n) {
  int i = 0;
  for (; i < n; i++) if (in[i] == (int)threadIdx.x) break;
  a[i] = threadIdx.x;
}
// Every second iteration continues before the barrier that protects what it has read.
__global__ void skipped(int *a, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; i++) {
    s[threadIdx.x] = a[64 * i + threadIdx.x];
    __syncthreads();
    a[64 * i + threadIdx.x] = s[63 - threadIdx.x];
    if (i % 2) continue;
    __syncthreads();
  }
}
// Double buffering with the parity of i/2: two iterations use one buffer with one barrier between them.
__global__ void buffers(int *a, int n) {
  __shared__ int s[2][64];
  for (int i = 0; i < n; i++) {
    s[i / 2 % 2][threadIdx.x] = a[64 * i + threadIdx.x];
    __syncthreads();
    a[64 * i + threadIdx.x] = s[i / 2 % 2][63 - threadIdx.x];
  }
}
// Three buffers would do with the barrier every second iteration; two do not.
__global__ void seldom(int *a, int n) {
  __shared__ int s[2][64];
  for (int i = 0; i < n; i++) {
    s[i & 1][threadIdx.x] = i;
    if (i & 1) __syncthreads();
    a[64 * i + threadIdx.x] = s[i & 1][threadIdx.x ^ 32];
  }
}
// The first iteration has no barrier before its read of what the prologue wrote.
__global__ void prologue(int *a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  for (int i = 0; i < n; i++) {
    if (i > 0) __syncthreads();
    a[64 + 64 * i + threadIdx.x] = s[63 - threadIdx.x];
  }
}
// The epilogue reads what the last iteration wrote behind its barrier.
__global__ void epilogue(int *a, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; i++) {
    __syncthreads();
    s[threadIdx.x] = i;
  }
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// A tree whose last round, of stride 1, is left out of the loop and has no barrier in front.
__global__ void tree(int *a) {
  __shared__ int s[128];
  s[threadIdx.x] = s[threadIdx.x + 64] = a[threadIdx.x];
  int d = 64;
  do {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    d /= 2;
    if (d > 1) __syncthreads();
  } while (d);
  a[threadIdx.x] = s[threadIdx.x];
}
// A loop that counts down with an unsigned counter past 0: i = 2^32-1 ends by the second condition, after a[0] by all.
__global__ void past_zero(int *a) {
  for (unsigned i = threadIdx.x; i < 64; i -= 8) a[i] = threadIdx.x;
}
// Nested: the inner index ignores the outer counter, so rounds of different threads meet.
__global__ void nested(int *a, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[(threadIdx.x + i) * n + j] = threadIdx.x;
}
// The trip count differs between threads: the second loop of a fast thread meets the first of a slow one.
__global__ void uneven(int *a) {
  __shared__ int s[64];
  for (unsigned i = 0; i < threadIdx.x; i++) s[threadIdx.x] = i;
  for (unsigned i = 0; i < 64; i++) a[threadIdx.x * 64 + i] = s[i];
}
// A pointer that is incremented: the second loop starts where the first ended, one element into the neighbour.
__global__ void walking(int *a, int n) {
  int *p = a + threadIdx.x * n;
  for (int i = 0; i < n; i++) *p++ = i;
  *p = 0;
}
// Two loops of one kernel use different strides on one array with no barrier.
__global__ void strides(int *a, int n) {
  for (int i = threadIdx.x; i < n; i += 64) a[i] = i;
  for (int i = 0; i < 4; i++) a[threadIdx.x * 4 + i] += 1;
}
// A goto re-enters before the barrier: the second pass writes while others read.
__global__ void again(int *a) {
  __shared__ int s[64];
  int k = 0;
top:
  s[threadIdx.x] = k;
  __syncthreads();
  a[64 * k + threadIdx.x] = s[63 - threadIdx.x];
  if (++k < 3) goto top;
}
// The recurrence x = 5x+1 mod 64 is a permutation, x = 4x+1 is not.
__global__ void recurrence(int *a, int n) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < n; i++) x = (4 * x + 1) % 64;
  a[x] = threadIdx.x;
}
// Two thirds of a period: the phase of k modulo 3 picks a buffer, of which there are two.
__global__ void phase(int *a, int n) {
  __shared__ int s[3][64];
  for (int k = 0; k < n; k++) {
    s[k % 3 ? 1 : 0][threadIdx.x] = k;
    __syncthreads();
    a[64 * k + threadIdx.x] = s[k % 3 ? 1 : 0][63 - threadIdx.x];
  }
}
// A while loop on shared memory that is a carried value: all threads read s[0], thread 0 changes it in the same interval.
__global__ void shared_bound(int *a) {
  __shared__ int s[1];
  if (threadIdx.x == 0) s[0] = 4;
  __syncthreads();
  while (s[0] > 0) {
    if (threadIdx.x == 0) s[0]--;
    __syncthreads();
  }
  a[threadIdx.x] = 0;
}
