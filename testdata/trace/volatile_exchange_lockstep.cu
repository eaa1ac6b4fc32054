// Lanes exchange values through volatile shared memory without a barrier, as was common before sm_70.
// Why: in lock step, the write of a warp precedes its read.
// expect: verified
// options: --warp lockstep
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
