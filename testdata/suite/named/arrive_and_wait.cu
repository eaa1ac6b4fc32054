// Two warps leave a tile in shared memory and arrive at a barrier; the second one then waits at it, too, and stores
// the tile. The barrier counts that warp twice. The third warp has other work.
// Why: a thread count is a number of arrivals; a warp may execute two instructions of a barrier before it is reset if
// that is intended (PTX ISA 9.7.13.1), and 96 cannot be reached without all three arrivals, in any schedule.
// expect: clean
// heddle: grid=1 block=96
__global__ void k(int *out) {
    __shared__ int tile[64];
    if (threadIdx.x < 64) {
        tile[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 96;" ::: "memory");
        if (threadIdx.x >= 32) {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            out[threadIdx.x] = tile[threadIdx.x - 32];
        }
    }
}
