// Direction numbers of one dimension go to shared memory; each thread then makes its points.
__global__ void sobolVectors(const unsigned *directions, unsigned *out, unsigned vectors) {
    __shared__ unsigned v[32];
    if (threadIdx.x < 32)
        v[threadIdx.x] = directions[blockIdx.y * 32 + threadIdx.x];
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        unsigned x = 0;
        for (unsigned b = 0; b < 32; b++)
            if ((i ^ i >> 1) >> b & 1)
                x ^= v[b];
        out[blockIdx.y * vectors + i] = x;
    }
}

void points(const unsigned *directions, unsigned *out) {
    sobolVectors<<<dim3(16, 100), 64>>>(directions, out, 65536);
}
