// One of two blocks acquires the lock without a fence, and has it first if blocks run in order.
// Why: its stores may move before the acquisition. That is a race only if the other block had the
// lock before, since nothing precedes the first owner: a schedule must let the last block go first.
// expect: bug
// options: --seeds 4
// heddle: grid=2 block=32
__device__ int lock, total;
__global__ void k(const int *in) {
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0) {}
    if (blockIdx.x != 0)
        __threadfence();
    total = total + in[blockIdx.x]; // want race-global "total"
    __threadfence();
    atomicExch(&lock, 0);
}
