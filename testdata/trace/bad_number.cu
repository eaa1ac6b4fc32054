// Barrier 16.
// Why: a block has barriers 0 to 15 (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    asm volatile("bar.sync %0, 64;" :: "r"(blockDim.x / 4) : "memory"); // want bad-barrier "16"
}
