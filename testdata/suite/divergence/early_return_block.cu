// All threads of a block return before the barrier.
// Why: barriers are per block; no thread of the other blocks is missing.
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *out) {
    if (blockIdx.x == 1)
        return;
    out[threadIdx.x] = 1;
    __syncthreads(); // redundant: it shows divergence, and separates nothing
}
