// The lanes of one warp acquire a lock one after the other.
// Why: the code is correct, and terminates with independent scheduling (PTX ISA 3.2).
// expect: clean
// heddle: grid=1 block=32
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
}
