// One thread resets a counter that others add to.
// Why: PTX ISA 9.7.13.5: atomicity with respect to plain stores is not guaranteed; the store is weak.
// expect: bug
// heddle: grid=2 block=64
__device__ int counter;
__global__ void k() {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        counter = 0; // want race-global "counter"
    atomicAdd(&counter, 1); // want race-global "counter"
}
