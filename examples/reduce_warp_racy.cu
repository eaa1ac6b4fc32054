// Sum by warp shuffles, without a barrier between the stores of the warps and the later loads.

#include <cuda_runtime.h>

__device__ int warp_sum(int v) {
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

__global__ void reduce_warp(const int *in, int *out) {
    __shared__ int partial[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int v = warp_sum(in[blockIdx.x * blockDim.x + t]);
    if (lane == 0)
        partial[warp] = v;
    if (warp == 0) {
        v = lane < 8 ? partial[lane] : 0;
        v = warp_sum(v);
        if (lane == 0)
            out[blockIdx.x] = v;
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 1024 * sizeof(int));
    cudaMalloc(&out, 4 * sizeof(int));
    reduce_warp<<<4, 256>>>(in, out);
    cudaDeviceSynchronize();
}
