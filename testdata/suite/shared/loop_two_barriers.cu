// The same loop with a second barrier.
// Why: every conflicting pair has a barrier between.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) {
        s[t] = t + i;
        __syncthreads();
        sum += s[(t + 1) % 64];
        __syncthreads();
    }
    out[t] = sum;
}
