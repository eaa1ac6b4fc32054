// One-dimensional stencil without the barrier after filling the tile.
// expect: bug

#include <cuda_runtime.h>

const int R = 3, B = 64;

__global__ void stencil(const int *in, int *out) {
    __shared__ int s[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x + R, l = threadIdx.x + R;
    s[l] = in[g]; // want race-shared "s"
    if (threadIdx.x < R) {
        s[l - R] = in[g - R]; // want race-shared "s"
        s[l + B] = in[g + B]; // want race-shared "s"
    }
    int sum = 0;
    for (int d = -R; d <= R; d++)
        sum += s[l + d]; // want race-shared "s"
    out[g] = sum;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, (4 * B + 2 * R) * sizeof(int));
    cudaMalloc(&out, (4 * B + 2 * R) * sizeof(int));
    stencil<<<4, B>>>(in, out);
    cudaDeviceSynchronize();
}
