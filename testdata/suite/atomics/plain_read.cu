// A plain read of a counter that others add to.
// Why: the read is weak, hence not morally strong with the atomics: an atomic and a plain access race.
// expect: bug
// heddle: grid=2 block=64
__device__ int counter;
__global__ void k(int *out) {
    atomicAdd(&counter, 1); // want race-global "counter"
    out[blockIdx.x * 64 + threadIdx.x] = counter; // want race-global "counter"
}
