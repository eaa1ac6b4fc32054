// One block reads the counter without the lock.
// Why: nothing orders the read with the holders of the lock.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k(int *out) {
    if (blockIdx.x == 3) {
        out[0] = counter; // want race-global "counter"
        return;
    }
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1; // want race-global "counter"
    __threadfence();
    atomicExch(&lock, 0);
}
