// One barrier per iteration and two buffers.
// Why: the buffer written in iteration k+1 is not the one read in k, and k+2's write is after k+1's barrier.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 6; i++) {
        s[i & 1][t] = t + i;
        __syncthreads();
        sum += s[i & 1][(t + 1) % 64];
    }
    out[t] = sum;
}
