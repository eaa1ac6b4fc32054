// The same without __syncwarp.
// Why: under independent thread scheduling lanes of a warp are not ordered (PTX ISA 3.2).
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t; // want race-shared "intra-warp"
    out[t] = s[31 - t]; // want race-shared "intra-warp"
}
