// Two stages: the tile of the next step is copied while the current one is used.
// Why: PTX ISA 9.7.9.25.3.3: after wait_group 1 all groups but the last are complete, which include the copies of the tile in
// use; the first barrier publishes them, the second keeps the buffer until all have read it.
// expect: clean
#include <cuda_pipeline.h>

// heddle: grid=2 block=64
__global__ void k(const float4 *in, float *out) {
    __shared__ float4 tile[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float4));
    __pipeline_commit();
    float sum = 0;
    for (int i = 0; i < 6; i++) {
        if (i < 5)
            __pipeline_memcpy_async(&tile[(i + 1) & 1][t], &in[(i + 1) * 64 + t], sizeof(float4));
        __pipeline_commit(); // the last group is empty, so that the wait need not know
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[i & 1][63 - t].x;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}

// heddle: grid=1 block=64
__global__ void in_place(float4 *a) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &a[t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    a[t] = tile[63 - t]; // the source may be written once the copies are complete, and all threads know
}
