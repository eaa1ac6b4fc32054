// Thread 0 of block 1 waits for the flag; its block reads after __syncthreads.
// Why: the acquire of one thread reaches the block through the barrier (transitivity).
// expect: clean
// heddle: grid=2 block=64
__device__ int data[64];
__device__ volatile int flag;
__global__ void k(int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            flag = 1;
        }
    } else {
        if (t == 0) {
            while (flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}
