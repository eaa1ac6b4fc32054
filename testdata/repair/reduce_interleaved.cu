// A tree reduction whose stride doubles: neighbours first.
__global__ void reduceInterleaved(const int *in, int *partial, unsigned n) {
    __shared__ int sums[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0)
            sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = sums[0];
}

void reduce(const int *in, int *partial) { reduceInterleaved<<<4096, 256>>>(in, partial, 1 << 20); }
