// The lock is acquired without a fence.
// Why: atomicCAS is relaxed: later accesses may move before it.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    counter = counter + 1; // want race-global "counter"
    __threadfence();
    atomicExch(&lock, 0);
}
