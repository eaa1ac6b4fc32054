// The halves of a warp reach one barrier by different instructions.
// Why: bar is .aligned: all threads of a warp must execute the same instruction (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    if ((threadIdx.x & 31) < 16) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-divergence
        out[threadIdx.x] = 1;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // want barrier-divergence
        out[threadIdx.x] = 2;
    }
}
