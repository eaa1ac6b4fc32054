// A lock between blocks with __threadfence_block.
// Why: scope cta does not reach the other blocks.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    counter = counter + 1; // want race-global "counter"
    __threadfence_block();
    atomicExch(&lock, 0);
}
