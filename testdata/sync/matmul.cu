// heddle: grid=2x2 block=16x16
// sync: 2
#define N 16
__global__ void matmul(float *C, const float *A, const float *B, int tiles, int width)
{
    __shared__ float As[N][N], Bs[N][N];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        As[ty][tx] = A[(blockIdx.y * N + ty) * width + t * N + tx];
        Bs[ty][tx] = B[(t * N + ty) * width + blockIdx.x * N + tx];
        __syncthreads();
        for (int k = 0; k < N; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[(blockIdx.y * N + ty) * 32 + blockIdx.x * N + tx] = sum;
}
