// Many threads raise one flag, and all read it behind a barrier.
// Why: all stores write the same constant, so their order does not matter, and the barrier orders the loads (PTX ISA 8.9.4).
// expect: clean
// heddle: grid=1 block=64
__global__ void k(const int *in, int *out) {
    __shared__ volatile int found;
    found = 0;
    __syncthreads(); // redundant: all accesses are strong, so that their order is at most a warning
    if (in[threadIdx.x] == 0)
        found = 1;
    __syncthreads(); // redundant: all accesses are strong, so that their order is at most a warning
    out[threadIdx.x] = found;
}
