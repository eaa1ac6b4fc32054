// A reduction with its steps written out, as a template does for a block of 256.
__global__ void reduceUnrolled(const int *in, int *partial) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128)
        sums[t] += sums[t + 128];
    __syncthreads();
    if (t < 64)
        sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32)
        sums[t] += sums[t + 32];
    __syncthreads();
    if (t == 0) {
        int all = 0;
        for (int i = 0; i < 32; i++)
            all += sums[i];
        partial[blockIdx.x] = all;
    }
}

void reduce(const int *in, int *partial) { reduceUnrolled<<<4096, 256>>>(in, partial); }
