// The same as a template of the size of a tile.
template <int SIZE>
__global__ void matmulTemplate(float *c, const float *a, const float *b, int wa, int wb) {
    __shared__ float as[SIZE][SIZE], bs[SIZE][SIZE];
    int first = wa * SIZE * blockIdx.y, last = first + wa - 1;
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int ia = first, ib = SIZE * blockIdx.x; ia <= last; ia += SIZE, ib += SIZE * wb) {
        as[ty][tx] = a[ia + wa * ty + tx];
        bs[ty][tx] = b[ib + wb * ty + tx];
        __syncthreads();
        for (int i = 0; i < SIZE; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[wb * SIZE * blockIdx.y + SIZE * blockIdx.x + wb * ty + tx] = sum;
}

void multiply(float *c, const float *a, const float *b) {
    matmulTemplate<32><<<dim3(20, 10), dim3(32, 32)>>>(c, a, b, 320, 640);
}
