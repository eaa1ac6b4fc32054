// Two warps pass a message through shared memory.
// Why: as block_fence_within_block, with the flag and the data in shared memory.
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *out) {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads(); // redundant: as to races, since all accesses of the flag are strong; it keeps the flag's first value
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {}
        __threadfence_block();
        out[blockIdx.x] = data;
    }
}
