// A barrier counts 96 threads, but only two of three warps arrive; the third exits without a barrier.
// Why: the count is never reached (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=1 block=96
__global__ void k(int *out) {
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 96;" ::: "memory"); // want barrier-deadlock
    out[threadIdx.x] = 1;
}
