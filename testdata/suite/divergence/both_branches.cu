// The halves of a warp execute different __syncthreads.
// Why: an aligned barrier must be one instruction for all threads of a warp.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 1;
        __syncthreads(); // want barrier-divergence
    } else {
        __syncthreads(); // want barrier-divergence
        out[threadIdx.x] = 2;
    }
}
