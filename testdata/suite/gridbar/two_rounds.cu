// A grid barrier is used twice, without resetting its counter.
// Why: as right.cu, for both rounds.
// expect: clean
// heddle: grid=4 block=32
__device__ int a[128], b[128], count;
__device__ void grid_sync(int goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&count, 1);
        while (*(volatile int *)&count < goal) {}
        __threadfence();
    }
    __syncthreads();
}
__global__ void k(int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    a[i] = i;
    grid_sync(gridDim.x);
    b[i] = a[127 - i];
    grid_sync(2 * gridDim.x);
    out[i] = b[(i + 64) & 127];
}
