// Jacobi iterations, separated by a software barrier of all blocks.

#include <cuda_runtime.h>

const int B = 32, G = 4;

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
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int step = 1; step <= 3; step++) {
        int left = a[(i + n - 1) % n], right = a[(i + 1) % n];
        b[i] = left + right;
        grid_sync(step * gridDim.x);
        int *swap = a;
        a = b;
        b = swap;
    }
}

int main() {
    int *a, *b;
    cudaMalloc(&a, B * G * sizeof(int));
    cudaMalloc(&b, B * G * sizeof(int));
    jacobi<<<G, B>>>(a, b);
    cudaDeviceSynchronize();
}
