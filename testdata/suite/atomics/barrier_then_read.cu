// The block adds, passes a barrier, and reads plainly.
// Why: the barrier orders the atomics before the read.
// expect: clean
// heddle: grid=1 block=64
__device__ int counter;
__global__ void k(int *out) {
    atomicAdd(&counter, 1);
    __syncthreads();
    out[threadIdx.x] = counter;
}
