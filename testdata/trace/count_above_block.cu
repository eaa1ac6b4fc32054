// A barrier counts more threads than the block has.
// Why: the barrier can never complete.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    asm volatile("bar.sync 1, 96;" ::: "memory"); // want barrier-deadlock "96 threads, but the block has only 64"
}
