// A volatile read of a counter that others add to.
// Why: both are strong, their scopes include each other, and they overlap completely: morally strong.
// expect: clean
// heddle: grid=2 block=64
__device__ int counter;
__global__ void k(int *out) {
    atomicAdd(&counter, 1);
    out[blockIdx.x * 64 + threadIdx.x] = *(volatile int *)&counter;
}
