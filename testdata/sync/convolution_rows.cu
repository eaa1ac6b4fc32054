// heddle: grid=4 block=64
// sync: 1
#define R 8
__global__ void rows(float *dst, const float *src, const float *weight, int pitch)
{
    __shared__ float line[64 + 2 * R];
    int x = blockIdx.x * 64 + threadIdx.x;
    int row = blockIdx.y * pitch;
    line[threadIdx.x + R] = src[row + x];
    if (threadIdx.x < R) {
        line[threadIdx.x] = x >= R ? src[row + x - R] : 0;
        line[threadIdx.x + 64 + R] = x + 64 < pitch ? src[row + x + 64] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int j = -R; j <= R; j++)
        sum += weight[R - j] * line[threadIdx.x + R + j];
    dst[row + x] = sum;
}
