// The same with two warps.
// Why: lock step applies only within a warp.
// expect: bug
// options: --warp lockstep
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // want race-shared "intra-block"
    out[t] = s[63 - t]; // want race-shared "intra-block"
}
