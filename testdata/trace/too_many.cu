// Three warps reach a barrier that counts two.
// Why: one warp is left over, and which one depends on the schedule (Definition 6).
// expect: bug
// heddle: grid=1 block=96
__global__ void k(void) {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-too-many
}
