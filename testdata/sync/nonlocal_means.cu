// heddle: grid=2x2 block=8x8
// sync: 1
__global__ void denoise(float *dst, const float *image, int width, float noise)
{
    __shared__ float weights[64];
    int cx = blockIdx.x * 8 + 4, cy = blockIdx.y * 8 + 4;
    float w = 0;
    for (int n = -2; n <= 2; n++)
        for (int m = -2; m <= 2; m++) {
            float d = image[(cy + n) * width + cx + m] - image[(cy + threadIdx.y - 4 + n) * width + cx + threadIdx.x - 4 + m];
            w += d * d;
        }
    weights[threadIdx.y * 8 + threadIdx.x] = w * noise;
    __syncthreads();
    float sum = 0, all = 0;
    int at = 0;
    for (int i = -4; i < 4; i++)
        for (int j = -4; j < 4; j++) {
            float v = weights[at & 63];
            at++;
            sum += v;
            all += v * image[(cy + i) * width + cx + j];
        }
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    dst[y * 16 + x] = all / sum;
}
