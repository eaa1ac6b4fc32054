// One lane writes under a branch, all read after reconvergence.
// Why: fi joins both paths before the read.
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 1;
    out[threadIdx.x] = s;
}
