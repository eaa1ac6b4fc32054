// Bitonic sort with a barrier in the outer loop only: the inner steps race.

#include <cuda_runtime.h>

const int N = 128;

// heddle: data=random
__global__ void bitonic(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    for (int k = 2; k <= N; k *= 2) {
        __syncthreads();
        for (int j = k / 2; j > 0; j /= 2) {
            int p = t ^ j;
            if (p > t) {
                int a = s[t], b = s[p];
                if ((a > b) == ((t & k) == 0)) {
                    s[t] = b;
                    s[p] = a;
                }
            }
        }
    }
    __syncthreads();
    data[blockIdx.x * N + t] = s[t];
}

int main() {
    int *data;
    cudaMalloc(&data, 2 * N * sizeof(int));
    bitonic<<<2, N>>>(data);
    cudaDeviceSynchronize();
}
