// One-dimensional stencil without the barrier between filling and reading the tile.

#include <cuda_runtime.h>

const int R = 3, B = 64;

__global__ void stencil(const int *in, int *out) {
    __shared__ int s[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x + R, l = threadIdx.x + R;
    s[l] = in[g];
    if (threadIdx.x < R) {
        s[l - R] = in[g - R];
        s[l + B] = in[g + B];
    }
    int sum = 0;
    for (int d = -R; d <= R; d++)
        sum += s[l + d];
    out[g] = sum;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, (4 * B + 2 * R) * sizeof(int));
    cudaMalloc(&out, (4 * B + 2 * R) * sizeof(int));
    stencil<<<4, B>>>(in, out);
    cudaDeviceSynchronize();
}
