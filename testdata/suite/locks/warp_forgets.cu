// One of four warps updates without the lock, after a while of its own. Another takes it, twice.
// Why: PTX ISA 8.9: the two updates are ordered by the lock alone, which warp 2 does not take if it
// finds the counter free.
// expect: bug
// options: --seeds 20
// heddle: grid=1 block=128
__global__ void k(int *out) {
    __shared__ int lock, busy, sum;
    if (threadIdx.x == 0)
        lock = busy = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0)
        return;
    int warp = threadIdx.x / 32;
    if (warp == 2 && atomicAdd(&busy, 0) == 0) {
        sum = sum + 1; // want race-shared "sum"
        return;
    }
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    atomicAdd(&busy, 1);
    sum = sum + 1; // want race-shared "sum"
    __threadfence_block();
    atomicExch(&lock, 0);
}
