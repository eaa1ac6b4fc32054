// Two buffers, but the index is the parity of i/2: two consecutive iterations use the same buffer.
// Why: the read of iteration 0 and the write of iteration 1 access one buffer without a barrier between.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 6; i++) {
        s[(i >> 1) & 1][t] = t + i; // want race-shared
        __syncthreads();
        sum += s[(i >> 1) & 1][(t + 1) % 64]; // want race-shared
    }
    out[t] = sum;
}
