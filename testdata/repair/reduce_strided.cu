// The same with contiguous indices: each active thread multiplies its number by the stride.
__global__ void reduceStrided(const int *in, int *partial, unsigned n) {
    __shared__ int sums[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned at = 2 * stride * t;
        if (at < blockDim.x)
            sums[at] += sums[at + stride];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = sums[0];
}

void reduce(const int *in, int *partial) { reduceStrided<<<4096, 256>>>(in, partial, 1 << 20); }
