// Two pairs of warps use the same barrier without synchronization in between.
// Why: any two of the four can form a generation (Definition 6). The arrivals of generation 2 are the
// first commands of their warps, a case that figure 4 of the paper omits.
// expect: bug
// heddle: grid=1 block=128
__global__ void k(void) {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-recycling
}
