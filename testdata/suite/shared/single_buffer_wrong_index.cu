// Two buffers, but the parity is taken of i/2: two iterations in a row use one buffer.
// Why: read of iteration 0 and write of iteration 1 touch one buffer without a barrier between.
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
