// All threads add to one counter.
// Why: atomics of gpu scope are morally strong relative to each other.
// expect: clean
// heddle: grid=4 block=64
__device__ int counter;
__global__ void k() { atomicAdd(&counter, 1); }
