// __syncwarp between a write of one warp and a read of the other.
// Why: bar.warp.sync orders lanes of one warp only.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // want race-shared "intra-block"
    __syncwarp();
    out[t] = s[63 - t]; // want race-shared "intra-block"
}
