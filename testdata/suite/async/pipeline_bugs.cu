// Frequent bugs in pipelines of asynchronous copies.
// Why: PTX ISA 8.9.1.1, 9.7.9.25.3.3: __syncthreads() waits for no copy, and a wait only for the groups that it covers.
// expect: bug
#include <cuda_pipeline.h>

// heddle: grid=1 block=64
__global__ void waits_for_too_few(const float4 *in, float *out) {
    __shared__ float4 tile[3][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float4)); // want race-async-copy "not waited for"
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][t], &in[64 + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    out[t] = tile[0][63 - t].x; // want race-async-copy "not waited for"
    __pipeline_wait_prior(0);
}

// heddle: grid=1 block=64
__global__ void no_barrier_after_the_wait(const float4 *in, float *out) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float4)); // want race-async-copy "intra-block"
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[63 - t].x; // want race-async-copy "intra-block"
}

// heddle: grid=1 block=64
__global__ void refilled_too_early(const float4 *in, float *out) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&tile[t], &in[i * 64 + t], sizeof(float4)); // want race-async-copy "intra-block"
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[63 - t].x; // want race-async-copy "intra-block"
    }
    out[t] = sum;
}

// heddle: grid=1 block=64
__global__ void source_written_too_early(float4 *a) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &a[t], sizeof(float4)); // want race-async-copy "intra-block"
    __pipeline_commit();
    __pipeline_wait_prior(0);
    a[63 - t] = tile[t]; // want race-async-copy "intra-block"
}

// heddle: grid=1 block=32
__global__ void overlapping_lanes(const float *in, float *out) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t / 2], &in[t], sizeof(float)); // want race-async-copy "intra-warp"
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[t / 2];
}
