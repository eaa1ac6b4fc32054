// atomicAdd_block on one word from two blocks.
// Why: the scopes do not include each other, so the atomics are not morally strong (PTX ISA 8.7).
// expect: bug
// heddle: grid=2 block=32
__device__ int counter;
__global__ void k() {
    if (threadIdx.x == 0)
        atomicAdd_block(&counter, 1); // want race-global "counter"
}
