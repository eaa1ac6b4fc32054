// A producer that arrives twice in one generation of a barrier for three warps, only two of which reach it.
// Why: "care must be taken to keep a warp from executing more barrier instructions than intended (arrive followed
// by any other to the same barrier) prior to the reset of the barrier" (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    if (threadIdx.x < 32) {
        for (int i = 0; i < 2; i++)
            asm volatile("bar.arrive 1, 96;" ::: "memory"); // want barrier-divergence "again"
    } else {
        asm volatile("bar.sync 1, 96;" ::: "memory"); // want barrier-divergence "again"
    }
}
