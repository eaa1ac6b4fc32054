// Two warps pass different __syncthreads, each warp whole.
// Why: barrier 0 is one resource whatever the instruction; warps may use different forms of it by the same name
// and count (PTX ISA 9.7.13.1).
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        __syncthreads();
        out[t] = s[t + 32];
    } else {
        __syncthreads();
        out[t] = s[t - 32];
    }
}
