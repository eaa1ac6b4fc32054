// One-dimensional stencil in place: blocks read the halo that their neighbours write.
// expect: bug

#include <cuda_runtime.h>

const int R = 3, B = 64;

__global__ void stencil(int *a) {
    __shared__ int s[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x + R, l = threadIdx.x + R;
    s[l] = a[g];
    if (threadIdx.x < R) {
        s[l - R] = a[g - R]; // want race-global "inter-block"
        s[l + B] = a[g + B]; // want race-global "inter-block"
    }
    __syncthreads();
    int sum = 0;
    for (int d = -R; d <= R; d++)
        sum += s[l + d];
    a[g] = sum; // want race-global "inter-block"
}

int main() {
    int *a;
    cudaMalloc(&a, (4 * B + 2 * R) * sizeof(int));
    stencil<<<4, B>>>(a);
    cudaDeviceSynchronize();
}
