// Two warps wait on two barriers in opposite order.
// Why: each waits for the other at a different barrier: neither barrier can complete.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-deadlock
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory"); // want barrier-deadlock
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}
