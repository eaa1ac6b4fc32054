// An instruction that the emulator does not execute.
// Why: a limit of heddle is neither a bug nor clean.
// expect: unsupported
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ unsigned long long bar;
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&bar)));
    out[threadIdx.x] = 1;
}
