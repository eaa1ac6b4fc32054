// Lanes exchange through shared memory with __syncwarp between.
// Why: bar.warp.sync orders memory accesses among the lanes of its mask (PTX ISA 9.7.13.2).
// expect: clean
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp();
    out[t] = s[31 - t];
}
