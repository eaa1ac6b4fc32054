// Two warps arrive, and no thread waits.
// Why: the generation is complete and orders nothing; the tool of the paper rejects it.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    asm volatile("bar.arrive 1, 64;" ::: "memory"); // want barrier-no-waiter
}
