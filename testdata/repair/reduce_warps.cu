// Each warp reduces by shuffles; the first one adds up what the warps found.
__global__ void reduceWarps(const int *in, int *partial, int n) {
    __shared__ int ofWarp[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int mine = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, d);
    if (t % 32 == 0)
        ofWarp[t / 32] = mine;
    __syncthreads();
    if (t < 32) {
        mine = t < blockDim.x / 32 ? ofWarp[t] : 0;
        for (int d = 16; d > 0; d /= 2)
            mine += __shfl_xor_sync(0xffffffff, mine, d);
        if (t == 0)
            partial[blockIdx.x] = mine;
    }
}

void reduce(const int *in, int *partial) { reduceWarps<<<2048, 512>>>(in, partial, 1 << 20); }
