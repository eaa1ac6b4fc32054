// Tiled matrix multiplication.

#include <cuda_runtime.h>

const int T = 16;

__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main() {
    const int n = 48;
    float *a, *b, *c;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    matmul<<<dim3(3, 3), dim3(16, 16)>>>(a, b, c, n);
    cudaDeviceSynchronize();
}
