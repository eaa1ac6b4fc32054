// Two pairs of warps use one barrier, with nothing between them.
// Why: any two of the four may meet (Definition 6). The registrations for generation 2 are the first commands of their
// warps, which figure 4 of the paper does not look at.
// expect: bug
// heddle: grid=1 block=128
__global__ void k(void) {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-recycling
}
