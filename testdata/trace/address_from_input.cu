// A histogram: the shared address is loaded from global memory.
// Why: which threads access the same place depends on the input.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(const int *in) {
    __shared__ int count[64];
    count[in[threadIdx.x]]++; // unsupported "depends on input: a value loaded from argument 0 .in."
    asm volatile("bar.sync 1, 64;" ::: "memory");
}
