// An instruction that the emulator does not execute.
// Why: a limit of heddle is neither a bug nor clean.
// expect: unsupported
// heddle: grid=1 block=32
__global__ void k(int *out) {
    asm volatile("discard.global.L2 [%0], 128;" :: "l"(out) : "memory");
    out[threadIdx.x] = 1;
}
