// Adds up the partial histograms of all blocks, one bin for each block.
__global__ void histogramMerge(unsigned *bins, const unsigned *partial, unsigned count) {
    __shared__ unsigned s[256];
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += 256)
        sum += partial[blockIdx.x + i * 256];
    s[threadIdx.x] = sum;
    for (unsigned half = 128; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        bins[blockIdx.x] = s[0];
}

void merge(unsigned *bins, const unsigned *partial) { histogramMerge<<<256, 256>>>(bins, partial, 240); }
