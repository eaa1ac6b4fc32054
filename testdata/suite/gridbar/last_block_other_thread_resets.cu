// Not the thread whose atomic was last resets the counter, but another one, without a barrier between the two.
// Why: the rule of causality order (PTX ISA 8.9.5) needs an order between the atomic that observed and the store.
// expect: bug
// heddle: grid=4 block=64
__device__ unsigned count;
__device__ volatile int told;
__global__ void k() {
    if (threadIdx.x == 0 && atomicInc(&count, gridDim.x) == gridDim.x - 1) // want race-global "count"
        told = blockIdx.x + 1;
    if (threadIdx.x == 40 && blockIdx.x == 2) {
        while (told == 0) {}
        count = 0; // want race-global "count"
    }
}
