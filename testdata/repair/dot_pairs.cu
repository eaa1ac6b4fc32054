// Several pairs of vectors, each by one round of the block, through one array of sums.
__global__ void dotPairs(const float *a, const float *b, float *c, int pairs, int length) {
    __shared__ float s[256];
    for (int v = blockIdx.x; v < pairs; v += gridDim.x) {
        float sum = 0;
        for (int i = threadIdx.x; i < length; i += 256)
            sum += a[v * length + i] * b[v * length + i];
        s[threadIdx.x] = sum;
        for (int half = 128; half > 0; half >>= 1) {
            __syncthreads();
            if (threadIdx.x < half)
                s[threadIdx.x] += s[threadIdx.x + half];
        }
        if (threadIdx.x == 0)
            c[v] = s[0];
        __syncthreads();
    }
}

void dot(const float *a, const float *b, float *c) { dotPairs<<<128, 256>>>(a, b, c, 256, 4096); }
