// Exclusive prefix sum without the barrier in the loop of the down-sweep.

#include <cuda_runtime.h>

const int N = 256;

__global__ void scan_blelloch(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[2 * t] = data[2 * t];
    s[2 * t + 1] = data[2 * t + 1];
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        int i = (t + 1) * 2 * d - 1;
        if (i < N)
            s[i] += s[i - d];
    }
    if (t == 0)
        s[N - 1] = 0;
    __syncthreads();
    for (int d = N / 2; d > 0; d /= 2) {
        int i = (t + 1) * 2 * d - 1;
        if (i < N) {
            int left = s[i - d];
            s[i - d] = s[i];
            s[i] += left;
        }
    }
    __syncthreads();
    data[2 * t] = s[2 * t];
    data[2 * t + 1] = s[2 * t + 1];
}

int main() {
    int *data;
    cudaMalloc(&data, N * sizeof(int));
    scan_blelloch<<<1, N / 2>>>(data);
    cudaDeviceSynchronize();
}
