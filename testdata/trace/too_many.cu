// Three warps come to a barrier for two.
// Why: one is left over, and which one is a matter of luck (Definition 6).
// expect: bug
// heddle: grid=1 block=96
__global__ void k(void) {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-too-many
}
