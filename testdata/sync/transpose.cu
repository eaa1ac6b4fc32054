// heddle: grid=2x2 block=16x16
// sync: 1
#define N 16
__global__ void transpose(float *out, const float *in)
{
    __shared__ float tile[N][N + 1];
    int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * 32 + x];
    __syncthreads();
    x = blockIdx.y * N + threadIdx.x;
    y = blockIdx.x * N + threadIdx.y;
    out[y * 32 + x] = tile[threadIdx.x][threadIdx.y];
}
