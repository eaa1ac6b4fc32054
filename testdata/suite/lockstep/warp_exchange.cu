// Lanes exchange through shared memory without __syncwarp, on lock-step hardware.
// Why: endi orders the instructions of a warp (Barracuda §3.3.1); shared/syncwarp_missing.cu is the same kernel
// under independent scheduling.
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[31 - t];
}
