// Matrix transpose without the barrier between filling the tile and reading it.

#include <cuda_runtime.h>

const int T = 16, N = 64;

__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[T][T + 1];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    out[y * N + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, N * N * sizeof(float));
    cudaMalloc(&out, N * N * sizeof(float));
    transpose<<<dim3(N / T, N / T), dim3(T, T)>>>(in, out);
    cudaDeviceSynchronize();
}
