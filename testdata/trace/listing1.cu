// Two warps, each of which waits for the other before it arrives (Weft, listing 1).
// Why: the second warp of either barrier never arrives.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    if (threadIdx.x / 32 == 0) {
        asm volatile("bar.sync 3, 64;" ::: "memory"); // want barrier-deadlock "barrier 3 has 32 of 64 threads and waits for warp 1, which waits at barrier 4"
        asm volatile("bar.arrive 4, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 4, 64;" ::: "memory"); // want barrier-deadlock
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    }
}
