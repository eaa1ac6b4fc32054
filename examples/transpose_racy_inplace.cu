// Matrix transpose in place, tile by tile: blocks write tiles that others still read.

#include <cuda_runtime.h>

const int T = 16, N = 64;

__global__ void transpose(float *in) {
    __shared__ float tile[T][T + 1];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    in[y * N + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    float *in;
    cudaMalloc(&in, N * N * sizeof(float));
    transpose<<<dim3(N / T, N / T), dim3(T, T)>>>(in);
    cudaDeviceSynchronize();
}
