// Tree reduction whose last steps run in one warp, with the __syncwarp() that sm_70 and later need.

#include <cuda_runtime.h>

__global__ void reduce_volta(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        for (int d = 16; d > 0; d >>= 1) {
            s[t] = v;
            __syncwarp();
            v += s[(t + d) % 32];
            __syncwarp();
        }
        if (t == 0)
            out[blockIdx.x] = v;
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&out, 4 * sizeof(int));
    reduce_volta<<<4, 128>>>(in, out);
    cudaDeviceSynchronize();
}
