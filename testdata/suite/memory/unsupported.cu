// An instruction that the emulator does not execute.
// Why: a limit of heddle is neither a bug nor clean.
// expect: unsupported
// heddle: grid=1 block=32
__global__ void k(int *out) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    out[threadIdx.x] = 1;
}
