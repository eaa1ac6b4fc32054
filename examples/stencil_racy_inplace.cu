// One-dimensional stencil in place: each block reads a halo that its neighbors write.

#include <cuda_runtime.h>

const int R = 3, B = 64;

__global__ void stencil(int *a) {
    __shared__ int s[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x + R, l = threadIdx.x + R;
    s[l] = a[g];
    if (threadIdx.x < R) {
        s[l - R] = a[g - R];
        s[l + B] = a[g + B];
    }
    __syncthreads();
    int sum = 0;
    for (int d = -R; d <= R; d++)
        sum += s[l + d];
    a[g] = sum;
}

int main() {
    int *a;
    cudaMalloc(&a, (4 * B + 2 * R) * sizeof(int));
    stencil<<<4, B>>>(a);
    cudaDeviceSynchronize();
}
