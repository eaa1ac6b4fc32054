// Bins in shared memory, updated by atomics and added to those of the grid.
__global__ void histogramAtomic(const unsigned char *data, unsigned *bins, unsigned n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

void count(const unsigned char *data, unsigned *bins) {
    histogramAtomic<<<240, 256>>>(data, bins, 1 << 24);
}
