// A loop with one barrier: the read of one iteration races with the write of the next.
// Why: the barrier separates the write and the read of an iteration, but nothing separates read k from write k+1.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) {
        s[t] = t + i; // want race-shared
        __syncthreads();
        sum += s[(t + 1) % 64]; // want race-shared
    }
    out[t] = sum;
}
