// One lock for each of four counters.
// Why: every counter is accessed only under its own lock.
// expect: clean
// heddle: grid=4 block=8
__device__ int lock[4], counter[4];
__global__ void k() {
    int b = (blockIdx.x + threadIdx.x) & 3;
    while (atomicCAS(&lock[b], 0, 1) != 0) {}
    __threadfence();
    counter[b] = counter[b] + 1;
    __threadfence();
    atomicExch(&lock[b], 0);
}
