// The same without fences.
// Why: the relaxed atomic neither releases the partial result nor acquires the others'.
// expect: bug
// heddle: grid=4 block=32
__device__ int partial[4];
__device__ unsigned count;
__global__ void k(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x; // want race-global "partial"
        last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < 4)
        out[threadIdx.x] = partial[threadIdx.x]; // want race-global "partial"
}
