// Two warps specify different counts.
// Why: participants of one generation must agree (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=1 block=128
__global__ void k(void) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 0, 96;" ::: "memory"); // want barrier-count-mismatch
    else if (threadIdx.x < 64)
        asm volatile("bar.sync 0, 128;" ::: "memory"); // want barrier-count-mismatch
}
