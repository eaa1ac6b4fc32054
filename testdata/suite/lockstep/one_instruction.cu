// Lanes of one warp store different values to one word by one instruction.
// Why: the lanes of one instruction execute concurrently; the resulting value is not defined (Barracuda §3.3.1).
// expect: bug
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    out[0] = threadIdx.x; // want race-global "intra-warp"
}
