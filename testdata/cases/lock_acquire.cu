// expect: first bug race-global; second bug race-global
// Block A enters the lock without a fence behind the CAS: its write is not ordered after what the other block
// wrote before (PTX ISA 8.9). That shows only if the other block has had the lock first, so both assignments
// of the roles to blocks are tried.
__device__ int mutex;
__device__ void critical(int *cell, bool fenced) {
  while (atomicCAS(&mutex, 0, 1)) {
  }
  if (fenced) __threadfence();
  *cell += 1;
  __threadfence();
  atomicExch(&mutex, 0);
}
// heddle: grid=2 block=1
__global__ void first(int *cell) { critical(cell, blockIdx.x != 0); }
// heddle: grid=2 block=1
__global__ void second(int *cell) { critical(cell, blockIdx.x != 1); }
