// Jacobi iterations, separated by a software barrier of all blocks.

#include <cuda_runtime.h>

const int B = 32, G = 4, N = B * G;

__device__ unsigned arrived;

__device__ void grid_sync(unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned *)&arrived < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void jacobi(int *a, int *b) {
    int i = blockIdx.x * B + threadIdx.x;
    for (int step = 1; step <= 3; step++) {
        int left = a[(i + N - 1) % N], right = a[(i + 1) % N];
        b[i] = left + right;
        grid_sync(step * G);
        int *swap = a;
        a = b;
        b = swap;
    }
}

int main() {
    int *a, *b;
    cudaMalloc(&a, N * sizeof(int));
    cudaMalloc(&b, N * sizeof(int));
    jacobi<<<G, B>>>(a, b);
    cudaDeviceSynchronize();
}
