// Rows of an image and a halo on both sides.
#define RADIUS 8
__constant__ float weights[2 * RADIUS + 1];
__global__ void convolutionRows(float *out, const float *in, int width) {
    __shared__ float row[4][16 * 8 + 2 * 16];
    int x = blockIdx.x * 128 - 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    for (int i = 0; i < 10; i++) {
        int at = x + i * 16;
        row[threadIdx.y][threadIdx.x + i * 16] = at >= 0 && at < width ? in[y * width + at] : 0;
    }
    __syncthreads();
    for (int i = 1; i < 9; i++) {
        float sum = 0;
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += weights[RADIUS - j] * row[threadIdx.y][threadIdx.x + i * 16 + j];
        out[y * width + x + i * 16] = sum;
    }
}

void convolve(float *out, const float *in) {
    convolutionRows<<<dim3(24, 768), dim3(16, 4)>>>(out, in, 3072);
}
