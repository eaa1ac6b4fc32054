// A tree reduction whose stride halves, with two loads for each thread.
__global__ void reduceSequential(const float *in, float *partial, unsigned n) {
    __shared__ float sums[512];
    unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
    float mine = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n)
        mine += in[i + blockDim.x];
    sums[t] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            sums[t] = mine = mine + sums[t + half];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = mine;
}

void reduce(const float *in, float *partial) { reduceSequential<<<1024, 512>>>(in, partial, 1 << 20); }
