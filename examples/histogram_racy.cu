// Histogram that counts with plain additions. All input values are equal.

#include <cuda_runtime.h>

const int BINS = 64;

// heddle: data=zero
__global__ void histogram(const unsigned char *data, unsigned *hist, int n) {
    __shared__ unsigned bins[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        bins[data[i] % BINS] += 1u;
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&hist[i], bins[i]);
}

int main() {
    const int n = 2048;
    unsigned char *data;
    unsigned *hist;
    cudaMalloc(&data, n);
    cudaMalloc(&hist, BINS * sizeof(unsigned));
    histogram<<<4, 128>>>(data, hist, n);
    cudaDeviceSynchronize();
}
