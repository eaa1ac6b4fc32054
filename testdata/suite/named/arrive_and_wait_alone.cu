// Two warps leave a tile in shared memory, and the second one stores it. That warp arrives at a barrier and waits at
// it, and makes up all of its 64 threads: nothing waits for the first warp.
// Why: PTX ISA 8.7. A warp may execute two instructions of a barrier before it is reset, and each of them counts
// (9.7.13.1), so that the barrier is complete without the first warp.
// expect: bug
// heddle: grid=1 block=96
__global__ void k(int *out) {
    __shared__ int tile[64];
    if (threadIdx.x < 64) {
        tile[threadIdx.x] = threadIdx.x; // want race-shared
        if (threadIdx.x >= 32) {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[threadIdx.x] = tile[threadIdx.x - 32]; // want race-shared
        }
    }
}
