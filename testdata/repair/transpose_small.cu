// One thread for each element, with bounds.
__global__ void transposeSmall(const float *in, float *out, int width, int height) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
    if (tx < height && ty < width)
        out[ty * height + tx] = tile[threadIdx.x][threadIdx.y];
}

void transpose(const float *in, float *out) {
    transposeSmall<<<dim3(64, 32), dim3(16, 16)>>>(in, out, 1024, 512);
}
