// Only the lower half of a warp synchronizes; the upper half reads the words that the lower half wrote.
// Why: the mask 0xffff does not name the lanes that read.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = t; // want race-shared
        __syncwarp(0x0000ffff);
        out[t] = s[15 - t];
    } else {
        out[t] = s[t - 16]; // want race-shared
    }
}
