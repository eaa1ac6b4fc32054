// The sum of reduce.cu without the barrier inside the tree.

#include <cstdio>
#include <cuda_runtime.h>

const int BLOCK = 128;

__global__ void reduce(const int *in, int *out, int n) {
    __shared__ int tile[BLOCK];
    int t = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    tile[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s)
            tile[t] += tile[t + s];
    }
    if (t == 0)
        atomicAdd(out, tile[0]);
}

int main() {
    const int n = 4096;
    int *in, *out, sum = 0;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    reduce<<<8, BLOCK>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
}
