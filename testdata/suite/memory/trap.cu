// The kernel traps.
// Why: PTX ISA 9.7.19: trap aborts execution.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    if (threadIdx.x == 3)
        __trap(); // want trap
    out[threadIdx.x] = 1;
}
