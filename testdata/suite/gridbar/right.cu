// A software grid barrier between a write and a neighbour block's read.
// Why: block barrier, fence, atomic arrival; volatile spin, fence, block barrier: every hop is ordered.
// expect: clean
// heddle: grid=4 block=32
__device__ int data[128], count;
__global__ void k(int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    data[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&count, 1);
        while (*(volatile int *)&count != gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[127 - i];
}
