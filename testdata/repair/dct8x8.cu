// The cosine transform of blocks of 8 x 8: rows, then columns.
__constant__ float basis[8][8];
__global__ void dct8x8(float *out, const float *in, int pitch) {
    __shared__ float block[8][8], half[8][8];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * pitch + blockIdx.x * 8 + x;
    block[y][x] = in[at];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += basis[i][x] * block[y][i];
    half[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += basis[i][y] * half[i][x];
    out[at] = sum;
}

void transform(float *out, const float *in) { dct8x8<<<dim3(64, 64), dim3(8, 8)>>>(out, in, 512); }
