// The update of a tile by its row and its column.
__global__ void luInner(float *m, int n, int first) {
    __shared__ float row[16][16], col[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int y = first + (blockIdx.y + 1) * 16 + ty, x = first + (blockIdx.x + 1) * 16 + tx;
    row[ty][tx] = m[(first + ty) * n + x];
    col[ty][tx] = m[y * n + first + tx];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 16; i++)
        sum += col[ty][i] * row[i][tx];
    m[y * n + x] -= sum;
}

void update(float *m) { luInner<<<dim3(31, 31), dim3(16, 16)>>>(m, 512, 0); }
