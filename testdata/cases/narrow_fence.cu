// expect: send clean|verified, warning race-unordered-strong
// Both accesses to the message are volatile, so there is no data race (PTX ISA 8.7); the fence is of the block, so
// that the other block may read 0 all the same.
__device__ int ready;
// heddle: grid=2 block=1
__global__ void send(volatile int *message, int *out) {
  if (blockIdx.x == 0) {
    *message = 1;
    __threadfence_block();
    atomicExch(&ready, 1);
  } else {
    while (!atomicExch(&ready, 0)) {
    }
    *out = *message;
  }
}
