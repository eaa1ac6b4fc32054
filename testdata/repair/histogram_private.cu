// 64 bins of one byte for each thread; then a thread adds up one bin of all.
__global__ void histogramPrivate(const unsigned *data, unsigned *partial, unsigned n) {
    __shared__ unsigned char bins[64 * 64];
    unsigned t = threadIdx.x;
    for (unsigned b = 0; b < 64; b++)
        bins[b * 64 + t] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64)
        bins[(data[i] & 63) * 64 + t]++;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < 64; i++)
        sum += bins[t * 64 + i];
    partial[blockIdx.x * 64 + t] = sum;
}

void count(const unsigned *data, unsigned *partial) {
    histogramPrivate<<<4096, 64>>>(data, partial, 1 << 22);
}
