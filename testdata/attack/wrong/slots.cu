// expect: not verified
// Results of atomics that are taken for different ones, and are not (internal/lockstep/thread/slots.go).
__device__ int count, counts[64];
__device__ unsigned ucount;

// Additions of 0 return the same number.
__global__ void adds_zero(int *a) { a[atomicAdd(&count, 0)] = threadIdx.x; }
// Additions of +1 and -1.
__global__ void up_down(int *a) { a[atomicAdd(&count, threadIdx.x & 1 ? 1 : -1)] = threadIdx.x; }
// The counter is decremented at the end: others may take the slot again.
__global__ void returned(int *a) { int i = atomicAdd(&count, 1); a[i] = threadIdx.x; atomicSub(&count, 1); }
// Each thread takes two elements and adds one.
__global__ void two_each(int *a) { int i = atomicAdd(&count, 1); a[i] = 1; a[i + 1] = threadIdx.x; }
// Counters of 64 bins, and one output.
__global__ void bins(int *a) { int i = atomicAdd(&counts[threadIdx.x & 7], 1); a[i] = threadIdx.x; }
// Slots modulo a capacity.
__global__ void ring(int *a) { a[atomicAdd(&count, 1) & 31] = threadIdx.x; }
// atomicInc wraps at its bound.
__global__ void wraps(int *a) { a[atomicInc(&ucount, 31)] = threadIdx.x; }
// atomicDec from 0 returns its bound, and comes around.
__global__ void down(int *a) { a[atomicDec(&ucount, 20)] = threadIdx.x; }
// atomicMax returns what was there: the same for many.
__global__ void maximum(int *a) { a[atomicMax(&count, (int)threadIdx.x)] = threadIdx.x; }
// The result of an exchange of the own index is a chain, in which the first value may occur.
__global__ void exchanged(int *a) { a[atomicExch(&count, threadIdx.x / 2)] = threadIdx.x; }
// A counter in shared memory, and an array in global memory: two blocks take slot 0.
// heddle: grid=2 block=64
__global__ void shared_counter(int *a) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  a[atomicAdd(&n, 1)] = blockIdx.x;
}
// The counter is reset between two rounds, and the second round's slots are the first's.
__global__ void reset(int *a) {
  __shared__ int n;
  for (int r = 0; r < 2; r++) {
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    int i = atomicAdd(&n, 1);
    a[i] = threadIdx.x;
  }
}
// A strong reset lies between two additions of one interval without a race.
__global__ void strong_reset(int *a) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  int i = atomicAdd(&n, 1);
  if (threadIdx.x == 40) *(volatile int *)&n = 0;
  a[i] = threadIdx.x;
}
// An atomic reset does the same.
__global__ void atomic_reset(int *a) {
  int i = atomicAdd(&count, 1);
  if (i == 40) atomicExch(&count, 0);
  a[i] = threadIdx.x;
}
// A warp's leader takes 32 slots, and lanes use 64.
__global__ void warp_slots(int *a) {
  int base = 0;
  if (threadIdx.x % 32 == 0) base = atomicAdd(&count, 32);
  base = __shfl_sync(~0u, base, 0);
  a[base + 2 * (threadIdx.x % 32)] = threadIdx.x;
}
// The same with the leader's result not shuffled.
__global__ void warp_own(int *a) {
  int base = 0;
  if (threadIdx.x % 32 == 0) base = atomicAdd(&count, 32);
  a[base + threadIdx.x % 32] = threadIdx.x;
}
// A counter of a byte in a word: additions of 256 to the word are 1 to the byte, 255 more and it carries.
__global__ void byte_of_word(int *a) { a[atomicAdd(&count, 256) >> 12] = threadIdx.x; }
// The addition is guarded, the use is not.
__global__ void guarded(int *a, const int *in) {
  int i = 0;
  if (in[threadIdx.x] > 0) i = atomicAdd(&count, 1);
  a[i] = threadIdx.x;
}
// One counter through two types: 64 bits and its lower half.
__device__ unsigned long long wide;
__global__ void two_widths(int *a) {
  int i = threadIdx.x & 1 ? (int)atomicAdd(&wide, 1ull) : (int)atomicAdd((unsigned *)&wide, 1u);
  atomicAdd((unsigned *)&wide, (unsigned)-1);
  a[i] = threadIdx.x;
}
// The counter is the array's first element, and slot 0 is written by who comes first.
__global__ void in_array(int *a) { int i = atomicAdd(a, 1); a[i] = threadIdx.x; }
// A queue: slots of the front are read while those of the back are written, with no order between them.
__device__ int front, back;
__global__ void queue(int *q, int *out) {
  if (threadIdx.x < 32) q[atomicAdd(&back, 1)] = threadIdx.x;
  else out[threadIdx.x] = q[atomicAdd(&front, 1)];
}
// A stack: push and pop meet at the top.
__global__ void stack(int *q, int *out) {
  if (threadIdx.x < 32) q[atomicAdd(&count, 1)] = threadIdx.x;
  else out[threadIdx.x] = q[atomicSub(&count, 1) - 1];
}
// Half of the threads add floats: not a slot.
__device__ float fcount;
__global__ void floats(int *a) { a[(int)atomicAdd(&fcount, 0.5f)] = threadIdx.x; }
// 2^24 is where a float counter sticks.
__global__ void float_sticks(int *a) { a[(int)atomicAdd(&fcount, 1.f)] = threadIdx.x; }
// An addition of 2^31 comes back after two.
__global__ void half_range(int *a) { a[atomicAdd(&ucount, 0x80000000u) >> 31] = threadIdx.x; }
// Two counters are fields of one struct reached by two pointers of the host; one is reset by a plain store of another block.
// heddle: grid=2 block=64
__global__ void plain_reset(int *a, int *n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *n = 0;
  int i = atomicAdd(n, 1);
  a[i] = threadIdx.x;
}
// A min of the index with the capacity: all that do not fit write the last slot.
__global__ void capped(int *a, int n) { a[min(atomicAdd(&count, 1), n)] = threadIdx.x; }
// CAS loop that takes a slot only if the capacity allows, without checking who won.
__global__ void cas_slot(int *a) { int old = count; atomicCAS(&count, old, old + 1); a[old] = threadIdx.x; }
