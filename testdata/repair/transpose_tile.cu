// A tile is read by rows and written by columns, eight rows of threads for 32 rows of data.
#define TILE 32
#define ROWS 8
__global__ void transposeTile(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS)
        tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS)
        out[(y + r) * height + x] = tile[threadIdx.x][threadIdx.y + r];
}

void transpose(const float *in, float *out) {
    dim3 grid(1024 / TILE, 1024 / TILE), block(TILE, ROWS);
    transposeTile<<<grid, block>>>(in, out, 1024, 1024);
}
