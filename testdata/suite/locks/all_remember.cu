// Both blocks acquire the lock with a fence: the repaired form of one_forgets.cu.
// Why: each owner's accesses lie between an acquire and a release pattern (PTX ISA 8.7), so every
// schedule orders them.
// expect: clean
// options: --seeds 20
// heddle: grid=2 block=32
__device__ int lock, total;
__global__ void k(const int *in) {
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    total = total + in[blockIdx.x];
    __threadfence();
    atomicExch(&lock, 0);
}
