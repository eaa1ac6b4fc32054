// A barrier counts more threads than the block has.
// Why: it can never be complete.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    asm volatile("bar.sync 1, 96;" ::: "memory"); // want barrier-deadlock "96 threads, the block has 64"
}
