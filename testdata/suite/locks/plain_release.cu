// The lock is released by a plain store, after a fence.
// Why: the weak store races with the others' atomicCAS and releases nothing (the bug that Barracuda found in
// GPU-TM's hashtable, §6.3).
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {} // want race-global "lock"
    __threadfence();
    counter = counter + 1; // want race-global "counter"
    __threadfence();
    lock = 0; // want race-global "lock"
}
