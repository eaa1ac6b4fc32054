// heddle: grid=2 block=8x16
// sync: 1
#define R 4
__global__ void columns(float *dst, const float *src, const float *weight, int pitch)
{
    __shared__ float tile[16 + 2 * R][8];
    int x = blockIdx.x * 8 + threadIdx.x;
    tile[threadIdx.y + R][threadIdx.x] = src[threadIdx.y * pitch + x];
    if (threadIdx.y < R) {
        tile[threadIdx.y][threadIdx.x] = 0;
        tile[threadIdx.y + 16 + R][threadIdx.x] = 0;
    }
    __syncthreads();
    float sum = 0;
    for (int j = -R; j <= R; j++)
        sum += weight[R - j] * tile[threadIdx.y + R + j][threadIdx.x];
    dst[(blockIdx.y * 16 + threadIdx.y) * 16 + x] = sum;
}
