// expect: not verified
// Critical sections with one thing wrong (PTX ISA 8.8; docs/theory/lock-step.md, "Critical sections").
__device__ int lock, lock2, locks[64];

__device__ void take(int *l) { while (atomicCAS(l, 0, 1)) {} __threadfence(); }
__device__ void give(int *l) { __threadfence(); atomicExch(l, 0); }
// No fence behind the CAS.
// heddle: grid=4 block=1
__global__ void no_acquire(int *a) { while (atomicCAS(&lock, 0, 1)) {} a[0]++; __threadfence(); atomicExch(&lock, 0); }
// No fence before the release.
// heddle: grid=4 block=1
__global__ void no_release(int *a) { take(&lock); a[0]++; atomicExch(&lock, 0); }
// A plain store frees the lock.
// heddle: grid=4 block=1
__global__ void plain_free(int *a) { take(&lock); a[0]++; __threadfence(); lock = 0; }
// Block-scoped fences between blocks.
// heddle: grid=4 block=1
__global__ void narrow(int *a) {
  while (atomicCAS(&lock, 0, 1)) {}
  __threadfence_block(); a[0]++; __threadfence_block();
  atomicExch(&lock, 0);
}
// The CAS is of the block.
// heddle: grid=4 block=1
__global__ void narrow_cas(int *a) { while (atomicCAS_block(&lock, 0, 1)) {} __threadfence(); a[0]++; give(&lock); }
// A try-lock whose result is ignored.
// heddle: grid=4 block=1
__global__ void ignored(int *a) { atomicCAS(&lock, 0, 1); __threadfence(); a[0]++; give(&lock); }
// A try-lock with the condition inverted.
// heddle: grid=4 block=1
__global__ void inverted(int *a) { if (atomicCAS(&lock, 0, 1) == 1) { __threadfence(); a[0]++; give(&lock); } }
// The bound of the spinning: who has waited too long enters.
// heddle: grid=4 block=1
__global__ void impatient(int *a) {
  for (int i = 0; i < 100 && atomicCAS(&lock, 0, 1); i++) {}
  __threadfence(); a[0]++; give(&lock);
}
// The section's last access is behind the release.
// heddle: grid=4 block=1
__global__ void late(int *a) { take(&lock); a[0]++; give(&lock); a[0]--; }
// And its first before the lock.
// heddle: grid=4 block=1
__global__ void early(int *a) { int v = a[0]; take(&lock); a[0] = v + 1; give(&lock); }
// Two locks for one datum.
// heddle: grid=4 block=1
__global__ void two_locks(int *a) { int *l = blockIdx.x & 1 ? &lock : &lock2; take(l); a[0]++; give(l); }
// The lock's index and the datum's are different functions of the key.
// heddle: grid=4 block=1
__global__ void bucket(int *a, const int *key) {
  int k = key[blockIdx.x] & 63;
  take(&locks[k]); a[k / 2]++; give(&locks[k]);
}
// The lock of one bucket is taken, that of the next is freed.
// heddle: grid=4 block=1
__global__ void frees_next(int *a) {
  int k = blockIdx.x & 63;
  take(&locks[k]); a[0]++; give(&locks[(k + 1) & 63]);
}
// The thread frees a lock that it does not hold, in the branch that did not get it.
// heddle: grid=4 block=1
__global__ void frees_always(int *a) {
  if (atomicCAS(&lock, 0, 1) == 0) { __threadfence(); a[0]++; }
  give(&lock);
}
// The leader holds the lock for its block, whose threads are not behind a barrier.
// heddle: grid=4 block=64
__global__ void for_block(int *a) {
  if (threadIdx.x == 0) take(&lock);
  a[threadIdx.x]++;
  __syncthreads();
  if (threadIdx.x == 0) give(&lock);
}
// The release comes before the barrier that the others' work needs.
// heddle: grid=4 block=64
__global__ void block_released(int *a) {
  if (threadIdx.x == 0) take(&lock);
  __syncthreads();
  a[threadIdx.x]++;
  if (threadIdx.x == 0) give(&lock);
}
// Readers do not take the lock.
// heddle: grid=4 block=1
__global__ void reader(int *a, int *out) {
  if (blockIdx.x == 0) out[0] = a[0]; else { take(&lock); a[0]++; give(&lock); }
}
// An exchange with the wrong constant: the lock is never seen taken.
// heddle: grid=4 block=1
__global__ void exchanges_zero(int *a) { while (atomicExch(&lock, 0)) {} __threadfence(); a[0]++; give(&lock); }
// A ticket lock whose second counter is increased before the work.
__device__ unsigned next, serving;
// heddle: grid=4 block=1
__global__ void ticket(int *a) {
  unsigned t = atomicAdd(&next, 1);
  while (atomicAdd(&serving, 0) != t) {}
  __threadfence();
  atomicAdd(&serving, 1);
  a[0]++;
}
// A ticket lock that waits for "at least".
// heddle: grid=4 block=1
__global__ void ticket_past(int *a) {
  unsigned t = atomicAdd(&next, 1);
  while (atomicAdd(&serving, 0) + 1 < t) {}
  __threadfence(); a[0]++; __threadfence();
  atomicAdd(&serving, 1);
}
// All lanes of a warp spin on one lock; on independent threads that is no deadlock, but the datum is not the lock's.
// heddle: grid=1 block=32
__global__ void lanes(int *a) { take(&lock); give(&lock); a[0]++; }
// A read-modify-write that is split: the CAS compares an old value and stores a plain sum.
// heddle: grid=4 block=1
__global__ void split_cas(int *a) { int old = *(volatile int *)a; if (atomicCAS(a + 1, old, old + 1) == old) a[0] = old + 1; }
// Readers are counted, the writer does not wait for them.
__device__ int readers;
// heddle: grid=4 block=1
__global__ void reader_count(int *a, int *out) {
  if (blockIdx.x == 0) { take(&lock); a[0]++; give(&lock); }
  else { atomicAdd(&readers, 1); __threadfence(); out[blockIdx.x] = a[0]; __threadfence(); atomicSub(&readers, 1); }
}
// A lock in shared memory does not keep blocks apart.
// heddle: grid=4 block=2
__global__ void shared_lock(int *a) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  bool done = false;
  while (!done) if (atomicCAS(&s, 0, 1) == 0) { __threadfence(); a[0]++; __threadfence(); atomicExch(&s, 0); done = true; }
}
// An array of locks of one byte stride... each lock is an element, the datum is shared by two keys.
// heddle: grid=4 block=1
__global__ void halved(int *a) { int k = blockIdx.x; take(&locks[k]); a[k >> 1]++; give(&locks[k]); }
// A second section of the same thread without the lock, in a later iteration.
// heddle: grid=4 block=1
__global__ void second_round(int *a, int n) {
  for (int i = 0; i < n; i++) {
    if (i == 0) take(&lock);
    a[0]++;
    if (i == 0) give(&lock);
  }
}
// CAS from 0 to 0 takes nothing.
// heddle: grid=4 block=1
__global__ void cas_zero(int *a) { while (atomicCAS(&lock, 0, 0)) {} __threadfence(); a[0]++; give(&lock); }
// A weak compare of a 64-bit lock, freed by half.
__device__ unsigned long long wide;
// heddle: grid=4 block=1
__global__ void half_free(int *a) {
  while (atomicCAS(&wide, 0ull, 1ull)) {}
  __threadfence(); a[0]++; __threadfence();
  atomicExch((unsigned *)&wide, 0);
}
