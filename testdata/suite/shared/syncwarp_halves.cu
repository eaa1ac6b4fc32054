// Each half of a warp exchanges within itself under its own mask.
// Why: both masks name exactly the lanes that exchange.
// expect: clean
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 16) {
        __syncwarp(0x0000ffff);
        out[t] = s[15 - t];
    } else {
        __syncwarp(0xffff0000);
        out[t] = s[47 - t];
    }
}
