// Block 0 releases by atomicAdd, block 1 adds without a fence, block 2 waits for both.
// Why: block 2 reads block 1's add, which read block 0's: observation order runs through atomics (8.9.2), so
// block 0's release pattern is acquired.
// expect: clean
// heddle: grid=3 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        atomicAdd(&flag, 1);
    } else if (blockIdx.x == 1) {
        while (*(volatile int *)&flag == 0) {}
        atomicAdd(&flag, 1);
    } else {
        while (*(volatile int *)&flag != 2) {}
        __threadfence();
        out[0] = data;
    }
}
