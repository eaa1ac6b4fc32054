// Sum in one launch: the last block to finish adds up the results of all blocks.

#include <cuda_runtime.h>

const int B = 64;

__device__ int partial[64];
__device__ unsigned done;

__global__ void sum(const int *in, int *out) {
    __shared__ int s[B];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * B + t];
    __syncthreads();
    for (int d = B / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (int i = 0; i < gridDim.x; i++)
            total += partial[i];
        *out = total;
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 8 * B * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    sum<<<8, B>>>(in, out);
    cudaDeviceSynchronize();
}
