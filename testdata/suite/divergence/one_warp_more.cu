// One warp executes one barrier more than the other.
// Why: the other warp has exited when the first waits at its second barrier.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __syncthreads();
    if (threadIdx.x < 32)
        __syncthreads(); // want barrier-divergence
    out[threadIdx.x] = 1;
}
