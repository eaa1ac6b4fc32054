// C = A * B by tiles of 16 x 16.
__global__ void matmulTile(float *c, const float *a, const float *b, int wa, int wb) {
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k = 0; k < wa; k += 16) {
        as[ty][tx] = a[row * wa + k + tx];
        bs[ty][tx] = b[(k + ty) * wb + col];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[row * wb + col] = sum;
}

void multiply(float *c, const float *a, const float *b) {
    matmulTile<<<dim3(20, 10), dim3(16, 16)>>>(c, a, b, 320, 320);
}
