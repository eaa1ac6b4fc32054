// Inclusive prefix sum in one buffer instead of two: a step overwrites what others still read.

#include <cuda_runtime.h>

const int N = 128;

__global__ void scan(const int *in, int *out) {
    __shared__ int buf[1][N];
    int t = threadIdx.x, cur = 0;
    buf[0][t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = buf[cur][t];
        if (t >= d)
            v += buf[cur][t - d];
        buf[cur][t] = v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = buf[cur][t];
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 2 * N * sizeof(int));
    cudaMalloc(&out, 2 * N * sizeof(int));
    scan<<<2, N>>>(in, out);
    cudaDeviceSynchronize();
}
