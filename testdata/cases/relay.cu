// expect: relay clean|verified
// A word is handed from warp to warp and block to block by relaxed atomic operations, with a fence on both sides of
// each: release and acquire patterns (PTX ISA 8.8), so that nothing races.
__device__ int turn;
__device__ void await(int n) {
  while (atomicAdd(&turn, 0) != n) {
  }
  __threadfence();
}
__device__ void pass(int n) {
  __threadfence();
  atomicExch(&turn, n);
}
// heddle: grid=2 block=33
__global__ void relay(unsigned *word) {
  if (threadIdx.x % 32) return;
  int me = 2 * blockIdx.x + threadIdx.x / 32;
  await(me);
  *word = me;
  pass(me + 1);
}
