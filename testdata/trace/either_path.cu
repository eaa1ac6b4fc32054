// Both paths of a branch on the input write one place of the thread's own.
// Why: whichever is taken, the accesses are the same, and the barrier is behind them.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    float v = in[threadIdx.x];
    if (v > 0)
        s[threadIdx.x] = v * v;
    else
        s[threadIdx.x] = 1 - v;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
