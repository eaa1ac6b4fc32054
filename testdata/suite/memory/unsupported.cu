// An instruction that the emulator does not execute.
// Why: a limit of heddle is neither a bug nor clean.
// expect: unsupported
// heddle: grid=1 block=32
__global__ void k(int *out) {
    asm volatile("{ .reg .b32 x; mov.b32 x, 0; fma.rn.oob.f16x2 x, x, x, x; }");
    out[threadIdx.x] = 1;
}
