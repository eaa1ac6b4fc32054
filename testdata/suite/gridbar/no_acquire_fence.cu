// The thread that leaves the barrier does not fence.
// Why: a relaxed read acquires nothing.
// expect: bug
// heddle: grid=4 block=32
__device__ int data[128], count;
__global__ void k(int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    data[i] = i; // want race-global "data"
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&count, 1);
        while (*(volatile int *)&count != gridDim.x) {}
    }
    __syncthreads();
    out[i] = data[127 - i]; // want race-global "data"
}
