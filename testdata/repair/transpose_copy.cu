// Each tile is copied several times, as a benchmark of bandwidth does.
__global__ void copyTiles(const float *in, float *out, int width, int reps) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int n = 0; n < reps; n++) {
        for (int r = 0; r < 32; r += 8)
            tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * width + x];
        __syncthreads();
        for (int r = 0; r < 32; r += 8)
            out[(y + r) * width + x] = tile[31 - (threadIdx.y + r)][threadIdx.x];
        __syncthreads();
    }
}

void copy(const float *in, float *out) {
    copyTiles<<<dim3(32, 32), dim3(32, 8)>>>(in, out, 1024, 4);
}
