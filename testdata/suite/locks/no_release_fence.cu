// The lock is released without a fence.
// Why: atomicExch is relaxed: earlier accesses may be delayed past it.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1; // want race-global "counter"
    atomicExch(&lock, 0);
}
