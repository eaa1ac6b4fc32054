// A reduction that leaves the last 32 sums to the shuffles of one warp.
__global__ void reduceShuffle(const float *in, float *partial, unsigned n) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x;
    float mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    sums[t] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half >= 32; half >>= 1) {
        if (t < half)
            sums[t] = mine = mine + sums[t + half];
        __syncthreads();
    }
    if (t < 32) {
        for (int d = 16; d > 0; d /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, d);
        if (t == 0)
            partial[blockIdx.x] = mine;
    }
}

void reduce(const float *in, float *partial) { reduceShuffle<<<64, 256>>>(in, partial, 1 << 22); }
