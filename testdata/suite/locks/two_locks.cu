// Even and odd blocks protect one counter by different locks.
// Why: a lock orders only its own holders.
// expect: bug
// heddle: grid=4 block=1
__device__ int lock[2], counter;
__global__ void k() {
    int *l = &lock[blockIdx.x & 1];
    while (atomicCAS(l, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1; // want race-global "counter"
    __threadfence();
    atomicExch(l, 0);
}
