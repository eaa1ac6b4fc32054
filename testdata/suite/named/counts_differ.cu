// Two warps specify different counts for one generation.
// Why: participants of a barrier use the same barrier name and thread count (PTX ISA 9.7.13.1). Whichever arrives
// first, the generation is not complete when the second arrives.
// expect: bug
// heddle: grid=1 block=96
__global__ void k(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-count-mismatch
    else if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 96;" ::: "memory"); // want barrier-count-mismatch
    out[threadIdx.x] = 1;
}
