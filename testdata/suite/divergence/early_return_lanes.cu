// Some lanes return before the barrier.
// Why: not all threads of the block execute the barrier (exited threads diverge, as in GPUVerify).
// expect: bug
// heddle: grid=1 block=64 n=50
__global__ void k(int *out, int n) {
    if (threadIdx.x >= n)
        return;
    out[threadIdx.x] = 1;
    __syncthreads(); // want barrier-divergence "exited"
}
