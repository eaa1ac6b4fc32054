// One of two blocks acquires the lock without a fence: the one that has it last if blocks run in order.
// Why: its stores may move before the acquisition, and so before the release by the other block.
// expect: bug
// options: --seeds 4
// heddle: grid=2 block=32
__device__ int lock, total;
__global__ void k(const int *in) {
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0) {}
    if (blockIdx.x == 0)
        __threadfence();
    total = total + in[blockIdx.x]; // want race-global "total"
    __threadfence();
    atomicExch(&lock, 0);
}
