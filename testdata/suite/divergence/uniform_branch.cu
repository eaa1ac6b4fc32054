// A barrier under a condition that is the same for all threads of the block.
// Why: either all threads execute it or none does.
// expect: clean
// heddle: grid=2 block=64 n=1
__global__ void k(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (n > 0) {
        __syncthreads();
        out[blockIdx.x * 64 + t] = s[63 - t];
    }
}
