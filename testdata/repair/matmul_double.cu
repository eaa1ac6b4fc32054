// The next tile is loaded into the other half of the buffers while this one is used.
__global__ void matmulDouble(float *c, const float *a, const float *b, int n) {
    __shared__ float as[2][16][16], bs[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    int now = 0;
    as[0][ty][tx] = a[row * n + tx];
    bs[0][ty][tx] = b[ty * n + col];
    for (int k = 16; k <= n; k += 16) {
        __syncthreads();
        if (k < n) {
            as[1 - now][ty][tx] = a[row * n + k + tx];
            bs[1 - now][ty][tx] = b[(k + ty) * n + col];
        }
        for (int i = 0; i < 16; i++)
            sum += as[now][ty][i] * bs[now][i][tx];
        now = 1 - now;
    }
    c[row * n + col] = sum;
}

void multiply(float *c, const float *a, const float *b) {
    matmulDouble<<<dim3(32, 32), dim3(16, 16)>>>(c, a, b, 512);
}
