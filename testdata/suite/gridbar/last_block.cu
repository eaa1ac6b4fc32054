// The block that arrives last reads the results of all blocks.
// Why: the last block's atomic observes all earlier ones through the chain of atomics; fences on both sides.
// expect: clean
// heddle: grid=4 block=32
__device__ int partial[4];
__device__ unsigned count;
__global__ void k(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < 4)
        out[threadIdx.x] = partial[threadIdx.x];
}
