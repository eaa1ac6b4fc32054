// A spin lock in shared memory that a volatile store opens.
// Why: the store is the end of a release pattern that the compare-and-swap of the next owner observes (PTX ISA 8.8), and a compare-and-swap
// that fails in between has no effect.
// expect: clean
// heddle: grid=1 block=96
__global__ void k(int *out) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        sum += threadIdx.x;
        __threadfence_block();
        *(volatile int *)&lock = 0;
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
