// A loop with a barrier has the same number of iterations for all threads.
// Why: all threads are at the same barrier in every iteration.
// expect: clean
// heddle: grid=1 block=64 n=5
__global__ void k(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    for (int i = 0; i < n; i++) {
        __syncthreads();
        int v = s[(t + i) % 64];
        __syncthreads();
        s[t] = v;
    }
    out[t] = s[t];
}
