// All threads of a warp return before the barrier.
// Why: as early_return_lanes.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    if (threadIdx.x >= 32)
        return;
    out[threadIdx.x] = 1;
    __syncthreads(); // want barrier-divergence "exited"
}
