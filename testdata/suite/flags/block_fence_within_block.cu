// Two warps of one block pass a message with __threadfence_block.
// Why: scope cta includes both threads.
// expect: clean
// heddle: grid=1 block=64
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {}
        __threadfence_block();
        out[0] = data;
    }
}
