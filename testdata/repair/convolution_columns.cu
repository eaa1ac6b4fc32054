// Columns of an image with a halo above and below.
#define RADIUS 8
__constant__ float weights[2 * RADIUS + 1];
__global__ void convolutionColumns(float *out, const float *in, int height, int pitch) {
    __shared__ float column[16][8 * 10 + 1];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 64 - 8 + threadIdx.y;
    for (int i = 0; i < 10; i++) {
        int at = y + i * 8;
        column[threadIdx.x][threadIdx.y + i * 8] = at >= 0 && at < height ? in[at * pitch + x] : 0;
    }
    __syncthreads();
    for (int i = 1; i < 9; i++) {
        float sum = 0;
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += weights[RADIUS - j] * column[threadIdx.x][threadIdx.y + i * 8 + j];
        out[(y + i * 8) * pitch + x] = sum;
    }
}

void convolve(float *out, const float *in) {
    convolutionColumns<<<dim3(192, 48), dim3(16, 8)>>>(out, in, 3072, 3072);
}
