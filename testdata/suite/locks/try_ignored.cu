// The result of the try is ignored. All blocks try before any continues, so that they overlap in every schedule.
// Why: blocks that did not acquire the lock continue anyway; the relaxed rendezvous releases nothing.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter, tried;
__global__ void k() {
    atomicCAS(&lock, 0, 1);
    atomicAdd(&tried, 1);
    while (*(volatile int *)&tried < 4) {}
    __threadfence();
    counter = counter + 1; // want race-global "counter"
    __threadfence();
    atomicExch(&lock, 0);
}
